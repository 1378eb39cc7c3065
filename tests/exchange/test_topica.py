"""Models in the hands of topica, the package itself; and of pyLDAvis, labels and all."""

import warnings

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, exchange
from polyaurn.model.data import word_probabilities

topica = pytest.importorskip("topica", reason="topica is not installed")


@pytest.fixture(scope="module")
def study():
    """Documents of two kinds, in the second of which the first subject is more frequent."""
    rng = np.random.default_rng(0)
    subjects = np.full((3, 30), 0.1 / 30) + 0.9 * np.kron(np.eye(3), rng.dirichlet(np.ones(10)))
    kind = np.arange(120) % 2
    mixtures = np.array([rng.dirichlet([0.3 + 2 * x, 0.3, 0.3]) for x in kind])
    counts = np.array([rng.multinomial(60, row) for row in mixtures @ subjects])
    corpus = Corpus.from_matrix(counts, [f"w{v}" for v in range(30)])
    docs = [[corpus.vocab[v] for v in document] for document in corpus]
    return corpus, docs, kind


@pytest.fixture(scope="module")
def lda(study):
    lda = LDA(3, max_iter=60, verbose=False)
    lda.sample_posterior(study[0], chains=2, draws=20, thin=2, documents=range(120))
    return lda


def subject(model):
    """Return the topic of the first subject, whose words are the first ten."""
    return int(word_probabilities(getattr(model, "model_", model))[:, :10].sum(axis=1).argmax())


def test_arrays_and_names(lda, study):
    view = exchange.to_topica(lda)
    assert np.allclose(view.topic_word.sum(axis=1), 1.0)
    assert np.array_equal(view.doc_topic, lda.model_.doc_topics())
    assert view.doc_lengths.tolist() == [60] * 120
    assert view.top_words(4, topic=1) == lda.topics(4, order="frequency")[1]
    assert view.top_words(4) == lda.topics(4, order="frequency")
    assert topica.effects.model_family(view) == "dirichlet"
    assert topica.topic_labels(view) == lda.topic_info(as_frame=False)["label"]
    assert np.allclose(view.transform(study[1][:3], seed=5), lda.model_.transform(
        study[0].select([0, 1, 2]), random_state=5))  # fmt: skip
    names = exchange.to_topica(lda.label_topics({0: "first"})).topic_names
    assert names[0] == "first"


def test_effects_with_uncertainty(lda, study):
    _, _, kind = study
    X = kind[:, None].astype(float)
    plain = exchange.to_topica(lda)
    drawn = exchange.to_topica(lda, lda.posterior_)
    assert drawn.theta_draws.shape == (20, 120, 3)
    theta = lda.model_.doc_topics()
    difference = theta[kind == 1].mean(axis=0) - theta[kind == 0].mean(axis=0)
    effects = topica.estimate_effect(plain, X, feature_names=["kind"])
    assert np.allclose([effect.coef[1] for effect in effects], difference)
    k = subject(lda)
    for view in (plain, drawn):
        effect = topica.estimate_effect(view, X, feature_names=["kind"], nsims=20)[k]
        assert effect.ci_low[1] > 0.0
        assert effect.ci_high[1] < 1.0
    bands = topica.effects.prevalence_ci(drawn, kind)
    mean = lda.posterior_.theta[0].mean(axis=0)
    assert np.allclose(bands["mean"][1], mean[kind == 1].mean(axis=0))
    found = topica.standard_errors(plain, of="prevalence", nsims=10)
    assert np.allclose([row.estimate for row in found], theta.mean(axis=0), atol=0.01)


def test_intrusion_tests(lda, study):
    view = exchange.to_topica(lda)
    for task in topica.word_intrusion(view):
        top = set(lda.topics(5)[task["topic"]])
        assert set(task["words"]) - top == {task["intruder"]}
    theta = lda.model_.doc_topics()
    for task in topica.document_intrusion(view, [" ".join(doc) for doc in study[1]]):
        shares = theta[task["doc_indices"], task["topic"]]
        assert shares.argmin() == task["intruder_index"]


def test_stability(lda, study):
    corpus, docs, _ = study
    runs = [exchange.to_topica(lda)] + [
        exchange.to_topica(LDA(3, max_iter=60, random_state=seed, verbose=False).fit(corpus))
        for seed in (5, 6)
    ]
    assert topica.topic_stability(runs) > 0.6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of consensus topics, which are not the subject
        assert topica.ensemble(runs).n_runs == 3
    assert len(topica.align_topics(runs[0], runs[1]).matches) == 3
    again = topica.bootstrap_stability(
        docs, reference=runs[0], n_boot=2, model_factory=exchange.topica_factory(lda)
    )
    assert again["mean"] > 0.5
    same = topica.topic_stability(
        docs, model_factory=exchange.topica_factory(LDA(3, max_iter=20)), seeds=[1, 2]
    )
    assert 0.0 < same <= 1.0


def test_other_views_of_topica(lda, study):
    _, docs, kind = study
    view = exchange.to_topica(lda)
    table = topica.diagnostics(view, docs, n=5)
    assert np.allclose(table["prevalence"], lda.model_.doc_topics().mean(axis=0))
    mine = lda.topics_per_class(kind, as_frame=False)["share"].reshape(2, 3)
    assert np.allclose(topica.topics_over_time(view, kind)["prevalence"], mine)
    assert topica.check_residuals(view, docs).df > 0
    assert 1.0 < topica.perplexity(view, docs[:20]) < 30.0
    linkage = topica.topic_dendrogram(view, metric="hellinger").linkage
    assert np.allclose(linkage[:, 2], lda.hierarchy(as_frame=False).linkage[:, 2], atol=0.02)


def test_what_is_rejected(lda, study):
    posterior = LDA(3, max_iter=5, verbose=False).sample_posterior(
        study[0], chains=1, draws=4, thin=1, documents=[0, 1]
    )
    for bad in (posterior, object()):
        with pytest.raises(InputError, match=r"'posterior' parameter must hold draws of Theta"):
            exchange.to_topica(lda, bad)
    with pytest.raises(InputError, match="'lda' parameter must be an LDA"):
        exchange.topica_factory(lda.model_)
    with pytest.raises(InputError, match="'model' parameter must be a TopicModel"):
        exchange.to_topica(LDA(3))
    bare = exchange.parts.topics_only(np.eye(2), 0.1, 0.1, ["a", "b"], "test", "words")
    view = exchange.to_topica(bare)
    assert len(topica.word_intrusion(view, n_words=1)) == 2
    with pytest.raises(InputError, match="must have documents"):
        topica.topics_over_time(view, [])


def test_pyldavis_takes_a_merged_model(lda, study):
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    merged = LDA(4, max_iter=30, verbose=False).fit(study[0]).merge_topics([[0, 3]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about pyLDAvis' own code
        page = pyldavis.prepare(
            **exchange.pyldavis_arguments(merged, study[0]),
            n_jobs=1,
            sort_topics=False,
            start_index=0,
        )
    table = page.topic_coordinates.set_index("topics").sort_index()
    assert table.index.tolist() == [0, 1, 2]
    sizes = merged.topic_info(as_frame=False)["prevalence"]
    assert np.allclose(table["Freq"].to_numpy() / 100, sizes, atol=0.01)
