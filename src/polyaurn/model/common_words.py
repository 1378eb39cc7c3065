"""Topics of two models in one vocabulary, and how alike two samples of one topic would be."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.model.data import ModelData

_MANY = 40.0  # tokens from which a series gives the mean root; below, the sum over counts does
_TERMS = 120


class CommonWords(NamedTuple):
    """Two models' counts with the words of both in their columns."""

    words: tuple[str, ...]
    before: sp.csr_matrix
    after: sp.csr_matrix
    n_shared: int  # words that both have


def in_common_words(before: ModelData, after: ModelData) -> CommonWords:
    """Return the counts of two models, pseudo-counts included, over the union of their words.

    Words of the first keep their numbers; those that only the second has follow, in its order.
    """
    number = {word: v for v, word in enumerate(before.vocab)}
    place = np.array([number.get(word, -1) for word in after.vocab], np.int64)
    new = np.flatnonzero(place < 0)
    place[new] = len(number) + np.arange(len(new))
    words = before.vocab + tuple(after.vocab[v] for v in new.tolist())
    counts = (
        _moved(before.topic_word_mass, np.arange(len(number)), len(words)),
        _moved(after.topic_word_mass, place, len(words)),
    )
    return CommonWords(words, *counts, len(after.vocab) - len(new))


def _moved(counts: sp.csr_matrix, place: I64, n_words: int) -> sp.csr_matrix:
    """Return counts whose columns have new places."""
    shape = (counts.shape[0], n_words)
    parts = (counts.data.astype(np.float64), place[counts.indices], counts.indptr.copy())
    moved = sp.csr_matrix(parts, shape)
    moved.sort_indices()
    return moved


def likeness_by_chance(p: Any, q: Any) -> F64:
    """Return how alike, row by row, two samples of one topic would be, given their sizes.

    Counts of words are taken to be Poisson around those of both rows together, which makes the
    expected Bhattacharyya coefficient a sum of products of mean square roots.
    """
    p, q = sp.csr_matrix(p, dtype=np.float64), sp.csr_matrix(q, dtype=np.float64)
    sizes = [np.asarray(counts.sum(axis=1)).ravel() for counts in (p, q)]
    both = sp.csr_matrix(p + q)
    total = sizes[0] + sizes[1]
    row = np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    share = both.data / np.where(total > 0, total, 1.0)[row]
    roots = mean_root(share * sizes[0][row]) * mean_root(share * sizes[1][row])
    summed = np.bincount(row, roots, minlength=both.shape[0])
    found = summed / np.sqrt(np.maximum(sizes[0] * sizes[1], 1e-300))
    return np.where((sizes[0] > 0) & (sizes[1] > 0), np.minimum(found, 1.0), 0.0)


def mean_root(mean: F64) -> F64:
    """Return the mean of the square root of a Poisson variate, for each mean."""
    found = np.sqrt(mean) * (1.0 - 1.0 / (8.0 * np.maximum(mean, _MANY)))
    few = mean < _MANY
    small, term = mean[few], np.exp(-mean[few])
    total = np.zeros(len(small))
    for count in range(1, _TERMS):
        term = term * small / count
        total += term * np.sqrt(count)
    found[few] = total
    return np.asarray(found, dtype=np.float64)
