"""How text is cut: what is done to it first, its tokens, and which of them are counted."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sized
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked
from polyaurn.corpus.english import without_contractions
from polyaurn.corpus.html import text_of
from polyaurn.corpus.patterns import TERMS, expression
from polyaurn.corpus.phrases import Joiner, segments
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
        plain = without_contractions(plain) if fold else plain
        yield put_blanks(plain) if put_blanks else plain


def cutter(rules: Tokenization, words: WordFilter, tally: Tally) -> Callable[[str], list[str]]:
    """Return a function from a text to the tokens that are counted.

    Where words are stemmed, it counts the forms of each stem in `tally`.
    """
    rules.check_usable()
    tokenize, whole = tokenizer_of(rules), rules.tokenizer is not None
    join = Joiner(rules.phrases) if rules.phrases else None
    stem = stemmer_of(rules.language) if rules.stem else None

    def cut(text: str) -> list[str]:
        if join is None:
            tokens = words(tokenize(text))
        else:
            parts = [text] if whole else segments(text)
            tokens = words(token for part in parts for token in join(tokenize(part)))
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
    # the Japanese segmenter decides which single letters are words
    pattern = expression(rules.token_pattern, single=rules.language == "ja")
    try:
        found: Callable[[str], list[str]] = CountVectorizer(token_pattern=pattern).build_tokenizer()
    except ValueError as error:
        raise InputError(f"The texts could not be counted: {str(error).rstrip('.')}.") from None
    return _without_underlines(found) if rules.token_pattern == TERMS else found


def _without_underlines(tokenize: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return a tokenizer for which "_not_" is an emphasised word."""

    def tokens(text: str) -> list[str]:
        found = tokenize(text)
        if "_" not in text:
            return found
        plain = (token.strip("_") for token in found)
        return [token for token in plain if len(token) > 1]

    return tokens


def filter_of(rules: Tokenization) -> WordFilter:
    """Return a new filter for stop words, and for numbers and long words where `TERMS` is meant."""
    all_kinds = rules.token_pattern != TERMS or rules.tokenizer is not None
    return WordFilter(filter_stop_words(rules), all_kinds=all_kinds)


def filter_stop_words(rules: Tokenization) -> frozenset[str]:
    """Return the stop words as they are found in texts; those that are cut, also in pieces."""
    stop = frozenset(in_form(word, rules.normalization) for word in stop_set(rules.stop_words))
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
