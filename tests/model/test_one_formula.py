"""On a seeded, labelled model everything that lists words or names topics agrees."""

import json

import numpy as np
import pytest

from polyaurn import LDA, Corpus, exchange
from polyaurn.model.data import word_probabilities
from polyaurn.pages.report.data import gather

SUBJECTS = ("cat dog bird fish", "moon star comet orbit", "goal team cup coach")
SEEDS = {0: ["orbit", "coach"], 2: ["bird"]}
LABELS = {0: "Sky", 2: "Pets and $5"}
N = 4


@pytest.fixture(scope="module")
def model():
    """Seeds weigh so much that they lead topics in which they are not the most frequent."""
    rng = np.random.default_rng(1)
    subjects = [subject.split() for subject in SUBJECTS]
    vocabulary = sorted({word for subject in subjects for word in subject})
    X = np.zeros((60, len(vocabulary)), int)
    for d in range(60):
        for word in rng.choice(subjects[d % 3], 12, p=[0.4, 0.3, 0.2, 0.1]):
            X[d, vocabulary.index(word)] += 1
    corpus = Corpus.from_matrix(X, vocabulary)
    lda = LDA(3, max_iter=20, seed_words=SEEDS, seed_strength=40, verbose=False).fit(corpus)
    labelled = lda.model_.label_topics(LABELS)
    by_tokens = np.argsort(-labelled.topic_word_counts.toarray(), axis=1, kind="stable")[:, :N]
    assert [[vocabulary[v] for v in row] for row in by_tokens] != labelled.topics(N)
    assert min(map(len, labelled.topics(N))) == N
    return labelled


@pytest.fixture(scope="module")
def words(model):
    return model.topics(N)


@pytest.fixture(scope="module")
def named(model):
    """Labels, or three leading words where none was given."""
    return [LABELS.get(k) or ", ".join(model.topics(3)[k]) for k in range(3)]


def grouped(table):
    return [
        [word for word, topic in zip(table["word"], table["topic"], strict=True) if topic == k]
        for k in range(3)
    ]


def test_probabilities(model, words):
    p = word_probabilities(model)
    for k in range(3):
        assert words[k] == [model.vocab[v] for v in np.argsort(-p[k], kind="stable")[:N]]
        assert dict(model.topics(N, weights=True)[k]) == pytest.approx(
            {word: p[k, model.vocab.index(word)] for word in words[k]}
        )


def test_tables(model, words, named):
    assert grouped(model.topic_words("probability", N, as_frame=False)) == words
    everything = model.topic_words("relevance", N, relevance_lambda=1.0, as_frame=False)
    assert grouped(everything) == words
    info = model.topic_info(n_words=N, as_frame=False)
    assert info["words"] == [", ".join(listed) for listed in words]
    assert info["label"] == named
    merged = model.hierarchy(n_words=N, as_frame=False).table["words"][-1].split(", ")
    assert merged == model.merge_topics([[0, 1, 2]]).topics(N)[0]


def test_exports(model, words, named):
    assert grouped(exchange.topic_table(model, N)) == words
    assert exchange.to_topica(model).top_words(N) == words
    assert exchange.to_topica(model).topic_names == named
    components = exchange.to_sklearn(model).components_
    assert [[model.vocab[v] for v in np.argsort(-row)[:N]] for row in components] == words


def relevance_on_the_page(data, k, weight):
    """Rank the words of a topic as the page does, from nothing but its data."""
    topics, seeds, found = data["topics"], data["seeds"], []
    for at, v in enumerate(topics["words"][k]):
        n = topics["counts"][k][at] + seeds["topics"][k][at]
        p = (n + data["beta"]["each"]) / (
            topics["size"][k] + seeds["sizes"][k] + data["beta"]["sum"]
        )
        q = (data["words"]["count"][v] + seeds["words"][v]) / (data["tokens"] + seeds["total"])
        found.append((-(weight * np.log(p) + (1 - weight) * np.log(p / q)), v))
    listed = data["words"]["text"].split("\n")
    return [listed[v] for _, v in sorted(found)][:N]


@pytest.mark.parametrize("weight", [0.0, 0.6, 1.0])
def test_the_data_of_the_report(model, weight):
    data = gather(model)
    expected = model.topic_words("relevance", N, relevance_lambda=weight, as_frame=False)
    assert [relevance_on_the_page(data, k, weight) for k in range(3)] == grouped(expected)
    assert data["topics"]["label"] == [LABELS.get(k) for k in range(3)]


def test_models_without_seeds_and_labels_have_none_on_the_page(trained):
    data = gather(trained)
    assert data["seeds"] is None
    assert data["topics"]["label"] == [None] * 4


def test_plots(model, words, named):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    from polyaurn import plots

    shown = [name.replace("$", r"\$") for name in named]
    bars = [text.get_text() for text in plots.plot_topics(model, [0, 1, 2], N).texts]
    heads = [f"Topic {k}: {shown[k]}" if k in LABELS else f"Topic {k}" for k in range(3)]
    assert [text for text in bars if text.startswith("Topic")] == heads
    assert [text for text in bars if text in model.vocab] == [w for k in words for w in k]
    with_names = [f"{k}: {shown[k]}" for k in range(3)]
    assert sorted(text.get_text() for text in plots.plot_map(model).texts) == with_names
    ax = plots.plot_over_time(model, range(60), [0, 1, 2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == with_names
    ticks = plots.plot_documents(model, topics=[0, 1, 2]).get_xticklabels()
    assert [tick.get_text() for tick in ticks] == [with_names[0], "1", with_names[2]]
    plt.close("all")


def test_the_command(model, words, run, tmp_path):
    model.save(tmp_path / "m")
    _, out, _ = run("topics", "m", "--words", N)
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[1] for row in rows] == [LABELS.get(k, "") for k in range(3)]
    assert [row[-1].split(" ") for row in rows] == words
    _, out, _ = run("topics", "m", "--words", N, "--json")
    listed = json.loads(out)
    assert [[word for word, _ in topic["words"]] for topic in listed] == words
    assert [topic["label"] for topic in listed] == [LABELS.get(k) for k in range(3)]
