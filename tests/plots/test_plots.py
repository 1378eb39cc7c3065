"""Pictures of models, and the map of topics behind one of them."""

import sys
from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest

from polyaurn import LDA, InputError
from polyaurn.cli.plots import _fonts
from polyaurn.exchange.parts import topics_only
from polyaurn.pages.report.data import gather

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")

from matplotlib import pyplot as plt  # noqa: E402

from polyaurn import plots  # noqa: E402
from polyaurn.plots.axes import short, short_name  # noqa: E402


@pytest.fixture(scope="module")
def model(small):
    return LDA(4, max_iter=30, evaluate_every=3, verbose=False).fit(small).model_


@pytest.fixture(scope="module")
def bare():
    """A model without documents and without a trace."""
    counts = np.array([[4.0, 0, 1], [0, 3, 3]])
    return topics_only(counts, 0.1, 0.01, ["a", "b", "c"], "test", "words")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_topics_are_placed_as_in_the_report(model):
    ax = plots.plot_map(model)
    page = gather(model)["map"]
    placed = np.column_stack((page["x"], page["y"]))
    assert ax.collections[0].get_offsets() == pytest.approx(placed, abs=1e-4)
    assert ax.get_ylim() == (page["aspect"], 0)


def test_a_map_shows_the_largest_topics(model, monkeypatch):
    monkeypatch.setattr("polyaurn.plots.map.MOST_TOPICS", 2)
    ax = plots.plot_map(model)
    assert ax.get_title() == "Map of the 2 largest of 4 topics by the words they use"
    assert len(ax.collections[0].get_offsets()) == 2


def test_the_trace_is_drawn_a_token(model):
    ax = plots.plot_trace(model)
    (line,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert line.get_xdata().tolist() == list(range(3, 31, 3))
    last = model.trace[-1]["log_posterior"] / len(model.assignments)
    assert line.get_ydata()[-1] == last
    assert [text.get_text() for text in ax.texts] == ["aids of burn-in end"]
    several = plots.plot_trace({"first": model, "second": model})
    assert [t.get_text() for t in several.get_legend().get_texts()] == ["first", "second"]
    assert len(plots.plot_trace([model] * 9).lines) == 9


def test_bars_are_as_long_as_their_words_are_probable(model):
    ax = plots.plot_topics(model, [2, 0], n_words=3)
    expected = [p for k in (2, 0) for _, p in model.topics(3, weights=True)[k]]
    widths = np.array([bar.get_width() for bar in ax.patches])
    assert widths / widths.max() == pytest.approx(np.array(expected) / max(expected))
    shown = [text.get_text() for text in ax.texts]
    assert [text for text in shown if text.startswith("Topic")] == ["Topic 2", "Topic 0"]
    assert model.topics(3)[2][0] in shown


def test_circles_are_as_large_as_topics_and_labels_do_not_overlap(model):
    ax = plots.plot_map(model)
    sizes = model.topic_sizes
    area = ax.collections[0].get_widths() ** 2
    assert area / area[0] == pytest.approx(sizes / sizes[0])
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert plots.plot_map(model, labelled=0).texts[0].get_text().isdecimal()


def test_the_heatmap_shows_mixtures(model):
    ax = plots.plot_documents(model, [3, "1", 0], topics=[1, 3])
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(
        model.doc_topics()[[3, 1, 0]][:, [1, 3]]
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["3", "1", "0"]
    assert plots.plot_documents(model).images[0].get_array().shape == (30, 4)


def test_shares_over_time_are_counted(model):
    years = [2000 + d % 3 if d % 7 else None for d in range(60)]
    ax = plots.plot_over_time(model, years, topics=[1])
    for year, share in zip(*ax.lines[0].get_data(), strict=True):
        there = np.array([y == year for y in years])
        assert share == pytest.approx(model.doc_topics()[there, 1].mean())
    assert "9 documents without one left out" in ax.get_xlabel()
    assert ax.lines[0].get_xdata().tolist() == [2000, 2001, 2002]


def test_times_of_many_kinds(model):
    strings = [f"2001-{1 + d % 12:02d}-{1 + d % 28:02d}" for d in range(60)]
    days = [date.fromisoformat(s) for s in strings]
    moments = [datetime.fromisoformat(s).replace(tzinfo=UTC) for s in strings]
    lines = [
        plots.plot_over_time(model, when, periods=5).lines[0].get_data()
        for when in (strings, days, moments, np.array(strings, "datetime64[D]"))
    ]
    for x, y in lines[1:]:
        assert (x == lines[0][0]).all()
        assert (y == lines[0][1]).all()
    assert len(lines[0][0]) == 5
    even = plots.plot_over_time(model, np.linspace(0, 1, 60), periods=4)
    assert even.lines[0].get_xdata() == pytest.approx([0.125, 0.375, 0.625, 0.875])
    gap = plots.plot_over_time(model, [*range(59), 1000], periods=10).lines[0].get_ydata()
    assert np.isnan(gap[1:-1]).all()
    assert not np.isnan(gap[[0, -1]]).any()


def test_pictures_go_where_they_are_asked_to(model):
    _, axes = plt.subplots(1, 5)
    drawn = [
        plots.plot_trace(model, ax=axes[0]),
        plots.plot_topics(model, ax=axes[1]),
        plots.plot_map(model, ax=axes[2]),
        plots.plot_documents(model, ax=axes[3]),
        plots.plot_over_time(model, range(60), ax=axes[4]),
    ]
    assert drawn == list(axes)
    assert all(ax.get_title() for ax in drawn)
    assert plt.get_fignums() == [1]


BAD = [
    (lambda m: plots.plot_topics(m, [4]), "from 0 to 3. Got 4"),
    (lambda m: plots.plot_topics(m, [-1]), "Got -1"),
    (lambda m: plots.plot_topics(m, "1"), "Got '1'"),
    (lambda m: plots.plot_topics(m, [True]), "Got True"),
    (lambda m: plots.plot_topics(m, []), "at least one topic"),
    (lambda m: plots.plot_topics(m, [1, 1]), "each once. Got 1, 1"),
    (lambda m: plots.plot_topics(m, n_words=0), "'n_words' parameter must be a whole number"),
    (lambda m: plots.plot_documents(m, [60]), "from 0 to 59, or a document's name. Got 60"),
    (lambda m: plots.plot_documents(m, ["x"]), "Got 'x'"),
    (lambda m: plots.plot_documents(m, []), "at least one document"),
    (lambda m: plots.plot_documents(m, topics=[9]), "Got 9"),
    (
        lambda m: plots.plot_over_time(m, [1, 2]),
        "60 documents, .*Got 2",
    ),
    (lambda m: plots.plot_over_time(m, "2001"), "must have one value for each of"),
    (lambda m: plots.plot_over_time(m, [None] * 60), "at least one time"),
    (lambda m: plots.plot_over_time(m, ["soon"] * 60), "Got 'soon' at position 0"),
    (lambda m: plots.plot_over_time(m, ["2001", 5] * 30), "Got 5 at position 1"),
    (lambda m: plots.plot_over_time(m, [1.0, np.inf] * 30), "Got .*inf.* at position 1"),
    (lambda m: plots.plot_over_time(m, ["99999"] * 60), "Got '99999'"),
    (lambda m: plots.plot_over_time(m, np.ones((60, 2))), "only numbers, or dates"),
    (lambda m: plots.plot_over_time(m, range(60), periods=0), "'periods' parameter"),
    (lambda m: plots.plot_map(m, ax="here"), "'ax' parameter must be an Axes"),
    (lambda m: plots.plot_trace([]), "at least one model"),
    (lambda m: plots.plot_trace({"a": m, "b": replace(m, trace=[])}), r"a model \('b'\)"),
    (lambda m: plots.plot_trace(LDA(2)), "call fit first"),
]


@pytest.mark.parametrize(("draw", "says"), BAD)
def test_bad_input_is_one_sentence(model, draw, says):
    with pytest.raises(InputError, match=says) as error:
        draw(model)
    assert "\n" not in str(error.value)
    assert not plt.get_fignums()


def test_models_without_documents_have_topics_and_maps_only(bare):
    assert len(plots.plot_topics(bare).patches) == 4
    assert len(plots.plot_map(bare).texts) == 2
    for draw in (plots.plot_documents, lambda m: plots.plot_over_time(m, [])):
        with pytest.raises(InputError, match="must have documents"):
            draw(bare)
    with pytest.raises(InputError, match="whose trace has 0 sweeps"):
        plots.plot_trace(bare)


def test_without_matplotlib_one_sentence_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[plots\]'"):
        plots.plot_map(model)


def test_names_that_fit():
    assert short("costs $5", 20) == r"costs \$5"
    assert short("abcdefgh", 5) == "abcd…"
    assert short_name("folder/sub/file-1.txt", 12) == "fold…e-1.txt"
    assert short_name("short", 12) == "short"


@pytest.fixture
def saved(model, tmp_path):
    return model.save(tmp_path / "m")


def test_the_command_draws_every_kind(run, saved, tmp_path):
    (tmp_path / "dates.txt").write_text("2001-05-01\n\n2003\n" * 20)
    (tmp_path / "years.txt").write_text("2001\n2002\n2003\n" * 20)
    (tmp_path / "classes.txt").write_text("a\nb\n\n" * 20)
    for kind, *options in (
        ("trace",), ("topics", "--topics", "1,3", "--words", 4), ("map",),
        ("documents", "--documents", "0,59"), ("over-time", "--dates", "dates.txt"),
        ("over-time", "--dates", "years.txt", "-k", "2"), ("dendrogram",), ("similarity",),
        ("document-map",), ("document-map", "--classes", "classes.txt"),
        ("classes", "--classes", "classes.txt", "-k", "2,0"),
    ):  # fmt: skip
        for end, magic in (("png", b"\x89PNG"), ("svg", b"<?xml")):
            code, out, err = run("plot", "m", kind, "--out", f"p.{end}", "--force", *options)
            assert (code, out, err) == (0, "", f"Written: p.{end}\n")
            assert (tmp_path / f"p.{end}").read_bytes().startswith(magic)
            before = (tmp_path / f"p.{end}").read_bytes()
            run("plot", "m", kind, "--out", f"p.{end}", "--force", *options)
            assert (tmp_path / f"p.{end}").read_bytes() == before
    assert not plt.get_fignums()


def test_installed_fonts_stand_in_for_characters_that_the_first_lacks(monkeypatch):
    monkeypatch.setattr("polyaurn.cli.plots.FONTS", ("No such font", "DejaVu Serif"))
    assert _fonts() == [*matplotlib.rcParams["font.family"], "DejaVu Serif"]


BAD_COMMANDS = [
    (
        ("pie", "--out", "p.png"),
        "must be trace, topics, map, dendrogram, similarity, documents, "
        "document-map, classes or over-time. Got 'pie'",
    ),
    (("map", "--out", "p.gif"), "must end in .png, .svg or .html"),
    (("dendrogram", "--out", "p.html"), "must end in .png or .svg"),
    (("classes", "--out", "p.png"), "'--class-column' option must be given for classes"),
    (("map", "--out", "p.png", "--classes", "d.txt"), "is for classes and document-map"),
    (("classes", "--out", "p.png", "--classes", "few.txt"), "60 documents"),
    (("map", "--out", "no/p.png"), "in a folder that exists"),
    (("map", "--out", "there.png"), "is there already"),
    (("topics", "--out", "p.png", "-k", "1,9"), "'--topics' option must be numbers of topics"),
    (("topics", "--out", "p.png", "-k", "all"), "Got 'all'"),
    (("topics", "--out", "p.png", "-n", 0), "'--words' option"),
    (("map", "--out", "p.png", "-k", "1"), "is for topics, documents, classes and over-time"),
    (("map", "--out", "p.png", "--dates", "d.txt"), "'--dates' option is for over-time"),
    (("over-time", "--out", "p.png"), "'--date-column' option must be given for over-time"),
    (("map", "--out", "p.png", "--date-column", "when"), "'--date-column' option is for over-time"),
    (
        ("over-time", "--out", "p.png", "--dates", "d.txt", "--date-column", "when"),
        "'--dates' option must stand without '--date-column'",
    ),
    (("over-time", "--out", "p.png", "--dates", "none.txt"), "'none.txt' cannot be read"),
    (("over-time", "--out", "p.png", "--dates", "d.txt"), "Got 'soon' on line 2 of 'd.txt'"),
    (
        ("over-time", "--out", "p.png", "--dates", "few.txt"),
        "60 documents, in the corpus' order. Got 2",
    ),
    (("documents", "--out", "p.png", "--documents", "61"), "option must be documents"),
]


@pytest.mark.parametrize(("arguments", "says"), BAD_COMMANDS)
def test_bad_commands_write_nothing(run, saved, tmp_path, arguments, says):
    (tmp_path / "there.png").write_text("mine")
    (tmp_path / "d.txt").write_text("2001\nsoon\n")
    (tmp_path / "few.txt").write_text("2001\n2002\n")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run("plot", "m", *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_dates_are_found_in_the_column_that_the_model_was_trained_with(run, tmp_path):
    rows = [f"{2001 + i % 3}-05-01,{2001 + i % 3},cat dog moon" for i in range(9)]
    rows[4] = ",,cat dog"
    rows[7] = "2003-05-01,soon,moon cat"
    text = "\n".join(["when,odd,text", *rows]) + "\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "dates.txt").write_text("".join(f"{row.split(',')[0]}\n" for row in rows))
    train = "train t.csv -k 2 --sweeps 5 --date-column when -q --out"
    assert run(*train.split(), "m")[0] == 0
    for name, options in (("a", ()), ("b", ("--dates", "dates.txt"))):
        assert run("plot", "m", "over-time", "--out", f"{name}.svg", "-q", *options)[0] == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    code, _, err = run("plot", "m", "over-time", "--out", "c.svg", "--date-column", "odd")
    assert code == 2
    assert "The '--date-column' option must hold only numbers, or dates" in err
    assert "Got 'soon' in row 9 of" in err
    (tmp_path / "t.csv").rename(tmp_path / "moved.csv")
    code, _, err = run("plot", "m", "over-time", "--out", "c.svg")
    assert code == 2
    assert "is no longer there. Name its new place with --corpus." in err
    moved = ("--corpus", "moved.csv")
    assert run("plot", "m", "over-time", "--out", "c.svg", "-q", *moved)[0] == 0
    assert (tmp_path / "c.svg").read_bytes() == (tmp_path / "a.svg").read_bytes()
