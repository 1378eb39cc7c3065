"""Phi drawn from its Dirichlet posterior and kept sparse: the urn, with gamma balls.

Each cell is Gamma(n + beta), drawn as Gamma(n) + Gamma(beta) and normalised over words. The first
part touches only cells where n is positive. The second is a sum of balls of random size, see
`polyaurn.backends.tables.BallSizes`, which fall on the K cells of a word as a Poisson process: from
one to the next is an exponential gap, so that balls come in the order of topics. The cost is
O(nnz(n) + beta K V), and nothing of size K by V is ever stored. Only jumps below a cut are
approximated, by fewer of the cut's size and the same mean.

Where beta is at least one, nearly every cell has a ball, and each is one gamma draw instead. The
column of a word that occurs but has no counts, and the row of a topic without any mass, are drawn
conditioned on not being empty.
"""

import math
from itertools import pairwise

import numpy as np

from polyaurn.backends.cpu.columns import ALL_WORDS, AllWords, draw_in_ranges
from polyaurn.backends.cpu.layout import Layout
from polyaurn.backends.cpu.phi_urn import add_balls, fill_rows
from polyaurn.backends.tables import BallSizes, ball_sizes, default_cut, logs
from polyaurn.backends.variates import (
    ball_size,
    bits,
    exponential,
    exponential_below,
    gamma_draw,
    gamma_mass,
)
from polyaurn.base.arrays import F64, I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi, Priors

FULL = 1.0  # beta from which every cell of a word is drawn
SPARE = 8.0  # standard deviations of the number of balls that memory is set aside for
MOST_AHEAD = 64  # balls of a word that are drawn at once
SIZE = 1 << 31  # where the addresses of sizes begin, of balls in rows that came out empty


def draw_phi(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
    cut: float | None = None,
) -> Phi:
    """Draw Phi given the counts; jumps of the prior's part below the cut are rounded."""
    columns = draw_masses(layout, counts, priors, seed, sweep, workers, words, cut)
    return words.finish(layout, *columns, priors.alpha, workers)


def draw_masses(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
    cut: float | None = None,
) -> tuple[I64, I64, U16, F64, F64]:
    """Draw gammas, no topic left empty: columns, and their totals S over words."""
    balls = ball_sizes(default_cut(layout.n_topics) if cut is None else cut)
    columns = _draw_columns(layout, counts, priors, balls, seed, sweep, workers, words)
    first, last, topic, mass, S = columns
    empty_rows = np.flatnonzero(S == 0.0)
    if len(empty_rows):
        row_key = key(seed, sweep, Purpose.ROW)
        rate = priors.beta * balls.rate
        counts = words.counts_of(empty_rows, counts)
        if counts.number.dtype.kind == "f":  # fractions so small that nothing came of them
            counts = counts._replace(number=np.multiply(counts.number, balls.rate))
        k, v = fill_rows(empty_rows, counts, rate, layout.n_topics, row_key)
        size = _row_sizes(k, *row_key, *balls[1:])
        first, last, topic, mass = add_balls(first, last, topic, mass, k, v, size)
        S += np.bincount(k, size, minlength=layout.n_topics)
    return first, last, topic, mass, S


def _draw_columns(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    balls: BallSizes,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
) -> tuple[I64, I64, U16, F64, F64]:
    """Draw the columns of every word, and their sums S over words."""
    K, pairs = layout.n_topics, list(pairwise(layout.fixed_ranges.tolist()))
    sizes = (  # the second is always enough, and never seen to be needed
        _cells(pairs, counts, priors.beta, balls.rate, K, spare) for spare in (SPARE, math.inf)
    )
    keys = [part for p in (Purpose.CELL, Purpose.BALL) for part in key(seed, sweep, p)]
    given = (K, *keys, logs(), *balls)
    return draw_in_ranges(_draw_words, pairs, sizes, given, layout, counts, priors, workers, words)


def _cells(
    pairs: list[tuple[int, int]], counts: Counts, beta: F64, rate: float, K: int, spare: float
) -> list[int]:
    """Return how many cells to set aside for each range of words."""
    length = counts.last - counts.first
    expected = np.where(beta < FULL, beta * (rate * K), K)
    sizes = []
    for lo, hi in pairs:
        n_balls = float(expected[lo:hi].sum())
        needed = length[lo:hi].sum() + n_balls + spare * (math.sqrt(n_balls) + 1) + (hi - lo)
        sizes.append(int(min(needed, (hi - lo) * K)))
    return sizes


@njit(nogil=True, cache=True)
def _draw_words(
    lo, hi, at, end, n_first, n_last, n_topic, n_count, word_tokens, beta, K,
    cell_a, cell_b, ball_a, ball_b, logs, rate, scale, quantile,
    first, last, topic, mass,
):  # fmt: skip
    S = np.zeros(K, np.float64)
    where, size = np.empty(MOST_AHEAD, np.int64), np.empty(MOST_AHEAD, np.float64)
    for v in range(lo, hi):
        first[v] = at
        j, stop = n_first[v], n_last[v]
        full = beta[v] >= FULL
        gap = 1.0 / (rate * beta[v])
        ball, position = v * 4294967296, 0.0  # of each ball two addresses: its gap and its size
        ahead = int(min(1.2 * K / gap + 3.0, MOST_AHEAD))  # balls drawn at once
        t = np.int64(0)  # the topic of the next ball
        if not full:
            i = j
            while i < stop and n_count[i] < 1:
                i += 1
            if i == stop and word_tokens[v] > 0:  # fractions may give no mass
                r = bits(ball_a, ball_b, ball)
                position = gap * (exponential_below(K / gap, r) - exponential(r, logs))
            position = _draw_balls(
                ahead, position, gap, K, ball_a, ball_b, ball, logs, scale, quantile, where, size
            )
            t = where[0]
        i = 0  # the next ball among those drawn
        while j < stop or t < K:
            k, n = t, n_count.dtype.type(0)
            if j < stop and np.int64(n_topic[j]) <= t:
                k, n = np.int64(n_topic[j]), n_count[j]
                j += 1
            g = 0.0
            cell = (v * 65536 + k) * 256
            if full:
                g = gamma_draw(n + beta[v], cell_a, cell_b, cell)
                t += 1
            else:
                if n > 0:
                    g = gamma_mass(n, cell_a, cell_b, cell, logs)
                while t == k:
                    g += size[i]
                    i += 1
                    if i == ahead:
                        ball += 2 * ahead
                        position = _draw_balls(
                            ahead, position, gap, K, ball_a, ball_b, ball, logs, scale, quantile,
                            where, size,
                        )  # fmt: skip
                        i = 0
                    t = where[i]
            if g == 0.0:  # of a fraction, too small to write down
                continue
            if at == end:
                S[:] = -np.inf
                return S
            topic[at] = k
            mass[at] = g
            S[k] += g
            at += 1
        last[v] = at
    return S


@njit(cache=True)
def _draw_balls(n, position, gap, K, a, b, ball, logs, scale, quantile, where, size):
    """Draw the topics and sizes of a word's next n balls; return the position of the last.

    A topic of K says that there are no more. Several are drawn at once, since a processor that
    waits for each before it looks for the next takes twice the time.
    """
    for i in range(n):
        size[i] = gap * exponential(bits(a, b, ball + 2 * i), logs)
    for i in range(n):
        position += size[i]
        where[i] = np.int64(min(position, np.float64(K)))
        size[i] = ball_size(bits(a, b, ball + 2 * i + 1), scale, quantile)
    return position


@njit(cache=True)
def _row_sizes(k, a, b, scale, quantile):
    """Draw sizes of balls in rows, which are listed row by row."""
    size = np.empty(len(k), np.float64)
    ball = np.int64(0)
    for i in range(len(k)):
        ball = ball + 1 if i > 0 and k[i] == k[i - 1] else np.int64(0)
        size[i] = ball_size(bits(a, b, k[i] * 4294967296 + SIZE + ball), scale, quantile)
    return size
