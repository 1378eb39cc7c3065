"""Stop words by language: our own list for English, those of `stopwordsiso` for the others."""

import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from polyaurn.corpus.english import EXTENDED

ENGLISH = "english"  # what scikit-learn calls its list
_MORE = {  # that the lists lack; Japanese and Chinese as the segmenters give them
    "ar": "لأن رغم قرب عبر أخرى آخر جدا أيضا هناك هنا كانوا يكون تكون وهو وهي ولا وفي ومن وقد وكان "
    "وكانت إنه أنه أنها يقول قالت وقال مثل أكثر لقد",
    "de": "obwohl sowie trotz sei seien wurde wurden worden sagen sagte sagt beim etwa bzw",
    "fr": "faut y autour loin dit disent très lors ainsi chez",
    "hi": "मैं हम हमने हमें हमारे हमारी तुम उसने उन्होंने मैंने हर दी लिया लेता ले जाता जाती जाते गई गए "
    "करती दोनों क्योंकि हालाँकि हालांकि रही थीं कब क्यों कैसे कहाँ क्या सब बारे पास अब ऐसा ऐसी वाला "
    "वाली दे देता देते दिए होगा होगी होंगे चाहिए सकती बीच तथा बल्कि हूँ हूं मेरा मेरी मेरे बताते बात ज़्यादा "
    "ज्यादा तथा लेकर उसका उसकी इसलिए हमारा आपका आपके करके बाकी",
    "ja": "行う 行なう 言う 思う 来る くる 行く いく 見る みる やる くれる もらう しまう いただく "
    "くださる おく ない よい 良い いい 多い なさる 自分 方 人 中 前 後 上 今 今日 昨日 明日 毎日 "
    "とても あと 時 間 際 近く 一緒 みんな 皆 それから",
    "zh": "非常 以后 后来 最后 一点 已经 可能 没有 现在 时候 这样 因为 虽然 但是 还是 一直 觉得 "
    "知道 表示 认为 进行 通过 目前 其实 比较 今天 昨天 不会 不能 很多 一下 有点 真的 特别 "
    "需要 以前 起来",
}
_READ_ONLY = "PYTHAINLP_READ_ONLY"
_BROKEN_AM, _AM = "\u0e4d\u0e32", "\u0e33"  # a Thai vowel in two characters, and in one


@cache
def stop_words_of(language: str | None) -> str | tuple[str, ...]:
    """Return the stop words of a language in alphabetical order; those of English by name."""
    if language in (None, "en"):
        return EXTENDED
    import stopwordsiso

    words = set(stopwordsiso.stopwords(str(language))) | set(_MORE.get(str(language), "").split())
    if language == "th" and find_spec("pythainlp") is not None:
        with nothing_written():
            from pythainlp.corpus import thai_stopwords

            words |= thai_stopwords()
    plain = {in_usual_form(word) for word in words if not any(map(str.isspace, word))}
    return tuple(sorted(word for word in plain if any(map(str.isalnum, word))))


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
