"""Words of languages written without blanks, cut by a package for the language."""

import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.languages import name_of
from polyaurn.corpus.patterns import LEFT_OUT
from polyaurn.corpus.stop_words import in_usual_form, nothing_written, stop_words_of

PACKAGES = {"zh": "jieba", "ja": "janome", "th": "pythainlp", "lo": "", "km": "", "my": ""}
_THAI = re.compile("[\u0e00-\u0e4f\u0e5a-\u0e7f]+")  # without digits, long runs of which take time
_CONSONANT, _TONE = re.compile("[\u0e01-\u0e2e]"), re.compile("[\u0e48-\u0e4b]")
_REPEATED = "\u0e46"  # a mark that a word is said twice
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_OF_GRAMMAR = {"達", "等", "側", "用", "別", "宛", "毎", "風"}  # suffixes: plural, "for", "each"
_WITHOUT_MEANING = {"非自立", "代名詞", "数", "接尾", "特殊", "接続詞的", "引用文字列"}


def check_segmenter(language: str | None) -> None:
    """Raise an error if a language needs a segmenter that is not installed."""
    package = PACKAGES.get(str(language))
    if package is None or (package and find_spec(package)):
        return
    install = (
        f"needs the package {package}. Install it with: pip install 'polyaurn[languages]'; or give"
        if package
        else "no package is known here for. Give"
    )
    raise InputError(
        f"The text is in {name_of(language)}, which has no blanks between words, and cutting it "
        f"{install} a tokenizer in Python (tokenizer=...), or text with blanks between words and "
        "--language none (language=None)."
    )


def spaced(language: str | None) -> Callable[[str], str] | None:
    """Return a function that puts blanks between the words of a text; None if it has them."""
    if language not in PACKAGES:
        return None
    check_segmenter(language)
    cut = {"zh": _chinese, "ja": _japanese, "th": _thai}[str(language)]()
    return lambda text: " ".join(cut(text))


@cache
def _chinese() -> Callable[[str], Iterable[str]]:
    """Return jieba's segmenter, made here: its own would read a cache from a shared folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its import, which is older than Python 3.12
        import jieba

        tokenizer = jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer.cut  # type: ignore[no-any-return]


@cache
def _japanese() -> Callable[[str], Iterable[str]]:
    """Return Janome's analyser; nouns, verbs and adjectives are kept, in dictionary forms."""
    from janome.tokenizer import Tokenizer

    tokenize = Tokenizer().tokenize

    def words(text: str) -> list[str]:
        found: list[str] = []
        after_noun = False
        for token in tokenize(text):
            if after_noun and _makes_a_noun(token):
                found[-1] += token.surface
                continue
            found.append(_counted(token))
            after_noun = _has_meaning(token) and token.part_of_speech.startswith("名詞")
        return found

    return words


def _makes_a_noun(token: Any) -> bool:
    """Return whether a Japanese suffix is part of the noun before it, as in "探査機"."""
    kind = token.part_of_speech.split(",")[1:3]
    makes = kind in (["接尾", "一般"], ["接尾", "サ変接続"]) and _HAN.match(token.surface)
    return bool(makes) and token.surface not in _OF_GRAMMAR


def _counted(token: Any) -> str:
    """Return the dictionary form of a Japanese content word, blanks, or `LEFT_OUT`."""
    if not _has_meaning(token):
        return " " if token.surface.isspace() else LEFT_OUT
    form = token.surface if token.base_form == "*" else token.base_form
    return str(form)


def _has_meaning(token: Any) -> bool:
    """Return whether a Japanese token is a content word, of more than a single kana or letter."""
    kind, detail, *_ = token.part_of_speech.split(",")
    whole = len(token.surface) > 1 or (kind == "名詞" and _HAN.match(token.surface))
    return bool(whole) and kind in ("名詞", "動詞", "形容詞") and detail not in _WITHOUT_MEANING


@cache
def _thai() -> Callable[[str], Iterable[str]]:
    """Return PyThaiNLP's dictionary-based segmenter, whose dictionary comes with it.

    It is given stretches of Thai letters; what is between them stays as it is. Pieces of a word
    that is not in the dictionary are joined, with words of one consonant among them, which are
    rarely words there: a loan word is one word again.
    """
    with nothing_written():
        from pythainlp.corpus import thai_words
        from pythainlp.tokenize import word_tokenize
    known, function = thai_words(), frozenset(stop_words_of("th"))

    def torn(token: str) -> bool:
        return token not in known and token != _REPEATED

    def piece(token: str) -> bool:
        short = len(_CONSONANT.findall(token)) == 1 and not _TONE.search(token)
        return torn(token) or (short and token not in function)

    def words(stretch: re.Match[str]) -> str:
        found: list[str] = []
        for pieces, run in groupby(word_tokenize(stretch[0], engine="newmm"), key=piece):
            tokens = list(run)
            found += ["".join(tokens)] if pieces and any(map(torn, tokens)) else tokens
        return f" {' '.join(found)} "

    return lambda text: [_THAI.sub(words, in_usual_form(text))]
