"""The paper's per-iteration figure: urn and partially collapsed traces agree, on a real corpus."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from polyaurn import read_corpus
from polyaurn.backends.registry import load_kernels
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import sweep
from polyaurn.chain.state import State, make_priors
from polyaurn.evaluate.diagnostics import log_posterior
from support.faults import counts_of_a_thread_dropped, cumulative_sum_as_score

pytestmark = pytest.mark.slow

K, SEEDS, BURN_IN, SWEEPS = 20, range(5), 300, 450
UNUSUAL = 1e-3  # two sound samplers are told apart in one run of a thousand


def levels(corpus, kernels):
    """Mean log posterior of each of five chains after burn-in."""
    priors = make_priors(0.1, 0.01, K, corpus.n_words)
    layout = kernels.make_layout(corpus, K)

    def level(seed):
        workers = Workers(1)
        z = kernels.start(layout, seed)
        state = State(z, kernels.count(layout, z, workers), 0)
        kept = []
        while state.sweep < SWEEPS:
            state, _ = sweep(layout, state, priors, kernels, seed, workers)
            if state.sweep > BURN_IN and state.sweep % 10 == 0:
                kept.append(log_posterior(corpus, state, priors, workers))
        return np.mean(kept)

    with ThreadPoolExecutor(2) as pool:
        return np.array(list(pool.map(level, SEEDS)))


@pytest.fixture(scope="module")
def kos(shared_corpora):
    return read_corpus(shared_corpora / "docword.kos.txt.gz")


@pytest.fixture(scope="module")
def exact(kos):
    return levels(kos, load_kernels("partially-collapsed"))


def test_urn_and_partially_collapsed_agree_within_chain_to_chain_spread(kos, exact):
    urn = levels(kos, load_kernels("polya-urn"))
    assert stats.ttest_ind(urn, exact, equal_var=False).pvalue > UNUSUAL


@pytest.mark.parametrize("fault", [cumulative_sum_as_score, counts_of_a_thread_dropped])
def test_a_broken_urn_is_told_from_partially_collapsed(kos, exact, fault):
    broken = levels(kos, fault("polya-urn"))
    assert stats.ttest_ind(broken, exact, equal_var=False).pvalue < UNUSUAL / 100
