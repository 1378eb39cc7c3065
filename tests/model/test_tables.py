"""Tables of topics, words and documents, against small computations."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, Corpus, InputError, TopicModel, exchange
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import doc_topic_matrix
from polyaurn.model.checks import count_topics
from polyaurn.model.data import word_probabilities

WORDS = ("crew", "goal", "moon", "moon crew", "orbit", "team", "unused")


def model_of(documents, topics, K, alpha=0.5, beta=0.25, names=()):
    """Make a model of words and topics that are given, as lists of lists."""
    lengths = [len(d) for d in documents]
    ptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    corpus = Corpus(ptr, np.array([v for d in documents for v in d], np.int32), WORDS, names)
    z = np.array([k for d in topics for k in d], np.uint16)
    model = TopicModel(
        count_topics(corpus, z, K), doc_topic_matrix(ptr, z, K), z, WORDS, corpus.doc_names,
        make_priors(alpha, beta, K, len(WORDS)),
    )  # fmt: skip
    return model, corpus


@pytest.fixture(scope="module")
def hand():
    """Four topics, topic 2 empty; five documents, the third empty, the fourth with a tie."""
    documents = [[0, 2, 2, 4], [1, 1, 5], [], [2, 5], [2, 3, 4]]
    topics = [[0, 0, 0, 0], [1, 1, 1], [], [3, 1], [0, 0, 3]]
    return model_of(documents, topics, 4, names=["a", "b", "c", "d", "e"])


@pytest.fixture(scope="module")
def without_documents():
    return exchange.parts.topics_only(
        np.array([[3.5, 0, 1], [0, 2, 0.5]]), 0.1, 0.01, ["a", "b", "c"], "test", "words"
    )


def frames_and_columns(method, *arguments, **options):
    """Return a view as a dict, after comparing it with the data frame."""
    columns = method(*arguments, as_frame=False, **options)
    pandas = pytest.importorskip("pandas")
    table = method(*arguments, **options)
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == list(columns)
    for name, column in columns.items():
        same = [a == b or (a != a and b != b) for a, b in zip(table[name], column, strict=True)]
        assert all(same)
    return columns


def test_topic_info(hand):
    model, corpus = hand
    table = frames_and_columns(model.topic_info, corpus)
    assert table["topic"].tolist() == [0, 1, 2, 3]
    assert table["tokens"].tolist() == [6, 4, 0, 2]
    assert table["prevalence"].tolist() == [0.5, 1 / 3, 0.0, 1 / 6]
    assert table["documents"].tolist() == [2, 2, 0, 2]
    assert table["words"] == ["moon, crew, moon crew, orbit", "goal, team", "", "orbit, moon"]
    assert table["label"] == ["moon, crew, moon crew", "goal, team", "(no words)", "orbit, moon"]
    plain = model.topic_info(corpus, order="frequency", as_frame=False)
    assert plain["words"] == [*table["words"][:3], "moon, orbit"]
    for measure in ("exclusivity", "coherence_mimno"):  # of the most probable words
        assert np.array_equal(plain[measure], table[measure], equal_nan=True)
    with pytest.raises(InputError, match="'order' parameter must be one of 'relevance', 'freq"):
        model.topic_info(order="size")
    assert table["exclusivity"][1] == 1.0
    assert np.isnan(table["exclusivity"][2])
    assert np.isnan(table["coherence_mimno"][2])
    together, goal = 1, 1
    assert table["coherence_mimno"][1] == pytest.approx(np.log((together + 1) / goal))
    assert "coherence_mimno" not in model.topic_info(as_frame=False)
    with pytest.raises(InputError, match="'corpus' parameter must be a Corpus"):
        model.topic_info("corpus.txt")


def test_an_estimator_has_its_corpus_at_hand(trained):
    table = trained.topic_info(as_frame=False)
    again = trained.model_.topic_info(trained.corpus_, as_frame=False)
    assert np.array_equal(table["coherence_mimno"], again["coherence_mimno"])
    with pytest.raises(ValueError, match="call fit first"):
        LDA(2).topic_info()


def test_rankings_of_words_against_dense_computations(trained):
    model = trained.model_
    K = model.n_topics
    p, n = word_probabilities(model), model.topic_word_counts.toarray()
    q = n.sum(axis=0) / n.sum()
    exclusive = p / p.sum(axis=0)
    with np.errstate(divide="ignore"):
        expected = {
            "probability": p,
            "lift": p / q,
            "relevance": 0.3 * np.log(p) + 0.7 * np.log(p / q),
            "score": p * (np.log(p) - np.log(p).mean(axis=0)),
        }
    frex = np.zeros_like(p)
    for k in range(K):
        there = np.flatnonzero(n[k])
        at_most = [(x[None] <= x[:, None]).mean(axis=1) for x in (exclusive[k, there], p[k, there])]
        frex[k, there] = 1.0 / (0.2 / at_most[0] + 0.8 / at_most[1])
    number = {word: v for v, word in enumerate(model.vocab)}
    for method, values in (expected | {"frex": frex}).items():
        table = model.topic_words(method, 6, relevance_lambda=0.3, frex_weight=0.2, as_frame=False)
        assert table["topic"].tolist() == np.repeat(np.arange(K), 6).tolist()
        assert table["rank"].tolist() == list(range(1, 7)) * K
        word = np.array([number[w] for w in table["word"]])
        assert np.allclose(table["score"], values[table["topic"], word], rtol=1e-10)
        assert np.array_equal(table["count"], n[table["topic"], word])
        for k in range(K):
            best = np.sort(values[k, n[k] > 0])[::-1][:6]
            assert np.allclose(table["score"][table["topic"] == k], best, rtol=1e-10)
    listed = model.topic_words(as_frame=False)["word"]
    assert listed == [word for topic in model.topics(10) for word in topic]


def test_words_of_some_topics_and_ties(hand):
    model, _ = hand
    table = frames_and_columns(model.topic_words, "probability", n_words=3, topics=[3, 2, 0])
    assert table["topic"].tolist() == [3, 3, 0, 0, 0]
    assert table["word"] == ["moon", "orbit", "moon", "crew", "moon crew"]
    assert table["probability"][2] == (3 + 0.25) / (6 + 7 * 0.25)
    for bad in ([4], [-1], ["0"], [True], [0, 0], []):
        with pytest.raises(InputError, match="'topics' parameter"):
            model.topic_words(topics=bad)
    for name, value in (("method", "tfidf"), ("n_words", 0), ("relevance_lambda", 1.5),
                        ("frex_weight", "half")):  # fmt: skip
        with pytest.raises(InputError, match=f"'{name}' parameter"):
            model.topic_words(**{name: value})


def test_find_topics(hand):
    model, _ = hand
    table = frames_and_columns(model.find_topics, ["moon", "orbit"])
    assert table["topic"].tolist() == [3, 0]
    p = word_probabilities(model)[:, [2, 4]]
    assert np.allclose(table["probability"], np.sqrt(p.prod(axis=1))[[3, 0]])
    joint = p.prod(axis=1)[[3, 0]] * [2, 6]
    assert np.allclose(table["topic_probability"], joint / joint.sum())
    assert table["words"] == ["moon 1, orbit 1", "moon 3, orbit 1"]
    with pytest.warns(UserWarning, match="does not know 'the', 'comet', 'and'; left out"):
        warned = model.find_topics("The comet and the Moon", n=1, as_frame=False)
    assert warned["topic"].tolist() == [0]
    assert warned["words"] == ["moon 3"]
    assert model.find_topics("moon crew", as_frame=False)["words"] == ["moon crew 1"]
    for query in ("comet", "", [], "unused"):
        with pytest.raises(InputError, match="must have a word that the model knows"):
            model.find_topics(query)
    with pytest.raises(InputError, match="must be a string, or a list of words"):
        model.find_topics(3)


def test_document_info(hand):
    model, _ = hand
    table = frames_and_columns(model.document_info)
    assert table["document"] == ["a", "b", "c", "d", "e"]
    assert table["length"].tolist() == [4, 3, 0, 2, 3]
    assert table["topic"].tolist() == [0, 1, -1, 1, 0]
    assert table["label"][2] == "(no words)"
    theta = model.doc_topics()
    used = [0, 1, 3, 4]
    assert np.allclose(table["share"][used], theta.max(axis=1)[used])
    assert np.allclose(table["entropy"][used], -(theta * np.log(theta)).sum(axis=1)[used])
    assert np.isnan([table["share"][2], table["entropy"][2]]).all()


def test_a_topic_without_tokens_may_lead_by_its_prior():
    model, _ = model_of([[0], [0, 0, 0, 0, 0]], [[0], [0] * 5], 3, alpha=[0.1, 0.2, 3.0])
    table = model.document_info(as_frame=False)
    assert table["topic"].tolist() == [2, 0]
    assert np.allclose(table["share"], model.doc_topics().max(axis=1))


def test_document_info_agrees_with_mixtures(trained):
    model = trained.model_
    table = model.document_info(as_frame=False)
    theta = model.doc_topics()
    assert np.array_equal(table["topic"], theta.argmax(axis=1))
    assert np.allclose(table["share"], theta.max(axis=1))
    assert np.allclose(table["entropy"], -(theta * np.log(theta)).sum(axis=1))


def test_representative_documents(hand):
    model, _ = hand
    table = frames_and_columns(model.representative_documents, 0, texts=list("ABCDE"))
    assert table["number"].tolist() == [0, 4]
    assert table["document"] == ["a", "e"]
    assert table["share"].tolist() == [4.5 / 6, 2.5 / 5]
    assert table["tokens"].tolist() == [4, 2]
    assert table["text"] == ["A", "E"]
    assert model.representative_documents(3, 1, as_frame=False)["document"] == ["d"]
    assert model.representative_documents(2, as_frame=False)["document"] == []
    for topic in (4, -1, "0", 1.0, True):
        with pytest.raises(InputError, match=r"'topic' parameter must be a topic's number"):
            model.representative_documents(topic)
    with pytest.raises(InputError, match="'texts' parameter must have one value for each of"):
        model.representative_documents(0, texts=["A"])


def test_similar_documents(trained, hand):
    model = trained.model_
    theta = model.doc_topics()
    table = frames_and_columns(model.similar_documents, 7, 20)
    roots = np.sqrt(theta)
    distance = np.sqrt(((roots - roots[7]) ** 2).sum(axis=1) / 2)
    assert np.allclose(table["distance"], distance[table["number"]])
    assert 7 not in table["number"]
    assert np.allclose(table["distance"], np.sort(np.delete(distance, 7))[:20])
    assert np.array_equal(
        model.similar_documents("7", 20, as_frame=False)["number"], table["number"]
    )
    text = " ".join(model.topics(5)[2])
    table = model.similar_documents(text=text, as_frame=False)
    distance = np.sqrt(((roots - np.sqrt(model.transform([text]))) ** 2).sum(axis=1) / 2)
    assert np.array_equal(table["number"], np.argsort(distance, kind="stable")[:5])
    assert np.allclose(table["distance"], np.sort(distance)[:5])
    small, _ = hand
    assert small.similar_documents("a", as_frame=False)["document"] == ["e", "d", "b"]
    same, _ = model_of([[0, 1], [0, 1], [0, 1]], [[0, 1]] * 3, 2)
    table = same.similar_documents(1, as_frame=False)
    assert table["number"].tolist() == [0, 2]
    assert table["distance"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"document": "c"}, "'c', which is empty"),
        ({"document": 5}, "must be a number from 0 to 4, or a document's name"),
        ({"document": "z"}, "must be a number from 0 to 4, or a document's name"),
        ({}, "Got neither"),
        ({"document": 0, "text": "moon"}, "Got both"),
        ({"text": 3}, "'text' parameter must be a string"),
        ({"text": "?"}, "'text' parameter must have words that the model knows"),
        ({"document": 0, "n": 0}, "'n' parameter"),
    ],
)
def test_similar_documents_rejects(hand, options, message):
    with pytest.raises(InputError, match=message):
        hand[0].similar_documents(**options)


def test_one_topic():
    model, corpus = model_of([[0, 1], [], [2]], [[0, 0], [], [0]], 1)
    assert model.topic_info(corpus, as_frame=False)["prevalence"].tolist() == [1.0]
    table = model.document_info(as_frame=False)
    assert table["topic"].tolist() == [0, -1, 0]
    assert table["share"][[0, 2]].tolist() == [1.0, 1.0]
    assert np.allclose(table["entropy"][[0, 2]], 0.0, atol=1e-15)
    assert model.similar_documents(0, as_frame=False)["distance"].tolist() == [0.0]
    assert len(model.topic_words("frex", as_frame=False)["word"]) == 3


def test_models_without_documents(without_documents):
    model = without_documents
    table = model.topic_info(as_frame=False)
    assert table["tokens"].tolist() == [4.5, 2.5]
    assert table["prevalence"].sum() == pytest.approx(1.0)
    assert model.find_topics(["a"], as_frame=False)["topic"].tolist() == [0]
    assert model.topic_words("relevance", 1, as_frame=False)["word"] == ["a", "b"]
    calls = {
        "document_info": (), "representative_documents": (0,), "similar_documents": (0,),
        "topics_over_time": ([],), "topics_per_class": ([],),
    }  # fmt: skip
    for view, arguments in calls.items():
        with pytest.raises(InputError, match="The model must have documents"):
            getattr(model, view)(*arguments)


def test_without_pandas_there_are_columns(hand, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert hand[0].topic_info(as_frame=False)["topic"].tolist() == [0, 1, 2, 3]
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[tables\]'"):
        hand[0].topic_info()


def test_many_documents_and_topics_stay_sparse():
    """Nothing of size D times K: that would be 16 GB here."""
    D, K = 50_000, 40_000
    rng = np.random.default_rng(0)
    z = rng.integers(0, K, 4 * D).astype(np.uint16)
    ptr = np.arange(0, 4 * D + 1, 4)
    corpus = Corpus(ptr, np.zeros(4 * D, np.int32), WORDS)
    model = TopicModel(
        count_topics(corpus, z, K), doc_topic_matrix(ptr, z, K), z, WORDS, corpus.doc_names,
        make_priors(0.1, 0.01, K, len(WORDS)),
    )  # fmt: skip
    assert sp.issparse(model.doc_topic_counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.document_info(as_frame=False)["topic"]) == D
        assert len(model.similar_documents(3, as_frame=False)["number"]) == 5
        table = model.topics_per_class(np.arange(D) % 4, topics=[1, 2], as_frame=False)
    assert len(table["share"]) == 8
    with pytest.raises(InputError, match=r"at most 5,000,000 rows.*topics=\[...\]"):
        model.topics_per_class(np.arange(D))
