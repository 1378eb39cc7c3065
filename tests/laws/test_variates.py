"""Each distribution that kernels draw from, against its exact probabilities; and seen faults."""

import numpy as np
import pytest
from scipy import stats

from polyaurn.backends import reference, variates
from polyaurn.backends.tables import alias_table, poisson_tables
from polyaurn.base.rng import Purpose, bits, key
from support.p_values import UNLIKELY, chi_square_p, z_score

N = 20_000


def words(n=N, sweep=0):
    return bits(key(1, sweep, Purpose.CELL), np.arange(n))


def draw_counts(rate, n=N):
    cut, other = poisson_tables()
    return np.array([variates.poisson_count(rate, r, cut, other) for r in words(n)])


def histogram(draws, size=400):
    return np.bincount(draws, minlength=size)[:size]


@pytest.mark.parametrize("rate", [1, 2, 5, 17, 60, 100])
def test_tabled_poisson_counts(rate):
    pmf = stats.poisson.pmf(np.arange(400), rate)
    assert chi_square_p(histogram(draw_counts(rate)), pmf) > UNLIKELY


def test_a_table_of_the_wrong_rate_is_seen():
    pmf = stats.poisson.pmf(np.arange(400), 17)
    assert chi_square_p(histogram(draw_counts(18)), pmf) < UNLIKELY / 1e6


def test_tables_hold_the_poisson_probabilities():
    cut, other = poisson_tables()
    for rate in range(101):
        p = np.zeros(256)
        np.add.at(p, np.arange(256), cut[rate] / 2.0**32 / 256)
        np.add.at(p, other[rate], (1 - cut[rate] / 2.0**32) / 256)
        assert np.abs(p - stats.poisson.pmf(np.arange(256), rate)).max() < 2e-9


@pytest.mark.parametrize("rate", [101, 400, 10_000])
def test_above_the_tables_comes_the_rounded_gaussian(rate):
    x = np.arange(rate * 2)
    sd = np.sqrt(rate)
    exact = stats.norm.cdf(x + 0.5, rate, sd) - stats.norm.cdf(x - 0.5, rate, sd)
    draws = draw_counts(rate)
    assert chi_square_p(histogram(draws, len(x)), exact) > UNLIKELY
    # and it has the mean of the Poisson it stands for, within its own error
    assert abs(z_score(draws, rate)) < 5


@pytest.mark.parametrize("rate", [0.01, 0.7, 10.0, 99.5])
def test_poisson_of_any_rate(rate):
    draws = np.array([variates.poisson_rate(rate, r) for r in words()])
    assert chi_square_p(histogram(draws), stats.poisson.pmf(np.arange(400), rate)) > UNLIKELY
    assert [reference.poisson_rate(rate, r) for r in words(200)] == draws[:200].tolist()


@pytest.mark.parametrize("rate", [0.01, 0.7, 10.0])
def test_zero_truncated_poisson(rate):
    draws = np.array([variates.poisson_positive(rate, r) for r in words()])
    pmf = stats.poisson.pmf(np.arange(400), rate)
    pmf[0] = 0.0
    assert chi_square_p(histogram(draws), pmf / pmf.sum()) > UNLIKELY
    assert draws.min() == 1
    # replacing a zero by one, instead of drawing again, is seen
    lazy = np.maximum([variates.poisson_rate(rate, r) for r in words()], 1)
    if rate == 0.7:
        assert chi_square_p(histogram(lazy), pmf / pmf.sum()) < UNLIKELY / 1e6


@pytest.mark.parametrize("shape", [0.01, 0.5, 1.0, 1.01, 3.0, 250.01])
def test_gamma_draws(shape):
    a, b = key(2, 0, Purpose.CELL)
    logs = np.array([variates.log_gamma_draw(shape, a, b, i * 256) for i in range(N)])
    # the logarithm is compared: most draws of shape 0.01 are too small to write down
    exact = stats.loggamma(shape)
    assert stats.kstest(logs, exact.cdf).pvalue > UNLIKELY
    assert stats.kstest(logs, stats.loggamma(shape * 1.2).cdf).pvalue < UNLIKELY / 100
    plain = [reference.log_gamma(shape, key(2, 0, Purpose.CELL), i * 256) for i in range(50)]
    assert np.allclose(plain, logs[:50], rtol=1e-12)


def test_alias_tables_hold_their_weights():
    weights = np.array([5.0, 0.0, 1.0, 3.5, 0.5])
    cut, other = alias_table(weights)
    p = np.zeros(5)
    np.add.at(p, np.arange(5), (cut + 1) / 2.0**32 / 5)
    np.add.at(p, other, (1 - (cut + 1) / 2.0**32) / 5)
    assert np.allclose(p, weights / weights.sum(), atol=1e-9)
