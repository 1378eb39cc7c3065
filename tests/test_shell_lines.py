"""Every shell line of the README and the documentation is run, in order, on small stand-in files.

Sizes on a line are replaced by tiny ones. Lines that cannot run here are listed with the reason.
Nobody serves a language model here: questions to one are answered with labels that are numbered.
"""

import csv
import gzip
import re
import shlex
import shutil
from itertools import count
from pathlib import Path

import pytest

from polyaurn.exchange.chat import ChatServer
from polyaurn.pages.report.serve import Server
from support.cells import write_h5ad

ROOT = Path(__file__).resolve().parents[1]
NOT_RUN = {
    r"make ": "creates a virtual environment",
    r"pip install ": "installs packages",
    r"pytest ": "the tests themselves",
    r"\^C": "a key",
    r"polyaurn --(install|show)-completion": "changes the user's shell, or asks which one it is",
    r"polyaurn reproduce ": "takes minutes; tests/studies/test_reproduce.py runs it small",
    r"polyaurn theory ": "takes minutes; tests/studies/test_theory.py runs it with small sizes",
    r"polyaurn train .*--cluster ray": "needs Ray or its cluster; tests/engines/ trains with it",
    r"ray ": "starts machines",
    r"polyaurn compare .*\bplain-gibbs\b": "a sampler that the reader writes",
}
TINY = {  # options that win over those of the line, being the last
    "train": "--topics 3 --sweeps 4 --threads 1 --device cpu",
    "choose-topics": "--topics 2,3 --seeds 1 --sweeps 12 --particles 2 --threads 1 --device cpu",
    "compare": "--topics 3 --seconds 0.05 --threads 1",
    "evaluate": "--particles 2 --threads 1",
    "infer": "--threads 1",
    "diff": "--threads 1",
    "drift": "--threads 1 --unknown-threshold 1 --topics-threshold 1 --threshold 9",
    "update": "--sweeps 4 --threads 1",
}
TEXTS = [
    "the orbit of the moon and the planet, seen by nasa",
    "a planet, a moon, and an orbit around the planet",
    "a goal in the cup, and one penalty kick for the team",
    "the team won the cup with a late goal",
] * 12


def blocks_of(page):
    return re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks_of(page))
]


def lines_of(block):
    """Return the commands of a block, continued lines joined, and its here-documents by name."""
    files = {}

    def keep(found):
        files[found[1]] = found[2]
        return ""

    block = re.sub(r"cat > (\S+) <<END\n(.*?)END\n", keep, block, flags=re.DOTALL)
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip()], files


def reason_not_to_run(line):
    return next((why for start, why in NOT_RUN.items() if re.match(start, line)), None)


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory):
    """Return a folder with a small file for every input that lines name, and a trained model."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("reviews.csv", "held-out.csv", "new.csv", "2025.csv"):
        with (folder / name).open("w", newline="") as file:
            rows = ((f"r{i}", f"2024-0{1 + i % 9}-01", text) for i, text in enumerate(TEXTS))
            csv.writer(file).writerows([("id", "date", "review"), *rows])
    (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    rows = (f"r{i}\tnews\t{text}\n" for i, text in enumerate(TEXTS))
    (folder / "docs.txt").write_text("".join(rows))
    for name in ("kos", "pubmed"):
        (folder / f"vocab.{name}.txt").write_text("moon\norbit\ngoal\ncup\n")
        counts = [f"{d} {1 + (d + w) % 4} 3" for d in range(1, 41) for w in range(2)]
        text = "\n".join(["40", "4", str(len(counts)), *counts]) + "\n"
        (folder / f"docword.{name}.txt.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "run.toml").write_text(
        'corpus = "reviews.csv"\ntext-column = "review"\ntopics = 50\n'
    )
    cells = folder / "filtered_peak_bc_matrix"
    cells.mkdir()
    entries = [
        f"{r} {c} {1 + (r + c) % 3}" for r in range(1, 25) for c in range(1, 41) if (r * c) % 5
    ]
    head = f"%%MatrixMarket matrix coordinate integer general\n24 40 {len(entries)}"
    (cells / "matrix.mtx").write_text("\n".join([head, *entries]) + "\n")
    (cells / "barcodes.tsv").write_text("".join(f"cell{c}\n" for c in range(40)))
    (cells / "peaks.bed").write_text("".join(f"chr1\t{9 * r}\t{9 * r + 5}\n" for r in range(24)))
    write_h5ad(folder / "cells.h5ad")
    (folder / "vocab.txt").write_text("moon\ngoal\n")
    (folder / "final.beta").write_text("-0.105360516 -2.302585093\n-2.302585093 -0.105360516\n")
    (folder / "final.other").write_text("num_topics 2\nnum_terms 2\nalpha 0.5\n")
    return folder


@pytest.fixture
def here(stand_ins, tmp_path, monkeypatch):
    shutil.copytree(stand_ins, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(Server, "serve_forever", _interrupted)
    numbers = count(1)
    monkeypatch.setattr(ChatServer, "ask", lambda self, messages: f"Label {next(numbers)}")
    return tmp_path


def _interrupted(self, poll_interval=0.5):
    raise KeyboardInterrupt


def provide(here, run, lines):
    """Write what earlier steps of the reader would have left: a model, a state of MALLET."""
    named = " ".join(lines)
    train = "train reviews.csv --text-column review --min-count 2 --topics 3 --sweeps 4 -q --out"
    if "--out model" not in named or "topic-state.gz" in named:
        assert run(*train.split(), "model")[0] == 0
    if re.search(r"\bnewer\b", named):
        assert run(*train.split(), "newer", "--seed", 1)[0] == 0
    if "topic-state.gz" in named:
        export = "export model --to mallet --corpus reviews.csv -q --out topic-state.gz"
        assert run(*export.split())[0] == 0


@pytest.mark.parametrize("block", BLOCKS)
def test_the_lines_of_a_block_run_in_order(block, run, here):
    lines, files = lines_of(block)
    assert lines or files
    for name, text in files.items():
        (here / name).write_text(text)
    wanted = [line for line in lines if reason_not_to_run(line) is None]
    if wanted:
        provide(here, run, wanted)
    before = []
    for line in wanted:
        program, command, *arguments = shlex.split(line, comments=True)
        assert program == "polyaurn", f"{line}: neither run nor listed in NOT_RUN"
        if arguments[:1] == ["..."]:  # the options of the line before
            arguments = before + arguments[1:]
        before = arguments
        tiny = TINY.get(command, "") + " --workers 1" * ("--cluster" in arguments)
        code, _, error = run(command, *arguments, *tiny.split())
        assert code == 0, f"{line}\n{error}"


def test_there_are_lines_and_every_reason_is_needed():
    lines = [line for param in BLOCKS for line in lines_of(param.values[0])[0]]
    run = [line for line in lines if reason_not_to_run(line) is None]
    assert len(run) >= 30
    for start in NOT_RUN:
        assert any(re.match(start, line) for line in lines), start


def test_the_readme_reports_over_time_after_its_own_training(run, here):
    """The text column is remembered by the model, for the dates' column as well."""
    train = (
        "train reviews.csv --text-column review --name-column id --topics 3 --sweeps 4 -q --out m"
    )
    assert run(*train.split())[0] == 0
    report = "report m --corpus reviews.csv --date-column date --out report.html"
    code, _, error = run(*report.split())
    assert code == 0, error
    assert '"time":{' in (here / "report.html").read_text(encoding="utf-8").replace(" ", "")
