"""Phi drawn from the Poisson Pólya urn, sparse from beginning to end.

Each cell is Poisson(n + beta), drawn as Poisson(n) + Poisson(beta). The first part touches only
cells where n is positive; where pseudo-counts make n a fraction, that is Poisson(whole part) +
Poisson(rest). The second, over the K cells of a word, is one Poisson(beta K) number
of balls, each thrown on a uniform topic. The cost is O(nnz(n) + beta K V), and nothing of size
K by V is ever stored.

A word that occurs has positive probability, so a column that came out empty is drawn again from
the urn conditioned on not being empty: a zero-truncated Poisson total, each ball spread by
n + beta. The same holds for a topic whose row came out empty.
"""

from itertools import pairwise

import numpy as np

from polyaurn.backends.cpu.columns import ALL_WORDS, AllWords, draw_in_ranges
from polyaurn.backends.cpu.layout import Layout
from polyaurn.backends.tables import poisson_tables
from polyaurn.backends.variates import (
    below,
    bits,
    poisson_count,
    poisson_positive,
    poisson_rate,
    unit,
)
from polyaurn.base.arrays import F64, I32, I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Key, Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi, Priors

MOST_INSERTED = 24  # topics that the prior's balls add to a column; longer lists are sorted
SPARE = 0.5  # spare cells per word, for topics that a column drawn again may have
REDRAW = 64  # most balls of a redrawn column; more has probability below 1e-20


def draw_phi(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
) -> Phi:
    """Draw Phi given the counts, the first step of the paper's Algorithm 2."""
    columns = draw_masses(layout, counts, priors, seed, sweep, workers, words)
    return words.finish(layout, *columns, priors.alpha, workers)


def draw_masses(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
) -> tuple[I64, I64, U16, F64, F64]:
    """Draw the urn's counts, no topic left empty: columns, and their totals S over words."""
    balls = draw_ball_counts(layout, priors, seed, sweep, workers)
    first, last, topic, mass, S = draw_columns(
        layout, counts, priors, balls, seed, sweep, workers, words
    )
    empty = np.flatnonzero(S == 0)
    if len(empty):
        row_key = key(seed, sweep, Purpose.ROW)
        known = words.counts_of(empty, counts)
        k, v = fill_rows(empty, known, priors.beta, layout.n_topics, row_key)
        first, last, topic, mass = add_balls(first, last, topic, mass, k, v, np.ones(len(k)))
        S += np.bincount(k, minlength=layout.n_topics)
    return first, last, topic, mass, S


def draw_ball_counts(
    layout: Layout, priors: Priors, seed: int, sweep: Moment, workers: Workers
) -> I32:
    """Draw how many balls of the prior each word receives: Poisson(beta K)."""
    balls = np.empty(layout.n_words, np.int32)
    balls_key = key(seed, sweep, Purpose.BALLS)
    workers.run(
        _draw_ball_counts,
        [(lo, hi, priors.beta, layout.n_topics, *balls_key, balls) for lo, hi in _pairs(layout)],
    )
    return balls


def draw_columns(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    balls: I32,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
) -> tuple[I64, I64, U16, F64, F64]:
    """Draw the urn's counts of every word, and their totals S over words."""
    K, pairs = layout.n_topics, _pairs(layout)
    sizes = (  # the second is always enough, and hardly ever needed
        _cells(pairs, counts, balls, K, spare) for spare in (SPARE, REDRAW)
    )
    purposes = (Purpose.CELL, Purpose.FRACTION, Purpose.BALL, Purpose.COLUMN)
    keys = [part for purpose in purposes for part in key(seed, sweep, purpose)]
    given = (balls, K, *keys, *poisson_tables())
    return draw_in_ranges(_draw_words, pairs, sizes, given, layout, counts, priors, workers, words)


def _cells(
    pairs: list[tuple[int, int]], counts: Counts, balls: I32, K: int, spare: float
) -> list[int]:
    """Return how many cells to set aside for each range, spare ones for columns drawn again."""
    length = np.minimum(counts.last - counts.first + balls, K)
    return [int(length[lo:hi].sum() + spare * (hi - lo)) + REDRAW for lo, hi in pairs]


def _pairs(layout: Layout) -> list[tuple[int, int]]:
    return list(pairwise(layout.word_ranges.tolist()))


@njit(nogil=True, cache=True)
def _draw_ball_counts(lo, hi, beta, K, a, b, balls):
    for v in range(lo, hi):
        balls[v] = poisson_rate(beta[v] * K, bits(a, b, v))


@njit(nogil=True, cache=True)
def _draw_words(
    lo, hi, at, end, n_first, n_last, n_topic, n_count, word_tokens, beta, balls, K,
    cell_a, cell_b, part_a, part_b, ball_a, ball_b, column_a, column_b, cut, other,
    first, last, topic, mass,
):  # fmt: skip
    gamma = np.zeros(K, np.int64)  # the paper's gamma-tilde, for one word
    listed = np.full(K, -1, np.int64)  # listed[k] == v: topic k is in this word's list
    extra = np.empty(K, np.int64)
    S = np.zeros(K, np.int64)
    for v in range(lo, hi):
        start, stop = n_first[v], n_last[v]
        total = 0
        for j in range(start, stop):
            k = n_topic[j]
            listed[k] = v
            whole = np.int64(n_count[j])
            part = n_count[j] - whole
            if whole > 0:
                r = bits(cell_a, cell_b, v * 65536 + np.int64(k))
                gamma[k] = poisson_count(whole, r, cut, other)
            if part > 0:
                r = bits(part_a, part_b, v * 65536 + np.int64(k))
                gamma[k] += poisson_rate(np.float64(part), r)
            total += gamma[k]
        n_extra = 0
        for j in range(balls[v]):
            k = below(bits(ball_a, ball_b, v * 4294967296 + j), K)
            if listed[k] != v:
                listed[k] = v
                n_extra = _insert(extra, n_extra, k)
            gamma[k] += 1
            total += 1
        if total == 0 and word_tokens[v] > 0:
            n_extra = _draw_again(
                v, start, stop, n_topic, n_count, beta, K, column_a, column_b,
                gamma, listed, extra, n_extra,
            )  # fmt: skip
        first[v] = at
        if at + min(stop - start + n_extra, K) > end:
            S[:] = -(1 << 62)
            return S
        if 8 * (stop - start + n_extra) > K:
            for k in range(K):
                if gamma[k] > 0:
                    topic[at] = k
                    mass[at] = gamma[k]
                    S[k] += gamma[k]
                    at += 1
                gamma[k] = 0
        else:  # merge two sorted lists
            if n_extra > MOST_INSERTED:
                extra[:n_extra].sort()
            i, j = start, 0
            while i < stop or j < n_extra:
                if j == n_extra or (i < stop and np.int64(n_topic[i]) < extra[j]):
                    k = np.int64(n_topic[i])
                    i += 1
                else:
                    k = extra[j]
                    j += 1
                if gamma[k] > 0:
                    topic[at] = k
                    mass[at] = gamma[k]
                    S[k] += gamma[k]
                    at += 1
                gamma[k] = 0
        last[v] = at
    return S


@njit(cache=True)
def _draw_again(
    v, start, stop, n_topic, n_count, beta, K, column_a, column_b, gamma, listed, extra, n_extra
):
    """Draw an empty column given that it is not; return how many topics are in its list then."""
    n_v = n_count.dtype.type(0)
    for j in range(start, stop):
        n_v += n_count[j]
    rate = n_v + beta[v] * K
    total = min(poisson_positive(rate, bits(column_a, column_b, v * 4294967296)), REDRAW)
    for ball in range(1, total + 1):
        u = unit(bits(column_a, column_b, v * 4294967296 + ball)) * rate
        if u < n_v:
            j = start
            u -= n_count[j]
            while u >= 0.0:
                j += 1
                u -= n_count[j]
            k = np.int64(n_topic[j])
        else:
            k = min(np.int64((u - n_v) / beta[v]), K - 1)
            if listed[k] != v:
                listed[k] = v
                n_extra = _insert(extra, n_extra, k)
        gamma[k] += 1
    return n_extra


@njit(cache=True)
def _insert(extra, n, k):
    """Put a topic into a list, in its place while the list is short; return its new length."""
    j = n
    while 0 < j <= MOST_INSERTED and extra[j - 1] > k:
        extra[j] = extra[j - 1]
        j -= 1
    extra[j] = k
    return n + 1


def fill_rows(empty: I64, counts: Counts, beta: F64, K: int, row_key: Key) -> tuple[I64, I64]:
    """Draw the empty topics again, conditioned on not being empty; return balls (topic, word)."""
    totals, words = _throw_rows(empty, *counts, K, np.cumsum(beta), *row_key)
    return np.repeat(empty, totals), words


@njit(cache=True)
def _throw_rows(empty, first, last, topic, number, K, beta_sum, a, b):
    n_k = np.zeros(K, np.float64)
    for v in range(len(first)):
        for j in range(first[v], last[v]):
            n_k[topic[j]] += number[j]
    totals = np.empty(len(empty), np.int64)
    beta_all = beta_sum[-1]
    for e in range(len(empty)):
        rate = beta_all + n_k[empty[e]]
        totals[e] = poisson_positive(rate, bits(a, b, empty[e] * 4294967296))
    words = np.empty(totals.sum(), np.int64)
    at = 0
    for e in range(len(empty)):
        k = empty[e]
        for ball in range(1, totals[e] + 1):
            u = unit(bits(a, b, k * 4294967296 + ball)) * (beta_all + n_k[k])
            if u < beta_all:
                v = np.searchsorted(beta_sum, u, side="right")
            else:
                v = _word_of(first, last, topic, number, k, u - beta_all)
            words[at] = min(v, len(beta_sum) - 1)
            at += 1
    return totals, words


@njit(cache=True)
def _word_of(first, last, topic, number, k, u):
    """Return the word where the running count of topic k passes u."""
    found = 0
    for v in range(len(first)):
        for j in range(first[v], last[v]):
            if topic[j] == k:
                found = v
                u -= number[j]
                if u < 0.0:
                    return v
    return found


def add_balls(
    first: I64, last: I64, topic: U16, mass: F64, k: I64, v: I64, size: F64
) -> tuple[I64, I64, U16, F64]:
    """Put balls into columns that are already drawn: rare, so simply sorted again."""
    length = last - first
    old = np.repeat(first - np.cumsum(length) + length, length) + np.arange(length.sum())
    cell = np.concatenate((np.repeat(np.arange(len(first)), length) * 65536 + topic[old],
                           v * 65536 + k))  # fmt: skip
    cells, place = np.unique(cell, return_inverse=True)
    joined = np.bincount(place, np.concatenate((mass[old], size))).astype(np.float64)
    ends = np.searchsorted(cells, (np.arange(len(first)) + 1) * 65536)
    starts = np.concatenate(([0], ends[:-1])).astype(np.int64)
    return starts, ends.astype(np.int64), (cells % 65536).astype(np.uint16), joined
