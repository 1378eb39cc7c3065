"""Stop words by language: our own list for English, those of `stopwordsiso` for the others.

For some languages function words are added that those lists lack. They are in `function_words`, by
part of speech; Chinese, Japanese and Thai ones as the segmenters give them.
"""

import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from polyaurn.corpus.english import EXTENDED

ENGLISH = "english"  # what scikit-learn calls its list
_FUNCTION_WORDS = Path(__file__).parent / "function_words"  # one file for each language
_JOINED = {"ar": "وف"}  # "and" and "so", which are written as one word with the next
_READ_ONLY = "PYTHAINLP_READ_ONLY"
_BROKEN_AM, _AM = "\u0e4d\u0e32", "\u0e33"  # a Thai vowel in two characters, and in one


@cache
def stop_words_of(language: str | None) -> str | tuple[str, ...]:
    """Return the stop words of a language in alphabetical order; those of English by name."""
    if language in (None, "en"):
        return EXTENDED
    import stopwordsiso

    words = set(stopwordsiso.stopwords(str(language))) | function_words(str(language))
    if language == "th" and find_spec("pythainlp") is not None:
        with nothing_written():
            from pythainlp.corpus import thai_stopwords

            words |= thai_stopwords()
    plain = {in_usual_form(word) for word in words if not any(map(str.isspace, word))}
    return tuple(sorted(word for word in plain if any(map(str.isalnum, word))))


def function_words(language: str) -> set[str]:
    """Return the words of a file in `function_words`, none where there is no file."""
    path = _FUNCTION_WORDS / f"{language}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {word for line in lines if not line.startswith("#") for word in line.split()}
    long = [word for word in found if len(word) > 2]  # shorter ones would make nouns
    return found | {f"{before}{word}" for before in _JOINED.get(language, "") for word in long}


@contextmanager
def nothing_written() -> Iterator[None]:
    """Keep PyThaiNLP from making a folder in the user's home when it is imported."""
    if any(name in os.environ for name in (_READ_ONLY, "PYTHAINLP_READ_MODE")):
        yield
        return
    os.environ[_READ_ONLY] = "1"
    try:
        yield
    finally:
        del os.environ[_READ_ONLY]


def in_usual_form(text: str) -> str:
    """Return text in the Unicode form NFC, and with the Thai vowel sara am as one character."""
    return unicodedata.normalize("NFC", text).replace(_BROKEN_AM, _AM)
