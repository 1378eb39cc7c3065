"""The live line at a terminal, wide and narrow, and its silence elsewhere."""

import io
import re

import pytest
from rich.console import Console

from polyaurn import LDA, cli_tables
from polyaurn.progress import status, training_line

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


def test_compiling_and_waiting_are_told(terminal):
    shown = terminal(100)
    with training_line(3, 10) as line:
        line.compiling()
    with status("reading a file") as say:
        say("reading another")
    assert "compiling kernels (once on this machine)" in shown()
    assert "reading" in shown()


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
    assert "most probable words" in shown()
