"""The live line at a terminal, wide and narrow, and its silence elsewhere."""

import gzip
import io
import re
import sys
import types

import pytest
from rich.console import Console

from polyaurn import LDA, Corpus, evaluate, read_corpus
from polyaurn.base.events import progress_to
from polyaurn.base.threads import Workers
from polyaurn.cli import tables as cli_tables
from polyaurn.training.notebook import Clock, _time, in_notebook
from polyaurn.training.progress import bar, following, status, training_line

TEXTS = ["cat dog cat", "star moon star"] * 10


@pytest.fixture
def terminal(monkeypatch):
    """Let every console be a terminal of a given width; return what it shows."""

    def make(width):
        shown = io.StringIO()
        console = Console(file=shown, force_terminal=True, width=width, color_system=None)
        monkeypatch.setattr("rich.console.Console", lambda *arguments, **options: console)
        return lambda: re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.getvalue())

    return make


@pytest.mark.parametrize(
    ("width", "there", "not_there"),
    [
        (130, ["sweep 12/12", "log posterior -", "M tokens/s", "left", "━"], []),
        (80, ["sweep 12/12", "lp/token -", "M tokens/s", "left"], ["━", "log posterior"]),
        (50, ["sweep 12/12", "left"], ["lp/token", "tokens/s"]),
    ],
)
def test_the_line_fits_its_terminal(terminal, width, there, not_there):
    shown = terminal(width)
    LDA(2, max_iter=12, evaluate_every=4).fit(TEXTS)
    last = [line for line in shown().splitlines() if "sweep" in line][-1]
    assert all(piece in last for piece in there)
    assert not any(piece in last for piece in not_there)
    assert len(last.rstrip()) <= width


def test_compiling_and_waiting_are_shown(terminal):
    shown = terminal(100)
    with training_line(3, 10) as line:
        line.compiling()
    with status("reading a file") as say:
        say("reading another")
    assert "compiling kernels (once on this machine)" in shown()
    assert "reading" in shown()


@pytest.mark.parametrize(
    ("sampler", "learn", "said"),
    [("polya-urn", 2, True), ("polya-urn-mh", 2, True), ("collapsed", 2, False),
     ("polya-urn", 0, False)],
)  # fmt: skip
def test_priors_learned_with_the_urn_are_said_to_be_biased(terminal, sampler, learn, said):
    shown = terminal(200)
    LDA(2, max_iter=2, sampler=sampler, learn_priors_every=learn, n_jobs=1).fit(TEXTS)
    assert (f"Priors learned with sampler '{sampler}' are biased" in shown()) == said


def test_nothing_is_shown_without_a_terminal_or_when_not_wanted(terminal, capsys):
    LDA(2, max_iter=2).fit(TEXTS)
    with status("reading") as say:
        say("more")
    shown = terminal(100)
    LDA(2, max_iter=2, verbose=False).fit(TEXTS)
    assert shown() == ""
    assert capsys.readouterr() == ("", "")


def test_topics_are_a_table_at_a_terminal(terminal, tmp_path, monkeypatch):
    shown = terminal(70)
    model = LDA(2, max_iter=30, verbose=False).fit(TEXTS).model_
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    cli_tables.show_topics(model, 3, by_size=True, most=1)
    assert "2 topics, the 1 largest" in shown()
    assert "leading words" in shown()


@pytest.mark.parametrize("width", [50, 80, 200])
def test_bars_fit_their_terminal(terminal, width):
    shown = terminal(width)
    with bar("reading " + 30 * "a long name ", 10) as advance:
        advance(4)
        advance(6)
    lines = [line for line in re.split(r"[\r\n]+", shown()) if "reading" in line]
    assert "100% left 0:00:00" in lines[-1]
    assert all(len(line.rstrip()) <= width for line in lines)
    assert ("━" in lines[-1]) == (width >= 70)


def test_steps_that_are_reported_follow_each_other(terminal, tmp_path):
    shown = terminal(100)
    path = tmp_path / "t.txt"
    path.write_text("\n".join(TEXTS))
    with following("reading t.txt", path.stat().st_size):
        read_corpus(path)
        corpus = Corpus.from_texts(TEXTS)
    assert "reading t.txt" in shown()
    assert "counting words of documents" in shown()
    assert "100%" in shown()
    before = shown()
    with following("scoring", show=False):
        evaluate.left_to_right(LDA(2, max_iter=3, verbose=False).fit(corpus), corpus)
    assert shown() == before


def test_nobody_listens_without_a_terminal(capsys):
    with bar("reading", 3) as advance:
        advance(3)
    with following("reading"):
        LDA(2, max_iter=2, verbose=False).fit(TEXTS)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("threads", [1, 3])
def test_who_listens_hears_all_and_changes_nothing(medium, threads, tmp_path):
    model = LDA(4, max_iter=5, verbose=False).fit(medium).model_
    quiet = model.transform(medium), evaluate.left_to_right(model, medium, 2)
    heard: dict[str, list] = {}
    path = tmp_path / "t.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("\n".join(TEXTS))
    with progress_to(lambda step, more, total: heard.setdefault(step, []).append((more, total))):
        shown = (
            model.transform(medium, n_jobs=threads),
            evaluate.left_to_right(model, medium, 2, n_jobs=threads),
        )
        read_corpus(path)
        Corpus.from_texts(TEXTS)
    assert (shown[0] == quiet[0]).all()
    assert shown[1].log_likelihood.tobytes() == quiet[1].log_likelihood.tobytes()
    for step in ("finding topics of documents", "scoring documents"):
        assert sum(more for more, _ in heard[step]) == medium.n_documents
        assert len(heard[step]) > 2
        assert {total for _, total in heard[step]} == {medium.n_documents}
    assert sum(more for more, _ in heard["counting words of documents"]) == len(TEXTS)
    assert sum(more for more, _ in heard["bytes"]) >= path.stat().st_size
    with progress_to(lambda *_: pytest.fail("of another block")):
        pass
    read_corpus(path)


def test_tasks_are_reported_in_their_order():
    done = []
    with Workers(3) as workers:
        assert workers.run(pow, [(2, i) for i in range(20)], done.append) == [
            2**i for i in range(20)
        ]
    assert done == [(2, i) for i in range(20)]


@pytest.fixture
def notebook(monkeypatch):
    """Let this process be the kernel of a notebook; return what each display showed, in order."""
    shown = []

    class Handle:
        def __init__(self, data):
            self.states = [data]

        def update(self, data, *, raw):
            assert raw
            self.states.append(data)

    def display(data, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(Handle(data))
        return shown[-1]

    for module in ("progress", "notebook"):
        monkeypatch.setattr(f"polyaurn.training.{module}.in_notebook", lambda: True)
    monkeypatch.setattr("polyaurn.training.notebook.PAUSE", 0.0)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    module = types.ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


def texts_of(display):
    return [state["text/plain"] for state in display.states]


def test_a_notebook_has_one_display_that_moves_and_stays(notebook, capfd):
    LDA(2, max_iter=12, evaluate_every=4).fit(TEXTS)
    (line,) = notebook
    last = line.states[-1]
    sampler, sweep = last["text/plain"].split("\n")
    assert sampler.startswith("Sampler 'partitioned', 12 sweeps")
    assert re.fullmatch(
        r"sweep 12/12, log posterior -\d\.\d{4} per token, \d+\.\d M tokens/s, in \d:\d\d", sweep
    )
    assert '<progress value="1.0000" max="1">' in last["text/html"]
    assert any("left" in said for said in texts_of(line))
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_long_work_only_and_removes_the_bar(notebook, monkeypatch):
    lda = LDA(2, max_iter=3, verbose=False).fit(TEXTS)
    lda.verbose = True
    lda.transform(TEXTS)
    assert notebook == []
    monkeypatch.setattr("polyaurn.estimator.fitted.PATIENCE", 0.0)
    lda.transform(TEXTS)
    (bars,) = notebook
    assert "finding topics of documents 100%, left 0:00" in texts_of(bars)
    assert texts_of(bars)[-1] == ""
    lda.score(TEXTS)
    assert len(notebook) == 2
    lda.verbose = False
    lda.transform(TEXTS)
    assert len(notebook) == 2


def test_a_terminal_shows_long_work_only(terminal, monkeypatch):
    lda = LDA(2, max_iter=3, verbose=False).fit(TEXTS)
    lda.verbose = True
    shown = terminal(100)
    lda.transform(TEXTS)
    assert shown() == ""
    monkeypatch.setattr("polyaurn.estimator.fitted.PATIENCE", 0.0)
    lda.transform(TEXTS)
    assert "finding topics of documents" in shown()


def test_sampling_in_a_notebook_counts_the_sweeps_of_all_chains(notebook):
    LDA(2, max_iter=5).sample_posterior(TEXTS, chains=2, draws=3, thin=1)
    assert "sweep 16/16, " in texts_of(notebook[0])[-1]


def test_a_notebook_shows_notes_and_messages_escaped(notebook):
    with training_line(3, 10) as line:
        line.compiling()
        line.note("<b>bold</b>")
    with status("reading <file>") as say:
        say("reading another")
    with bar("<counting>", 4) as advance:
        advance(1)
    assert "compiling kernels" in texts_of(notebook[0])[0]
    assert "&lt;b&gt;" in notebook[0].states[-1]["text/html"]
    assert texts_of(notebook[1]) == ["reading <file>", "reading another", ""]
    assert "&lt;counting&gt; 25%" in notebook[2].states[0]["text/html"]


def test_progress_that_somebody_follows_is_not_shown_again(notebook, monkeypatch):
    monkeypatch.setattr("polyaurn.estimator.fitted.PATIENCE", 0.0)
    lda = LDA(2, max_iter=3, verbose=False).fit(TEXTS)
    lda.verbose, heard = True, []
    with progress_to(lambda step, more, total: heard.append(step)):
        lda.transform(TEXTS)
    assert "finding topics of documents" in heard
    assert notebook == []


def test_times_are_short():
    assert [_time(s) for s in (0.2, 59.6, 61, 3_725)] == ["0:00", "1:00", "1:01", "1:02:05"]
    assert Clock(3).left(3, 9) == "-:--"


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch):
    ipython = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    for shell, expected in (
        (None, False), (types.SimpleNamespace(), False), (types.SimpleNamespace(kernel=1), True),
    ):  # fmt: skip
        ipython.get_ipython = lambda shell=shell: shell
        assert in_notebook() is expected
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()
