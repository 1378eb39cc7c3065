"""How text is cut: what is done to it first, its tokens, and which of them are counted."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sized
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked
from polyaurn.corpus.apostrophes import with_whole_words
from polyaurn.corpus.english import without_contractions
from polyaurn.corpus.html import text_of
from polyaurn.corpus.patterns import TERMS, expression
from polyaurn.corpus.phrases import Joiner, stretches
from polyaurn.corpus.segmenters import spaced
from polyaurn.corpus.stems import Tally, stemmer_of
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.corpus.word_filter import WordFilter, stop_set

_DOTTED = str.maketrans({"İ": "i", "I": "ı"})  # small letters in Turkish


def plain_texts(texts: Iterable[str], rules: Tokenization) -> Iterable[str]:
    """Return texts as they are cut: no tags, one Unicode form, blanks between all words."""
    own = rules.tokenizer is None
    fold = own and rules.token_pattern == TERMS
    turkish = rules.lowercase and rules.language == "tr"
    put_blanks = spaced(rules.language) if own else None
    for text in strings(texts):
        plain = in_form(text_of(text) if rules.html else text, rules.normalization)
        plain = plain.translate(_DOTTED) if turkish else plain
        if fold:
            plain = with_whole_words(without_contractions(plain), rules.language)
        yield put_blanks(plain) if put_blanks else plain


def cutter(rules: Tokenization, words: WordFilter, tally: Tally) -> Callable[[str], list[str]]:
    """Return a function from a text to the tokens that are counted.

    Where words are stemmed, it counts the forms of each stem in `tally`.
    """
    rules.check_usable()
    tokenize, stretched = tokenizer_of(rules), stretches_of(rules)
    join = Joiner(rules.phrases) if rules.phrases else None
    stem = stemmer_of(rules.language) if rules.stem else None

    def cut(text: str) -> list[str]:
        if join is None:
            tokens = words(tokenize(text))
        else:
            tokens = words(token for part in stretched(text) for token in join(part))
        if stem is None:
            return tokens
        stems = [stem(token) for token in tokens]
        for found, token in zip(stems, tokens, strict=True):
            tally.setdefault(found, Counter())[token] += 1
        return stems

    return cut


def tokenizer_of(rules: Tokenization) -> Callable[[str], list[str]]:
    """Return a function from a text to all its tokens."""
    from sklearn.feature_extraction.text import CountVectorizer

    if rules.tokenizer is not None:
        tokenizer = rules.tokenizer
        return lambda text: list(tokenizer(text))
    try:
        vectorizer = CountVectorizer(token_pattern=_pattern_of(rules))
        found: Callable[[str], list[str]] = vectorizer.build_tokenizer()
    except ValueError as error:
        raise InputError(f"The texts could not be counted: {str(error).rstrip('.')}.") from None
    if rules.token_pattern != TERMS:
        return found
    return lambda text: list(filter(None, map(_without_underlines, found(text))))


def stretches_of(rules: Tokenization) -> Callable[[str], list[list[str]]]:
    """Return a function from a text to the tokens of its stretches, which no phrase crosses."""
    if rules.tokenizer is not None:
        tokenizer = rules.tokenizer
        return lambda text: [list(tokenizer(text))]
    find = re.compile(_pattern_of(rules))
    whole = _without_underlines if rules.token_pattern == TERMS else str
    return lambda text: stretches(text, find, whole)


def _pattern_of(rules: Tokenization) -> str:
    """Return the expression of a word; the Japanese segmenter decides which letters are words."""
    return expression(rules.token_pattern, single=rules.language == "ja")


def _without_underlines(token: str) -> str:
    """Return the word of "_not_", which is emphasised; nothing of "_a_"."""
    if "_" not in token:
        return token
    plain = token.strip("_")
    return plain if len(plain) > 1 else ""


def filter_of(rules: Tokenization) -> WordFilter:
    """Return a new filter for stop words, and for numbers and long words where `TERMS` is meant."""
    all_kinds = rules.token_pattern != TERMS or rules.tokenizer is not None
    return WordFilter(filter_stop_words(rules), all_kinds=all_kinds)


def filter_stop_words(rules: Tokenization) -> frozenset[str]:
    """Return the stop words as they are found in texts; those that are cut, also in pieces."""
    stop = frozenset(
        with_whole_words(in_form(word, rules.normalization), rules.language)
        for word in stop_set(rules.stop_words)
    )
    if rules.language in (None, "en") or rules.tokenizer is not None:
        return stop
    tokenize = tokenizer_of(rules)
    return stop | {piece for word in stop for piece in tokenize(word)}


def in_form(text: str, form: Any) -> str:
    """Return a text in a Unicode form; None leaves it as it is."""
    if form is None or text.isascii() or unicodedata.is_normalized(form, text):
        return text
    return unicodedata.normalize(form, text)


def strings(texts: Iterable[Any]) -> Iterable[str]:
    """Yield texts, with progress; raise an error at something else."""
    for d, text in enumerate(in_view(texts)):
        if not isinstance(text, str):
            listed = isinstance(text, list | tuple)
            remedy = "use Corpus.from_tokens" if listed else "replace missing texts by ''"
            raise InputError(
                f"The 'texts' parameter must hold strings. Got {type(text).__name__} "
                f"({text!r:.40}) at document {d}; {remedy}."
            )
        yield text


def in_view(documents: Iterable[Any]) -> Iterable[Any]:
    """Return documents; if their number is known, progress is reported as they are taken."""
    total = len(documents) if isinstance(documents, Sized) else None
    if total is None:
        return documents
    return tracked(documents, "counting words of documents", total)
