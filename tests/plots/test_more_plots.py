"""Trees, heat maps, classes, and documents on the map, with matplotlib."""

import numpy as np
import pytest

from polyaurn import LDA, InputError, datasets
from polyaurn.exchange.parts import topics_only
from polyaurn.model.distance import topic_distances
from polyaurn.model.document_map import document_map
from polyaurn.model.tables.groups import share_in_groups
from polyaurn.model.topic_map import ASPECT, topic_map

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")

from matplotlib import pyplot as plt  # noqa: E402

from polyaurn import plots  # noqa: E402


@pytest.fixture(scope="module")
def model(small):
    return LDA(6, max_iter=30, verbose=False).fit(small).model_


@pytest.fixture(scope="module")
def many():
    corpus = datasets.generate(n_documents=80, n_words=150, n_topics=8)
    return LDA(70, max_iter=5, verbose=False).fit(corpus).model_


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_forks_are_where_topics_merge(model):
    ax = plots.plot_dendrogram(model, method="complete")
    forks = ax.collections[0].get_segments()
    assert sorted(fork[1, 0] for fork in forks) == pytest.approx(
        model.hierarchy("complete").linkage[:, 2]
    )
    names = labels(ax.yaxis)
    assert sorted(int(name.split(":")[0]) for name in names) == list(range(6))
    leaves = {y for fork in forks for x, y in fork if x == 0}
    assert leaves == set(range(6))
    left, right = ax.get_xlim()
    assert left > max(fork[1, 0] for fork in forks)
    assert right < min(fork[1, 0] for fork in forks)


def test_nearest_topics_share_a_branch_where_there_are_many(many):
    ax = plots.plot_dendrogram(many, leaves=10)
    names = labels(ax.yaxis)
    assert len(names) == 10
    groups = [int(name.split()[0]) for name in names if " topics: " in name]
    assert sum(groups) + 10 - len(groups) == 70


def test_a_heat_map_holds_similarities_in_the_order_of_the_tree(model):
    ax = plots.plot_similarity(model)
    order = [int(name.split(":")[0]) for name in labels(ax.yaxis)]
    assert order == [int(name.split(":")[0]) for name in labels(plots.plot_dendrogram(model).yaxis)]
    alike = 1 - topic_distances(model.topic_word_mass)[np.ix_(order, order)]
    found = np.asarray(ax.images[0].get_array().filled(np.nan))
    off = ~np.eye(6, dtype=bool)
    assert found[off] == pytest.approx(alike[off])
    assert np.isnan(found[~off]).all()


def test_a_large_heat_map_has_numbers_and_the_largest_topics(many):
    ax = plots.plot_similarity(many)
    assert all(name.isdecimal() for name in labels(ax.yaxis))
    few = plots.plot_similarity(many, topics=5)
    assert few.get_title() == "Similarity of the 5 largest of 70 topics by their words"
    largest = np.argsort(-many.topic_sizes, kind="stable")[:5]
    assert {int(name.split(":")[0]) for name in labels(few.yaxis)} == set(largest.tolist())


def test_shares_in_classes_are_counted(model):
    classes = ["b" if d % 3 else "a" for d in range(59)] + [None]
    ax = plots.plot_per_class(model, classes, topics=[4, 1])
    group = np.array([1 if c == "b" else 0 if c == "a" else -1 for c in classes])
    expected = share_in_groups(model, group, 2, [4, 1]).share.T
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(expected)
    assert labels(ax.xaxis) == ["a (20)", "b (39)"]
    assert [name.split(":")[0] for name in labels(ax.yaxis)] == ["4", "1"]
    assert "1 documents without one left out" in ax.get_xlabel()
    assert f"{expected[0, 1]:.0%}" in {text.get_text() for text in ax.texts}
    largest = plots.plot_per_class(model, classes, most=1)
    assert labels(largest.xaxis) == ["b (39)"]


def test_documents_are_near_the_topics_they_have_most_of(model):
    placed, where = document_map(model), topic_map(model)
    theta = model.doc_topics()[placed.number]
    assert np.array_equal(placed.topic, theta.argmax(axis=1))
    assert placed.share == pytest.approx(theta.max(axis=1))
    weight = theta**2
    x = (weight * where.x).sum(axis=1) / weight.sum(axis=1)
    y = (weight * where.y).sum(axis=1) / weight.sum(axis=1)
    assert (np.hypot(placed.x - x, placed.y - y) <= where.radius[placed.topic] + 1e-12).all()
    assert ((placed.x >= 0) & (placed.x <= 1) & (placed.y >= 0) & (placed.y <= ASPECT)).all()
    assert len(np.unique(np.column_stack((placed.x, placed.y)), axis=0)) == len(placed.x)


def test_documents_without_words_are_not_on_the_map(odd):
    with pytest.warns(UserWarning, match="documents are empty"):
        model = LDA(2, max_iter=5, verbose=False).fit(odd).model_
    lengths = np.asarray(model.doc_topic_counts.sum(axis=1)).ravel()
    assert document_map(model).number.tolist() == np.flatnonzero(lengths).tolist()


def test_points_are_coloured_by_leading_topic_or_class(model, many):
    ax = plots.plot_document_map(model)
    placed = document_map(model)
    points = np.concatenate([c.get_offsets() for c in ax.collections[1:]])
    assert sorted(map(tuple, points.tolist())) == sorted(zip(placed.x, placed.y, strict=True))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sum(int(text.rsplit("(", 1)[1][:-1]) for text in texts) == len(placed.x)
    several = plots.plot_document_map(many)
    assert several.get_legend().get_texts()[-1].get_text().startswith("others (")
    classes = ["red", "blue", None] * 20
    ax = plots.plot_document_map(model, classes)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "no class (20)", "blue (20)", "red (20)",
    ]  # fmt: skip


def test_labels_on_the_map_of_documents_do_not_overlap(many):
    ax = plots.plot_document_map(many.label_topics({0: "$5 <b>" + "long " * 18}))
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) > 10
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_pictures_go_where_they_are_asked_to(model):
    _, axes = plt.subplots(1, 4)
    drawn = [
        plots.plot_dendrogram(model, ax=axes[0]),
        plots.plot_similarity(model, ax=axes[1]),
        plots.plot_per_class(model, ["a"] * 60, ax=axes[2]),
        plots.plot_document_map(model, ax=axes[3]),
    ]
    assert drawn == list(axes)
    assert all(ax.get_title() for ax in drawn)
    assert plt.get_fignums() == [1]


BAD = [
    (lambda m: plots.plot_dendrogram(m, method="near"), "'method' parameter must be"),
    (lambda m: plots.plot_dendrogram(m, leaves=1), "'leaves' parameter"),
    (lambda m: plots.plot_similarity(m, topics=0), "'topics' parameter"),
    (lambda m: plots.plot_per_class(m, ["a"]), "'classes' parameter .* 60 documents.*Got 1"),
    (lambda m: plots.plot_per_class(m, [None] * 60), "at least one class"),
    (lambda m: plots.plot_per_class(m, [[]] * 60), "'classes' parameter must have a string"),
    (lambda m: plots.plot_document_map(m, "a"), "'classes' parameter"),
    (lambda m: plots.plot_document_map(m, labelled=-1), "'labelled' parameter"),
]


@pytest.mark.parametrize(("draw", "says"), BAD)
def test_bad_input_is_one_sentence(model, draw, says):
    with pytest.raises(InputError, match=says) as error:
        draw(model)
    assert "\n" not in str(error.value)
    assert not plt.get_fignums()


def test_models_without_documents_and_with_a_single_topic():
    bare = topics_only(np.array([[4.0, 0, 1], [0, 3, 3]]), 0.1, 0.01, list("abc"), "test", "words")
    assert plots.plot_dendrogram(bare).get_title() == "Tree of 2 topics"
    assert plots.plot_similarity(bare).images
    for draw in (plots.plot_document_map, lambda m: plots.plot_per_class(m, [])):
        with pytest.raises(InputError, match="must have documents"):
            draw(bare)
    one = LDA(1, max_iter=2, verbose=False).fit(["cat dog", "dog"]).model_
    with pytest.raises(InputError, match="at least two topics"):
        plots.plot_dendrogram(one)
    assert plots.plot_similarity(one).get_title().startswith("Similarity of 1 topics")
    assert len(document_map(one).x) == 2


def names_on_the_map(model):
    texts = [text.get_text() for text in plots.plot_map(model, labelled=1).texts]
    return [text for text in texts if not text.isdigit()]


def test_labels_that_were_given_are_preferred_to_words_of_larger_topics(model):
    smallest = int(np.argmin(model.topic_sizes))
    assert not names_on_the_map(model)[0].startswith(f"{smallest}: ")
    given = model.label_topics({smallest: "Name"})
    assert names_on_the_map(given) == [f"{smallest}: Name"]


def test_classes_are_taken_from_the_corpus_of_the_model(run, tmp_path):
    rows = [f"{'space' if i % 2 else 'pets'},{'moon star' if i % 2 else 'cat dog'} x{i % 3}"
            for i in range(30)]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["kind,text", *rows]) + "\n")
    train = ("train", "t.csv", "--text-column", "text", "-k", 2, "--sweeps", 10, "-q", "--out", "m")
    assert run(*train)[0] == 0
    code, _, error = run("plot", "m", "classes", "--out", "a.svg")
    assert code == 2
    assert "'--class-column' option must be given for classes" in error
    assert run("plot", "m", "classes", "--class-column", "kind", "--out", "a.svg", "-q")[0] == 0
    assert "pets" in (tmp_path / "a.svg").read_text()
    assert run(*train, "--force", "--class-column", "kind")[0] == 0
    assert run("plot", "m", "classes", "--out", "b.svg", "-q")[0] == 0
    assert "pets" in (tmp_path / "b.svg").read_text()
    code, _, error = run("plot", "m", "classes", "--class-column", "nix", "--out", "c.svg")
    assert code == 2
    assert "'--class-column' option must name a column" in error
    (tmp_path / "t.csv").rename(tmp_path / "u.csv")
    code, _, error = run("plot", "m", "document-map", "--class-column", "kind", "--out", "c.svg")
    assert code == 2
    moved = ("--corpus", "u.csv", "--class-column", "kind", "--out", "c.svg", "-q")
    assert run("plot", "m", "document-map", *moved)[0] == 0
