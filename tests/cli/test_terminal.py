"""Commands at a real pseudo-terminal, narrow and wide, with and without colours."""

import os
import re
import struct
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from polyaurn import LDA, Corpus

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
TEXTS = [
    "internationalisation characteristically electroencephalography",
    "counterrevolutionary internationalisation uncharacteristically",
    "star moon", "moon star planet",
] * 6  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal")
    (path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    LDA(2, max_iter=20, verbose=False).fit(TEXTS).save(path / "m")
    return path


def at_terminal(folder, width, *arguments, **environment):
    """Return what a command shows at a terminal of so many columns."""
    import fcntl
    import termios

    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "polyaurn.cli.app", *map(str, arguments)], cwd=folder, stdin=its,
        stdout=its, stderr=its, env=clean | {"TERM": "xterm-256color"} | environment,
    )  # fmt: skip
    os.close(its)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait() == 0, shown
    return shown.decode()


def plain(shown):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


@pytest.mark.parametrize("width", [80, 200])
def test_tables_fit_and_nothing_is_cut(folder, width):
    shown = plain(at_terminal(folder, width, "topics", "m"))
    assert all(len(line.rstrip()) <= width for line in shown.splitlines())
    assert "…" not in shown
    assert "leading words" in shown
    for word in {word for text in TEXTS for word in text.split()}:
        assert word in shown
    shown = plain(at_terminal(folder, width, "info", "texts.txt"))
    assert re.search(r"documents +24 \(0 empty\)", shown)
    assert "\t" not in shown


def test_colours_are_there_unless_not_wanted(folder):
    colour = re.compile(r"\x1b\[3[0-7]m")
    assert colour.search(at_terminal(folder, 80, "topics", "m"))
    assert not colour.search(at_terminal(folder, 80, "topics", "m", NO_COLOR="1"))


def test_bars_show_steps_and_time_left(folder):
    out = folder / "o.csv"
    shown = plain(at_terminal(folder, 80, "infer", "m", "texts.txt", "--out", out, "--force"))
    for step in ("reading texts.txt", "finding topics of documents"):
        assert step in shown
    assert "100% left 0:00:00" in shown
    assert "Mixtures of 24 documents" in shown
    shown = at_terminal(folder, 80, "infer", "m", "texts.txt", "--out", out, "--force", "--quiet")
    assert plain(shown).strip() == ""


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_words_of_a_stranger_cannot_steer_the_terminal(run, tmp_path, arguments):
    words = ["\x1b]0;owned\x07", "\x9b2J", "\u202eevil", "plain"]
    corpus = Corpus.from_matrix(np.full((3, 4), 2), words)
    model = LDA(2, max_iter=5, verbose=False).fit(corpus).model_
    stranger = replace(model, parameters=model.parameters | {"labels": ["\x1b[31mred", None]})
    stranger.save(tmp_path / "m")
    shown = plain(at_terminal(tmp_path, 80, "topics", "m", *arguments))
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(shown)
    assert "evil" in shown
    code, out, _ = run("topics", "m", *arguments)
    assert code == 0
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(out)
    assert "plain" in out
    assert "evil" in out
