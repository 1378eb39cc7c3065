"""Words that say nothing about a document's subject, found from the documents themselves.

A word such as "said" in news occurs in documents of all kinds: the other words of its documents
are those of any documents of the same length. A word such as "court" comes with "judge". For
each frequent word w, the number of documents in which it meets another word v is compared with
what is expected if w were scattered over documents of similar length. With N documents that have
both, expectation E and variance Var, the mean of (N - E)^2 / Var over frequent words v is 1 for
a scattered word, and 1 + df * effect else. Words whose effect is far below the median are flat;
the more documents a word is in, the larger an effect it must have, since it leads more topics.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64

LEAST_DOCUMENTS = 1_000  # with fewer, effects are mostly noise
MOST_DOCUMENTS = 10_000  # looked at: evenly spaced
COMMON = 0.05  # share of documents from which on a word may lead many topics
_COMPARED = 0.02  # share of documents from which on words have a part in the median
_CONTEXT = 2_000  # most frequent words that words are compared by
_BINS = 20  # of documents of similar length
_SHARES, _BELOW = (0.1, 0.2), (0.5, 0.75)  # of documents, and of the median effect there
_ERRORS = 3.0  # words are not independent, so that the error is larger than its formula


def sampled(n_documents: int) -> I64:
    """Return the numbers of the documents that are looked at."""
    n = min(n_documents, MOST_DOCUMENTS)
    return np.arange(n, dtype=np.int64) * n_documents // max(n, 1)


def flat_words(counts: sp.csr_matrix, words: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a mask of flat words; `counts` is of some documents, as `sampled` chooses them.

    The result does not depend on the order of words.
    """
    flat = np.zeros(len(words), bool)
    occurs = (counts > 0).astype(np.float64).tocsr()
    occurs = occurs[np.asarray(occurs.sum(axis=1)).ravel() > 0]
    n_documents = occurs.shape[0]
    if n_documents < LEAST_DOCUMENTS:
        return flat
    frequency = np.asarray(occurs.sum(axis=0)).ravel()
    compared = _in_order(words, frequency >= _COMPARED * n_documents)
    if len(compared) == 0:
        return flat
    cut = np.partition(frequency, -_CONTEXT)[-_CONTEXT] if len(frequency) > _CONTEXT else 0.0
    context = _in_order(words, frequency >= max(cut, 2.0))
    effect, error = _effects(occurs, compared, context)
    share = frequency[compared] / n_documents
    limit = np.interp(share, _SHARES, _BELOW) * np.median(effect)
    flat[compared[(share >= COMMON) & (effect + _ERRORS * error < limit)]] = True
    return flat


def _effects(occurs: sp.csr_matrix, compared: I64, context: I64) -> tuple[F64, F64]:
    """Return how strongly words prefer documents with certain other words, and its error."""
    theirs, others = occurs[:, compared], occurs[:, context]
    both = np.asarray((theirs.T @ others).todense())
    expected, variance = np.zeros_like(both), np.zeros_like(both)
    lengths = np.asarray(occurs.sum(axis=1)).ravel()
    for documents in np.array_split(np.argsort(lengths, kind="stable"), _BINS):
        n = len(documents)
        p = np.asarray(theirs[documents].sum(axis=0)).ravel()
        q = np.asarray(others[documents].sum(axis=0)).ravel()
        expected += np.outer(p, q) / n
        variance += np.outer(p * (n - p), q * (n - q)) / (n * n * max(n - 1, 1))
    used = (variance > 0) & (compared[:, None] != context[None, :])
    ratio = np.where(used, (both - expected) ** 2 / np.where(used, variance, 1.0), 0.0)
    n_used = np.maximum(used.sum(axis=1), 1)
    frequency = np.asarray(theirs.sum(axis=0)).ravel()
    scale = occurs.shape[0] / (frequency * np.maximum(occurs.shape[0] - frequency, 1.0))
    return (ratio.sum(axis=1) / n_used - 1.0) * scale, np.sqrt(2.0 / n_used) * scale


def _in_order(words: Sequence[str], mask: npt.NDArray[np.bool_]) -> I64:
    """Return the numbers of some words in alphabetical order, so that sums are always the same."""
    return np.array(sorted(np.flatnonzero(mask).tolist(), key=words.__getitem__), np.int64)
