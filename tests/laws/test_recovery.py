"""Planted topics are found, and the log likelihood of another implementation is reached."""

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from polyaurn import LDA, Corpus, datasets
from polyaurn.backends import reference
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.chain.steps import Address
from support.chains import chain, log_joint

K = 8


def match(found, truth):
    """Cosines of the best one-to-one matching of topics (Hungarian algorithm)."""
    a = found / np.linalg.norm(found, axis=1, keepdims=True)
    b = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    cosine = a @ b.T
    return cosine[linear_sum_assignment(-cosine)]


def agreement(z, truth):
    """Share of tokens whose topic is right, after the best matching."""
    both = np.zeros((K, K))
    np.add.at(both, (z, truth), 1)
    return both[linear_sum_assignment(-both)].sum() / len(z)


@pytest.fixture(scope="module")
def planted():
    return datasets.generate(1000, 400, K, 80.0, topic_concentration=20.0, return_truth=True)


@pytest.fixture(scope="module")
def best_possible(planted):
    """How well one who knows Phi finds the topics: tokens redrawn from their posterior."""
    corpus, truth = planted
    steps = load_steps("partially-collapsed")(corpus, K)
    priors = make_priors(0.1, 0.01, K, corpus.n_words)
    phi = reference.make_phi(truth.phi.T, priors.alpha, np.ones((corpus.n_words, K), bool))
    z = truth.z
    for t in range(20):
        z, _, _ = steps.draw_z(z, phi, priors, Address(0, t))
    return agreement(z, truth.z)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_planted_topics_are_found(sampler, planted, best_possible):
    corpus, truth = planted
    runs = [
        LDA(K, max_iter=200, sampler=sampler, random_state=seed).fit(corpus) for seed in range(5)
    ]
    best = max(runs, key=lambda lda: lda.trace_[-1]["log_posterior"])
    assert match(best.components_, truth.phi).min() > 0.98
    assert agreement(best.assignments_, truth.z) > best_possible - 0.02


def test_topics_of_another_corpus_do_not_match(planted):
    corpus, _ = planted
    other = datasets.generate(
        10, 400, K, 80.0, random_state=99, topic_concentration=20.0, return_truth=True
    )[1]
    lda = LDA(K, max_iter=50).fit(corpus)
    assert match(lda.components_, other.phi).min() < 0.9


@pytest.fixture(scope="module")
def reuters():
    data = pytest.importorskip("lda.datasets", reason="the package lda is not installed")
    return Corpus.from_matrix(data.load_reuters(), data.load_reuters_vocab())


SEEDS = range(4)


def their_levels(corpus, sweeps):
    """Log p(w, z) that the package lda reaches, by its own account and by ours."""
    import lda

    logging.getLogger("lda").setLevel(logging.ERROR)
    levels = []
    for seed in SEEDS:
        model = lda.LDA(20, n_iter=sweeps, alpha=0.1, eta=0.01, random_state=seed, refresh=sweeps)
        model.fit(np.asarray(corpus.to_matrix().todense()))
        level = 0.0
        for counts, prior in ((model.nzw_, 0.01), (model.ndz_, 0.1)):
            size = counts.shape[1] * prior
            level += (gammaln(counts + prior) - gammaln(prior)).sum()
            level += (gammaln(size) - gammaln(counts.sum(axis=1) + size)).sum()
        assert model.loglikelihood() == pytest.approx(level, rel=1e-9)
        levels.append(level)
    return np.array(levels)


def our_levels(corpus, sampler, sweeps):
    priors = make_priors(0.1, 0.01, 20, corpus.n_words)

    def level(seed):
        (state,) = chain(load_steps(sampler), corpus, priors, 1, sweeps, seed)
        return log_joint(corpus, state.z, priors)

    with ThreadPoolExecutor(2) as pool:
        return np.array(list(pool.map(level, SEEDS)))


@pytest.fixture(scope="module")
def theirs_after_250(reuters):
    return their_levels(reuters, 250)


def clearly_below(low, high):
    """P-value of the claim that the first level is not below the second."""
    return stats.ttest_ind(low, high, equal_var=False, alternative="less").pvalue


@pytest.mark.slow
@pytest.mark.xdist_group("reuters")
def test_reuters_reaches_the_log_likelihood_of_the_package_lda(reuters, theirs_after_250):
    """After 1,000 sweeps ours are where the fully collapsed sampler of lda is after 250."""
    early, late = their_levels(reuters, 60), theirs_after_250
    for sampler in REFERENCES:
        ours = our_levels(reuters, sampler, 1000)
        assert clearly_below(ours, late) > 1e-3
        assert clearly_below(early, ours) < 1e-3, "the comparison has power"
        assert clearly_below(early, late) < 1e-3


@pytest.mark.slow
@pytest.mark.xdist_group("reuters")
def test_reuters_is_sampled_as_by_the_package_lda_when_fully_collapsed(reuters, theirs_after_250):
    """The same algorithm: after as many sweeps, the same level."""
    theirs = theirs_after_250
    ours = our_levels(reuters, "collapsed", 250)
    assert clearly_below(ours, theirs) > 1e-3
    assert clearly_below(theirs, ours) > 1e-3
    early = our_levels(reuters, "collapsed", 60)
    assert clearly_below(early, theirs) < 1e-3, "the comparison has power"
