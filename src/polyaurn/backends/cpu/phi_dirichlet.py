"""Phi drawn from its Dirichlet posterior by gamma draws: exact, and dense in K by V.

Each cell is Gamma(n + beta), normalised over words. Columns are full, so that the z step reads
them by topic and walks the topics of the document (Magnusson et al. 2018).
"""

from itertools import pairwise

import numpy as np

from polyaurn.backends.cpu.columns import ALL_WORDS, AllWords
from polyaurn.backends.cpu.layout import Layout
from polyaurn.backends.variates import exp_of, log_gamma_draw
from polyaurn.base.arrays import empty
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi, Priors


def draw_phi(
    layout: Layout,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    words: AllWords = ALL_WORDS,
) -> Phi:
    """Draw Phi given the counts, the first step of the paper's Algorithm 1."""
    V, K = layout.n_words, layout.n_topics
    ranges = layout.fixed_ranges
    cell_key = key(seed, sweep, Purpose.CELL)
    mass = empty(V * K, np.float64)
    parts = workers.run(
        _draw_words,
        [(lo, hi, *counts, priors.beta, K, *cell_key, mass) for lo, hi in pairwise(ranges)],
    )
    S = words.sizes(parts, K)
    for k in np.flatnonzero(S == 0.0):  # every draw of the row too small to write down
        logs = words.of_all(log_row(k, *counts, priors.beta, *cell_key))
        mass[k::K] = np.exp(logs - logs.max())
        S[k] = mass[k::K].sum()
    first = np.arange(V, dtype=np.int64) * K
    topic = np.tile(np.arange(K, dtype=np.uint16), V)
    return words.finish(layout, first, first + K, topic, mass, S, priors.alpha, workers)


@njit(nogil=True, cache=True)
def _draw_words(lo, hi, n_first, n_last, n_topic, n_count, beta, K, a, b, mass):
    n = np.zeros(K, n_count.dtype)
    S = np.zeros(K, np.float64)
    for v in range(lo, hi):
        for j in range(n_first[v], n_last[v]):
            n[n_topic[j]] = n_count[j]
        for k in range(K):
            g = exp_of(log_gamma_draw(n[k] + beta[v], a, b, (v * 65536 + k) * 256))
            mass[v * K + k] = g
            S[k] += g
            n[k] = 0
    return S


@njit(cache=True)
def log_row(k, n_first, n_last, n_topic, n_count, beta, a, b):
    """Return the logarithms of a topic's draws, for words that are too small to write down."""
    logs = np.empty(len(beta), np.float64)
    for v in range(len(beta)):
        n = n_count.dtype.type(0)
        for j in range(n_first[v], n_last[v]):
            if n_topic[j] == k:
                n = n_count[j]
        logs[v] = log_gamma_draw(n + beta[v], a, b, (v * 65536 + np.int64(k)) * 256)
    return logs
