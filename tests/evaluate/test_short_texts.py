"""Mixtures of short texts where alpha is tiny, so that one sweep must not decide their topic."""

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import TopicModel
from polyaurn.backends.documents import RAISED, raised_alpha
from polyaurn.chain.priors import make_priors

SHARED, OWN, SEEDS = 10, 10, 200  # words of all topics, words of each, texts


def model_of(total, K=2):
    """A model of topics that share half their tokens' words and differ in the others."""
    V = SHARED + OWN * K
    n = np.zeros((K, V), int)
    n[:, :SHARED] = 60
    for k in range(K):
        n[k, SHARED + OWN * k : SHARED + OWN * (k + 1)] = 40
    none = sp.csr_matrix((0, K), dtype=np.int32)
    vocab = tuple(f"w{v:03}" for v in range(V))
    priors = make_priors(np.full(K, total / K), 0.01, K, V)
    return TopicModel(sp.csr_matrix(n), none, np.empty(0, np.uint16), vocab, (), priors)


def text_of(model, k, rng, length=8):
    """A text of topic k, half of it in words of all topics."""
    row = np.zeros((1, len(model.vocab)), int)
    own = SHARED + OWN * k + rng.integers(OWN, size=length // 2)
    np.add.at(row[0], np.concatenate([own, rng.integers(SHARED, size=length // 2)]), 1)
    return row


def share_found(model):
    """Return the share of seeds that find a text's topic, and its standard error."""
    rng, found = np.random.default_rng(0), []
    for seed in range(SEEDS):
        k = seed % model.n_topics
        theta = model.transform(text_of(model, k, rng), random_state=seed, n_jobs=1)
        found.append(theta.argmax() == k)
    share = float(np.mean(found))
    return share, np.sqrt(max(share * (1 - share), 1 / SEEDS) / SEEDS)


@pytest.mark.parametrize("K", [2, 8])
def test_short_texts_have_the_right_topic_where_alpha_is_tiny(K):
    share, error = share_found(model_of(1e-4, K))
    assert share - 3 * error > 0.95


def test_without_annealing_the_first_tokens_decide(monkeypatch):
    monkeypatch.setattr(
        "polyaurn.backends.cpu.new_documents.raised_alpha", lambda alpha, burn_in: np.ones(burn_in)
    )
    share, error = share_found(model_of(1e-4, K=8))
    assert share + 3 * error < 0.95


def test_factors_fall_to_one_and_are_one_for_usual_priors():
    factors = raised_alpha(np.full(5, 2e-5), 6)
    assert factors[0] == pytest.approx(RAISED / 1e-4, rel=1e-12)
    ratio = factors[1:] / factors[:-1]
    assert np.allclose(ratio, ratio[0])
    assert factors[-1] * ratio[0] == pytest.approx(1)
    for alpha in ([0.5], [0.1] * 10, [50 / 100] * 100):
        assert raised_alpha(np.array(alpha), 6).tolist() == [1.0] * 6
    assert raised_alpha(np.full(2, 1e-5), 0).size == 0


def test_the_stationary_distribution_is_the_same(monkeypatch):
    """A short chain's mean over seeds agrees with a long one's, for a sum of alpha of 0.2."""
    model = model_of(0.2)
    text = text_of(model, 1, np.random.default_rng(3), length=6)
    text[0, SHARED] += 1  # a word of the other topic
    long = model.transform(text, burn_in=1000, kept=40_000)[0, 0]
    draws = [model.transform(text, random_state=seed)[0, 0] for seed in range(400)]
    assert abs(np.mean(draws) - long) < 4 * np.std(draws) / np.sqrt(len(draws)) + 0.01
