"""The paper's per-iteration figure: urn and partially collapsed traces agree, on a real corpus."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from polyaurn import read_corpus
from polyaurn.backends.registry import load_steps
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from support.chains import begin
from support.faults import counts_of_a_thread_dropped, cumulative_sum_as_score

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kos")]

K, SEEDS, BURN_IN, SWEEPS = 20, range(5), 150, 250
UNUSUAL = 1e-3  # two sound samplers differ by so much in one run of a thousand


def levels(corpus, made):
    """Mean log posterior of each of five chains after burn-in."""
    priors = make_priors(0.1, 0.01, K, corpus.n_words)

    def level(seed):
        steps = made(corpus, K)
        state = begin(steps, priors, seed)
        kept = []
        while state.sweep < SWEEPS:
            state, _ = sweep(state, steps, PLAIN, seed)
            if state.sweep > BURN_IN and state.sweep % 10 == 0:
                kept.append(steps.log_posterior(state))
        return np.mean(kept)

    with ThreadPoolExecutor(2) as pool:
        return np.array(list(pool.map(level, SEEDS)))


@pytest.fixture(scope="module")
def kos(shared_corpora):
    return read_corpus(shared_corpora / "docword.kos.txt.gz")


@pytest.fixture(scope="module")
def exact(kos):
    return levels(kos, load_steps("partially-collapsed"))


def test_urn_and_partially_collapsed_agree_within_chain_to_chain_spread(kos, exact):
    urn = levels(kos, load_steps("polya-urn"))
    assert stats.ttest_ind(urn, exact, equal_var=False).pvalue > UNUSUAL


@pytest.mark.parametrize("fault", [cumulative_sum_as_score, counts_of_a_thread_dropped])
def test_a_broken_urn_is_distinguished_from_partially_collapsed(kos, exact, fault):
    broken = levels(kos, fault("polya-urn"))
    assert stats.ttest_ind(broken, exact, equal_var=False).pvalue < UNUSUAL / 100
