"""Interactive pictures with Plotly."""

import json
import sys

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError
from polyaurn.model.document_map import document_map
from polyaurn.model.topic_map import topic_map
from polyaurn.plots.similarity import shown_cells
from polyaurn.plots.time import shares_over_time

pytest.importorskip("plotly", reason="plotly is not installed")

from polyaurn.plots import interactive

HOSTILE = "</script><script>alert(1)</script><a href='javascript:alert(1)'>x</a>"


@pytest.fixture(scope="module")
def model(small):
    return LDA(5, max_iter=30, verbose=False).fit(small).model_


def test_topics_are_placed_as_elsewhere(model):
    (circles,) = interactive.plot_map(model).data
    placed = topic_map(model)
    assert np.asarray(circles.x) == pytest.approx(placed.x)
    assert np.asarray(circles.y) == pytest.approx(placed.y)
    area = np.asarray(circles.marker.size) ** 2
    assert area / area[0] == pytest.approx(model.topic_sizes / model.topic_sizes[0])
    assert model.topics(3)[2][0] in circles.hovertext[2]
    assert f"{model.topic_sizes[2]:,} tokens" in circles.hovertext[2]
    assert set(interactive.plot_map(model, labelled=1).data[0].text) > {""}


def test_words_of_a_topic_can_be_chosen(model):
    figure = interactive.plot_topics(model, [3, 1], n_words=4)
    for bars, k in zip(figure.data, (3, 1), strict=True):
        expected = model.topics(4, weights=True)[k]
        assert list(bars.y) == [word for word, _ in expected]
        assert list(bars.x) == pytest.approx([p for _, p in expected])
    assert [bars.visible for bars in figure.data] == [True, False]
    first, second = figure.layout.updatemenus[0].buttons
    assert second.args[0]["visible"] == [False, True]
    assert first.label.startswith("3: ")


def test_lines_are_shares_over_time(model):
    years = [2000 + d % 4 if d % 7 else None for d in range(60)]
    figure = interactive.plot_over_time(model, years, topics=[2, 0])
    middle, share, _, lost = shares_over_time(model, years, [2, 0], 24)
    for i, line in enumerate(figure.data):
        assert list(line.x) == middle.tolist()
        assert list(line.y) == pytest.approx(share[:, i])
    assert f"{lost} documents without one" in figure.layout.xaxis.title.text
    days = [f"2001-01-{1 + d % 28:02d}" for d in range(60)]
    assert len(interactive.plot_over_time(model, days).data) == 5


def test_documents_are_placed_as_elsewhere(model):
    placed = document_map(model)
    figure = interactive.plot_document_map(model)
    found = [point for trace in figure.data for point in zip(trace.x, trace.y, strict=True)]
    expected = zip(placed.x.round(4), placed.y.round(4), strict=True)
    assert sorted(found) == sorted(expected)
    few = interactive.plot_document_map(model, ["a", "b"] * 30, most=10)
    assert sum(len(trace.x) for trace in few.data) == 10
    assert {trace.name for trace in few.data} == {"a (30)", "b (30)"}
    assert few.layout.title.text == "10 of 60 documents on the map of 5 topics"
    assert len(figure.layout.annotations) == 5


def test_similar_topics_are_those_of_the_other_picture(model):
    (cells,) = interactive.plot_similarity(model).data
    numbers, alike = shown_cells(model, 200)
    assert [int(name.split(":")[0]) for name in cells.y] == numbers
    assert list(cells.x) == list(cells.y)
    assert np.asarray(cells.z) == pytest.approx(alike, nan_ok=True)
    figure = interactive.plot_similarity(model, topics=3)
    assert np.asarray(figure.data[0].z).shape == (3, 3)
    assert figure.layout.title.text == "Similarity of the 3 largest of 5 topics by their words"


def test_shares_in_classes_are_those_of_the_table(model):
    classes = ["a" * 40 + "1", "a" * 40 + "2", None] * 20
    figure = interactive.plot_per_class(model, classes, [3, 0])
    (cells,) = figure.data
    assert len(set(cells.x)) == 2
    with pytest.warns(UserWarning, match="20 of 60 documents have no class"):
        table = model.topics_per_class(classes, as_frame=False)
    for row, k in enumerate((3, 0)):
        expected = [s for s, t in zip(table["share"], table["topic"], strict=True) if t == k]
        assert list(cells.z[row]) == pytest.approx(expected)
    assert "20 documents without one left out" in figure.layout.xaxis.title.text


def test_words_labels_and_names_are_text(tmp_path):
    X = np.random.default_rng(0).poisson(2.0, (30, 3))
    corpus = Corpus.from_matrix(X, ["plain", HOSTILE, "\x1b[31m"], doc_names=[HOSTILE] * 30)
    model = LDA(2, max_iter=5, verbose=False).fit(corpus).model_.label_topics({0: HOSTILE})
    figures = [
        interactive.plot_map(model),
        interactive.plot_topics(model),
        interactive.plot_over_time(model, range(30)),
        interactive.plot_document_map(model),
        interactive.plot_document_map(model, [HOSTILE] * 30),
        interactive.plot_similarity(model),
        interactive.plot_per_class(model, [HOSTILE] * 30),
    ]
    for figure in figures:
        text = json.dumps(figure.to_plotly_json(), default=list)
        assert "<script" not in text
        assert "<a " not in text
        assert "\\u001b" not in text
        page = interactive.page_of(figure)
        assert "<script>alert(1)" not in page
        assert page == interactive.page_of(figure)
        assert "sendChartToCloud" in figure.layout.modebar.remove


def test_bad_input(model, monkeypatch):
    for draw, says in (
        (lambda: interactive.plot_map(LDA(2)), "call fit first"),
        (lambda: interactive.plot_topics(model, [9]), "from 0 to 4. Got 9"),
        (lambda: interactive.plot_over_time(model, [1]), "60 documents"),
        (lambda: interactive.plot_document_map(model, most=0), "'most' parameter"),
        (lambda: interactive.plot_similarity(model, topics=0), "'topics' parameter"),
        (lambda: interactive.plot_per_class(model, [None] * 60), "at least one class"),
    ):
        with pytest.raises(InputError, match=says):
            draw()
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[interactive\]'"):
        interactive.plot_map(model)


def test_the_command_writes_pages(run, model, tmp_path):
    model.save(tmp_path / "m")
    (tmp_path / "years.txt").write_text("2001\n2002\n2003\n" * 20)
    (tmp_path / "classes.txt").write_text("a\nb\n\n" * 20)
    for kind, *options in (
        ("map",), ("topics", "-k", "1,3", "-n", 4), ("over-time", "--dates", "years.txt"),
        ("document-map", "--classes", "classes.txt"), ("similarity",),
        ("classes", "--classes", "classes.txt"),
    ):  # fmt: skip
        code, out, err = run("plot", "m", kind, "--out", "p.html", "--force", *options)
        assert (code, out, err) == (0, "", "Written: p.html\n")
        first = (tmp_path / "p.html").read_bytes()
        run("plot", "m", kind, "--out", "p.html", "--force", *options)
        assert (tmp_path / "p.html").read_bytes() == first
        assert b"cdn.plot" not in first.split(b"</script>")[-1]
    assert run("plot", "m", "map", "--out", "p.html")[0] == 2
