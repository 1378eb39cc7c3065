"""Priors that samplers of the posterior learn during a chain are those that drew the corpus."""

import numpy as np
import pytest
from scipy import stats

from polyaurn import datasets
from polyaurn.backends.registry import load_steps
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from support.faults import plant

ALPHA, BETA = np.array([0.1, 0.2, 0.4, 0.8]), 0.05
K, V, D = len(ALPHA), 200, 2000
CORPORA, SWEEPS, BURN_IN = 8, 100, 40


def planted(seed):
    """Return a corpus drawn from the priors, with documents of one token, and its topics."""
    return datasets.generate(
        D, V, K, 15.0, doc_topic_prior=ALPHA, topic_concentration=BETA * V, zipf_exponent=0.0,
        length_spread=1.3, random_state=seed, return_truth=True,
    )  # fmt: skip


def deviations(made):
    """Return log(learned / planted) of each alpha and of beta, a row for each corpus.

    Chains begin at the planted topics, so that topics keep their numbers, but with other priors.
    """
    rows = []
    for seed in range(CORPORA):
        corpus, truth = planted(seed)
        steps = made(corpus, K, learn_every=2)
        state = State(truth.z, steps.count(truth.z), make_priors(0.5, 0.2, K, V))
        learned = []
        for _ in range(SWEEPS):
            state, _ = sweep(state, steps, PLAIN, seed)
            learned.append(np.log([*state.priors.alpha, state.priors.beta[0]]))
        rows.append(np.mean(learned[BURN_IN:], axis=0) - np.log([*ALPHA, BETA]))
    return np.array(rows)


def p_values(rows):
    """Return p-values of the claim that deviations are 0 on average, by the corpora's spread."""
    return stats.ttest_1samp(rows, 0.0).pvalue


def length_off_by_one(made):
    """Break the counting of documents: each counts as one token longer than it is."""
    broken = plant("histograms", ("= K, length\n", "= K, length + 1\n"))
    return with_histogram(made, broken)


def one_histogram_for_all(made):
    """Break the counting of documents: topics are numbered differently in each document."""
    broken = plant(
        "histograms", ("k = z[i]\n", "k = z[i] if z[i] == NO_TOPIC else (z[i] + d) % K\n")
    )
    return with_histogram(made, broken)


def with_histogram(made, module):
    def document_histogram(self, z):
        return module.count_documents(self.layout.doc_ptr, z, K, self.workers)

    return type(made.__name__, (made,), {"document_histogram": document_histogram})


def rare_words_dropped(made):
    """Break the learning of beta: cells of one and of two tokens are left out."""
    broken = plant(
        "priors", ("small = np.flatnonzero(times)", "small = np.flatnonzero(times)[2:]"),
        package="polyaurn.chain",
    )  # fmt: skip

    def draw_priors(self, state, plan, address):
        found = self.document_histogram(state.z)
        return broken.learn_priors(found, state.counts, state.priors)

    return type(made.__name__, (made,), {"draw_priors": draw_priors})


FAULTS = {
    length_off_by_one: slice(K),
    one_histogram_for_all: slice(K),
    rare_words_dropped: [K],
}


def test_the_corpora_have_documents_of_one_token_and_of_none():
    lengths = np.diff(planted(0)[0].doc_ptr)
    assert (lengths == 1).sum() > 100
    assert (lengths == 0).sum() > 100


@pytest.mark.parametrize("sampler", ["collapsed", "partitioned", "sparse-dirichlet"])
def test_a_sampler_learns_the_planted_priors(sampler):
    rows = deviations(load_steps(sampler))
    assert p_values(rows).min() > 0.05
    error = rows.std(axis=0, ddof=1) / np.sqrt(CORPORA)
    assert error.max() < 0.05, "the comparison has power"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_of_learning_is_seen(fault):
    assert p_values(deviations(fault(load_steps("collapsed"))))[FAULTS[fault]].min() < 1e-3
