"""From drawn masses to columns the z step can read: fixed-point weights, alias tables, hot rows."""

import math
from itertools import pairwise

import numpy as np
from numba import njit

from polyaurn.kernels.layout import Layout
from polyaurn.state import F64, I64, U16, Phi
from polyaurn.workers import Workers

HOT = 3  # a column longer than K / HOT also gets a dense row, at most HOT numbers for each nonzero
WEIGHT_BITS = 31


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
        Columns as drawn, topics in increasing order inside a word.
    S : ndarray of float64
        Sum of mass over words, for each topic.
    alpha : ndarray of float64
        Prior of the topics, for the alias tables.
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
        weight = np.empty(V * K, np.uint32)  # every column is full: the weights are the rows
        dense, rank = weight.reshape(V, K), np.empty((0, K), np.uint16)
    else:
        weight = np.empty(len(mass), np.uint32)
        dense = np.zeros((int(hot.sum()), K), np.uint32)
        rank = np.zeros(dense.shape, np.uint16)
    exponent = np.zeros(V, np.int32)
    cut, alias = np.empty(len(mass), np.uint32), np.empty(len(mass), np.uint16)
    sigma_a = np.empty(V, np.float64)
    ranges = layout.word_ranges
    made = (weight, exponent, cut, alias, sigma_a, row, dense, rank)
    workers.run(
        _finish,
        [(lo, hi, first, last, topic, mass, S, alpha, *made) for lo, hi in pairwise(ranges)],
    )
    return Phi(first, last, topic, weight, exponent, cut, alias, sigma_a, row, dense, rank)


@njit(nogil=True, cache=True)
def _finish(
    lo, hi, first, last, topic, mass, S, alpha,
    weight, exponent, cut, alias, sigma_a, row, dense, rank,
):  # fmt: skip
    K = len(S)
    share = np.empty(K, np.float64)
    stack = np.empty(K, np.int64)
    for v in range(lo, hi):
        start, n = first[v], last[v] - first[v]
        top = 0.0
        for j in range(n):
            share[j] = mass[start + j] / S[topic[start + j]]
            top = max(top, share[j])
        sigma_a[v] = 0.0
        if top == 0.0:
            for j in range(n):
                weight[start + j], cut[start + j], alias[start + j] = 0, 0, j
                if 0 <= row[v] < len(rank):
                    rank[row[v], topic[start + j]] = j
            continue
        e = min(WEIGHT_BITS - math.frexp(top)[1], 1000)
        exponent[v] = e
        scale = math.ldexp(1.0, e)
        total = 0.0
        for j in range(n):
            k = topic[start + j]
            w = math.floor(share[j] * scale + 0.5)
            weight[start + j] = np.uint32(w)
            if row[v] >= 0:
                dense[row[v], k] = np.uint32(w)
                if row[v] < len(rank):
                    rank[row[v], k] = j
            share[j] = w * alpha[k]
            total += share[j]
        sigma_a[v] = total
        _alias(share, n, total, stack, cut[start:], alias[start:])


@njit(nogil=True, cache=True)
def _alias(share, n, total, stack, cut, alias):
    """Build an alias table as `tables.alias_table` does; small shares stacked left, large right."""
    small, large = 0, n
    for j in range(n):
        cut[j] = np.uint32(0xFFFFFFFF)
        alias[j] = j
        share[j] = share[j] * n / total
        if share[j] < 1.0:
            stack[small] = j
            small += 1
    for j in range(n - 1, -1, -1):
        if share[j] >= 1.0:
            large -= 1
            stack[large] = j
    large_end = n  # the right part is [large, n), its last element is taken first
    while small > 0 and large_end > large:
        small -= 1
        s, g = stack[small], stack[large_end - 1]
        cut[s] = np.uint32(min(np.uint64(share[s] * 4294967296.0), np.uint64(0xFFFFFFFF)))
        alias[s] = g
        share[g] -= 1.0 - share[s]
        if share[g] < 1.0:
            large_end -= 1
            stack[small] = g
            small += 1
