"""Corners of the kernels, small enough to be walked through un-jitted too.

The marker `plain` names the tests that measure line coverage: coverage cannot see into compiled
code, so that they run once more with ``NUMBA_DISABLE_JIT=1``.
"""

import numpy as np
import pytest
from scipy.special import ndtri

from polyaurn import Corpus
from polyaurn.backends import reference, variates
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.backends.tables import poisson_tables
from polyaurn.base.rng import Purpose, bits, key
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State, topic_word_matrix
from polyaurn.chain.steps import Address
from polyaurn.evaluate.diagnostics import log_posterior
from support.chains import log_joint

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("sampler", REFERENCES)
@pytest.mark.parametrize(
    ("counts", "K", "beta", "sweeps"),
    [
        ([[1] + [0] * 150] * 20, 200, 0.03, 1),  # many topics of a word, one of a document
        ([[1, 0]] * 40 + [[0, 1]], 700, 0.01, 1),  # more topics than anything to put in them
        ([[2, 0, 0], [1, 1, 0]], 3, 0.3, 40),  # columns and rows that come out empty
        ([[1, 1]], 4, 0.0005, 12),  # gammas too small to write down
        ([[150, 3]], 2, 60.0, 2),  # rates above the tables
    ],
)
def test_corners_give_the_bytes_of_the_reference(sampler, counts, K, beta, sweeps):
    corpus = Corpus.from_matrix(counts)
    fast, plain = load_steps(sampler)(corpus, K), REFERENCES[sampler](corpus, K)
    priors = make_priors(0.2, beta, K, corpus.n_words)
    z = fast.start(0)
    for t in range(sweeps):
        address = Address(0, t)
        phi = fast.draw_phi(fast.count(z), priors, address)
        same = plain.draw_phi(plain.count(z), priors, address)
        assert phi.sigma_a.tobytes() == same.sigma_a.tobytes()
        new, counted, work = fast.draw_z(z, phi, priors, address)
        oracle, same_counts, same_work = plain.draw_z(z, same, priors, address)
        assert new.tobytes() == oracle.tobytes()
        assert (topic_word_matrix(counted, K) != topic_word_matrix(same_counts, K)).nnz == 0
        assert work == same_work
        z = new
    state = State(z, fast.count(z), priors, sweeps)
    expected = log_joint(corpus, z, priors)
    assert log_posterior(corpus, state, priors) == pytest.approx(expected, rel=1e-9)


def test_draws_are_those_of_the_reference():
    r = bits(key(4, 0, Purpose.CELL), np.arange(30))
    cut, other = poisson_tables()
    for n in (1, 7, 100, 101, 5000):
        assert [variates.poisson_count(n, x, cut, other) for x in r] == [
            reference.poisson_count(n, x) for x in r
        ]
    for rate in (0.2, 30.0, 150.0):
        assert [variates.poisson_rate(rate, x) for x in r] == [
            reference.poisson_rate(rate, x) for x in r
        ]
        assert [variates.poisson_positive(rate, x) for x in r] == [
            reference.poisson_positive(rate, x) for x in r
        ]
    for u in (1e-300, 1e-12, 0.01, 0.4, 0.6, 0.99, 1 - 1e-12):
        assert variates.normal(u) == pytest.approx(ndtri(u), rel=1e-13)
