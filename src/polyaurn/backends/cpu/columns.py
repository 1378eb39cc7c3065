"""From drawn masses to columns the z step can read: fixed-point weights, sums of the prior part."""

import math
from itertools import pairwise

import numpy as np

from polyaurn.backends.cpu.layout import Layout
from polyaurn.base.arrays import F64, I64, U16, empty
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Phi

HOT = 3  # a column longer than K / HOT also gets a dense row, at most HOT numbers for each nonzero
WEIGHT_BITS = 31
PRIOR_PARTS = 65_536.0  # K of them times the largest weight are below 2**63
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

    Columns are as drawn, with topics in increasing order; S has the sum of mass over words for each
    topic. `mass` is overwritten.
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
    prior = mass.view(np.uint64)  # sums take the place of what they are made of
    sigma_a = np.empty(V, np.float64)
    ratio, unit_of_prior = scale_alpha(alpha)
    ranges = layout.word_ranges
    made = (weight, exponent, prior, sigma_a, row, dense, rank)
    workers.run(
        _finish,
        [
            (lo, hi, first, last, topic, mass, S, ratio, unit_of_prior, *made)
            for lo, hi in pairwise(ranges)
        ],
    )
    return Phi(first, last, topic, *made)


@njit(nogil=True, cache=True)
def _finish(
    lo, hi, first, last, topic, mass, S, ratio, unit_of_prior,
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
        total = np.uint64(0)
        for j in range(n):
            k = topic[start + j]
            w = math.floor(share[j] * scale + 0.5) if top > 0.0 else 1.0
            weight[start + j] = np.uint32(w)
            total += prior_weight(w, ratio[k])
            prior[start + j] = total
        sigma_a[v] = np.float64(total) * unit_of_prior
        if row[v] >= 0:
            for j in range(n):
                dense[row[v], topic[start + j]] = weight[start + j]
            if row[v] < len(rank):
                for j in range(n):
                    rank[row[v], topic[start + j]] = j


def scale_alpha(alpha: F64) -> tuple[F64, float]:
    """Return alpha in 2**-16ths of its largest, and what such a part is worth."""
    most = float(alpha.max())
    return alpha / most * PRIOR_PARTS, most / PRIOR_PARTS


@njit(cache=True)
def prior_weight(w, ratio):
    """Return weight times alpha as a whole number, at least 1 where there is any weight."""
    return np.uint64(max(np.rint(w * ratio), 1.0)) if w > 0.0 else np.uint64(0)


@njit(cache=True)
def from_prior(prior, start, n, u):
    """Return the place in a column where its prior part passes a share u, in [0, 1), of all."""
    low, size = np.uint64(0), np.uint64(n)
    total = prior[start + size - np.uint64(1)]
    goal = min(np.uint64(u * np.float64(total)), total - np.uint64(1))
    while size > np.uint64(1):
        half = size >> np.uint64(1)
        low += half if prior[start + low + half - np.uint64(1)] <= goal else np.uint64(0)
        size -= half
    return low
