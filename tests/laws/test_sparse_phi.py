"""The sampler "sparse-dirichlet": its balls, its gamma draws, and its Phi against the Dirichlet."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import exp1

from polyaurn import Corpus
from polyaurn.backends import reference, variates
from polyaurn.backends.cpu import phi_sparse
from polyaurn.backends.registry import load_steps
from polyaurn.backends.tables import CUTS, KNOTS, OCTAVES, ball_sizes, default_cut, logs
from polyaurn.base.rng import Purpose, bits, key
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import phi_matrix
from polyaurn.chain.steps import Address
from support.chains import FINE, SPARSE, with_cut
from support.faults import FAULTS, plant, steps_with
from support.p_values import UNLIKELY, chi_square_p, z_score

N = 20_000
SOME_CUTS = (1e-6, *(cut for _, cut in CUTS), 1.0)


def words(n=N):
    return bits(key(6, 0, Purpose.BALL), np.arange(n))


@pytest.mark.parametrize("cut", SOME_CUTS)
def test_balls_have_the_mean_and_nearly_the_variance_of_the_gamma_they_stand_for(cut):
    """Integrals over the quantiles, cell by cell: one, and one plus the documented excess."""
    rate, scale, quantile = ball_sizes(cut)
    octave, place = np.divmod(np.arange(len(quantile)), KNOTS)
    s = np.minimum(2.0 ** (octave - OCTAVES) * (1.0 + place / KNOTS), scale)
    width, low, high = np.diff(s) / scale, quantile[:-1], quantile[1:]
    assert rate * (width * (low + high) / 2).sum() == pytest.approx(1.0, abs=1e-5)
    square = rate * (width * (low**2 + low * high + high**2) / 3).sum()
    assert square == pytest.approx(cut + math.exp(-cut), abs=1e-4)


@pytest.mark.parametrize("cut", SOME_CUTS)
def test_sizes_of_balls(cut):
    rate, scale, quantile = ball_sizes(cut)
    sizes = np.array([variates.ball_size(r, scale, quantile) for r in words()])
    above = sizes[sizes > np.float32(cut)]
    assert stats.kstest(above, lambda x: 1.0 - exp1(x) / exp1(cut)).pvalue > UNLIKELY
    assert stats.kstest(above * 3.0, lambda x: 1.0 - exp1(x) / exp1(cut)).pvalue < UNLIKELY / 100
    expected = exp1(cut) / rate
    assert stats.binomtest(len(above), N, expected).pvalue > UNLIKELY
    assert stats.binomtest(len(above), N, 0.9 * expected).pvalue < UNLIKELY**2
    assert [reference.ball_size(r, cut) for r in words(200)] == pytest.approx(sizes[:200].tolist())


@pytest.mark.parametrize("n", [1, 2, 8, 9, 60])
def test_gamma_draws_of_whole_shapes(n):
    a, b = key(2, 0, Purpose.CELL)
    drawn = np.array([variates.gamma_count(n, a, b, i * 256, logs()) for i in range(N)])
    assert stats.kstest(drawn, stats.gamma(n).cdf).pvalue > UNLIKELY
    assert stats.kstest(drawn, stats.gamma(n + 0.15 * math.sqrt(n)).cdf).pvalue < UNLIKELY / 100
    plain = [reference.gamma_count(n, key(2, 0, Purpose.CELL), i * 256) for i in range(50)]
    assert plain == pytest.approx(drawn[:50].tolist(), rel=1e-12)


def test_the_logarithm_by_table_is_exact_to_the_last_bits():
    x = np.concatenate((np.geomspace(1e-300, 1.0, 3000), np.linspace(0.5, 1.0, 3000)))
    found = np.array([variates.quick_log(u, logs()) for u in x])
    assert np.abs((found - np.log(x)) / np.maximum(1.0, np.abs(np.log(x)))).max() < 4e-16


def test_an_exponential_draw_below_a_limit():
    for limit in (1e-5, 0.7, 50.0):
        drawn = np.array([variates.exponential_below(limit, r) for r in words()])
        assert drawn.max() < limit
        expected = stats.truncexpon(limit)
        assert stats.kstest(drawn, expected.cdf).pvalue > UNLIKELY
        assert stats.kstest(drawn**1.1, expected.cdf).pvalue < UNLIKELY / 100


K = 3
CORPUS = Corpus.from_matrix([[3, 1, 0, 0, 12], [0, 2, 1, 0, 3], [1, 0, 4, 0, 0]])
BETA = np.array([0.05, 0.3, 1.5, 0.2, 0.6])  # every cell of the third is drawn; no fourth occurs
TOPICS = (np.arange(CORPUS.n_tokens) // 3 % 2).astype(np.uint16)  # the third topic has no tokens


def largest_score(made, draws=6000):
    """Return how far the first two moments of Phi are from the Dirichlet's, in standard errors."""
    steps, priors = made(CORPUS, K), make_priors(0.1, BETA, K, CORPUS.n_words)
    counts = steps.count(TOPICS)
    phi = np.array([
        phi_matrix(steps.draw_phi(counts, priors, Address(5, t)), K).toarray() for t in range(draws)
    ])  # fmt: skip
    n = np.zeros((K, CORPUS.n_words))
    np.add.at(n, (TOPICS, CORPUS.word), 1)
    a = n + BETA
    A = a.sum(axis=1, keepdims=True)
    moments = ((phi, a / A), (phi**2, a * (a + 1) / (A * (A + 1))))
    return max(
        (np.abs(x.mean(axis=0) - mean) / (x.std(axis=0) / math.sqrt(draws) + 1e-12)).max()
        for x, mean in moments
    )


LIMIT = stats.norm.isf(UNLIKELY / 2 / (2 * BETA.size * K))


def test_phi_has_the_moments_of_the_dirichlet():
    assert largest_score(with_cut(FINE)) < LIMIT


def test_with_the_largest_default_cut_they_are_not_seen_to_differ():
    assert default_cut(65_535) == 0.1
    assert largest_score(with_cut(0.1)) < LIMIT
    assert largest_score(with_cut(3.0)) > 2 * LIMIT


@pytest.mark.parametrize("fault", FAULTS[SPARSE])
def test_moments_of_a_broken_kernel_are_others(fault):
    assert largest_score(steps_with(SPARSE, fault)) > 2 * LIMIT


def columns_of_an_entering_word(phi, draws=6000, beta=0.05, n_topics=4):
    """Draw the column of a word that occurs but has no counts: its first topics and its mass."""
    steps = load_steps(SPARSE)(Corpus.from_matrix([[1, 0], [0, 300]]), n_topics)
    priors = make_priors(0.1, beta, n_topics, 2)
    z = np.arange(301, dtype=np.uint16) % n_topics
    z[0] = 65_535  # in no topic yet
    counts, balls = steps.count(z), ball_sizes(0.1)
    firsts, masses = [], []
    for t in range(draws):
        first, last, topic, mass, _ = phi._draw_columns(
            steps.layout, counts, priors, balls, 0, t, steps.workers
        )
        masses.append(mass[first[0] : last[0]].sum())
        firsts.extend(topic[first[0] : last[0]].tolist())
    some = -math.expm1(-beta * n_topics * balls.rate)
    return firsts, masses, beta * n_topics / some


def test_a_word_that_enters_has_a_column_conditioned_on_not_being_empty():
    topics, masses, expected = columns_of_an_entering_word(phi_sparse)
    assert min(masses) > 0.0
    assert abs(z_score(masses, expected)) < 5
    assert chi_square_p(np.bincount(topics, minlength=4), np.full(4, 0.25)) > UNLIKELY


def test_a_word_that_enters_without_the_condition_is_seen():
    free = "exponential_below(K / gap, r)"
    _, masses, expected = columns_of_an_entering_word(
        plant("phi_sparse", (free, "exponential(r, logs)"))
    )
    assert min(masses) == 0.0
    assert abs(z_score(masses, expected)) > 10


def test_more_balls_than_memory_was_set_aside_for_are_drawn_again(small, monkeypatch):
    priors = make_priors(0.1, 0.02, 30, small.n_words)
    steps = load_steps(SPARSE)(small, 30)
    counts = steps.count(steps.start(0))
    drawn = []
    for spare in (phi_sparse.SPARE, -50.0):
        monkeypatch.setattr(phi_sparse, "SPARE", spare)
        drawn.append(steps.draw_phi(counts, priors, Address(0, 0)))
    assert drawn[0].sigma_a.tobytes() == drawn[1].sigma_a.tobytes()
    assert len(drawn[0].topic) != len(drawn[1].topic), "the second had to take more"


def test_words_of_any_prior_share_one_table(small):
    """A vector of V different values of beta costs no tables of its own."""
    before = ball_sizes.cache_info().currsize
    for scale in (0.001, 0.01, 0.1):
        beta = scale * np.linspace(1.0, 20.0, small.n_words)
        steps = load_steps(SPARSE)(small, 5)
        phi = steps.draw_phi(
            steps.count(steps.start(0)), make_priors(0.1, beta, 5, small.n_words), Address(0, 0)
        )
        assert np.allclose(phi_matrix(phi, 5).sum(axis=1), 1.0, atol=1e-6)
    assert ball_sizes.cache_info().currsize <= max(before, 1)
