"""Stop words by language: scikit-learn's for English, those of `stopwordsiso` for the others."""

import unicodedata
from functools import cache
from importlib.util import find_spec

ENGLISH = "english"  # what scikit-learn calls its list
_MORE = {  # verbs and adjectives of Japanese that say little, in their dictionary forms
    "ja": "行う 行なう 言う 思う 来る くる 行く いく 見る みる やる くれる もらう しまう "
    "いただく くださる おく ない よい 良い いい 多い なさる 自分 "
    "方 人 中 前 後 上 今 今日 昨日 明日 毎日 とても",
}
_BROKEN_AM, _AM = "\u0e4d\u0e32", "\u0e33"  # a Thai vowel in two characters, and in one


@cache
def stop_words_of(language: str | None) -> str | tuple[str, ...]:
    """Return the stop words of a language in alphabetical order; those of English by name."""
    if language in (None, "en"):
        return ENGLISH
    import stopwordsiso

    words = set(stopwordsiso.stopwords(str(language))) | set(_MORE.get(str(language), "").split())
    if language == "th" and find_spec("pythainlp") is not None:
        from pythainlp.corpus import thai_stopwords

        words |= thai_stopwords()
    plain = {in_usual_form(word) for word in words if not any(map(str.isspace, word))}
    return tuple(sorted(word for word in plain if any(map(str.isalnum, word))))


def in_usual_form(text: str) -> str:
    """Return text in the Unicode form NFC, and with the Thai vowel sara am as one character."""
    return unicodedata.normalize("NFC", text).replace(_BROKEN_AM, _AM)
