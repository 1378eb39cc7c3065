"""Posterior draws where each topic has a prior of its own, in chains whose topics are reordered."""

import warnings

import numpy as np
import pytest

import polyaurn
from polyaurn import Corpus, datasets
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import topic_word_matrix
from polyaurn.evaluate.diagnostics import log_posterior
from polyaurn.evaluate.posterior import chains

ALPHA = np.array([0.02, 0.3, 1.5])
BURN_IN, DRAWS, THIN, EMPTY = 30, 40, 1, 3


@pytest.fixture(scope="module")
def corpus():
    counts = datasets.generate(80, 40, 3, 30.0, random_state=5).to_matrix().toarray()
    counts[EMPTY] = 0
    return Corpus.from_matrix(counts)


@pytest.fixture(scope="module")
def beta(corpus):
    return np.geomspace(0.005, 0.5, corpus.n_words)


@pytest.fixture(scope="module")
def seeds(corpus):
    return {0: list(corpus.vocab[:2]), 2: list(corpus.vocab[5:6])}


@pytest.fixture(scope="module")
def drawn(corpus, beta, seeds):
    lda = polyaurn.LDA(
        3, max_iter=BURN_IN, doc_topic_prior=ALPHA, topic_word_prior=beta, seed_words=seeds,
        seed_strength=60, verbose=False, n_jobs=1, random_state=2, warm_start="random",
        learn_priors_every=0,
    )  # fmt: skip
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.filterwarnings("ignore", message=".*empty")
        patch.setattr(chains, "match_topics", lambda p, q: (np.array([2, 0, 1]), np.ones(3)))
        found = lda.sample_posterior(
            corpus, chains=3, draws=DRAWS, thin=THIN, documents=[EMPTY, 0], words=[0, 5]
        )
    assert [chain.order.tolist() for chain in found.chains] == [[0, 1, 2], [2, 0, 1], [2, 0, 1]]
    return found


@pytest.fixture(scope="module")
def priors(corpus, beta):
    pseudo = np.zeros((3, corpus.n_words), int)
    pseudo[0, :2], pseudo[2, 5] = 30, 60
    return make_priors(ALPHA, beta, 3, corpus.n_words, pseudo=pseudo)


def states(corpus, seed, priors):
    """Walk the chain with the generator; return its states at the draws."""
    given = {
        "doc_topic_prior": ALPHA, "topic_word_prior": priors.beta, "random_state": seed,
        "n_jobs": 1, "warm_start": "random", "learn_priors_every": 0,
        "pseudo_counts": topic_word_matrix(priors.pseudo, 3), "max_iter": BURN_IN + DRAWS * THIN,
    }  # fmt: skip
    found = [state for state, _ in polyaurn.sweeps(corpus, 3, **given)]
    return found[BURN_IN + THIN - 1 :: THIN]


@pytest.mark.parametrize("c", [0, 1, 2])
def test_means_have_each_topics_own_prior_and_seeds(corpus, drawn, priors, c):
    chain = drawn.chains[c]
    order, pseudo = chain.order, topic_word_matrix(priors.pseudo, 3).toarray()
    phi, theta, sizes, levels = 0.0, 0.0, [], []
    for state in states(corpus, chain.seed, priors):
        n = topic_word_matrix(state.counts, 3).toarray()
        mass = n + pseudo + priors.beta
        phi += (mass / mass.sum(axis=1, keepdims=True))[order] / DRAWS
        m = np.zeros((corpus.n_documents, 3))
        np.add.at(m, (np.repeat(np.arange(len(m)), np.diff(corpus.doc_ptr)), state.z), 1)
        theta += ((m + ALPHA) / (m + ALPHA).sum(axis=1, keepdims=True))[:, order] / DRAWS
        sizes.append(n.sum(axis=1)[order])
        levels.append(log_posterior(corpus, state, priors))
    assert np.array_equal(drawn.topic_sizes[c], sizes)
    assert drawn.log_posterior[c] == pytest.approx(levels)
    assert drawn.phi_mean(c) == pytest.approx(phi, abs=1e-12)
    assert drawn.theta_mean(c) == pytest.approx(theta, abs=1e-12)
    assert drawn.alpha[c] == pytest.approx(np.tile(ALPHA[order], (DRAWS, 1)))


@pytest.mark.parametrize("c", [0, 1, 2])
def test_theta_of_an_empty_document_is_drawn_from_its_prior(drawn, c):
    alpha = ALPHA[drawn.chains[c].order]
    theta, total = drawn.theta[c][:, 0], alpha.sum()
    mean = alpha / total
    error = np.sqrt(mean * (1 - mean) / (total + 1) / DRAWS)
    assert (np.abs(theta.mean(axis=0) - mean) < 5 * error).all()
    wrong = np.roll(mean, 1)
    assert (np.abs(theta.mean(axis=0) - wrong) > 5 * error).any()


@pytest.mark.parametrize("c", [0, 1, 2])
def test_draws_of_phi_have_the_seeds_of_every_chain(corpus, drawn, priors, c):
    order, pseudo = drawn.chains[c].order, topic_word_matrix(priors.pseudo, 3).toarray()
    apart, variance = 0.0, 0.0
    for phi, state in zip(drawn.phi[c], states(corpus, drawn.chains[c].seed, priors), strict=True):
        mass = (topic_word_matrix(state.counts, 3).toarray() + pseudo + priors.beta)[order]
        total = mass.sum(axis=1, keepdims=True)
        mean = (mass / total)[:, [0, 5]]
        apart += phi - mean
        variance += mean * (1 - mean) / (total + 1)
    assert np.abs(apart / np.sqrt(variance)).max() < 5.0
