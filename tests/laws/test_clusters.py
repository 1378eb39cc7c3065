"""Document clusters draw from their posterior: enumeration, Geweke's test, and faults that fail."""

from functools import partial

import numpy as np
import pytest

from polyaurn import Corpus
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from support.chains import standard_error
from support.clusters import SHAPES, after_one_sweep, steps_with, tokens_of
from support.p_values import UNLIKELY, smallest_p

pytestmark = pytest.mark.slow

GROWING = (2000, 6000, 15_000)
_MOVED = "offset, used, topic, number, m, n_k)\n"
_BASE = "        fill_base(k, m, n_k, alpha, beta_sum, scale, base)\n"
_OUT = f"        move(begin, end, word, k, -1, {_MOVED}{_BASE}"
_OUT_LATE = _OUT.replace(" k, ", " np.int64(z[d]), ").replace("(k,", "(np.int64(z[d]),")
_CHOSEN = "        k = choose(weight, sums, unit(bits(a, b, d)))\n"
_IN = f"        move(begin, end, word, k, 1, {_MOVED}"
FAULTS = {
    "own_document_kept": ((_OUT, ""), (_CHOSEN + _IN, _CHOSEN + _OUT_LATE + _IN)),
    "repeated_words_as_new": (("i = i + 1 if", "i = 0 if"),),
    "totals_stay": (
        ("x *= scale / (n_k[k] + (beta_sum + t))", "x *= scale / (n_k[k] + beta_sum)"),
    ),
    "sizes_of_clusters_forgotten": (("x = m[k] + alpha[k]", "x = alpha[k]"),),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sweep_keeps_the_posterior(shape):
    assert after_one_sweep(steps_with(), shape, 8000) > UNLIKELY


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sweep_of_a_broken_kernel_does_not(fault):
    broken = steps_with(*FAULTS[fault])
    shape = "short" if fault == "sizes_of_clusters_forgotten" else "repeated words"
    assert smallest_p(partial(after_one_sweep, broken, shape), GROWING) < UNLIKELY**2


LENGTHS = np.array([2, 0, 3, 2, 1, 4, 2, 3])
DOC = np.repeat(np.arange(8), LENGTHS)
ALPHA, BETA = np.array([0.5, 0.8, 0.3]), np.array([0.2, 0.4, 0.3, 0.5])


def statistics(z, w):
    """Return functions of clusters and words that do not depend on the order of tokens."""
    n = np.zeros((3, 4))
    np.add.at(n, (z[DOC], w), 1)
    m = np.bincount(z[LENGTHS > 0], minlength=3) / 7
    return np.array([m[0], (m**2).sum(), n[0, 0], (n**2).sum(), (n.sum(axis=0) ** 2).sum()])


def words_of(z, phi, rng):
    """Draw the words of documents, sorted inside each."""
    edges = np.cumsum(phi[z[DOC]], axis=1)
    w = (rng.random((len(DOC), 1)) * edges[:, -1:] >= edges).sum(axis=1)
    return w[np.lexsort((w, DOC))].astype(np.int32)


def from_prior(rng):
    z = rng.choice(3, size=8, p=rng.dirichlet(ALPHA))
    phi = np.array([rng.dirichlet(BETA) for _ in range(3)])
    return z, words_of(z, phi, rng)


def distances(made, n):
    """Return how far the means of both ways to draw are apart, in standard errors."""
    rng = np.random.default_rng(3)
    priors = make_priors(ALPHA, BETA, 3, 4)
    direct = np.array([statistics(*from_prior(rng)) for _ in range(n)])
    z, w = from_prior(rng)
    ptr, there = np.concatenate(([0], np.cumsum(LENGTHS))), LENGTHS > 0
    chained = []
    for t in range(n):
        corpus = Corpus(ptr, w, tuple("abcd"))
        steps = made(corpus, 3)
        topics = tokens_of(z[there], corpus)
        state = sweep(State(topics, steps.count(topics), priors, t), steps, PLAIN, 0)[0]
        z = z.copy()
        z[there] = state.z[ptr[:-1][there]]
        counts = np.zeros((3, 4))
        np.add.at(counts, (z[DOC], w), 1)
        phi = np.array([rng.dirichlet(row + BETA) for row in counts])
        w = words_of(z, phi, rng)
        chained.append(statistics(z, w))
    series = np.array(chained)
    error = np.hypot(direct.std(axis=0) / np.sqrt(n), standard_error(series))
    return np.abs(direct.mean(axis=0) - series.mean(axis=0)) / error


def test_two_ways_to_draw_agree():
    assert distances(steps_with(), 6000).max() < 4.5


@pytest.mark.parametrize("fault", ["sizes_of_clusters_forgotten", "totals_stay"])
def test_two_ways_to_draw_with_a_broken_kernel_do_not(fault):
    assert distances(steps_with(*FAULTS[fault]), 6000).max() > 7
