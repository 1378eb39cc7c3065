"""What machines read: JSON from every command, tab-separated tables, completion, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

from polyaurn import LDA, Corpus
from polyaurn.cli import app as cli
from polyaurn.cli.steps import print_json

COMMANDS = {
    name: command
    for name, command in typer.main.get_command(cli.app).commands.items()
    if not command.hidden
}


@pytest.fixture
def model(run, texts):
    assert run("train", texts, "-k", 2, "--sweeps", 20, "--out", "m", "-q")[0] == 0
    return "m"


def test_every_command_gives_one_json_document(run, texts, model, small, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setattr("polyaurn.datasets.python_docs", lambda on_file=None: small)
    monkeypatch.setattr("polyaurn.studies.paper.theory.urn.WEIGHTS", (2, 4, 8, 16))
    calls = {
        "train": (texts, "-k", 2, "--sweeps", 5, "--out", "new"),
        "update": ("m", texts, "--out", "updated", "--sweeps", 3),
        "topics": ("m",),
        "label": ("m", "0=First"),
        "documents": ("m", "--topic", 0),
        "diff": ("m", "m"),
        "drift": ("m", texts),
        "info": (texts,),
        "import": (texts, "--out", "t.urn"),
        "infer": ("m", texts, "--out", "o.csv"),
        "evaluate": ("m", texts, "--particles", 2),
        "compare": (texts, "-k", 2, "--samplers", "polya-urn", "--seconds", 0.05, "-t", 1),
        "choose-topics": (texts, "-k", 2, "--seeds", 1, "--sweeps", 5, "--particles", 2),
        "export": ("m", "--to", "csv", "--out", "t.csv"),
        "import-model": ("s.gz", "--from", "mallet", "--out", "mm"),
        "plot": ("m", "map", "--out", "map.png"),
        "report": ("m",),
        "reproduce": ("theory", "--scale", "tiny", "--only-list"),
        "demo": ("-k", 3, "--sweeps", 3),
        "theory": ("urn",),
    }
    assert set(calls) == set(COMMANDS) - {"serve"}  # which runs until it is stopped
    assert run("export", "m", "--to", "mallet", "--corpus", texts, "--out", "s.gz", "-q")[0] == 0
    found = {}
    for name, arguments in calls.items():
        code, out, err = run(name, *arguments, "--json")
        assert (code, err) == (0, ""), name
        found[name] = json.loads(out)
    assert found["train"]["topics"][0]["tokens"] >= found["train"]["topics"][1]["tokens"]
    assert (found["train"]["sweeps"], found["train"]["stopped"]) == (5, False)
    assert found["infer"]["documents"] == found["import"]["documents"] == 40
    assert found["infer"]["unknown_tokens"] == 0
    assert sum(found["infer"]["mean_mixture"]) == pytest.approx(1.0)
    assert found["import-model"]["tokens"] == found["import"]["tokens"] == 112
    assert found["compare"]["page"] == "polyaurn-compare.html"
    assert (tmp_path / found["plot"]["file"]).stat().st_size > 1000


def test_numbers_that_are_none_are_null(capsys):
    print_json({"a": [float("nan"), 1.5], "b": (float("inf"), "x")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.5], "b": [None, "x"]}


def test_tables_are_tab_separated_elsewhere(run, texts, model):
    for command, columns in ((("topics", "m"), 3), (("info", texts), 2),
                             (("evaluate", "m", texts, "--particles", 2), 2)):  # fmt: skip
        code, out, _ = run(*command)
        assert code == 0
        assert {line.count("\t") for line in out.splitlines()} == {columns - 1}
        assert "\x1b" not in out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name):
    text = COMMANDS[name].help
    example = text.split("Example: ")[1].splitlines()[0]
    assert example.startswith(f"polyaurn {name} ")


def test_the_page_has_every_command():
    page = Path(__file__).resolve().parents[2] / "docs" / "command_line.md"
    rows = {line.split("`")[1]: line for line in page.read_text().splitlines() if "| `" in line}
    assert set(COMMANDS) <= set(rows)
    assert all(f"`polyaurn {name} " in rows[name] for name in COMMANDS)


def test_help_lists_exit_codes(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "Exit codes: 0 done; 1 drift found; 2 bad input" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "at", "there"),
    [
        ("polyaurn tr", 1, "train"),
        ("polyaurn train --min", 2, "--min-count"),
        ("polyaurn train x --sampler coll", 4, "collapsed-dense"),
        ("polyaurn train --config nowhere.toml --see", 4, "--seed"),
        ("polyaurn plot m o", 3, "over-time"),
    ],
)
def test_shells_complete(words, at, there):
    done = subprocess.run(
        [sys.executable, "-m", "polyaurn.cli.app"], capture_output=True, text=True, check=False,
        env=os.environ
        | {"_POLYAURN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert there in done.stdout.split()


EARLY = [
    ("train", ("--alpha", "-1"), "'--alpha' option must be a positive number"),
    ("train", ("--beta", "nan"), "'--beta' option must be a positive number"),
    ("train", ("--beta", "three.txt"), "at position 1"),
    ("train", ("--alpha", "three.txt", "-k", 2), "shape (3,)"),
    ("train", ("--seed", -1), "'--seed' option must not be negative"),
    ("train", ("--threads", 0), "'--threads' option must be"),
    ("train", ("--eval-every", -1), "'--eval-every' option must be"),
    ("train", ("--sweeps", 0), "'--sweeps' option must be"),
    ("train", ("--learn-priors-every", -2), "'--learn-priors-every' option must be"),
    ("train", ("--warm-start", "hot"), "'--warm-start' option must be one of"),
    ("train", ("--phi-refreshes", 9), "'--phi-refreshes' option must be"),
    ("train", ("--sampler", "light", "--warm-start", "grow"), "'--warm-start' option must be left"),
    ("train", ("--checkpoint-every", "soon"), "'--checkpoint-every' option must be"),
    ("train", ("--min-count", -1), "'--min-count' option must not be negative"),
    ("train", ("--max-doc-fraction", 2), "'--max-doc-fraction' option must be above 0"),
    ("train", ("--max-words", 0), "'--max-words' option must be a whole number"),
    ("train", ("--token-pattern", "("), "'--token-pattern' option must be a regular expression"),
    ("train", ("--stop-words", "gone.txt"), "'--stop-words' option must be"),
    ("import", ("--min-count", -1), "'--min-count' option must not be negative"),
    ("compare", ("--seed", -1), "'--seed' option must not be negative"),
    ("compare", ("--alpha", 0), "'--alpha' option must be a positive number"),
    ("compare", ("--warm-start", "hot"), "'--warm-start' option must be one of"),
    ("compare", ("--samplers", "collapsed", "--mh-steps", 2), "'--mh-steps' option must be left"),
]


@pytest.mark.parametrize(("command", "options", "says"), EARLY)
def test_options_are_rejected_before_the_corpus_is_read(
    run, tmp_path, monkeypatch, command, options, says
):  # fmt: skip
    def read(*arguments):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr("polyaurn.corpus.readers.recognise", read)
    monkeypatch.setattr("polyaurn.corpus.conversion.recognise", read)
    (tmp_path / "three.txt").write_text("1 -2 3")
    (tmp_path / "t.txt").write_text("cat dog\n")
    out = {"train": "m", "import": "m.urn", "compare": "m.html"}[command]
    code, said, err = run(command, "t.txt", "--out", out, *options)
    assert (code, said) == (2, "")
    assert says in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.txt", "three.txt"]


def test_bad_seeds_and_threads_for_new_documents_are_rejected(run, texts, model):
    for command in (("infer", "m", "nowhere", "--out", "o.csv"), ("evaluate", "m", "nowhere")):
        for option, value in (("--seed", -1), ("--threads", 0)):
            code, _, err = run(*command, option, value)
            assert code == 2
            assert f"'{option}' option must" in err


def at_shell(command, folder):
    python = f"{sys.executable} -m polyaurn.cli.app"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command.replace('polyaurn', python)}"], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_closed_pipes_and_full_disks_are_no_tracebacks(tmp_path):
    vocabulary = [f"a-long-word-{v}" * 10 for v in range(3000)]
    corpus = Corpus.from_matrix(np.ones((2, 3000), int), vocabulary)
    LDA(2, max_iter=1, verbose=False).fit(corpus).save(tmp_path / "m")
    assert at_shell("polyaurn topics m -n 3000 | head -c 5", tmp_path) == (0, "")
    code, err = at_shell("polyaurn topics m > /dev/full", tmp_path)
    assert code == 2
    assert err.startswith("polyaurn: The output cannot be read or written: No space left on device")
    assert len(err.splitlines()) == 1
