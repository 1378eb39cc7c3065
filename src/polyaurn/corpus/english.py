"""English function words, numbers and contractions, for topics that speak of their subject.

scikit-learn's list was made for search: it has no reporting verbs or titles, and leaves out nouns
such as "bill", "fire" and "system", which topics are made of. `extended_stop_words` corrects both.
"""

import re
from functools import cache

from polyaurn.corpus.patterns import LEFT_OUT

EXTENDED = "english-extended"  # its name as a value of 'stop_words'
TOPICAL = frozenset(
    ("bill", "computer", "cry", "detail", "fire", "interest", "mill", "system", "thick", "thin")
)
GROUPS = {
    "reporting verbs": """
        say says said saying tell tells told telling ask asks asked asking add adds added adding
        stated explain explains explained mention mentions mentioned noted noting reply replied
        commented announce announced insist insisted argue argued suggest suggests suggested
        suggesting according reportedly quoted""",
    "titles": """
        mr mrs ms miss mister dr prof sir madam messrs jr sr st rev hon esq""",
    "light verbs": """
        get gets got getting gotten give gives gave given giving go goes went gone going come comes
        came coming take takes took taken taking make makes making put puts putting let lets
        letting keep keeps kept keeping know knows knew known knowing think thinks thought thinking
        want wants wanted wanting need needs needed needing try tries tried trying use uses used
        using look looks looked looking seem seems seemed find finds finding see sees saw seen
        seeing become became begin begins began begun start starts started starting happen happens
        happened happening mean means meant do does did doing done having being feel feels felt
        call calls called calling bring brings brought bringing show shows showed shown showing
        believe believes believed hope hopes hoped hoping expect expects expected like likes liked
        include includes included including involve involved hear heard talk talked talking""",
    "modal verbs": """
        can could may might must shall should will would ought able unable likely unlikely""",
    "adverbs": """
        actually again ago ahead all almost already also although always anyway apparently away
        back basically certainly clearly completely currently definitely directly early easily
        else especially essentially eventually exactly extremely fairly far finally frankly fully
        generally getting hardly highly hopefully immediately indeed instead just largely lately
        later likely literally long mainly maybe merely nearly necessarily normally obviously
        occasionally often okay ok originally particularly perhaps personally possibly presumably
        pretty previously probably quickly quite rarely rather really recently relatively
        seriously shortly significantly similarly simply slightly slowly somewhat soon
        specifically still strongly subsequently suddenly surely thus today together tomorrow
        totally truly typically ultimately unfortunately usually virtually widely yes yesterday
        yet yeah""",
    "general adjectives": """
        able available bad best better big bigger biggest certain clear different difficult easy
        entire good great greater greatest hard high higher huge important interesting key large
        larger largest late latest little long longer low lower main major new nice obvious old
        older only particular possible real recent right same second short similar simple single
        small smaller strong sure true various whole worse worst wrong""",
    "general nouns": """
        bit course day days end example fact hour hours idea kind lot lots minute minutes month
        months number people person place point reason result second seconds side something sort
        stuff thing things time times today tonight way ways week weeks year years yesterday""",
    "names of days and months": """
        monday tuesday wednesday thursday friday saturday sunday january february april june july
        august september october november december jan feb apr jun jul aug sep sept oct nov dec""",
    "numerals": """
        zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
        ninety hundred hundreds thousand thousands million millions billion billions trillion dozen
        dozens half first second third fourth fifth sixth seventh eighth ninth tenth once twice
        several couple percent""",
    "pieces of contractions": """
        ain aren couldn didn doesn don hadn hasn isn mustn needn shan shouldn wasn weren wouldn ll
        ve re aint arent couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent
        wouldnt wont cant im ive id youre youve youll theyre theyve theyll hes shes thats theres
        whats whos heres lets itll gonna wanna gotta oclock""",
    "prepositions and conjunctions": """
        across amid among apart around aside besides concerning considering depending despite
        following lest like minus near onto opposite outside inside past per plus regarding though
        till toward towards underneath unless unlike until versus via whereas whilst
        within without""",
    "letters of mail and the web": "www http https com org edu html re fwd cc etc eg ie vs",
}
_APOSTROPHES = "'\u2019\u02bc\u00b4`"
_CONTRACTION = re.compile(
    rf"\b\w+n[{_APOSTROPHES}]t\b|\bo[{_APOSTROPHES}]clock\b"  # auxiliaries only
    rf"|(?<=\w)[{_APOSTROPHES}](?:s|ll|ve|re|m|d|em)\b",  # the word before stays
    re.IGNORECASE,
)
_ENDING = r"(?:st|nd|rd|th|s|am|pm|m|mn|bn|tn|k)?"  # 1st, 1990s, 10pm, and 5m, 2bn of money
_NUMBER = re.compile(rf"[\d_]+{_ENDING}", re.IGNORECASE)


@cache
def extended_stop_words() -> frozenset[str]:
    """Return scikit-learn's list without words that topics are made of, and with `GROUPS`."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    added = {word for group in GROUPS.values() for word in group.split()}
    return frozenset(ENGLISH_STOP_WORDS - TOPICAL) | added


def without_contractions(text: str) -> str:
    r"""Return a text without "don't" and its like, and without the "'s" and "'ll" of words.

    All words in "n't" are auxiliaries; of the others, the word before the apostrophe stays, which
    is a stop word or a noun: "we'll", "company's". A blank line takes the place of a whole word,
    so that no phrase crosses it. Elisions such as "l'homme" are no such words.

    Examples
    --------
    >>> without_contractions("The company's owner doesn't think we'll pay")
    'The company owner \n\n think we pay'
    """
    return _CONTRACTION.sub(lambda found: LEFT_OUT if found[0][0].isalnum() else "", text)


def is_number(word: str) -> bool:
    """Return whether a word is a number: digits only, an ordinal, a decade, an amount.

    Examples
    --------
    >>> [word for word in ("000", "1st", "1990s", "5m", "3d", "b2b", "covid19") if is_number(word)]
    ['000', '1st', '1990s', '5m']
    """
    return not word[:1].isalpha() and _NUMBER.fullmatch(word) is not None
