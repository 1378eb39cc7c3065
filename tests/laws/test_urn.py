"""The urn's own distribution: Poisson(n + beta) in every cell, rows and columns never empty."""

import numpy as np
import pytest
from scipy import stats

from polyaurn import Corpus
from polyaurn.backends.cpu import phi_urn
from polyaurn.backends.cpu.counts import add_pseudo_counts, count
from polyaurn.backends.cpu.layout import make_layout
from polyaurn.backends.registry import load_steps
from polyaurn.base.rng import Purpose, key
from polyaurn.chain.priors import make_priors
from polyaurn.chain.steps import Address
from support.chains import ONE, with_steps
from support.faults import plant, urn_of_whole_parts
from support.p_values import UNLIKELY, chi_square_p, z_score

BETA = 0.01
COUNTS = (0, 1, 2, 5, 20, 99, 100, 101, 102, 300, 1000)
SWEEPS = 6000
SIZE = 1600


def counted(sizes, pseudo=None):
    """Return a corpus whose words have so many tokens in topic 0 and plenty in topic 1."""
    V = len(sizes)
    corpus = Corpus.from_matrix([[n + 400 for n in sizes]])
    z = np.concatenate([np.repeat([0, 1], [n, 400]) for n in sizes]).astype(np.uint16)
    return corpus, z, make_priors(0.1, BETA, 2, V, pseudo=pseudo)


def cells(urn, sizes=COUNTS, pseudo=None):
    """Draw the cell (word, topic 0) of words with n tokens there and plenty in topic 1."""
    V = len(sizes)
    corpus, z, priors = counted(sizes, pseudo)
    layout = make_layout(corpus, 2)
    counts = count(layout, z, ONE)
    if pseudo is not None:
        counts = add_pseudo_counts(layout, counts, priors.pseudo, ONE)
    drawn = np.zeros((SWEEPS, V), int)
    for t in range(SWEEPS):
        balls = urn.draw_ball_counts(layout, priors, 0, t, ONE)
        first, _, topic, mass, _ = urn.draw_columns(layout, counts, priors, balls, 0, t, ONE)
        here = topic[first] == 0
        drawn[t, here] = mass[first[here]]
    return drawn


def probabilities(n):
    """Return those of one cell: alias table or rounded Gaussian, plus the prior's Poisson."""
    x = np.arange(SIZE)
    whole = int(n)
    if whole <= 100:
        return stats.poisson.pmf(x, n + BETA)
    edges = stats.norm.cdf(np.append(x - 0.5, SIZE - 0.5), whole, np.sqrt(whole))
    edges[0] = 0.0
    rest = stats.poisson.pmf(np.arange(20), n - whole + BETA)
    return np.convolve(np.diff(edges), rest)[:SIZE]


@pytest.fixture(scope="module")
def drawn():
    return cells(phi_urn)


@pytest.mark.parametrize("n", COUNTS)
def test_a_cell_is_poisson(drawn, n):
    x = drawn[:, COUNTS.index(n)]
    assert chi_square_p(np.bincount(x, minlength=SIZE), probabilities(n)) > UNLIKELY
    assert abs(z_score(x, n + BETA)) < 5
    # variance: its error from the fourth moment of the Poisson, mu + 3 mu^2
    mu = n + BETA
    assert abs(x.var() - mu) < 5 * np.sqrt((mu + 3 * mu**2 - mu**2) / SWEEPS) + 1 / 12
    zeros = np.exp(-mu)
    assert abs((x == 0).mean() - zeros) < 5 * np.sqrt(zeros * (1 - zeros) / SWEEPS) + 1e-9


def largest_correlation(drawn):
    correlation = np.corrcoef(drawn[:, 1:].T)
    return np.abs(correlation[np.triu_indices(len(correlation), 1)]).max() * np.sqrt(SWEEPS)


PAIRS = (len(COUNTS) - 1) * (len(COUNTS) - 2) / 2
UNLIKELY_CORRELATION = stats.norm.isf(UNLIKELY / 2 / PAIRS)


def test_cells_are_independent(drawn):
    assert largest_correlation(drawn) < UNLIKELY_CORRELATION


def test_words_that_share_their_draws_are_seen():
    shared = cells(plant("phi_urn", ("v * 65536 + np.int64(k)", "np.int64(k)")))
    assert largest_correlation(shared) > 3 * UNLIKELY_CORRELATION


def test_counts_off_by_one_are_seen():
    x = cells(plant("phi_urn", ("poisson_count(whole,", "poisson_count(whole + 1,")))
    for n in (1, 5, 20):
        assert (
            chi_square_p(np.bincount(x[:, COUNTS.index(n)], minlength=SIZE), probabilities(n))
            < UNLIKELY**3
        )


TOKENS = (0, 0, 0, 1, 2, 20, 99, 100, 300)
FRACTIONS = np.array([0.25, 0.5, 1.75, 0.5, 0.75, 0.5, 0.875, 0.5, 0.25])
PSEUDO = np.array([FRACTIONS, np.full(len(TOKENS), 30.4)])


def fraction_p_values(urn):
    """Return a p-value of each cell that has tokens and pseudo-counts that are fractions."""
    drawn = cells(urn, TOKENS, PSEUDO)
    both = TOKENS + FRACTIONS
    return [
        chi_square_p(np.bincount(x, minlength=SIZE), probabilities(n))
        for x, n in zip(drawn.T, both, strict=True)
    ]


def test_a_cell_with_a_fraction_is_poisson():
    assert min(fraction_p_values(phi_urn)) > UNLIKELY


def test_a_cell_without_its_fraction_is_seen():
    """A fraction is seen where it is a large part of the cell: beside up to two tokens."""
    assert max(fraction_p_values(urn_of_whole_parts())[:5]) < UNLIKELY**2


def presence_z(steps_of):
    """Return z-scores of how often topic 0 is in the columns of few tokens: 1 - e^-(n + beta)."""
    corpus, z, priors = counted(TOKENS, PSEUDO)
    steps = steps_of(corpus, 2)
    counts, here = steps.count(z), np.zeros((3000, len(TOKENS)), bool)
    for t in range(len(here)):
        phi = steps.draw_phi(counts, priors, Address(0, t))
        here[t] = phi.topic[phi.first] == 0
    there = -np.expm1(-(np.array(TOKENS) + FRACTIONS + BETA))[:5]
    return (here.mean(axis=0)[:5] - there) / np.sqrt(there * (1 - there) / len(here))


@pytest.mark.parametrize("sampler", ["polya-urn", "polya-urn-mh"])
def test_both_urns_draw_phi_with_fractions(sampler):
    assert np.abs(presence_z(load_steps(sampler))).max() < 5
    broken = with_steps(load_steps(sampler), phi_step=urn_of_whole_parts().draw_phi)
    assert np.abs(presence_z(broken)).min() > 8


def test_the_seam_between_tables_and_gaussian():
    """At rate 101 the rounded Gaussian is within 2% of the Poisson, and comes closer above."""
    x = np.arange(SIZE)
    distance = [
        np.abs(probabilities(n) - stats.poisson.pmf(x, n + BETA)).sum() / 2
        for n in (101, 300, 1000)
    ]
    assert distance[0] < 0.02
    assert distance[0] > distance[1] > distance[2]
    # the error falls as one over the square root of the rate
    assert distance[0] / distance[2] == pytest.approx(np.sqrt(1000 / 101), rel=0.1)


def row_sum_p(urn):
    """P-value of a topic's total, which is Poisson(its tokens + beta V) when no column is empty."""
    counts = (0, 1, 2, 5, 20)
    corpus = Corpus.from_matrix([[n + 90 for n in counts]])
    layout = make_layout(corpus, 2)
    z = np.concatenate([np.repeat([0, 1], [n, 90]) for n in counts]).astype(np.uint16)
    counted = count(layout, z, ONE)
    priors = make_priors(0.1, 0.2, 2, len(counts))
    totals = []
    for t in range(4000):
        balls = urn.draw_ball_counts(layout, priors, 0, t, ONE)
        *_, S = urn.draw_columns(layout, counted, priors, balls, 0, t, ONE)
        totals.append(int(S[0]))
    rate = sum(counts) + 0.2 * len(counts)
    return chi_square_p(np.bincount(totals, minlength=100), stats.poisson.pmf(np.arange(100), rate))


def test_row_sums_are_poisson():
    assert row_sum_p(phi_urn) > UNLIKELY


def test_row_sums_without_the_prior_are_seen():
    assert row_sum_p(plant("phi_urn", ("range(balls[v])", "range(0)"))) < UNLIKELY**2


def throw_rows(urn, seeds):
    """Draw rows that came out empty: topic 1 has no tokens, topic 2 has three."""
    corpus = Corpus.from_matrix([[40, 2, 1, 0]])
    layout = make_layout(corpus, 3)
    z = np.array([0] * 40 + [2] * 3, np.uint16)
    counts = count(layout, z, ONE)
    beta = np.array([0.1, 0.2, 0.3, 0.4])
    totals, words = [], {1: [], 2: []}
    for t in range(seeds):
        k, v = urn.fill_rows(np.array([1, 2]), counts, beta, 3, key(0, t, Purpose.ROW))
        totals.append(np.bincount(k, minlength=3)[1:])
        for topic in words:
            words[topic].extend(v[k == topic])
    return np.array(totals), words, beta


def row_p_values(urn):
    totals, words, beta = throw_rows(urn, 8000)
    p = []
    for column, (k, n) in zip(totals.T, {1: [0, 0, 0, 0], 2: [0, 2, 1, 0]}.items(), strict=True):
        rate = beta.sum() + sum(n)
        pmf = stats.poisson.pmf(np.arange(60), rate)
        pmf[0] = 0.0
        p.append(chi_square_p(np.bincount(column, minlength=60), pmf / pmf.sum()))
        p.append(chi_square_p(np.bincount(words[k], minlength=4), (beta + n) / rate))
    return p


def test_an_empty_row_is_drawn_from_the_urn_given_that_it_is_not_empty():
    assert min(row_p_values(phi_urn)) > UNLIKELY


def test_an_empty_row_that_forgets_its_counts_is_seen():
    broken = plant(
        "phi_urn", ("v = _word_of(first, last, topic, number, k, u - beta_all)", "v = 0")
    )
    assert min(row_p_values(broken)) < UNLIKELY**3


def test_no_observed_word_and_no_topic_is_ever_empty():
    corpus = Corpus.from_matrix([[1, 0, 2, 0], [0, 1, 0, 0]])
    K = 5
    steps = load_steps("polya-urn")(corpus, K)
    counts = steps.count(np.zeros(4, np.uint16))
    priors = make_priors(0.1, 0.001, K, 4)
    for t in range(300):
        phi = steps.draw_phi(counts, priors, Address(0, t))
        assert (phi.last - phi.first)[:3].min() > 0
        assert set(range(K)) == set(
            np.concatenate([phi.topic[a:b] for a, b in zip(phi.first, phi.last, strict=True)])
        )


@pytest.mark.parametrize("sampler", ["polya-urn", "partially-collapsed"])
def test_running_sums_of_columns_hold_their_weights(sampler, medium):
    K = 20
    rng = np.random.default_rng(0)
    steps = load_steps(sampler)(medium, K)
    counts = steps.count(steps.start(0))
    priors = make_priors(rng.gamma(1.0, 0.5, K) + 0.01, 0.01, K, medium.n_words)
    phi = steps.draw_phi(counts, priors, Address(0, 0))
    for v in range(medium.n_words):
        column = slice(phi.first[v], phi.last[v])
        topic, size = phi.topic[column], phi.last[v] - phi.first[v]
        if size == 0:
            assert v not in medium.word
            continue
        a = phi.weight[column] * priors.alpha[topic]
        parts = np.diff(phi.prior[column].astype(np.float64), prepend=0.0)
        unit_of_prior = priors.alpha.max() / 65536
        assert np.allclose(parts * unit_of_prior, a, rtol=1e-9, atol=unit_of_prior)
        assert phi.sigma_a[v] == pytest.approx(a.sum())
        if phi.row[v] >= 0:
            assert (phi.dense[phi.row[v]][topic] == phi.weight[column]).all()
            assert np.count_nonzero(phi.dense[phi.row[v]]) == np.count_nonzero(phi.weight[column])
            if size < K:
                assert (phi.rank[phi.row[v]][topic] == np.arange(size)).all()
