"""Proposals of the Metropolis-Hastings samplers: from a document, and from alias tables."""

import numpy as np

from polyaurn.backends.variates import bits, unit
from polyaurn.base.compilation import njit


@njit(cache=True)
def uniform_of(key_a, key_b, i, draw):
    """Return a number in [0, 1) for the given draw of token i."""
    return unit(bits(key_a, key_b, (np.uint64(draw) << np.uint64(32)) + np.uint64(i)))


@njit(cache=True)
def from_document(u, i, begin, end, z, alpha_sums):
    """Propose a topic with weight alpha + m: another token's, or one of the prior.

    Token i of ``[begin, end)`` is left out of m; u is in [0, 1), alpha_sums are running sums of
    alpha.
    """
    others = end - begin - 1
    u *= others + alpha_sums[-1]
    if u < others:
        j = begin + np.int64(u)
        return np.int64(z[j + 1 if j >= i else j])
    k = np.searchsorted(alpha_sums, u - others, side="right")
    return min(np.int64(k), len(alpha_sums) - 1)


@njit(cache=True)
def fill_alias(weight, total, cut, other, todo):
    """Write Walker's alias table of some weights to `cut` and `other`, after Vose.

    A place j is drawn uniformly and kept with probability cut[j], else other[j] is taken. `todo` is
    scratch of as many places: small weights from the left, large ones from the right.
    """
    n = len(weight)
    small, large = 0, n
    for j in range(n):
        cut[j] = weight[j] * n / total
        other[j] = j
        if cut[j] < 1.0:
            todo[small] = j
            small += 1
        else:
            large -= 1
            todo[large] = j
    while small > 0 and large < n:
        j, donor = todo[small - 1], todo[large]
        other[j] = donor
        cut[donor] -= 1.0 - cut[j]
        small -= 1
        if cut[donor] < 1.0:
            large += 1
            todo[small] = donor
            small += 1
    for j in range(small):  # what is left is 1 but for rounding
        cut[todo[j]] = 1.0
    for j in range(large, n):
        cut[todo[j]] = 1.0


@njit(cache=True)
def from_alias(u, cut, other):
    """Draw a place from an alias table, u in [0, 1)."""
    x = u * len(cut)
    j = min(np.int64(x), len(cut) - 1)
    return j if x - j < cut[j] else np.int64(other[j])


@njit(cache=True)
def find_topic(topic, lo, hi, k):
    """Return the place of a topic in a column, -1 when it is not there."""
    end = hi
    while lo < hi:
        middle = (lo + hi) >> 1
        if topic[middle] < k:
            lo = middle + 1
        else:
            hi = middle
    return lo if lo < end and topic[lo] == k else -1
