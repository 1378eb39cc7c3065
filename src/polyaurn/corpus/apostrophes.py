"""Marks inside words that look like quotation marks: they are made letters, or end the word.

French and Italian elisions ("l'homme") are two words and are left as they are; contractions of
English are left to `english.without_contractions`.
"""

import re

APOSTROPHE, GERESH, GERSHAYIM = "\u02bc", "\u05f3", "\u05f4"  # of which only the first is a `\w`
_SINGLE = "['\u2019\u02bc\u00b4`]"
_DOUBLE = '["\u201c\u201d]'
_CYRILLIC, _HEBREW = "[\u0400-\u052f]", "[\u05d0-\u05ea]"
_IN_CYRILLIC = re.compile(f"(?<={_CYRILLIC}){_SINGLE}(?={_CYRILLIC})")
_GERESH = re.compile(f"(?<=[גדזחטסעצתר]){_SINGLE}(?={_HEBREW})")  # letters that it changes
_GERSHAYIM = re.compile(  # before at most three letters; more, or a second mark, are a quotation
    f"(?<={_HEBREW}){_DOUBLE}(?={_HEBREW}{{1,3}}(?!{_HEBREW}|{_DOUBLE}))"
)
_SMALL = "a-zçğıöşüâîû"
_SUFFIX = re.compile(  # after one letter only small ones: of "R'de", not of "O'Neill"
    rf"(?:(?<=\w\w)|(?<=\d)|(?<=\w)(?=.[{_SMALL}])){_SINGLE}(?![aA][nN]\b)\w+"
)
_IN_TURKISH = re.compile(rf"(?<=\w){_SINGLE}(?=\w)")


def with_whole_words(text: str, language: str | None) -> str:
    """Return a text whose words are not torn at apostrophes, geresh and gershayim.

    Between two Cyrillic letters an apostrophe is a letter, and so are geresh and gershayim between
    Hebrew ones. In Turkish, the suffixes of names and numbers are left out; the apostrophe of
    "Kur'an" and of "O'Neill" begins none.

    Examples
    --------
    >>> with_whole_words("комп'ютер", "uk"), with_whole_words("Türkiye'nin", "tr")
    ('компʼютер', 'Türkiye')
    >>> with_whole_words("l'homme", "fr")
    "l'homme"
    """
    if language == "tr":
        return _IN_TURKISH.sub(APOSTROPHE, _SUFFIX.sub("", text))
    if text.isascii():
        return text
    text = _IN_CYRILLIC.sub(APOSTROPHE, text)
    return _GERSHAYIM.sub(GERSHAYIM, _GERESH.sub(GERESH, text))
