"""New documents in the words of a model: what it knows of them, and what is left out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import I32, I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus, as_corpus
from polyaurn.corpus.names import Numbered

MOST_UNKNOWN = 0.9  # share of tokens


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


def freeze(doc_ptr: Any, word: Any, unknown: I64, doc_names: Sequence[str]) -> Known:
    """Return documents with read-only arrays, as in a corpus, so that kernels compile once."""
    ptr, words = np.array(doc_ptr, np.int64), np.asarray(word, np.int32).view()
    ptr.flags.writeable = words.flags.writeable = False
    return Known(ptr, words, unknown, doc_names)


def in_words_of(vocab: tuple[str, ...], X: Any) -> Known:
    """Return documents in the words of a vocabulary; tokens of other words are only counted.

    A matrix without column names has the vocabulary in its columns. Strings are split into words
    with the default options, and into n-grams where the vocabulary has them.
    """
    V = len(vocab)
    matrix = sp.issparse(X) or (hasattr(X, "ndim") and X.ndim == 2)
    if matrix and not hasattr(X, "columns"):
        if X.shape[1] != V:
            raise InputError(
                f"The 'X' parameter must have a column for each of the model's {V:,} words. Got "
                f"{X.shape[1]:,} columns; give a Corpus, whose words are looked up by name."
            )
        if not np.count_nonzero(X.data if sp.issparse(X) else X):
            return _no_words(X.shape[0])
        corpus = Corpus.from_matrix(X, vocab)
    elif not isinstance(X, str | Corpus) and len(X) and _all_strings(X):
        texts = list(X)
        try:
            corpus = Corpus.from_texts(texts, **cut_of(vocab))
        except InputError:  # not a word in any of them
            return _no_words(len(texts))
    else:
        corpus = as_corpus(X)
    if corpus.vocab is vocab or corpus.vocab == vocab:
        unknown = np.zeros(corpus.n_documents, np.int64)
        return freeze(corpus.doc_ptr, corpus.word, unknown, corpus.doc_names)
    number = {word: v for v, word in enumerate(vocab)}
    word = np.array([number.get(word, -1) for word in corpus.vocab], np.int32)[corpus.word]
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
    known = word >= 0
    share = 1.0 - known.mean() if len(known) else 0.0
    if share > MOST_UNKNOWN:
        raise InputError(
            f"The documents must share words with the model. Got {share:.1%} of tokens that it "
            "does not know; is this the model of another language, or are words cut differently?"
        )
    unknown = np.bincount(document[~known], minlength=corpus.n_documents)
    order = np.lexsort((word[known], document[known]))  # words in increasing order again
    tokens = np.bincount(document[known], minlength=corpus.n_documents)
    doc_ptr = np.concatenate(([0], np.cumsum(tokens))).astype(np.int64)
    return freeze(doc_ptr, word[known][order], unknown.astype(np.int64), corpus.doc_names)


def _no_words(n_documents: int) -> Known:
    ptr, nothing = np.zeros(n_documents + 1, np.int64), np.zeros(n_documents, np.int64)
    return freeze(ptr, np.empty(0, np.int32), nothing, Numbered(n_documents))


def _all_strings(X: Any) -> bool:
    return not isinstance(X, dict) and hasattr(X, "__iter__") and all(isinstance(x, str) for x in X)


def cut_of(vocab: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of `Corpus.from_texts` that fit a vocabulary."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    longest = max(word.count(" ") for word in vocab) + 1
    knows_stop_words = not ENGLISH_STOP_WORDS.isdisjoint(vocab)
    return {
        "ngram_range": (1, longest),
        "stop_words": None if knows_stop_words else "english",
    }


def note_of_unknown(known: Known) -> str | None:
    """Return what users should know about words that were left out and documents without any."""
    notes = []
    lost, all_tokens = int(known.unknown.sum()), int(known.unknown.sum() + known.tokens.sum())
    if lost:
        notes.append(
            f"{lost:,} of {all_tokens:,} tokens ({lost / all_tokens:.1%}) are of words that the "
            "model does not know, and were left out"
        )
    empty = int((known.tokens == 0).sum())
    if empty:
        notes.append(
            f"{empty:,} of {len(known.tokens):,} documents have no word that the model knows; they "
            "have the prior's mixture"
        )
    return "; ".join(notes) + "." if notes else None
