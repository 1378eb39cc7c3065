"""Every table of a model whose topics and words all have priors of their own, against dense sums.

With one alpha for all topics, an alpha of another topic cannot be distinguished from the right one.
"""

import numpy as np
import pytest

from polyaurn import Corpus, TopicModel
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import doc_topic_matrix
from polyaurn.model.checks import count_topics
from polyaurn.model.data import word_probabilities

ALPHA = np.array([3e-3, 2.0, 0.4, 0.05])
BETA = np.array([0.5, 0.01, 1.5, 0.2, 3e-4, 0.9])
PSEUDO = np.array([[0, 4, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 7, 0], [0, 0, 1, 0, 0, 0]])
K, V, D = 4, 6, 9


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.2, (D, V))
    counts[4] = 0
    counts[0] = [2, 0, 0, 0, 0, 1]
    return Corpus.from_matrix(counts, [f"word{v}" for v in range(V)])


@pytest.fixture(scope="module")
def model(corpus):
    z = np.random.default_rng(4).choice(K, corpus.n_tokens, p=[0.4, 0.1, 0.3, 0.2])
    z = z.astype(np.uint16)
    return TopicModel(
        count_topics(corpus, z, K), doc_topic_matrix(corpus.doc_ptr, z, K), z, corpus.vocab,
        corpus.doc_names, make_priors(ALPHA, BETA, K, V, pseudo=PSEUDO),
    )  # fmt: skip


@pytest.fixture(scope="module")
def theta(model):
    mass = model.doc_topic_counts.toarray() + ALPHA
    return mass / mass.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def phi(model):
    mass = model.topic_word_counts.toarray() + PSEUDO + BETA
    return mass / mass.sum(axis=1, keepdims=True)


def test_probabilities_and_mixtures(model, theta, phi):
    assert np.allclose(word_probabilities(model), phi)
    assert np.allclose(model.doc_topics(), theta)
    for k, listed in enumerate(model.topics(V, weights=True)):
        assert dict(listed) == pytest.approx({w: phi[k, model.vocab.index(w)] for w, _ in listed})


def test_shares_of_some_topics_in_groups(model, theta):
    labels = np.arange(D) % 2
    for asked in ([2, 0], [3], [1, 3, 2]):
        table = model.topics_per_class(labels.tolist(), topics=asked, as_frame=False)
        expected = [
            theta[[d for d in range(D) if d % 2 == g and d != 4]].mean(axis=0)[asked]
            for g in (0, 1)
        ]
        assert np.allclose(table["share"], np.ravel(expected))


def test_documents(model, theta):
    table = model.document_info(as_frame=False)
    words = [d for d in range(D) if d != 4]
    assert table["topic"][words].tolist() == theta[words].argmax(axis=1).tolist()
    assert np.allclose(table["share"][words], theta[words].max(axis=1))
    entropy = -(theta * np.log(theta)).sum(axis=1)
    assert np.allclose(table["entropy"][words], entropy[words])
    for k in range(K):
        found = model.representative_documents(k, D, as_frame=False)
        assert np.allclose(found["share"], theta[found["number"], k])
        assert (np.diff(found["share"]) <= 0).all()
    near = model.similar_documents(0, D, as_frame=False)
    apart = np.sqrt(((np.sqrt(theta) - np.sqrt(theta[0])) ** 2).sum(axis=1) / 2)
    assert np.allclose(near["distance"], apart[near["number"]])


def test_a_topic_without_tokens_leads_a_short_document():
    """One token of a topic of small alpha, beside an alpha of two."""
    corpus = Corpus.from_matrix([[1, 0], [5, 5]])
    z = np.array([0] + [2] * 10, np.uint16)
    priors = make_priors([0.1, 2.0, 0.3], 0.1, 3, 2)
    model = TopicModel(
        count_topics(corpus, z, 3), doc_topic_matrix(corpus.doc_ptr, z, 3), z, corpus.vocab,
        corpus.doc_names, priors,
    )  # fmt: skip
    table = model.document_info(as_frame=False)
    assert table["topic"].tolist() == [1, 2]
    assert table["share"].tolist() == pytest.approx([2.0 / 3.4, 10.3 / 12.4])


def test_a_query_and_rankings_of_words(model, phi):
    found = model.find_topics(["word0", "word4"], K, as_frame=False)
    together = np.sqrt(phi[:, 0] * phi[:, 4])
    assert np.allclose(found["probability"], together[found["topic"]])
    n = model.topic_word_counts.toarray() + PSEUDO
    overall = n.sum(axis=0) / n.sum()
    expected = {
        "probability": phi,
        "lift": phi / overall,
        "relevance": 0.6 * np.log(phi) + 0.4 * np.log(phi / overall),
        "score": phi * (np.log(phi) - np.log(phi).mean(axis=0)),
    }
    for method, dense in expected.items():
        table = model.topic_words(method, V, as_frame=False)
        at = table["topic"], [model.vocab.index(word) for word in table["word"]]
        assert np.allclose(table["score"], dense[at]), method
        assert np.allclose(table["probability"], phi[at])
        assert np.array_equal(table["count"], model.topic_word_counts.toarray()[at])


def test_merged_topics_have_the_priors_of_both(model, theta):
    merged = model.merge_topics([[0, 2]])
    assert np.allclose(merged.priors.alpha, [ALPHA[0] + ALPHA[2], ALPHA[1], ALPHA[3]])
    assert np.allclose(merged.priors.beta, BETA)
    mass = merged.topic_word_mass.toarray() - merged.topic_word_counts.toarray()
    assert np.array_equal(mass, [PSEUDO[0] + PSEUDO[2], PSEUDO[1], PSEUDO[3]])
    together = np.stack([theta[:, 0] + theta[:, 2], theta[:, 1], theta[:, 3]], axis=1)
    assert np.allclose(merged.doc_topics(), together)


@pytest.mark.filterwarnings("ignore:.*no word")
def test_new_documents_have_each_topics_prior(model, corpus, phi):
    dense = model.transform(corpus)
    sparse = model.transform(corpus, sparse=True)
    rows, columns = sparse.nonzero()
    assert np.allclose(np.asarray(sparse[rows, columns]).ravel(), dense[rows, columns], rtol=1e-13)
    lengths = np.diff(corpus.doc_ptr)
    mean = dense * (lengths + ALPHA.sum())[:, None] - ALPHA  # tokens of topics, a mean over sweeps
    assert mean.min() > -1e-9
    assert np.allclose(mean.sum(axis=1), lengths)
    assert np.allclose(dense[4], ALPHA / ALPHA.sum())
    one = Corpus.from_matrix(np.eye(V, dtype=int), corpus.vocab)
    many = model.transform(one, burn_in=20, kept=6000)
    posterior = ALPHA[:, None] * phi / (ALPHA @ phi)  # of the topic of a document's only token
    expected = (posterior.T + ALPHA) / (1 + ALPHA.sum())
    assert np.abs(many - expected).max() < 0.02
