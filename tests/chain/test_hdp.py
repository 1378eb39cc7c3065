"""The top level of a hierarchical Dirichlet process: variates, counts of tables, corners."""

import numpy as np
import pytest
from scipy import stats

from polyaurn import datasets
from polyaurn.backends.draws import AddressedDraws
from polyaurn.backends.reference import document_histogram
from polyaurn.base.rng import Purpose
from polyaurn.chain.hdp import (
    HDP,
    LEAST_ALPHA,
    WEIGHTS,
    check_gamma_prior,
    count_tables,
    draw_top,
    first_top,
)
from polyaurn.chain.loop import PLAIN
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from polyaurn.chain.steps import Address
from support.chains import steps_of
from support.p_values import UNLIKELY, chi_square_p, z_score

DRAWS = AddressedDraws(5, 1)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (7, 0.5), (40, 0.02), (40, 0.97), (300, 0.4), (90_000, 0.0001)]
)
def test_binomial_draws_have_their_distribution(n, p):
    size = 20_000
    x = DRAWS.binomial(Purpose.TABLES, np.full(size, n), np.full(size, p), np.arange(size))
    of_each = stats.binom.pmf(np.arange(n + 1), n, p)
    assert chi_square_p(np.bincount(x, minlength=n + 1), of_each) > UNLIKELY
    other = stats.binom.pmf(np.arange(n + 1), n, p * 1.03 if p < 0.5 else p * 0.98)
    if n * p * (1 - p) > 1.0:
        assert chi_square_p(np.bincount(x, minlength=n + 1), other) < 0.01


@pytest.mark.parametrize(("n", "p"), [(2**31 - 1, 0.25), (10**6, 1 - 1e-7), (5 * 10**8, 1e-9)])
def test_binomial_draws_of_many_have_their_mean(n, p):
    size = 4000
    x = DRAWS.binomial(Purpose.TABLES, np.full(size, n), np.full(size, p), np.arange(size))
    assert x.min() >= 0
    assert x.max() <= n
    assert abs(z_score(x.astype(float), n * p)) < 5
    assert abs(x.var() / (n * p * (1 - p)) - 1) < 5 * np.sqrt(3 / size)


def test_binomial_draws_that_are_certain():
    n, p = np.array([0, 5, 5, 10**6]), np.array([0.5, 0.0, 1.0, 1.0])
    assert DRAWS.binomial(Purpose.TABLES, n, p, np.arange(4)).tolist() == [0, 0, 5, 10**6]


def test_tables_are_counted_with_their_distribution():
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 30, 40)
    doc_ptr = np.concatenate(([0], np.cumsum(lengths)))
    z = rng.integers(0, 3, doc_ptr[-1]).astype(np.uint16)
    found, alpha = document_histogram(doc_ptr, z, 4), np.array([0.2, 3.0, LEAST_ALPHA, 1.0])
    document = np.repeat(np.arange(40), lengths)
    m = np.zeros((40, 4), int)
    np.add.at(m, (document, z), 1)
    drawn = np.array([count_tables(found, alpha, AddressedDraws(1, t)) for t in range(3000)])
    assert (drawn[:, 2] == (m[:, 2] > 0).sum()).all(), "one for each document"
    assert not drawn[:, 3].any(), "a topic without tokens"
    for k in (0, 1):
        p = np.concatenate([alpha[k] / (alpha[k] + np.arange(number)) for number in m[:, k]])
        assert abs(z_score(drawn[:, k].astype(float), p.sum())) < 5
        assert abs(drawn[:, k].var() / (p * (1 - p)).sum() - 1) < 5 * np.sqrt(2 / 3000)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("K", [1, 2, 7])
def test_the_top_level_of_few_topics(weights, K):
    z = np.zeros(3, np.uint16)
    found = document_histogram(np.array([0, 2, 2, 3]), z, K)
    alpha, top = first_top(0.5, 2.0, K, 1)
    assert np.count_nonzero(alpha > LEAST_ALPHA) == 1
    priors = make_priors(1.0, 0.1, K, 4)._replace(alpha=alpha, top=top)
    rules = HDP(weights, (1.0, 1.0), (2.0, 1.0))
    drawn = draw_top(found, priors, rules, DRAWS)
    again = draw_top(found, priors, rules, AddressedDraws(5, 1))
    assert np.array_equal(drawn.alpha, again.alpha)
    assert drawn.top.gamma == again.top.gamma
    assert drawn.alpha.min() >= LEAST_ALPHA
    assert not drawn.alpha.flags.writeable
    assert drawn.alpha.sum() == pytest.approx(drawn.top.alpha)
    assert sorted(drawn.top.order) == list(range(K))
    fixed = draw_top(found, priors, HDP(weights, None, None), DRAWS)
    assert (fixed.top.alpha, fixed.top.gamma) == (0.5, 2.0)


def test_documents_without_tokens_leave_the_priors():
    found = document_histogram(np.array([0, 0]), np.zeros(0, np.uint16), 3)
    alpha, top = first_top(0.5, 2.0, 3, 3)
    priors = make_priors(1.0, 0.1, 3, 4)._replace(alpha=alpha, top=top)
    assert draw_top(found, priors, HDP(), DRAWS) is priors


@pytest.mark.parametrize("value", [1.0, (1.0,), (1.0, 0.0), (1.0, -2.0), "ab", (np.inf, 1.0)])
def test_gamma_priors_are_checked(value):
    from polyaurn import InputError

    with pytest.raises(InputError, match="'alpha_prior' parameter must be a pair"):
        check_gamma_prior(value, "alpha_prior")


class Gathered:
    """Counts of a device, which say when they are copied."""

    def __init__(self, counts):
        self.counts, self.times = counts, 0

    def on_host(self):
        self.times += 1
        return self.counts


@pytest.mark.parametrize("learn_every", [0, 1])
def test_counts_are_gathered_only_where_beta_is_learned(learn_every):
    corpus = datasets.generate(20, 30, 3, 10.0)
    alpha, top = first_top(0.5, 2.0, 4, 4)
    priors = make_priors(1.0, 0.1, 4, corpus.n_words)._replace(alpha=alpha, top=top)
    steps = steps_of("partitioned")(corpus, 4, hdp=HDP(), learn_every=learn_every)
    z = steps.start(0)
    held = Gathered(steps.count(z))
    drawn = steps.draw_priors(State(z, held, priors, 1), PLAIN, Address(0, 0))
    assert held.times == learn_every
    assert (drawn.alpha != alpha).all()
    assert (drawn.beta[0] != 0.1) == bool(learn_every)
