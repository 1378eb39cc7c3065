"""From drawn masses to columns the z step can read: fixed-point weights, sums of the prior part."""

import math
from itertools import pairwise

import numpy as np
from numba import njit

from polyaurn.kernels.layout import Layout
from polyaurn.mapping import empty
from polyaurn.state import F64, I64, U16, Phi
from polyaurn.workers import Workers

HOT = 3  # a column longer than K / HOT also gets a dense row, at most HOT numbers for each nonzero
WEIGHT_BITS = 31
LEAST_EXPONENT = 1000  # of a column whose every draw is too small to write down: all weights 1


def finish_columns(
    layout: Layout,
    first: I64,
    last: I64,
    topic: U16,
    mass: F64,
    S: F64,
    alpha: F64,
    workers: Workers,
) -> Phi:
    """Normalise phi = mass / S and build what the z step reads.

    Parameters
    ----------
    layout : Layout
        The corpus.
    first, last, topic, mass : ndarray
        Columns as drawn, topics in increasing order inside a word. `mass` is used up.
    S : ndarray of float64
        Sum of mass over words, for each topic.
    alpha : ndarray of float64
        Prior of the topics.
    workers : Workers
        Threads.

    Returns
    -------
    Phi
        Ready for the z step.
    """
    V, K = layout.n_words, layout.n_topics
    length = last - first
    hot = length * HOT >= K
    row = np.where(hot, np.cumsum(hot) - 1, -1).astype(np.int32)
    if len(mass) == V * K and (length == K).all():
        weight = empty(V * K, np.uint32)  # every column is full: the weights are the rows
        dense, rank = weight.reshape(V, K), np.empty((0, K), np.uint16)
    else:
        weight = empty(len(mass), np.uint32)
        dense = np.zeros((int(hot.sum()), K), np.uint32)
        rank = np.zeros(dense.shape, np.uint16)
    exponent = np.zeros(V, np.int32)
    prior, sigma_a = mass, np.empty(V, np.float64)  # sums take the place of what they are made of
    ranges = layout.word_ranges
    made = (weight, exponent, prior, sigma_a, row, dense, rank)
    workers.run(
        _finish,
        [(lo, hi, first, last, topic, mass, S, alpha, *made) for lo, hi in pairwise(ranges)],
    )
    return Phi(first, last, topic, *made)


@njit(nogil=True, cache=True)
def _finish(
    lo, hi, first, last, topic, mass, S, alpha,
    weight, exponent, prior, sigma_a, row, dense, rank,
):  # fmt: skip
    K = len(S)
    share = np.empty(K, np.float64)
    for v in range(lo, hi):
        start, n = first[v], last[v] - first[v]
        top = 0.0
        for j in range(n):
            share[j] = mass[start + j] / S[topic[start + j]]
            top = max(top, share[j])
        e = LEAST_EXPONENT
        if top > 0.0:
            e = min(WEIGHT_BITS - math.frexp(top)[1], LEAST_EXPONENT)
        exponent[v] = e
        scale = math.ldexp(1.0, e)
        total = 0.0
        for j in range(n):
            k = topic[start + j]
            w = math.floor(share[j] * scale + 0.5) if top > 0.0 else 1.0
            weight[start + j] = np.uint32(w)
            total += w * alpha[k]
            prior[start + j] = total
        sigma_a[v] = total
        if row[v] >= 0:
            for j in range(n):
                dense[row[v], topic[start + j]] = weight[start + j]
            if row[v] < len(rank):
                for j in range(n):
                    rank[row[v], topic[start + j]] = j


@njit(cache=True)
def from_prior(prior, start, n, u):
    """Return the place in a column where the running sum of its prior part passes u."""
    low, size = np.uint64(0), np.uint64(n)
    while size > np.uint64(1):
        half = size >> np.uint64(1)
        low += half if prior[start + low + half - np.uint64(1)] <= u else np.uint64(0)
        size -= half
    return low
