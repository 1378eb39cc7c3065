"""On a seeded, labelled model everything that lists words or names topics agrees."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, Corpus, InputError, exchange
from polyaurn.exchange.parts import topics_only
from polyaurn.model.data import largest_topics, word_probabilities
from polyaurn.pages.report.data import gather

SUBJECTS = ("said cat dog bird fish", "said moon star comet orbit", "said goal team cup coach")
SEEDS = {0: ["orbit", "coach"], 2: ["bird"]}
LABELS = {0: "Sky", 2: "Pets and $5"}
N = 4


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(1)
    subjects = [subject.split() for subject in SUBJECTS]
    vocabulary = sorted({word for subject in subjects for word in subject})
    X = np.zeros((60, len(vocabulary)), int)
    for d in range(60):
        for word in rng.choice(subjects[d % 3], 12, p=[0.3, 0.28, 0.22, 0.12, 0.08]):
            X[d, vocabulary.index(word)] += 1
    return Corpus.from_matrix(X, vocabulary)


@pytest.fixture(scope="module")
def model(corpus):
    """Seeds weigh so much that they lead topics in which they are not the most frequent."""
    lda = LDA(3, max_iter=20, seed_words=SEEDS, seed_strength=40, verbose=False).fit(corpus)
    vocabulary = corpus.vocab
    labelled = lda.model_.label_topics(LABELS)
    by_tokens = np.argsort(-labelled.topic_word_counts.toarray(), axis=1, kind="stable")[:, :N]
    probable = labelled.topics(N, order="frequency")
    assert [[vocabulary[v] for v in row] for row in by_tokens] != probable
    assert any(words[0] == "said" for words in probable)
    assert labelled.topics(N) != probable
    assert min(map(len, labelled.topics(N))) == N
    return labelled


@pytest.fixture(scope="module")
def words(model):
    return model.topics(N)


@pytest.fixture(scope="module")
def probable(model):
    return model.topics(N, order="frequency")


@pytest.fixture(scope="module")
def named(model):
    """Labels, or three leading words where none was given."""
    return [LABELS.get(k) or ", ".join(model.topics(3)[k]) for k in range(3)]


def grouped(table):
    return [
        [word for word, topic in zip(table["word"], table["topic"], strict=True) if topic == k]
        for k in range(3)
    ]


def test_probabilities(model, words, probable):
    p = word_probabilities(model)
    mass = model.topic_word_mass.toarray()
    q = mass.sum(axis=0) / mass.sum()
    relevant = np.where(mass > 0, np.log(p) - 0.4 * np.log(q), -np.inf)
    for k in range(3):
        for order, values, listed in (
            ("frequency", p, probable), ("relevance", relevant, words)
        ):  # fmt: skip
            best = np.argsort(-values[k].round(12), kind="stable")[:N]
            assert listed[k] == [model.vocab[v] for v in best]
            assert dict(model.topics(N, weights=True, order=order)[k]) == pytest.approx(
                {word: p[k, model.vocab.index(word)] for word in listed[k]}
            )
    with pytest.raises(InputError, match="'order' parameter must be one of 'relevance', 'freq"):
        model.topics(order="probability")


def test_tables(model, words, probable, named):
    assert grouped(model.topic_words(n_words=N, as_frame=False)) == words
    assert grouped(model.topic_words("probability", N, as_frame=False)) == probable
    everything = model.topic_words("relevance", N, relevance_lambda=1.0, as_frame=False)
    assert grouped(everything) == probable
    plain = model.topic_info(n_words=N, order="frequency", as_frame=False)
    assert plain["words"] == [", ".join(listed) for listed in probable]
    info = model.topic_info(n_words=N, as_frame=False)
    assert info["words"] == [", ".join(listed) for listed in words]
    assert info["label"] == named
    merged = model.hierarchy(n_words=N, as_frame=False).table["words"][-1].split(", ")
    assert merged == model.merge_topics([[0, 1, 2]]).topics(N)[0]
    with pytest.raises(InputError, match="'order' parameter must be one of"):
        model.hierarchy(order="size")


@pytest.mark.parametrize("order", ["relevance", "frequency"])
def test_names_in_the_tree(model, order):
    bare = model.label_topics([None] * 3)
    tree = bare.hierarchy(n_words=N, order=order, as_frame=False)
    (pair,) = tree.groups(2)
    merged = bare.merge_topics([pair]).topics(N, order=order)[pair[0]]
    assert tree.table["words"][0] == ", ".join(merged)
    names = {tree.table[side][0][0]: tree.table[f"{side}_name"][0] for side in ("left", "right")}
    assert names == {k: ", ".join(bare.topics(3, order=order)[k]) for k in pair}
    assert any(bare.topics(3)[k] != bare.topics(3, order="frequency")[k] for k in pair)


def test_exports(model, words, probable, named):
    table = exchange.topic_table(model, N)
    assert grouped(table) == words
    assert table["label"] == [LABELS.get(k, "") for k in table["topic"]]
    assert grouped(exchange.topic_table(model, N, order="frequency")) == probable
    table = exchange.document_table(model)
    assert table["label"] == [LABELS.get(k, "") for k in table["topic"]]
    assert exchange.to_topica(model).top_words(N) == probable
    assert exchange.to_topica(model).topic_names == named
    components = exchange.to_sklearn(model).components_
    assert [[model.vocab[v] for v in np.argsort(-row)[:N]] for row in components] == probable


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
    assert data["lambda"] == 0.6
    expected = model.topic_words("relevance", N, relevance_lambda=weight, as_frame=False)
    assert [relevance_on_the_page(data, k, weight) for k in range(3)] == grouped(expected)
    assert data["topics"]["label"] == [LABELS.get(k) for k in range(3)]


def test_models_without_seeds_and_labels_have_none_on_the_page(trained):
    data = gather(trained)
    assert data["seeds"] is None
    assert data["topics"]["label"] == [None] * 4


def test_the_notebook_card_of_posterior_draws(corpus):
    lda = LDA(3, max_iter=20, seed_words=SEEDS, seed_strength=40, verbose=False)
    posterior = lda.sample_posterior(corpus, chains=2, draws=1, thin=1)
    assert lda.model_.topics(6) != lda.model_.topics(6, order="frequency")
    text = re.sub(r"<[^>]*>", "", posterior._repr_html_())
    for words in lda.model_.topics(6):
        assert ", ".join(words) in text


def test_lists_of_the_largest_topics(trained, run, tmp_path):
    """Topics of equal sizes are in the order of their numbers everywhere."""
    counts = trained.model_.topic_word_counts.toarray()
    model = topics_only(counts[[0, 1, 0, 1, 0]], 0.1, 0.01, trained.model_.vocab, "test", "words")
    order = largest_topics(model).tolist()
    assert order in ([0, 2, 4, 1, 3], [1, 3, 0, 2, 4])
    model.save(tmp_path / "equal")
    _, out, _ = run("topics", "equal", "--by-size")
    assert [int(line.split("\t")[0]) for line in out.splitlines()] == order


def test_only_one_place_sorts_topics_by_size():
    package = Path(polyaurn.__file__).parent
    sorting = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"argsort\(.*topic_sizes|topic_sizes.*argsort", path.read_text("utf-8"))
    ]
    assert sorting == ["model/data.py"]


def test_plots(model, words, probable, named):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    from polyaurn import plots

    shown = [name.replace("$", r"\$") for name in named]
    bars = [text.get_text() for text in plots.plot_topics(model, [0, 1, 2], N).texts]
    heads = [f"Topic {k}: {shown[k]}" if k in LABELS else f"Topic {k}" for k in range(3)]
    assert [text for text in bars if text.startswith("Topic")] == heads
    assert [text for text in bars if text in model.vocab] == [w for k in words for w in k]
    plain = plots.plot_topics(model, [0, 1, 2], N, order="frequency")
    assert [text.get_text() for text in plain.texts if text.get_text() in model.vocab] == [
        w for k in probable for w in k
    ]
    assert plain.get_title().startswith("Most probable words")
    assert plots.plot_topics(model).get_title().startswith("Leading words")
    with_names = [f"{k}: {shown[k]}" for k in range(3)]
    bare = model.label_topics([None] * 3)
    for order, listed in (("relevance", words), ("frequency", probable)):
        leaves = plots.plot_dendrogram(bare, order=order).get_yticklabels()
        assert {leaf.get_text() for leaf in leaves} == {
            f"{k}: {', '.join(listed[k][:3])}" for k in range(3)
        }
    with pytest.raises(InputError, match="'order' parameter must be one of"):
        plots.plot_topics(model, order="size")
    assert sorted(text.get_text() for text in plots.plot_map(model).texts) == with_names
    ax = plots.plot_over_time(model, range(60), [0, 1, 2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == with_names
    ticks = plots.plot_documents(model, topics=[0, 1, 2]).get_xticklabels()
    assert [tick.get_text() for tick in ticks] == [with_names[0], "1", with_names[2]]
    plt.close("all")


def test_interactive_bars(model, words, probable):
    pytest.importorskip("plotly")
    from polyaurn.plots import interactive

    for order, listed in (("relevance", words), ("frequency", probable)):
        bars = interactive.plot_topics(model, [0, 1, 2], N, order=order).data
        assert [list(topic.y) for topic in bars] == listed
    with pytest.raises(InputError, match="'order' parameter must be one of"):
        interactive.plot_topics(model, order="size")


def test_the_command(model, words, probable, run, tmp_path):
    model.save(tmp_path / "m")
    _, out, _ = run("topics", "m", "--words", N)
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[1] for row in rows] == [LABELS.get(k, "") for k in range(3)]
    assert [row[-1].split(" ") for row in rows] == words
    _, out, _ = run("topics", "m", "--words", N, "--json")
    listed = json.loads(out)
    assert [[word for word, _ in topic["words"]] for topic in listed] == words
    assert [topic["label"] for topic in listed] == [LABELS.get(k) for k in range(3)]
    _, out, _ = run("topics", "m", "--words", N, "--order", "frequency")
    assert [line.split("\t")[-1].split(" ") for line in out.splitlines()] == probable
    code, _, error = run("topics", "m", "--order", "size")
    assert code == 2
    assert error.startswith("polyaurn: The '--order' option must be one of 'relevance', 'frequ")
    model.label_topics([None] * 3).save(tmp_path / "bare")
    drawn = []
    for options in ((), ("--order", "relevance"), ("--order", "frequency")):
        for kind in ("topics", "dendrogram"):
            run("plot", "bare", kind, "--out", "p.svg", "--force", "-q", *options)
            drawn.append((tmp_path / "p.svg").read_bytes())
    assert drawn[:2] == drawn[2:4]
    assert drawn[0] != drawn[4]
    assert drawn[1] != drawn[5]
    for kind in ("map", "topics"):
        code, _, error = run("plot", "m", kind, "--out", "q.svg", "--order", "size")
        assert code == 2
        assert error.startswith("polyaurn: The '--order' option ")
    for options, expected in (((), words), (("--order", "frequency"), probable)):
        run("export", "m", "--to", "csv", "--out", "topics.csv", "--force", *options)
        with (tmp_path / "topics.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if int(row["rank"]) <= N]
        listed = {"word": [r["word"] for r in rows], "topic": [int(r["topic"]) for r in rows]}
        assert grouped(listed) == expected
        assert [row["label"] for row in rows] == [LABELS.get(k, "") for k in listed["topic"]]
    documents = ("export", "m", "--to", "csv", "--table", "documents", "--out", "d.csv")
    assert run(*documents, "--order", "frequency")[0] == 2
    assert not (tmp_path / "d.csv").exists()


def test_columns_of_inferred_mixtures(model, run, tmp_path):
    model.save(tmp_path / "m")
    (tmp_path / "new.txt").write_text("moon star orbit\ncat bird\n")
    expected = ["topic_0: Sky", "topic_1", "topic_2: Pets and $5"]
    assert run("infer", "m", "new.txt", "--out", "mixtures.csv", "-q")[0] == 0
    head = (tmp_path / "mixtures.csv").read_text().splitlines()[0]
    assert head.split(",") == ["document", *expected]
    assert run("infer", "m", "new.txt", "--out", "mixtures.npz", "-q")[0] == 0
    with np.load(tmp_path / "mixtures.npz") as arrays:
        assert arrays["topics"].tolist() == expected
    _, out, _ = run("infer", "m", "new.txt", "--out", "mixtures.csv", "--force", "--json")
    assert json.loads(out)["labels"] == ["Sky", None, "Pets and $5"]
