"""Simulation-based calibration: the truth's rank among posterior draws is uniform."""

import numpy as np
import pytest

from polyaurn.chain.priors import make_priors
from support.chains import chain, log_joint, steps_of
from support.faults import in_turn, steps_with
from support.joint_draws import DOC, from_prior, make_corpus
from support.p_values import UNLIKELY, chi_square_p

pytestmark = pytest.mark.slow

K, V = 2, 4
PRIORS = make_priors([0.1, 0.2], [0.2, 0.4, 0.3, 0.6], K, V)
KEPT, THIN, BURN_IN = 19, 12, 4
PRIOR_DRAWS = {"partially-collapsed": 500, "sparse-dirichlet": 250, "collapsed": 250}
FAULTS = {  # and the prior draws in which each is plain
    ("partially-collapsed", "own_token_kept"): 500,
    ("partially-collapsed", "counts_of_a_thread_dropped"): 100,
    ("sparse-dirichlet", "cells_without_counts_never_drawn"): 100,
    ("collapsed", "prior_forgotten"): 100,
}


def measures(corpus, z):
    pairs = np.zeros((DOC[-1] + 1, K))
    np.add.at(pairs, (DOC, z), 1)
    return [
        log_joint(corpus, z, PRIORS),
        (pairs * (pairs - 1)).sum(),  # tokens of a document that share their topic
        (z == 0).mean(),
        ((z == 0) & (corpus.word == 0)).mean(),
    ]


def smallest_of(made, prior_draws):
    rng = np.random.default_rng(5)
    ranks = []
    for draw in range(prior_draws):
        _, z, w = from_prior(PRIORS, rng)
        corpus = make_corpus(w, V)
        states = list(chain(made, corpus, PRIORS, KEPT + BURN_IN, THIN, seed=draw))[BURN_IN:]
        drawn = np.array([measures(corpus, state.z) for state in states])
        truth = np.array(measures(corpus, z))
        below = (drawn < truth - 1e-9).sum(axis=0)
        ties = (np.abs(drawn - truth) <= 1e-9).sum(axis=0)
        ranks.append(below + rng.integers(0, ties + 1))  # ties are broken at random
    ranks = np.array(ranks)
    even = np.ones(KEPT + 1) / (KEPT + 1)
    return min(chi_square_p(np.bincount(column, minlength=KEPT + 1), even) for column in ranks.T)


@pytest.mark.parametrize(("sampler", "prior_draws"), PRIOR_DRAWS.items())
def test_ranks_are_uniform(sampler, prior_draws):
    assert smallest_of(steps_of(sampler), prior_draws) > UNLIKELY


@pytest.mark.parametrize(("sampler", "fault"), in_turn(FAULTS))
def test_ranks_of_a_broken_kernel_are_not(sampler, fault):
    broken = steps_with(sampler, fault)
    assert smallest_of(broken, FAULTS[sampler, fault]) < UNLIKELY**2
