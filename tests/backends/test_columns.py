"""Columns of Phi for priors that differ by many powers of ten, by hand and by the reference."""

import numpy as np
import pytest

from polyaurn import Corpus
from polyaurn.backends.cpu import z
from polyaurn.backends.cpu.columns import PRIOR_PARTS, from_prior
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import phi_matrix
from polyaurn.chain.steps import Address
from support.p_values import UNLIKELY, chi_square_p

K, V = 26, 8
ALPHA = 10.0 ** -(np.arange(K) % 13)
BETA = np.geomspace(1e-3, 2.0, V)


def phis(sampler, corpus, priors, sweep):
    """Draw Phi by the kernels and by the reference."""
    found = []
    for made in (load_steps(sampler), REFERENCES[sampler]):
        steps = made(corpus, len(priors.alpha))
        found.append(steps.draw_phi(steps.count(steps.start(1)), priors, Address(1, sweep)))
    return found


@pytest.mark.parametrize("sampler", REFERENCES)
def test_the_prior_part_of_alphas_over_many_powers_of_ten(sampler):
    counts = np.random.default_rng(0).poisson(3.0, (12, V))
    corpus = Corpus.from_matrix(counts)
    priors = make_priors(ALPHA, BETA, K, V)
    for sweep in range(3):
        phi, same = phis(sampler, corpus, priors, sweep)
        assert phi.sigma_a.tobytes() == same.sigma_a.tobytes()
        for v in range(V):
            column = slice(phi.first[v], phi.last[v])
            topic, weight = phi.topic[column], phi.weight[column].astype(float)
            parts = np.diff(np.concatenate(([0], phi.prior[column].astype(np.int64))))
            unit = ALPHA.max() / PRIOR_PARTS
            exact = weight * ALPHA[topic]
            rounded = np.where(weight > 0, np.maximum(np.rint(exact / unit), 1), 0)
            assert np.array_equal(parts, rounded), "a topic of any alpha may be drawn"
            assert phi.sigma_a[v] == pytest.approx(parts.sum() * unit, rel=1e-12)
            assert abs(phi.sigma_a[v] - exact.sum()) <= len(topic) * unit
            edges = np.cumsum(parts)
            for u in (0.0, 0.1, 0.5, 0.99, 1 - 2.0**-53):
                goal = min(int(u * float(edges[-1])), int(edges[-1]) - 1)
                place = from_prior(phi.prior, np.uint64(phi.first[v]), len(topic), u)
                assert place == np.searchsorted(edges, goal, side="right")
                assert weight[place] > 0


def test_rows_too_small_to_write_down_have_each_words_own_beta():
    """A topic without tokens is nearly one word, and which is as likely as its beta."""
    beta = np.array([1e-4, 3e-4, 6e-4])
    corpus = Corpus.from_matrix([[2, 1, 3]])
    priors = make_priors(0.1, beta, 2, 3)
    steps = load_steps("partially-collapsed")(corpus, 2)
    plain = REFERENCES["partially-collapsed"](corpus, 2)
    one_topic = np.zeros(6, np.uint16)
    n, n_plain = steps.count(one_topic), plain.count(one_topic)
    leading = []
    for sweep in range(1500):
        phi = steps.draw_phi(n, priors, Address(0, sweep))
        row = phi_matrix(phi, 2).toarray()[1]
        assert row.sum() == pytest.approx(1.0, abs=1e-6)
        leading.append(row.argmax())
        if sweep < 40:
            same = plain.draw_phi(n_plain, priors, Address(0, sweep))
            assert phi.weight.tobytes() == same.weight.tobytes()
            assert phi.exponent.tobytes() == same.exponent.tobytes()
    assert chi_square_p(np.bincount(leading, minlength=3), beta / beta.sum()) > UNLIKELY
    assert chi_square_p(np.bincount(leading, minlength=3), np.ones(3) / 3) < UNLIKELY**2


@pytest.mark.parametrize("width", [1, 63, 64, 65, 130, 192])
def test_every_goal_finds_its_topic(width):
    """Weights are small, so that goals hit the ends of sums, which large ones hardly ever do."""
    rng = np.random.default_rng(width)
    w, m = rng.integers(0, 3, width).astype(np.uint32), rng.integers(0, 3, width).astype(np.uint16)
    m[-1], w[-1] = 1, 2
    if width > 128:
        m[64:128] = 0  # a whole piece without weight
    edges = np.cumsum(w.astype(int) * m)
    running = np.empty(width + 1, np.uint64)
    total = z._sum_row(w, m, np.uint64(width), running)
    assert total == edges[-1]
    found = [z._find_in_row(w, m, running, np.uint64(goal)) for goal in range(total)]
    assert found == np.searchsorted(edges, np.arange(total), side="right").tolist()
    parts = edges[w * m > 0].astype(np.uint64)
    for goal in range(total):
        place = from_prior(parts, np.uint64(0), len(parts), (goal + 0.5) / total)
        assert place == np.searchsorted(parts, goal, side="right")
