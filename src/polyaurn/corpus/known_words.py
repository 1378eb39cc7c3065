"""New documents in the words of a model: what it knows of them, and what is left out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import I32, I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import check_counts, document_pieces
from polyaurn.corpus.columns import listed
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.cutter import filter_stop_words
from polyaurn.corpus.inputs import as_corpus
from polyaurn.corpus.names import Numbered, index_names
from polyaurn.corpus.text import count_tokens, count_words, is_token_lists
from polyaurn.corpus.tokenization import Tokenization, tokenization_for

MUCH_UNKNOWN = 0.5  # share of tokens or of documents above which users are warned
FOREIGN = 0.8  # share of tokens: rare words are fewer, even where training had few documents


class Known(NamedTuple):
    """Documents in the words of a vocabulary; `freeze` makes one."""

    doc_ptr: I64
    word: I32
    unknown: I64  # tokens of each document that the vocabulary lacks
    doc_names: Sequence[str]

    @property
    def tokens(self) -> I64:
        """Tokens of each document that are known."""
        return np.diff(self.doc_ptr)

    @property
    def unknown_share(self) -> float:
        """Share of all tokens that are not known; 0 where there are none."""
        lost = int(self.unknown.sum())
        return lost / (lost + len(self.word)) if lost else 0.0


class NamedCounts(NamedTuple):
    """Counts whose columns are words, not necessarily those of a model."""

    matrix: sp.csr_matrix
    words: Sequence[str]
    doc_names: Sequence[str] = ()


def freeze(doc_ptr: Any, word: Any, unknown: I64, doc_names: Sequence[str]) -> Known:
    """Return documents with read-only arrays, as in a corpus, so that kernels compile once."""
    ptr, words = np.array(doc_ptr, np.int64), np.asarray(word, np.int32).view()
    ptr.flags.writeable = words.flags.writeable = False
    return Known(ptr, words, unknown, doc_names)


def in_words_of(vocab: tuple[str, ...], X: Any, tokenization: Tokenization | None = None) -> Known:
    """Return documents in the words of a vocabulary; tokens of other words are only counted.

    A matrix without column names has the vocabulary in its columns. Strings are cut as
    `tokenization` says; without it, as fits the vocabulary. Its stop words are left out as in
    training and are not counted, however the documents were cut.
    """
    stop = frozenset[str]() if tokenization is None else filter_stop_words(tokenization)
    if isinstance(X, NamedCounts):
        return _look_up_counts(vocab, X, stop)
    if isinstance(X, Corpus):
        return _look_up(vocab, X.doc_ptr, X.word, X.vocab, X.doc_names, stop)
    X = listed(X, "X", counts=True)
    if sp.issparse(X) or (hasattr(X, "ndim") and X.ndim == 2 and not hasattr(X, "columns")):
        return _in_columns(vocab, X)
    if not isinstance(X, str) and len(X) and _all_strings(X):
        rule = tokenization or tokenization_for(vocab)
        return _look_up_counts(
            vocab, NamedCounts(*count_words(list(X), rule, empty=True), index_names(X))
        )
    if is_token_lists(X):
        counts = NamedCounts(*count_tokens(X, empty=True), index_names(X))
        return _look_up_counts(vocab, counts, stop)
    corpus = as_corpus(X)
    return _look_up(vocab, corpus.doc_ptr, corpus.word, corpus.vocab, corpus.doc_names, stop)


def _in_columns(vocab: tuple[str, ...], X: Any) -> Known:
    """Return the documents of a matrix whose columns are the vocabulary."""
    if X.shape[1] != len(vocab):
        raise InputError(
            f"The 'X' parameter must have a column for each of the model's {len(vocab):,} words. "
            f"Got {X.shape[1]:,} columns; give a Corpus, whose words are looked up by name."
        )
    if not np.count_nonzero(X.data if sp.issparse(X) else X):
        return _look_up_counts(vocab, NamedCounts(sp.csr_matrix(X.shape, dtype=np.int64), vocab))
    corpus = Corpus.from_matrix(X, vocab)
    return _look_up(vocab, corpus.doc_ptr, corpus.word, corpus.vocab, corpus.doc_names)


def _look_up_counts(
    vocab: tuple[str, ...], counts: NamedCounts, stop: frozenset[str] = frozenset()
) -> Known:
    matrix, words, names = counts
    check_counts(matrix)
    matrix = matrix.copy()
    matrix.sum_duplicates()  # sorts: a document's tokens are in increasing order of word
    data = matrix.data.astype(np.int64)
    ends = np.concatenate(([0], np.cumsum(data)))
    word = np.repeat(matrix.indices, data)
    names = names or Numbered(matrix.shape[0])
    return _look_up(vocab, ends[matrix.indptr], word, words, names, stop)


def _look_up(
    vocab: tuple[str, ...],
    doc_ptr: Any,
    word: Any,
    words: Sequence[str],
    names: Sequence[str],
    stop: frozenset[str] = frozenset(),
) -> Known:
    """Return documents whose tokens are numbers of `words` as documents of a vocabulary.

    Stop words are not counted as unknown. Where the vocabulary has n-grams, neither are others:
    their words are known.
    """
    n_documents = len(doc_ptr) - 1
    if words is vocab or tuple(words) == vocab:
        return freeze(doc_ptr, word, np.zeros(n_documents, np.int64), names)
    number = {word: v for v, word in enumerate(vocab)}
    theirs = np.array([number.get(word, -1) for word in words], np.int32)
    lost = theirs < 0
    if any(" " in word for word in vocab):
        lost &= ~np.array([" " in word for word in words], bool)
    if stop:
        lost &= ~np.array([word in stop for word in words], bool)
    tokens, unknown = np.zeros((2, n_documents), np.int64)
    parts = []
    for lo, hi in document_pieces(doc_ptr):
        here, n = word[doc_ptr[lo] : doc_ptr[hi]], hi - lo
        document = np.repeat(np.arange(n), np.diff(doc_ptr[lo : hi + 1]))
        unknown[lo:hi] = np.bincount(document[lost[here]], minlength=n)
        known = theirs[here] >= 0
        tokens[lo:hi] = np.bincount(document[known], minlength=n)
        new = theirs[here[known]]
        parts.append(new[np.lexsort((new, document[known]))])  # words in increasing order again
    ptr = np.concatenate(([0], np.cumsum(tokens)))
    return freeze(ptr, np.concatenate([np.empty(0, np.int32), *parts]), unknown, names)


def _all_strings(X: Any) -> bool:
    return not isinstance(X, dict) and hasattr(X, "__iter__") and all(isinstance(x, str) for x in X)


def note_of_unknown(known: Known, *, only_if_much: bool = False) -> str | None:
    """Return what users should know about words that were left out and documents without any.

    With `only_if_much`, only where more than `MUCH_UNKNOWN` of the tokens are not known, or more
    than that share of the documents have no known word.
    """
    notes = []
    lost, all_tokens = int(known.unknown.sum()), int(known.unknown.sum() + known.tokens.sum())
    empty = int((known.tokens == 0).sum())
    much = known.unknown_share > MUCH_UNKNOWN or empty > MUCH_UNKNOWN * len(known.tokens)
    if only_if_much and not much:
        return None
    if lost:
        notes.append(
            f"{lost:,} of {all_tokens:,} tokens ({lost / all_tokens:.1%}) are of words that the "
            "model does not know, new ones or ones too rare or too frequent in training, and were "
            "left out"
        )
    if empty:
        notes.append(
            f"{empty:,} of {len(known.tokens):,} documents have no word that the model knows, and "
            "get the prior's mixture"
        )
    note = "; ".join(notes) + "." if notes else None
    if note and known.unknown_share > FOREIGN:
        note += " Is this the model of another language, or are words cut differently?"
    return note
