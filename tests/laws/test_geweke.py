"""Geweke's test: two ways to draw (Phi, z, w) jointly must agree.

The first draws from the prior and then the data. The second alternates the sampler's own steps,
Phi given z and w, then z given Phi and w, with new words given z and Phi.
"""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import Phi, phi_matrix
from polyaurn.chain.steps import Address
from support.chains import CHAINS, standard_error, steps_of
from support.faults import PLAIN_TO_SEE, in_turn, steps_with
from support.joint_draws import from_prior, make_corpus, pick, sort_tokens, statistics
from support.p_values import UNLIKELY

pytestmark = pytest.mark.slow

K, V = 3, 4
PRIORS = make_priors([0.1, 0.3, 0.2], [0.4, 0.8, 0.5, 1.1], K, V)
FEW, ITERATIONS = 3000, 12_000  # most faults are plain in a few
LIMIT = stats.norm.isf(UNLIKELY / 2 / 8)  # eight statistics share the chance of a false alarm


@cache
def marginal_conditional(draws):
    rng = np.random.default_rng(1)
    return np.array([statistics(*from_prior(PRIORS, rng)) for _ in range(draws)])


def draw_phi(z, w, rng):
    """Phi given topics, for samplers that do without it."""
    n = np.zeros((K, V))
    np.add.at(n, (z, w), 1)
    return np.array([rng.dirichlet(row + PRIORS.beta) for row in n])


def successive_conditional(made, draws):
    rng = np.random.default_rng(2)
    phi, z, w = from_prior(PRIORS, rng)
    found = []
    for t in range(draws):
        steps, address = made(make_corpus(w, V), K), Address(3, t)
        columns = steps.draw_phi(steps.count(z), PRIORS, address)
        z, _, _ = steps.draw_z(z, columns, PRIORS, address)
        phi = phi_matrix(columns, K).toarray() if isinstance(columns, Phi) else draw_phi(z, w, rng)
        z, w = sort_tokens(z, pick(phi[z], rng))
        found.append(statistics(phi, z, w))
    return np.array(found)


def largest_score(made, iterations=ITERATIONS):
    first, second = marginal_conditional(20_000), successive_conditional(made, iterations)
    error = np.hypot(standard_error(first), standard_error(second))
    return np.abs((first.mean(axis=0) - second.mean(axis=0)) / error).max()


@pytest.mark.parametrize("sampler", CHAINS)
def test_joint_distribution(sampler):
    assert largest_score(steps_of(sampler)) < LIMIT


@pytest.mark.parametrize(("sampler", "fault"), in_turn(PLAIN_TO_SEE))
def test_joint_distribution_sees_a_broken_kernel(sampler, fault):
    broken = steps_with(sampler, fault)
    assert any(largest_score(broken, n) > 2 * LIMIT for n in (FEW, ITERATIONS))


def test_the_urn_is_seen_not_to_be_exact_on_so_few_tokens():
    assert largest_score(load_steps("polya-urn")) > 2 * LIMIT
