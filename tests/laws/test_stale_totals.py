"""What totals that wait for the end of a step do to the partitioned sampler's distribution."""

import numpy as np
import pytest

from polyaurn import datasets
from polyaurn.backends.cpu import partition, partitioned
from polyaurn.backends.registry import load_steps
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from support.chains import begin, standard_error

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stale totals")]
K, BURN_IN, SWEEPS, BATCHES = 3, 200, 4000, 20
FAR = 4.0  # standard errors


@pytest.fixture(scope="module")
def corpus():
    """Few tokens for its groups, so that a step moves a large share of the totals."""
    return datasets.generate(
        400, 60, 3, 12.0, topic_concentration=10.0, doc_topic_prior=0.3, random_state=1
    )


def measure(sampler, corpus):
    """Return means and errors of the log posterior, nonzeros, and sizes of topics."""
    steps = load_steps(sampler)(corpus, K)
    state = begin(steps, make_priors(0.3, 0.3, K, corpus.n_words), 5)
    found = []
    for t in range(BURN_IN + SWEEPS):
        state, _ = sweep(state, steps, PLAIN, 5)
        if t >= BURN_IN:
            sizes = np.sort(np.bincount(state.z, minlength=K))
            found.append((steps.log_posterior(state), len(state.counts.topic), *sizes[[0, -1]]))
    series = np.array(found, float)
    return series.mean(axis=0), standard_error(series, BATCHES)


@pytest.fixture(scope="module")
def exact(corpus):
    return measure("collapsed", corpus)


def distance(found, exact):
    """Return how many standard errors two chains are apart, for each statistic."""
    return np.abs(found[0] - exact[0]) / np.hypot(found[1], exact[1])


@pytest.mark.parametrize("groups", [4, 8])
def test_a_chain_of_several_groups_is_where_the_exact_one_is(corpus, exact, groups, monkeypatch):
    monkeypatch.setattr(partition, "GROUPS", ((0, groups),))
    assert distance(measure("partitioned", corpus), exact).max() < FAR


def test_totals_that_are_never_renewed_are_seen(corpus, exact, monkeypatch):
    """The counterpart with a fault: every step of every sweep reads the totals of the first."""
    right, first = partitioned._totals, []

    def kept(n_k, *rest):
        first.append(n_k.copy())
        return right(first[0], *rest)

    monkeypatch.setattr(partition, "GROUPS", ((0, 4),))
    monkeypatch.setattr(partitioned, "_totals", kept)
    assert distance(measure("partitioned", corpus), exact).min() > 10 * FAR


def test_totals_that_are_a_tenth_too_large_are_seen(corpus, exact, monkeypatch):
    """The counterpart with a fault: the largest topic is taken to have more tokens than it has."""
    right = partitioned._totals

    def larger(n_k, *rest):
        return right(n_k + np.where(n_k == n_k.max(), n_k // 10, 0), *rest)

    monkeypatch.setattr(partition, "GROUPS", ((0, 4),))
    monkeypatch.setattr(partitioned, "_totals", larger)
    assert distance(measure("partitioned", corpus), exact).max() > 2 * FAR
