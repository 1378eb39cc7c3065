"""Topics merged, ordered by likeness, and named."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster

from polyaurn import LDA, Corpus, InputError, exchange, load
from polyaurn.model.checks import check_belongs
from polyaurn.model.data import word_probabilities
from polyaurn.model.distance import topic_distances
from polyaurn.model.labels import distinct_label
from polyaurn.model.tables.hierarchy import Hierarchy
from polyaurn.training.folder import open_folder


@pytest.fixture(scope="module")
def eight(medium):
    return LDA(8, max_iter=30, verbose=False).fit(medium)


@pytest.mark.parametrize(("draws", "dtype"), [(1, np.int32), ("auto", np.float64)])
def test_merged_models_are_consistent(medium, tmp_path, draws, dtype):
    eight = LDA(8, max_iter=30, average_draws=draws, verbose=False).fit(medium)
    model = eight.model_
    merged = eight.merge_topics([[5, 1], [2, 7]])
    expected = [[0], [1, 5], [2, 7], [3], [4], [6]]
    assert merged.parameters["merged_topics"] == expected
    assert merged.n_topics == merged.parameters["n_topics"] == 6
    check_belongs(merged, eight.corpus_)  # recounts both statistics from the topics of the tokens
    n, m = model.topic_word_counts.toarray(), model.doc_topic_counts.toarray()
    for new, old in enumerate(expected):
        assert np.array_equal(merged.topic_word_counts[new].toarray()[0], n[old].sum(axis=0))
        assert np.array_equal(merged.doc_topic_counts[:, [new]].toarray()[:, 0], m[:, old].sum(1))
        assert merged.priors.alpha[new] == pytest.approx(model.priors.alpha[old].sum())
    assert merged.topic_word_counts.dtype == dtype
    assert not merged.assignments.flags.writeable
    theta = model.doc_topics()
    together = np.stack([theta[:, old].sum(axis=1) for old in expected], axis=1)
    assert np.allclose(merged.doc_topics(), together)
    mixtures = merged.transform(eight.corpus_)
    assert np.allclose(mixtures.sum(axis=1), 1.0)
    leading = mixtures.argmax(axis=1) == together.argmax(axis=1)
    assert leading.mean() > 0.7  # one draw against the mean of several: 0.80 to 0.92 by seed
    assert model.n_topics == 8
    assert "merged_topics" not in model.parameters
    merged.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.assignments, merged.assignments)
    assert again.parameters == merged.parameters
    assert again.document_info(as_frame=False)["topic"].max() < 6
    run = {"max_iter": 40}
    with (
        pytest.raises(InputError, match="does not say how it was trained"),
        open_folder(tmp_path / "model", 10, run, resume=True, any_seed=False),
    ):
        pass


def test_merging_nothing_and_everything(eight):
    same = eight.merge_topics([])
    assert np.array_equal(same.assignments, eight.assignments_)
    assert (same.topic_word_counts != eight.topic_word_counts_).nnz == 0
    one = eight.merge_topics([range(8)])
    assert one.n_topics == 1
    assert one.document_info(as_frame=False)["share"].tolist() == [1.0] * 1500
    twice = eight.merge_topics([[0, 1]]).merge_topics([[0, 1]])
    assert np.array_equal(twice.assignments, eight.merge_topics([[0, 1, 2]]).assignments)


@pytest.mark.parametrize("groups", [[1, 2], "12", [[1, 8]], [[1, -1]], [["1"]], 3, [[True, 2]]])
def test_groups_that_are_no_topics(eight, groups):
    with pytest.raises(InputError, match="'groups' parameter must be"):
        eight.merge_topics(groups)


@pytest.mark.parametrize("groups", [[[1, 2], [2, 3]], [[1, 1]]])
def test_a_topic_named_twice(eight, groups):
    with pytest.raises(InputError, match=r"'groups' parameter must name each topic once.* twice"):
        eight.merge_topics(groups)


def test_hellinger_distances(eight):
    n = eight.topic_word_counts_.toarray()
    p = n / n.sum(axis=1, keepdims=True)
    roots = np.sqrt(p)
    expected = np.sqrt(((roots[:, None] - roots[None]) ** 2).sum(axis=2) / 2)
    assert np.allclose(topic_distances(n), expected, atol=1e-7)
    n[3] = 0
    distance = topic_distances(n)
    assert distance[3].tolist() == [1, 1, 1, 0, 1, 1, 1, 1]


def test_hierarchy(eight):
    found = eight.hierarchy(as_frame=False)
    distance = topic_distances(eight.topic_word_counts_)
    nearest = np.unravel_index(np.argmin(distance + 2 * np.eye(8)), (8, 8))
    assert found.table["left"][0] + found.table["right"][0] == sorted(nearest)
    assert found.table["distance"][0] == pytest.approx(distance[nearest])
    assert found.table["step"].tolist() == list(range(1, 8))
    assert found.table["tokens"][-1] == eight.corpus_.n_tokens
    assert sorted(found.table["left"][-1] + found.table["right"][-1]) == list(range(8))
    for n_topics in range(1, 9):
        groups = found.groups(n_topics)
        assert all(len(group) > 1 for group in groups)
        merged = eight.merge_topics(groups)
        assert merged.n_topics == n_topics
        labels = fcluster(found.linkage, n_topics, "maxclust")
        for group in groups:
            assert len(set(labels[group])) == 1
    first = eight.merge_topics(found.groups(7))
    number = first.parameters["merged_topics"].index(sorted(nearest))
    assert found.table["words"][0] == ", ".join(first.topics(5)[number])
    pandas = pytest.importorskip("pandas")
    assert isinstance(eight.hierarchy("ward").table, pandas.DataFrame)


def test_hierarchy_measures_no_more_pairs_than_fit(eight, monkeypatch):
    monkeypatch.setattr("polyaurn.model.tables.hierarchy.MOST_TOPICS", 7)
    with pytest.raises(InputError, match="at most 7 topics for 'hierarchy'"):
        eight.hierarchy()


def test_hierarchy_of_one_topic_and_what_is_rejected(small):
    one = LDA(1, max_iter=2, verbose=False).fit(small)
    found = one.hierarchy(as_frame=False)
    assert found.linkage.shape == (0, 4)
    assert found.table["words"] == []
    assert found.groups(1) == []
    for bad in (0, 2, "1", True):
        with pytest.raises(InputError, match="'n_topics' parameter must be a whole number from 1"):
            found.groups(bad)
    with pytest.raises(InputError, match="'method' parameter must be one of 'average'"):
        one.hierarchy("nearest")
    with pytest.raises(InputError, match="'n_words' parameter"):
        one.hierarchy(n_words=0)
    assert Hierarchy(np.array([[0, 1, 0.5, 2.0]]), None).groups(1) == [[0, 1]]


def test_labels_survive_and_show(eight, tmp_path):
    named = eight.label_topics(lambda words: f"about {' '.join(words)}", n_words=3)
    named = named.label_topics({2: "seconds ", 7: "a\nb"})
    expected = [f"about {' '.join(words)}" for words in eight.topics(3)]
    expected[2], expected[7] = "seconds", "a b"
    named.save(tmp_path / "model")
    for model in (named, load(tmp_path / "model")):
        assert model.topic_info(as_frame=False)["label"] == expected
        table = model.document_info(as_frame=False)
        assert table["label"] == [expected[k] for k in table["topic"]]
        assert model.topic_words(n_words=1, as_frame=False)["label"] == expected
        classes = [0, 1] * 750
        assert model.topics_per_class(classes, as_frame=False)["label"] == expected * 2
        assert exchange.to_topica(model).topic_names == expected
    assert "labels" not in eight.model_.parameters
    merged = named.merge_topics([[2, 7]])
    assert merged.topic_info(as_frame=False)["label"][2] == "seconds + a b"
    assert merged.topic_info(as_frame=False)["label"][3] == expected[3]
    assert replace(named, parameters={"labels": ["one"]}).topic_info(as_frame=False)


def test_labels_of_topics_without_words():
    corpus = Corpus.from_matrix([[1, 0], [1, 0]])
    lda = LDA(5, max_iter=3, random_state=1, verbose=False).fit(corpus)
    asked = []
    named = lda.label_topics(lambda words: asked.append(words) or f"named {len(asked)}")
    sizes = lda.model_.topic_sizes
    assert len(asked) == (sizes > 0).sum()
    labels = named.topic_info(as_frame=False)["label"]
    assert [label.startswith("named") for label in labels] == (sizes > 0).tolist()
    assert set(labels) - {f"named {n}" for n in range(1, 6)} == {"(no words)"}


def test_a_function_that_gives_a_label_twice(eight):
    labels = eight.label_topics(lambda words: "Same").parameters["labels"]
    assert labels[0] == "Same"
    assert len(set(labels)) == 8
    for k, words in enumerate(eight.topics(10)[1:], start=1):
        assert labels[k] in [f"Same ({word})" for word in words]


def test_a_label_that_no_word_distinguishes_is_numbered():
    taken = ["Moon", "moon (orbit)", "Moon (2)"]
    assert distinct_label("Sun", ["orbit"], taken) == "Sun"
    assert distinct_label("MOON", ["moon", "orbit", "crew"], taken) == "MOON (crew)"
    assert distinct_label("Moon", ["moon", "orbit"], taken) == "Moon (3)"
    assert len(distinct_label("x" * 100, ["orbit"], ["x" * 100])) == 100


def test_labels_as_a_list_and_removed(eight):
    listed = eight.label_topics(["One", None, "Three"] + [None] * 5)
    assert listed.parameters["labels"] == ["One", None, "Three"] + [None] * 5
    fewer = listed.label_topics({0: None, 1: "one"})
    assert fewer.parameters["labels"] == [None, "one", "Three"] + [None] * 5
    assert "labels" not in fewer.label_topics([None] * 8).parameters
    swapped = listed.label_topics({0: "Three", 2: "One"})
    assert swapped.parameters["labels"][:3] == ["Three", None, "One"]


def test_a_merged_label_stays_short(eight):
    named = eight.label_topics({0: "a" * 80, 1: "b" * 80})
    label = named.merge_topics([[0, 1]]).parameters["labels"][0]
    assert label == f"{'a' * 80} + {'b' * 16}…"
    assert len(label) == 100


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda words: None, "Got None for topic 0"),
        (lambda words: " ", "Got ' ' for topic 0"),
        ({1: 3}, "Got 3 for topic 1"),
        ({9: "x"}, "'labels' parameter must be a topic's number, from 0 to 7"),
        (["x"] * 8, "a label of its own. Got 'x' for topics 0 and 1"),
        (["x"] * 7, "a label or None for each of the 8 topics, .* Got 7 labels"),
        ("x", "Got str instead"),
        (3, "Got int instead"),
        ({1: "A", 2: "a"}, "Got 'a' for topics 1 and 2; add a word"),
        ({1: "A\x1b[2J"}, r"without control characters. Got 'A\\x1b\[2J' for topic 1"),
        ({1: "turned \u202e around"}, "without control characters"),
        ({1: "x" * 101}, "at most 100 characters. Got 101 for topic 1"),
    ],
)
def test_labels_that_are_rejected(eight, labels, message):
    with pytest.raises(InputError, match=message):
        eight.label_topics(labels)


def test_models_without_documents_can_be_merged():
    counts = np.array([[3.5, 0, 1], [0, 2, 0.5], [1, 0, 0]])
    model = exchange.parts.topics_only(counts, 0.1, 0.01, ["a", "b", "c"], "test", "words")
    merged = model.merge_topics([[0, 2]])
    assert merged.topic_word_counts.toarray().tolist() == [[4.5, 0, 1], [0, 2, 0.5]]
    assert merged.doc_topic_counts.shape == (0, 2)
    assert np.allclose(word_probabilities(merged).sum(axis=1), 1.0)
    assert merged.transform(np.array([[3, 0, 0]])).argmax() == 0
    assert model.hierarchy(as_frame=False).groups(2) == [[0, 2]]
