"""The corpus as the compiled kernels read it: derived once, the same for any number of threads.

Besides the documents' own order, tokens are listed word by word, so that counting needs no
matrix of K by V. Work is cut into ranges of nearly equal token counts whose bounds depend on
the corpus alone.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from polyaurn.corpus import Corpus
from polyaurn.errors import InputError
from polyaurn.state import I32, I64, U32

WORD_RANGES = 64  # enough to keep 16 threads even
LEAST_WORK = 1024  # words and tokens that are worth a range of their own
TOKENS_A_RANGE = 16_384  # of documents: some milliseconds of work
MAX_TOKENS = 2**32 - 1


class Layout(NamedTuple):
    """Arrays that every sweep reads and none changes."""

    doc_ptr: I64
    word: I32
    word_ptr: I64  # tokens of word v are token[word_ptr[v]:word_ptr[v + 1]]
    token: U32
    doc_ranges: I64  # bounds of ranges of documents
    word_ranges: I64  # bounds of ranges of words
    n_words: int
    n_topics: int


def make_layout(corpus: Corpus, n_topics: int) -> Layout:
    """Derive the layout of a corpus for a number of topics.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    n_topics : int
        K.

    Returns
    -------
    Layout
        What kernels take in place of the corpus.
    """
    N, V = corpus.n_tokens, corpus.n_words
    if N > MAX_TOKENS:
        raise InputError(
            f"The corpus must have fewer than 2**32 tokens to be trained on one machine. "
            f"Got {N:,} instead; raise min_count or lower max_doc_fraction, or sample documents."
        )
    word_ptr = np.zeros(V + 1, np.int64)
    np.cumsum(np.bincount(corpus.word, minlength=V), out=word_ptr[1:])
    token = np.empty(N, np.uint32)
    _tokens_by_word(corpus.word, word_ptr[:-1].copy(), token)
    return Layout(
        doc_ptr=corpus.doc_ptr,
        word=corpus.word,
        word_ptr=word_ptr,
        token=token,
        doc_ranges=even_ranges(corpus.doc_ptr, -(-N // TOKENS_A_RANGE)),
        word_ranges=even_ranges(
            word_ptr + np.arange(V + 1), min(WORD_RANGES, 1 + (N + V) // LEAST_WORK)
        ),
        n_words=V,
        n_topics=n_topics,
    )


def even_ranges(ptr: I64, n_ranges: int) -> I64:
    """Cut items with cumulative sizes `ptr` into at most `n_ranges` ranges of similar size."""
    goals = np.linspace(ptr[0], ptr[-1], max(1, n_ranges) + 1)[1:-1]
    inner = np.searchsorted(ptr, goals)
    return np.unique(np.concatenate(([0], inner, [len(ptr) - 1]))).astype(np.int64)


@njit(nogil=True, cache=True)
def _tokens_by_word(word, place, token):
    for i in range(len(word)):
        v = word[i]
        token[place[v]] = i
        place[v] += 1
