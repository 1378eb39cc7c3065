"""Distances between topics by the words they hold, and the best pairing of two models' topics."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError

_ROWS = 256


def match_topics(p: Any, q: Any) -> tuple[I64, F64]:
    """Pair the topics of two models, one to one, so that pairs are as alike as can be.

    Two topics are alike by their Bhattacharyya coefficient, the sum over words of the square root
    of p times q: 1 where they are the same, 0 where they share no word.

    Parameters
    ----------
    p, q : sparse or dense matrix, K by V
        Topics in rows: counts, or probabilities. Rows are divided by their sums. Time and memory
        are proportional to the nonzeros.

    Returns
    -------
    order : ndarray of int64, length K
        The row of `q` that is paired with each row of `p`.
    quality : ndarray of float64, length K
        How alike each pair is, from 0 to 1; 0 where one of the two has no tokens.

    Examples
    --------
    >>> from polyaurn.matching import match_topics
    >>> order, quality = match_topics([[4, 0, 0], [0, 1, 1]], [[0, 3, 3], [2, 0, 0]])
    >>> order.tolist(), quality.round(6).tolist()
    ([1, 0], [1.0, 1.0])
    """
    from scipy.optimize import linear_sum_assignment

    roots = [_roots(p, "p"), _roots(q, "q")]
    if roots[0].shape != roots[1].shape:
        (K, V), (L, W) = roots[0].shape, roots[1].shape
        raise InputError(
            "The 'q' parameter must have as many topics and words as 'p', "
            f"{K:,} by {V:,}. Got {L:,} by {W:,} instead; match models of the same number of "
            "topics, trained on the same vocabulary."
        )
    alike = np.minimum((roots[0] @ roots[1].T).toarray(), 1.0)
    rows, order = linear_sum_assignment(alike, maximize=True)
    return order.astype(np.int64), alike[rows, order]


def likeness(p: Any, q: Any) -> F64:
    """Return how alike each topic of one model and each of another are, K by L, from 0 to 1."""
    alike: F64 = (_roots(p, "p") @ _roots(q, "q").T).toarray()
    return np.minimum(alike, 1.0)


def row_quality(p: Any, q: Any) -> F64:
    """Return how alike each row of one matrix and the same row of another are, from 0 to 1."""
    shared = _roots(p, "p").multiply(_roots(q, "q"))
    return np.minimum(np.asarray(shared.sum(axis=1), dtype=np.float64).ravel(), 1.0)


def hellinger(alike: F64) -> F64:
    """Return the Hellinger distances that belong to Bhattacharyya coefficients, from 0 to 1."""
    return np.sqrt(np.clip(1.0 - alike, 0.0, 1.0))


def topic_distances(p: Any, most_words: int | None = None) -> F64:
    """Return the Hellinger distances between the topics of one model, K by K, from 0 to 1.

    A topic without tokens is at distance 1 from all others. With `most_words`, only that many of
    the most frequent words of a topic are compared, which bounds the time for large models.
    """
    roots = _roots(p, "p", most_words)
    K = roots.shape[0]
    distance = np.empty((K, K))
    for lo in range(0, K, _ROWS):  # products of sparse rows are nearly dense, and larger as such
        alike = (roots[lo : lo + _ROWS] @ roots.T).toarray()
        distance[lo : lo + _ROWS] = hellinger(alike)
    np.fill_diagonal(distance, 0.0)
    return distance


def _roots(topics: Any, name: str, most_words: int | None = None) -> sp.csr_matrix:
    """Return the square roots of rows that sum to one, as CSR."""
    try:
        csr = sp.csr_matrix(topics, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise InputError(
            f"The '{name}' parameter must be a matrix, topics by words. Got "
            f"{type(topics).__name__} instead; give the counts or probabilities of a model."
        ) from None
    csr.sum_duplicates()
    if not (np.isfinite(csr.data) & (csr.data >= 0)).all():
        raise InputError(
            f"The '{name}' parameter must hold counts or probabilities. Got a negative number, or "
            "one that is not finite; give the counts of a model."
        )
    sums = np.asarray(csr.sum(axis=1)).ravel()
    if most_words is not None:
        _keep_most_frequent(csr, most_words)
    csr.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(csr.indptr))
    np.sqrt(csr.data, out=csr.data)
    return csr


def _keep_most_frequent(counts: sp.csr_matrix, most_words: int) -> None:
    for lo, hi in pairwise(counts.indptr.tolist()):
        if hi - lo > most_words:
            row = counts.data[lo:hi]
            row[np.argsort(-row, kind="stable")[most_words:]] = 0.0
    counts.eliminate_zeros()
