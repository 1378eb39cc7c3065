"""Simulation-based calibration: the truth's rank among posterior draws is uniform."""

import numpy as np
import pytest

from polyaurn.chain.priors import make_priors
from support.chains import chain, log_joint, steps_of
from support.faults import steps_with
from support.joint_draws import DOC, from_prior, make_corpus
from support.p_values import UNLIKELY, chi_square_p

pytestmark = pytest.mark.slow

K, V = 2, 4
PRIORS = make_priors([0.1, 0.2], [0.2, 0.4, 0.3, 0.6], K, V)
PRIOR_DRAWS, KEPT, THIN, BURN_IN = 500, 19, 12, 4


def measures(corpus, z):
    pairs = np.zeros((DOC[-1] + 1, K))
    np.add.at(pairs, (DOC, z), 1)
    return [
        log_joint(corpus, z, PRIORS),
        (pairs * (pairs - 1)).sum(),  # tokens of a document that share their topic
        (z == 0).mean(),
        ((z == 0) & (corpus.word == 0)).mean(),
    ]


def smallest_p(made):
    rng = np.random.default_rng(5)
    ranks = []
    for draw in range(PRIOR_DRAWS):
        _, z, w = from_prior(PRIORS, rng)
        corpus = make_corpus(w, V)
        states = list(chain(made, corpus, PRIORS, KEPT + BURN_IN, THIN, seed=draw))[BURN_IN:]
        drawn = np.array([measures(corpus, state.z) for state in states])
        truth = np.array(measures(corpus, z))
        below = (drawn < truth - 1e-9).sum(axis=0)
        ties = (np.abs(drawn - truth) <= 1e-9).sum(axis=0)
        ranks.append(below + rng.integers(0, ties + 1))  # ties are broken by chance
    ranks = np.array(ranks)
    even = np.ones(KEPT + 1) / (KEPT + 1)
    return min(chi_square_p(np.bincount(column, minlength=KEPT + 1), even) for column in ranks.T)


@pytest.mark.parametrize("sampler", ["partially-collapsed", "sparse-dirichlet", "collapsed"])
def test_ranks_are_uniform(sampler):
    assert smallest_p(steps_of(sampler)) > UNLIKELY


@pytest.mark.parametrize(
    ("sampler", "fault"),
    [
        ("partially-collapsed", "own_token_kept"),
        ("partially-collapsed", "counts_of_a_thread_dropped"),
        ("sparse-dirichlet", "cells_without_counts_never_drawn"),
        ("collapsed", "prior_forgotten"),
    ],
)
def test_ranks_of_a_broken_kernel_are_not(sampler, fault):
    assert smallest_p(steps_with(sampler, fault)) < UNLIKELY**2
