"""From drawn masses to columns the z step can read: fixed-point weights, sums of the prior part."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from polyaurn.backends.cpu.layout import Layout
from polyaurn.base.arrays import F64, I32, I64, U16, U32, empty
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi, Priors

HOT = 3  # only a column longer than K / HOT gets a dense row: HOT numbers for each nonzero at most
WALKED, SUMMED = 64, 4  # walking WALKED + K / SUMMED topics takes as long as summing over all K
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
    V = layout.n_words
    weight = empty(len(mass), np.uint32)
    row, dense, rank = _rows(layout, last - first, weight)
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


def draw_in_ranges(
    kernel: Callable[..., Any],
    pairs: list[tuple[int, int]],
    sizes: Iterable[list[int]],
    given: Sequence[Any],
    layout: Layout,
    counts: Counts,
    priors: Priors,
    workers: Workers,
    words: "AllWords",
) -> tuple[I64, I64, U16, F64, F64]:
    """Draw the columns of ranges of words with a kernel, and their totals S over words.

    `sizes` has the cells to set aside for each range. A kernel that finds too few returns negative
    totals, and all is drawn again with the next sizes, which must be enough in the end. `given` is
    what a kernel takes after beta.
    """
    V, K = layout.n_words, layout.n_topics
    for cells in sizes:
        ends = np.cumsum(cells).tolist()
        first, last = np.zeros(V, np.int64), np.zeros(V, np.int64)
        topic, mass = empty(sum(cells), np.uint16), empty(sum(cells), np.float64)
        parts = workers.run(
            kernel,
            [
                (*pair, end - size, end, *counts, layout.word_tokens, priors.beta, *given,
                 first, last, topic, mass)
                for pair, end, size in zip(pairs, ends, cells, strict=True)
            ],
        )  # fmt: skip
        if not any((S < 0).any() for S in parts):
            return first, last, topic, mass, np.asarray(words.sizes(parts, K), np.float64)
    raise AssertionError("no space for the columns of Phi")


def weigh_columns(
    layout: Layout, first: I64, last: I64, topic: U16, mass: F64, S: F64, workers: Workers
) -> tuple[U32, I32]:
    """Return the weights of the words of the layout's ranges, and their exponents."""
    weight, exponent = empty(len(mass), np.uint32), np.zeros(layout.n_words, np.int32)
    workers.run(
        _finish_weights,
        [
            (lo, hi, first, last, topic, mass, S, weight, exponent)
            for lo, hi in pairwise(layout.word_ranges)
        ],
    )
    return weight, exponent


def phi_of_weights(
    layout: Layout,
    length: I64,
    topic: U16,
    weight: U32,
    exponent: I32,
    alpha: F64,
    workers: Workers,
) -> Phi:
    """Build what the z step reads from weights: the second half of `finish_columns`."""
    last = np.cumsum(length)
    first = last - length
    row, dense, rank = _rows(layout, length, weight)
    prior, sigma_a = empty(len(weight), np.uint64), np.empty(layout.n_words, np.float64)
    ratio, unit_of_prior = scale_alpha(alpha)
    made = (prior, sigma_a, row, dense, rank)
    workers.run(
        _finish_sums,
        [
            (lo, hi, first, last, topic, weight, ratio, unit_of_prior, *made)
            for lo, hi in pairwise(layout.word_ranges)
        ],
    )
    return Phi(first, last, topic, weight, exponent, *made)


class AllWords:
    """One process that draws the columns of all words: nothing is added up or sent.

    Workers that draw a range of words each have a class of their own with these methods.
    """

    def sizes(self, parts: list[Any], n_topics: int) -> Any:
        """Return the sums of topics, given those of ranges of words in their order."""
        return np.sum(parts, axis=0)

    def counts_of(self, topics: I64, counts: Counts) -> Counts:
        """Return counts that have all of these topics, of all words."""
        return counts

    def of_all(self, values: F64) -> F64:
        """Return values of all words, each from the process that draws the word."""
        return values

    def finish(
        self,
        layout: Layout,
        first: I64,
        last: I64,
        topic: U16,
        mass: F64,
        S: F64,
        alpha: F64,
        workers: Workers,
    ) -> Phi:
        """Return Phi of the masses drawn."""
        return finish_columns(layout, first, last, topic, mass, S, alpha, workers)


ALL_WORDS = AllWords()


def _rows(layout: Layout, length: I64, weight: U32) -> tuple[I32, U32, U16]:
    """Return which words have a dense row, and memory for rows and for places in columns."""
    V, K = layout.n_words, layout.n_topics
    hot = (length * HOT >= K) & ((length - WALKED) * SUMMED >= K)
    row = np.where(hot, np.cumsum(hot) - 1, -1).astype(np.int32)
    if len(weight) == V * K and (length == K).all():  # the weights are the rows
        return row, weight.reshape(V, K), np.empty((0, K), np.uint16)
    dense = np.zeros((int(hot.sum()), K), np.uint32)
    return row, dense, np.zeros(dense.shape, np.uint16)


@njit(nogil=True, cache=True)
def _finish(
    lo, hi, first, last, topic, mass, S, ratio, unit_of_prior,
    weight, exponent, prior, sigma_a, row, dense, rank,
):  # fmt: skip
    share = np.empty(len(S), np.float64)
    for v in range(lo, hi):
        start, n = first[v], last[v] - first[v]
        exponent[v] = _weigh(start, n, topic, mass, S, share, weight)
        total = _add_up(start, n, topic, weight, ratio, prior)
        sigma_a[v] = np.float64(total) * unit_of_prior
        _fill_row(row[v], start, n, topic, weight, dense, rank)


@njit(nogil=True, cache=True)
def _finish_weights(lo, hi, first, last, topic, mass, S, weight, exponent):
    share = np.empty(len(S), np.float64)
    for v in range(lo, hi):
        exponent[v] = _weigh(first[v], last[v] - first[v], topic, mass, S, share, weight)


@njit(nogil=True, cache=True)
def _finish_sums(
    lo, hi, first, last, topic, weight, ratio, unit_of_prior, prior, sigma_a, row, dense, rank
):
    for v in range(lo, hi):
        start, n = first[v], last[v] - first[v]
        total = _add_up(start, n, topic, weight, ratio, prior)
        sigma_a[v] = np.float64(total) * unit_of_prior
        _fill_row(row[v], start, n, topic, weight, dense, rank)


@njit(cache=True)
def _weigh(start, n, topic, mass, S, share, weight):
    """Write a column's weights; return their exponent."""
    top = 0.0
    for j in range(n):
        share[j] = mass[start + j] / S[topic[start + j]]
        top = max(top, share[j])
    e = LEAST_EXPONENT
    if top > 0.0:
        e = min(WEIGHT_BITS - math.frexp(top)[1], LEAST_EXPONENT)
    scale = math.ldexp(1.0, e)
    for j in range(n):
        w = math.floor(share[j] * scale + 0.5) if top > 0.0 else 1.0
        weight[start + j] = np.uint32(w)
    return e


@njit(cache=True)
def _add_up(start, n, topic, weight, ratio, prior):
    """Write the running sums of a column's prior part; return the last one."""
    total = np.uint64(0)
    for j in range(n):
        total += prior_weight(np.float64(weight[start + j]), ratio[topic[start + j]])
        prior[start + j] = total
    return total


@njit(cache=True)
def _fill_row(h, start, n, topic, weight, dense, rank):
    """Write a long column's weights and places by topic."""
    if h >= 0:
        for j in range(n):
            dense[h, topic[start + j]] = weight[start + j]
        if h < len(rank):
            for j in range(n):
                rank[h, topic[start + j]] = j


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
