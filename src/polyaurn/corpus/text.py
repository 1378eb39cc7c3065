"""Texts, and lists of tokens, to counts of words."""

import unicodedata
from collections.abc import Callable, Iterable, Sized
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked
from polyaurn.corpus.english import without_contractions
from polyaurn.corpus.html import text_of
from polyaurn.corpus.patterns import TERMS, expression
from polyaurn.corpus.phrases import Joiner, segments
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.corpus.word_filter import WordFilter, stop_set

Counts = tuple[sp.csr_matrix, list[str]]  # documents by words, and the words


def count_words(
    texts: Iterable[str],
    tokenization: Tokenization,
    *,
    empty: bool = False,
    words: WordFilter | None = None,
) -> Counts:
    """Count the words of texts with scikit-learn's CountVectorizer.

    Return a CSR matrix, documents by words, and the words in alphabetical order. With `empty`, it
    is no error if no text has any word. A filter that is given remembers the words left out.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if isinstance(texts, str):
        raise InputError(
            "The 'texts' parameter must be several strings, one for each document. Got a single "
            "string instead; put it in a list, or use polyaurn.read_corpus for a file."
        )
    cut = cutter(tokenization, filter_of(tokenization) if words is None else words)
    vectorizer = CountVectorizer(
        tokenizer=cut,
        token_pattern=None,
        ngram_range=tokenization.ngram_range,
        lowercase=tokenization.lowercase,
        strip_accents=tokenization.strip_accents,
    )
    return _count(vectorizer, plain_texts(texts, tokenization), empty)


def filter_of(tokenization: Tokenization) -> WordFilter:
    """Return a new filter, which leaves out stop words, and numbers where the pattern does."""
    numbers = tokenization.token_pattern != TERMS or tokenization.tokenizer is not None
    return WordFilter(filter_stop_words(tokenization), numbers=numbers)


def filter_stop_words(tokenization: Tokenization) -> frozenset[str]:
    """Return the stop words in the Unicode form of the texts."""
    form = tokenization.normalization
    return frozenset(_in_form(word, form) for word in stop_set(tokenization.stop_words))


def plain_texts(texts: Iterable[str], tokenization: Tokenization) -> Iterable[str]:
    """Return texts without tags and in one Unicode form, with contractions folded."""
    form, tokenizer = tokenization.normalization, tokenization.tokenizer
    fold = tokenizer is None and tokenization.token_pattern == TERMS
    for text in _strings(texts):
        plain = _in_form(text_of(text) if tokenization.html else text, form)
        yield without_contractions(plain) if fold else plain


def cutter(tokenization: Tokenization, words: WordFilter) -> Callable[[str], list[str]]:
    """Return a function from a text to the tokens that are counted."""
    tokenization.check_usable()
    tokenize = tokenizer_of(tokenization)
    if not tokenization.phrases:
        return lambda text: words(tokenize(text))
    join = Joiner(tokenization.phrases)
    whole = tokenization.tokenizer is not None

    def cut(text: str) -> list[str]:
        parts = [text] if whole else segments(text)
        return words(token for part in parts for token in join(tokenize(part)))

    return cut


def tokenizer_of(tokenization: Tokenization) -> Callable[[str], list[str]]:
    """Return a function from a text to all its tokens."""
    from sklearn.feature_extraction.text import CountVectorizer

    if tokenization.tokenizer is not None:
        tokenizer = tokenization.tokenizer
        return lambda text: list(tokenizer(text))
    pattern = expression(tokenization.token_pattern)
    try:
        found: Callable[[str], list[str]] = CountVectorizer(token_pattern=pattern).build_tokenizer()
    except ValueError as error:
        raise InputError(f"The texts could not be counted: {str(error).rstrip('.')}.") from None
    return found


def count_tokens(documents: Iterable[Iterable[str]], *, empty: bool = False) -> Counts:
    """Count tokens as they are given, one list for each document; see `count_words`."""
    from sklearn.feature_extraction.text import CountVectorizer

    return _count(CountVectorizer(analyzer=_same), _token_lists(documents), empty)


def is_token_lists(X: Any) -> bool:
    """Return whether something is a sequence of documents, each a list of strings."""
    if isinstance(X, str | dict) or len(getattr(X, "shape", (0,))) != 1:
        return False
    if not isinstance(X, Iterable):
        return False
    items = list(X)
    if not all(isinstance(item, list | tuple | np.ndarray) for item in items):
        return False
    return any(isinstance(token, str) for item in items for token in item[:1])


def _count(vectorizer: Any, documents: Iterable[Any], empty: bool) -> Counts:
    documents = list(documents) if empty else documents
    try:
        matrix = vectorizer.fit_transform(documents)
    except InputError:
        raise
    except ValueError as error:
        if "empty vocabulary" in str(error):
            if isinstance(documents, list):
                return sp.csr_matrix((len(documents), 0), dtype=np.int64), []
            raise InputError(
                "The texts must hold at least one word after tokenisation and stop words. Got "
                "none; check that the right column is read, and stop_words and token_pattern."
            ) from None
        raise InputError(f"The texts could not be counted: {str(error).rstrip('.')}.") from None
    return matrix, vectorizer.get_feature_names_out().tolist()


def _same(document: Iterable[str]) -> Iterable[str]:
    return document


def _in_form(text: str, form: Any) -> str:
    """Return a text in a Unicode form; None leaves it as it is."""
    if form is None or text.isascii() or unicodedata.is_normalized(form, text):
        return text
    return unicodedata.normalize(form, text)


def _strings(texts: Iterable[Any]) -> Iterable[str]:
    for d, text in enumerate(_tracked(texts)):
        if not isinstance(text, str):
            listed = isinstance(text, list | tuple)
            remedy = "use Corpus.from_tokens" if listed else "replace missing texts by ''"
            raise InputError(
                f"The 'texts' parameter must hold strings. Got {type(text).__name__} "
                f"({text!r:.40}) at document {d}; {remedy}."
            )
        yield text


def _token_lists(documents: Iterable[Any]) -> Iterable[list[str]]:
    for d, document in enumerate(_tracked(documents)):
        if isinstance(document, str) or not isinstance(document, Iterable):
            raise InputError(
                "The 'documents' parameter must hold lists of tokens. Got "
                f"{type(document).__name__} ({document!r:.40}) at document {d}; for texts use "
                "Corpus.from_texts."
            )
        tokens = list(document)
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(
                    "The 'documents' parameter must hold tokens that are strings. Got "
                    f"{token!r:.40} at document {d}; convert it, or drop it."
                )
        yield tokens


def _tracked(documents: Iterable[Any]) -> Iterable[Any]:
    total = len(documents) if isinstance(documents, Sized) else None
    if total is None:
        return documents
    return tracked(documents, "counting words of documents", total)
