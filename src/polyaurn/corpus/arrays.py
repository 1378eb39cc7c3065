"""Arrays of a corpus: their checks, and tokens in order."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from polyaurn.base.arrays import I32, I64, release
from polyaurn.base.errors import InputError

PIECE = 1 << 22  # tokens checked at a time, so that checks take little memory


def check_documents(doc_ptr: I64, word: I32, n_words: int) -> None:
    """Raise an error unless documents follow one another and their tokens are words."""
    if doc_ptr.ndim != 1 or len(doc_ptr) < 1 or doc_ptr[0] != 0 or doc_ptr[-1] != len(word):
        raise InputError(
            "The 'doc_ptr' parameter must start at 0 and end at the number of tokens, "
            f"{len(word):,}. Got {doc_ptr[:3]}... instead; see Corpus.from_matrix for an "
            "easier way in."
        )
    falls = doc_ptr[1:] < doc_ptr[:-1]
    if falls.any():
        d = int(np.argmax(falls))
        raise InputError(
            f"The 'doc_ptr' parameter must not decrease. Got {doc_ptr[d]} before "
            f"{doc_ptr[d + 1]} at document {d}; give cumulative document lengths."
        )
    least, most = extremes(word)
    if len(word) and not 0 <= least <= most < n_words:
        bad = least if least < 0 else most
        raise InputError(
            f"The 'word' parameter must hold numbers from 0 to {n_words - 1:,} (the "
            f"vocabulary has {n_words:,} words). Got {bad:,} instead; is the vocabulary "
            "complete?"
        )
    if len(doc_ptr) == 1:
        raise InputError(
            "The corpus must have at least one document. Got none; is the input empty?"
        )
    if not len(word):
        raise InputError(
            f"The corpus must have at least one token. Got {len(doc_ptr) - 1:,} documents "
            "without any word; give counts above 0, or other documents."
        )


def check_counts(csr: sp.csr_matrix) -> None:
    """Raise an error unless a matrix holds whole, non-negative numbers."""
    data = csr.data
    bad = (
        ~((data >= 0) & (data == np.floor(data)) & np.isfinite(data))
        if data.dtype.kind == "f"
        else data < 0
    )
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
        raise InputError(
            "The 'matrix' parameter must hold whole, non-negative counts. Got "
            f"{data[at].item()!r} at row {row}, column {int(csr.indices[at])}; topic models need "
            "counts, not weights such as TF-IDF."
        )


def frozen(word: Any) -> I32:
    """Return a read-only array of int32 as it is, and a copy of anything else."""
    if isinstance(word, np.ndarray) and word.dtype == np.int32 and not word.flags.writeable:
        return word
    return np.array(word, dtype=np.int32)


def extremes(word: I32) -> tuple[int, int]:
    """Return the least word number, or 0, and the largest."""
    least = most = 0
    for lo in range(0, len(word), PIECE):
        piece = word[lo : lo + PIECE]
        least, most = min(least, int(piece.min())), max(most, int(piece.max()))
        release(word)
    return least, most


def occurrences(word: I32, n_words: int) -> I64:
    """Return how often each word occurs, a piece of the tokens at a time."""
    times = np.zeros(n_words, np.int64)
    for lo in range(0, len(word), PIECE):
        times += np.bincount(word[lo : lo + PIECE], minlength=n_words)
        release(word)
    return times


def document_pieces(doc_ptr: I64) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents of about `PIECE` tokens; a longer document is one by itself."""
    lo, D = 0, len(doc_ptr) - 1
    while lo < D:
        hi = int(np.searchsorted(doc_ptr, doc_ptr[lo] + PIECE, side="right")) - 1
        hi = max(hi, lo + 1)
        yield lo, hi
        lo = hi


def sort_inside_documents(doc_ptr: I64, word: I32) -> I32:
    """Return tokens in increasing order of word inside each document; the same array if they are.

    Tokens are compared a piece at a time, so that a mapped file does not have to fit in memory.
    """
    for lo in range(0, len(word) - 1, PIECE):
        piece = word[lo : lo + PIECE + 1]
        falls = lo + 1 + np.flatnonzero(piece[1:] < piece[:-1])
        if not np.array_equal(falls, doc_ptr[np.searchsorted(doc_ptr, falls)]):
            return _sorted_inside_documents(doc_ptr, word)
        release(word)
    return word


def _sorted_inside_documents(doc_ptr: I64, word: I32) -> I32:
    found = np.empty_like(word)
    for lo, hi in document_pieces(doc_ptr):
        begin, end = doc_ptr[lo], doc_ptr[hi]
        document = np.repeat(np.arange(hi - lo), np.diff(doc_ptr[lo : hi + 1]))
        found[begin:end] = word[begin:end][np.lexsort((word[begin:end], document))]
    return found


def take_documents(doc_ptr: I64, word: I32, chosen: I64) -> tuple[I64, I32]:
    """Return where documents that are chosen end, and their tokens, a piece of these at a time."""
    ptr = np.concatenate(([0], np.cumsum(np.diff(doc_ptr)[chosen])))
    found = np.empty(int(ptr[-1]), np.int32)
    for lo, hi in document_pieces(ptr):
        shift = np.repeat(doc_ptr[chosen[lo:hi]] - ptr[lo:hi], np.diff(ptr[lo : hi + 1]))
        found[ptr[lo] : ptr[hi]] = word[shift + np.arange(ptr[lo], ptr[hi])]
    found.flags.writeable = False
    return ptr, found


def first_in_documents(doc_ptr: I64, word: I32) -> npt.NDArray[np.bool_]:
    """Return a mask of the first token of each word of a document; tokens are sorted there."""
    first = np.ones(len(word), bool)
    np.not_equal(word[1:], word[:-1], out=first[1:])
    first[doc_ptr[:-1][np.diff(doc_ptr) > 0]] = True
    return first


def as_numbers(matrix: Any) -> Any:
    """Return a sparse matrix as it is, and anything else as a two-dimensional array of numbers."""
    if sp.issparse(matrix):
        return matrix
    try:
        matrix = np.asarray(matrix)
    except ValueError:
        raise InputError(
            "The 'matrix' parameter must be a two-dimensional array of counts. Got rows of "
            "different lengths; for lists of words use Corpus.from_tokens."
        ) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            "The 'matrix' parameter must be a two-dimensional array of counts, documents "
            f"by words. Got {matrix.ndim} dimension(s) of type {matrix.dtype} instead; "
            "for texts use Corpus.from_texts."
        )
    return matrix
