"""Languages of text: their names, and how one is recognised by script and frequent words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.english import without_contractions
from polyaurn.corpus.frequent_words import FREQUENT
from polyaurn.corpus.patterns import WORDS, expression

AUTO = "auto"  # until texts have been seen
FOREIGN = "foreign"  # not English, or not only; which one is not known
SAMPLE = 1_000  # documents from the beginning that are looked at
_CHARACTERS = 2_000  # of each of them
_LEAST_SHARE = 0.1  # of the words of a text that are frequent ones of its language
_LEAST_WORDS = 5  # frequent ones that must have been seen,
_LEAST_DIFFERENT = 4  # and how many different ones: letters of formulas are also words somewhere
_FEW_WORDS = 20  # too few to say that they are of no known language
_LEAST_OF_SCRIPT = 0.3  # of the letters: those of other scripts may be names and formulas
_LEAST_KANA = 0.05  # of Chinese characters and kana together, in Japanese
_KANA_WITHIN = 20  # characters of Japanese
_MOST_FOREIGN = 0.2  # of the documents, in a corpus of one language
_NOTED_FOREIGN = 0.01  # of the documents: fewer make no topic
_LEAST_FOREIGN = 2  # documents whose stop words are left out
_CLEAR_SHARE, _CLEAR_DIFFERENT = 0.2, 3  # frequent words in a document that is clearly foreign
_CLEAR_LETTERS = 5  # of another script in such a document

LANGUAGES = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton",
    "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician",
    "gu": "Gujarati", "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese",
    "km": "Khmer", "ko": "Korean", "ku": "Kurdish", "la": "Latin", "lo": "Lao",
    "lt": "Lithuanian", "lv": "Latvian", "mr": "Marathi", "ms": "Malay", "my": "Burmese",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "so": "Somali", "st": "Sesotho",
    "sv": "Swedish", "sw": "Swahili", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "yo": "Yoruba", "zh": "Chinese",
    "zu": "Zulu",
}  # fmt: skip
_OWN_NAMES = {
    "deutsch": "de", "français": "fr", "francais": "fr", "español": "es", "espanol": "es",
    "castellano": "es", "italiano": "it", "português": "pt", "portugues": "pt", "nederlands": "nl",
    "svenska": "sv", "dansk": "da", "norsk": "no", "suomi": "fi", "polski": "pl", "čeština": "cs",
    "magyar": "hu", "türkçe": "tr", "русский": "ru", "українська": "uk", "ελληνικά": "el",
    "العربية": "ar", "עברית": "he", "हिन्दी": "hi", "中文": "zh", "日本語": "ja", "한국어": "ko",
    "ไทย": "th", "bahasa indonesia": "id", "tiếng việt": "vi",
}  # fmt: skip
_CODES = {name.lower(): code for code, name in LANGUAGES.items()} | _OWN_NAMES
WITHOUT_BLANKS = ("zh", "ja", "th", "lo", "km", "my")
_SCRIPTS = {  # one language each, as far as there are stop words or a segmenter
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "hy": "\u0530-\u058f",
    "he": "\u0590-\u05ff",
    "bn": "\u0980-\u09ff",
    "gu": "\u0a80-\u0aff",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17ff",
    "ko": "\u1100-\u11ff\uac00-\ud7a3",
    "kana": "\u3041-\u30ff",
    "han": "\u3400-\u4dbf\u4e00-\u9fff",
}
_OF_SCRIPT = {code: re.compile(f"[{letters}]") for code, letters in _SCRIPTS.items()}
_LATIN = re.compile("[A-Za-z0-9]")
_NOT_LATIN = re.compile("[^\\W\\d_A-Za-z\u00aa-\u02ff\u1e00-\u1eff]")
_LANGUAGES_WITH: dict[str, tuple[str, ...]] = {}
for _code, _words in FREQUENT.items():
    for _word in _words.split():
        _LANGUAGES_WITH[_word] = (*_LANGUAGES_WITH.get(_word, ()), _code)


def check_language(language: Any) -> str | None:
    """Return the ISO 639-1 code of a language, `AUTO`, or None; it may be named in English."""
    if language is None:
        return None
    if isinstance(language, str):
        plain = language.strip().lower()
        if plain in LANGUAGES or plain == AUTO:
            return plain
        if plain in _CODES:
            return _CODES[plain]
        if plain == "none":
            return None
    near = get_close_matches(str(language).lower(), sorted(_CODES), n=1)
    hint = f"'{near[0]}' is the nearest" if near else "'auto' recognises it, and 'none' does not"
    raise InputError(
        "The 'language' parameter must be 'auto', 'none', or a language by its English name or "
        f"ISO 639-1 code, such as 'german' or 'de'. Got {language!r:.60} instead; {hint}."
    )


def is_language(name: str) -> bool:
    """Return whether a string is the English name or the code of a language."""
    return name.lower() in LANGUAGES or name.lower() in _CODES


def name_of(language: str | None) -> str:
    """Return the English name of a language."""
    return "unknown" if language is None else LANGUAGES[language]


@dataclass(frozen=True)
class Recognised:
    """The language of texts, and the documents that are clearly in others.

    `language` is None where little speaks for any, and `FOREIGN` for several or one not known.
    `others` has the language of each document in another than `mostly`, "" if it is not known;
    `by_document` has None for those in `mostly`.
    """

    language: str | None
    mostly: str | None = None
    others: tuple[str, ...] = ()
    looked_at: int = 0
    by_document: tuple[str | None, ...] = field(default=(), compare=False, repr=False)

    def beside(self) -> list[str]:
        """Return the other languages of enough documents to make a topic of their stop words.

        Words of those that are written without blanks would have to be cut in another way.
        """
        counted = Counter(code for code in self.others if code and code not in WITHOUT_BLANKS)
        least = max(_LEAST_FOREIGN, _NOTED_FOREIGN * self.looked_at)
        return sorted(code for code, n in counted.items() if n >= least)

    def note(self) -> str:
        """Return a note about languages, or ""."""
        several, n = self.language == FOREIGN, len(self.others)
        if not several and n <= _NOTED_FOREIGN * self.looked_at:
            return ""
        counted = Counter(name_of(code) if code else "another script" for code in self.others)
        where = " or ".join(name for name, _ in counted.most_common(3))
        most, one = name_of(self.mostly or "en"), self.mostly or "none"
        head = (
            "The texts are in several languages" if several else "Some texts are in other languages"
        )
        which = f": of {self.looked_at:,} looked at, {n:,} in {where}, the others in {most}"
        beside = " and ".join(map(name_of, self.beside()))
        also = f", and the stop words of {beside} are left out, too" if beside else ""
        return (
            f"{head}{which if n else ', or in one that is not recognised'}. Words and stop words "
            f"are taken as in {most}{also}; topics may show words or whole clauses of other "
            f"languages. Make a corpus of each language, or set one for all: language='{one}' "
            f"(--language {one})."
        )


def recognise_language(texts: Iterable[str]) -> str | None:
    """Return the code of the language of texts, None where little speaks for any, or `FOREIGN`."""
    return recognised(texts).language


def recognised(texts: Iterable[str]) -> Recognised:
    """Return the language of texts, and the documents that are clearly in others.

    A script that belongs to one language decides. Otherwise the language is that of more than half
    of the documents, or that whose frequent words are found most often.
    """
    beginnings = [text[:_CHARACTERS] for text in islice(texts, SAMPLE)]
    any_word = re.compile(expression(WORDS, single=True))
    # the "s" of "it's" is a word elsewhere
    words = [any_word.findall(without_contractions(text).lower()) for text in beginnings]
    hits = [Counter(chain.from_iterable(map(_languages_with, found))) for found in words]
    by_script = _by_script("".join(beginnings))
    best = by_script or _by_words(words, hits)
    if best is None and sum(map(len, words)) <= _FEW_WORDS:
        return Recognised(None)
    if best is None and _LATIN.search("".join(beginnings)) is None:
        return Recognised(FOREIGN)
    documents = list(zip(beginnings, words, hits, strict=True))
    foreign = tuple(_foreign(*document, best) for document in documents)
    looked_at = sum(map(bool, words))
    [(most, n)] = Counter(filter(None, foreign)).most_common(1) or [("", 0)]
    if by_script is None and 2 * n > looked_at:  # the others have more frequent words in each
        best = most
        foreign = tuple(_foreign(*document, best) for document in documents)
    others = tuple(code for code in foreign if code is not None)
    clear = [found for found in hits if max(found.values(), default=0) > 1]
    unlike = sum(found[best] < max(found.values()) / 2 for found in clear) if best else 0
    several = unlike > _MOST_FOREIGN * len(clear) or len(others) > _MOST_FOREIGN * looked_at
    language = FOREIGN if several and by_script is None else best
    return Recognised(language, best, others, looked_at, foreign)


def _by_words(words: Sequence[list[str]], hits: Sequence[Counter[str]]) -> str | None:
    """Return the language whose frequent words are found most often, if they are enough."""
    total: Counter[str] = sum(hits, Counter())
    best = max(FREQUENT, key=lambda code: total[code])  # of equal ones the first
    different = sum(best in _languages_with(word) for word in set(chain.from_iterable(words)))
    enough = total[best] >= max(_LEAST_WORDS, _LEAST_SHARE * sum(map(len, words)))
    return best if enough and different >= _LEAST_DIFFERENT else None


def _foreign(text: str, words: list[str], hits: Counter[str], best: str | None) -> str | None:
    """Return the language of a document that is clearly in another one; "" if it is not known."""
    own = _by_script(text)
    most = max(hits, key=lambda code: hits[code], default="")
    if _is_latin(best):
        other = len(_NOT_LATIN.findall(text))
        if other >= max(_CLEAR_LETTERS, _LEAST_OF_SCRIPT * sum(map(str.isalpha, text))):
            return own or ("" if _is_latin(most) else most)
    elif own is not None:
        short = (own, best) == ("zh", "ja") and len(text) < _KANA_WITHIN
        return None if own == best or short else own
    different = sum(most in _languages_with(word) for word in set(words))
    clearly = different >= _CLEAR_DIFFERENT and hits[most] >= _CLEAR_SHARE * len(words)
    return most if best and clearly and hits[best] < hits[most] / 2 else None


def _is_latin(language: str | None) -> bool:
    """Return whether a language has Latin letters, as has text of which nothing is known."""
    return not language or _LATIN.search(FREQUENT.get(language, "-")) is not None


def peek(texts: Iterable[str]) -> tuple[list[str], Iterable[str]]:
    """Return the documents by which a language is recognised, and all documents."""
    remaining = iter(texts)
    sample = list(islice(remaining, SAMPLE))
    documents = chain(sample, remaining) if remaining is texts else texts
    return [text for text in sample if isinstance(text, str)], documents


def _languages_with(word: str) -> tuple[str, ...]:
    return _LANGUAGES_WITH.get(word, ())


def _by_script(text: str) -> str | None:
    """Return the language to which the script of most letters belongs, if it is the only one."""
    if text.isascii():
        return None
    letters = sum(map(str.isalpha, text))
    found = {code: len(script.findall(text)) for code, script in _OF_SCRIPT.items()}
    kana = found.pop("kana")
    east = found.pop("han") + kana
    found["ja" if kana > _LEAST_KANA * east else "zh"] = east
    best = min(found, key=lambda code: (-found[code], code))
    return best if found[best] > _LEAST_OF_SCRIPT * letters else None
