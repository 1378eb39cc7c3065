import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from polyaurn import load
from polyaurn.cli import app as cli
from polyaurn.training.signals import StopOnSignal


def test_train_topics_info(run, texts, tmp_path):
    code, out, err = run(
        "train", texts, "--topics", 2, "--sweeps", 60, "--alpha", 0.1, "--beta", 0.01,
        "--sampler", "polya-urn", "--seed", 1, "--threads", 2, "--min-count", 2,
        "--out", "model", "--trace", "trace.jsonl", "--eval-every", 20,
    )  # fmt: skip
    assert code == 0
    assert "polyaurn topics model" in err
    assert re.search(r"^[01]\t\d+\t", out, re.MULTILINE)
    records = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert [r["sweep"] for r in records] == list(range(1, 61))
    assert [r["sweep"] for r in records if r["log_posterior"] is not None] == [20, 40, 60]
    assert records == load(tmp_path / "model").trace
    assert not list(tmp_path.glob(".trace.jsonl.*"))

    code, out, _ = run("topics", "model", "--words", 3)
    assert code == 0
    words = {frozenset(line.split("\t")[2].split()) for line in out.splitlines()}
    assert words == {frozenset(["star", "planet", "moon"]), frozenset(["cat", "dog", "bird"])}
    code, out, _ = run("topics", "model", "--json")
    assert code == 0
    listed = json.loads(out)
    assert [t["topic"] for t in listed] == [0, 1]
    assert sum(t["tokens"] for t in listed) == load(tmp_path / "model").assignments.size

    code, out, _ = run("info", texts)
    assert code == 0
    assert "documents\t40 (0 empty)\n" in out
    assert "Heaps' law" in out
    code, out, _ = run("info", texts, "--json", "--min-count", 9)
    assert json.loads(out)["documents"] == 40
    assert json.loads(out)["vocabulary"] == 5


def test_the_same_command_gives_the_same_model_for_any_threads(run, texts, tmp_path):
    made = []
    for threads in (1, 2, 3):
        run(
            "train",
            texts,
            "--topics",
            3,
            "--sweeps",
            9,
            "-t",
            threads,
            "--out",
            f"m{threads}",
            "-q",
        )
        made.append(load(tmp_path / f"m{threads}").assignments.tobytes())
    assert len(set(made)) == 1


def test_an_imported_corpus_gives_the_same_model(run, texts, tmp_path):
    code, out, err = run("import", texts, "--min-count", 2, "--out", "texts.urn")
    assert (code, out) == (0, "")
    assert "polyaurn train texts.urn" in err
    options = ("--topics", 2, "--sweeps", 5, "--quiet", "--warm-start", "random")
    assert run("train", texts, "--min-count", 2, "--out", "a", *options)[0] == 0
    assert run("train", "texts.urn", "--out", "b", "--phi-refreshes", 1, *options)[0] == 0
    assert (load(tmp_path / "a").assignments == load(tmp_path / "b").assignments).all()
    code, _, err = run("import", texts, "--out", "texts.urn")
    assert code == 2
    assert "is there already" in err
    assert run("import", texts, "--out", "texts.urn", "--force", "--quiet") == (0, "", "")
    for wrong in (("--warm-start", "cold"), ("--phi-refreshes", "0.5")):
        code, _, err = run("train", texts, "--out", "c", *wrong)
        assert code == 2
        assert f"'{wrong[0]}' option must be" in err


def test_quiet_prints_nothing_and_no_terminal_has_no_live_line(run, texts):
    assert run("train", texts, "-k", 2, "--sweeps", 3, "--out", "a", "-q") == (0, "", "")
    _, _, err = run("train", texts, "-k", 2, "--sweeps", 3, "--out", "b")
    assert "\x1b" not in err
    lines = err.splitlines()
    assert len(lines) == 6
    assert lines[1].startswith("language: ")
    assert "words, 6 kept" in lines[2]


def test_the_verdict_on_training_is_the_same_in_the_report(run, texts, tmp_path):
    for sweeps, said in (
        (300, "Too few sweeps to say whether the log posterior still rises: 75 after the warm "
              "start; run at least 125 more."),
        (425, "per 100 sweeps"),
    ):  # fmt: skip
        options = ("--sweeps", sweeps, "--resume") if sweeps > 300 else ("--sweeps", sweeps)
        code, _, err = run("train", texts, "-k", 2, "--out", "m", "-t", 1, *options)
        assert code == 0
        (line,) = [line for line in err.splitlines() if said in line]
        assert run("report", "m", "--out", "r.html", "--force")[0] == 0
        assert line in (tmp_path / "r.html").read_text()


def test_priors_from_files_and_tables_with_columns(run, tmp_path):
    (tmp_path / "alpha.txt").write_text("0.5\n0.1\n")
    (tmp_path / "t.csv").write_text("id,body\na,red apple\nb,green leaf\n")
    code, _, err = run(
        "train", "t.csv", "--text-column", "body", "--name-column", "id", "-k", 2, "--sweeps", 2,
        "--alpha", "alpha.txt", "--out", "m", "--ngrams", 2, "--stop-words", "none",
    )  # fmt: skip
    assert code == 0, err
    model = load(tmp_path / "m")
    assert model.priors.alpha.tolist() == [0.5, 0.1]
    assert list(model.doc_names) == ["a", "b"]
    assert "red apple" in model.vocab


def test_empty_documents_are_noted(run, tmp_path):
    (tmp_path / "t.txt").write_text("cat dog\n\nmoon star\n")
    code, _, err = run("train", "t.txt", "-k", 2, "--sweeps", 2, "--out", "m")
    assert code == 0
    assert "1 of 3 documents is empty" in err
    assert load(tmp_path / "m").doc_topic_counts.shape == (3, 2)


def test_demo(run, tmp_path, monkeypatch, small):
    monkeypatch.setattr("polyaurn.datasets.python_docs", lambda on_file=None: small)
    for _ in range(2):  # a second demo replaces the first
        code, out, _ = run("demo", "--topics", 3, "--sweeps", 4)
        assert code == 0
        assert len(out.splitlines()) == 3
    assert load(tmp_path / "polyaurn-demo").n_topics == 3


BAD = [
    (["train", "none.txt", "--out", "m"], "'none.txt' does not exist"),
    (["train", "empty.txt", "--out", "m"], "'empty.txt' is empty"),
    (["train", "texts.txt", "--out", "m", "-k", 0], "'--topics' option must be an integer"),
    (["train", "texts.txt", "--out", "m", "-k", 65536], "Got 65,536"),
    (["train", "texts.txt", "--out", "m", "--alpha", "-1"], "Got -1.0"),
    (["train", "texts.txt", "--out", "m", "--alpha", "x"], "'--alpha' option must be a positive"),
    (["train", "texts.txt", "--out", "m", "--beta", "0"], "Got 0.0"),
    (["train", "texts.txt", "--out", "m", "-k", 2, "--alpha", "three"], "shape (3,)"),
    (["train", "texts.txt", "--out", "m", "--sampler", "x"], "'polya-urn', 'partially-collapsed'"),
    (["train", "texts.txt", "--out", "m", "--sweeps", 0], "'--sweeps' option must be"),
    (["train", "texts.txt", "--out", "m", "--threads", 0], "'--threads' option"),
    (["train", "texts.txt", "--out", "m", "--words", 0], "'--words' option"),
    (["train", "texts.txt", "--out", "/proc/nope/m"], "cannot be written"),
    (["train", "texts.txt", "--out", "m", "--trace", "texts.txt", "--force"], "is there already"),
    (["train", "texts.txt", "--out", "m", "--trace", "three"], "is there already"),
    (["train", "texts.txt", "--out", "m", "--token-pattern", "["], "'--token-pattern' option"),
    (["train", "texts.txt", "--out", "m", "--topics", "abc"], "'--topics'"),
    (["train", "texts.txt"], "--out"),
    (["train", "texts.txt", "--out", "m", "--nonsense"], "--nonsense"),
    (["nonsense"], "nonsense"),
    (["train", "texts.txt", "--out", "m", "--seed", "-1"], "must not be negative"),
    (["train", "texts.txt", "--out", "m", "--min-count", 99], "leave at least one word"),
    (["train", "texts.txt", "--out", "m", "--min-count", "-1"], "'--min-count' option"),
    (["train", "texts.txt", "--out", "m", "--ngrams", 0], "'--ngrams' option"),
    (["train", "texts.txt", "--out", "m", "--trace", "no/such/t"], "'--trace' option"),
    (["train", "texts.txt", "--out", "full"], "holds other files"),
    (["train", "texts.txt", "--out", "texts.txt"], "is a file"),
    (["train", "docword.bad.txt", "--out", "m"], "'docword.bad.txt', line 4: expected a count"),
    (["topics", "nowhere"], "must hold a model"),
    (["info", "docword.bad.txt"], "line 4"),
    (["demo", "--topics", 0], "'--topics'"),
]


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_bad_input_is_one_sentence_exit_2_and_nothing_written(
    run, texts, tmp_path, arguments, says
):
    (tmp_path / "empty.txt").touch()
    (tmp_path / "three").write_text("1 2 3")
    (tmp_path / "docword.bad.txt").write_text("1\n1\n1\n1 1 -1\n")
    (tmp_path / "vocab.bad.txt").write_text("word\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    errors = [line for line in err.splitlines() if line.startswith("polyaurn: ")]
    assert len(errors) == 1
    assert says in errors[0]
    assert "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_model_is_not_overwritten_unless_forced(run, texts):
    assert run("train", texts, "-k", 2, "--sweeps", 2, "--out", "m", "-q")[0] == 0
    code, _, err = run("train", texts, "-k", 2, "--sweeps", 2, "--out", "m", "-q")
    assert code == 2
    assert "--force" in err
    assert run("train", texts, "-k", 3, "--sweeps", 2, "--out", "m", "-q", "--force")[0] == 0
    assert load("m").n_topics == 3


@pytest.mark.parametrize("name", ["mine", "polyaurn-demo"])
def test_the_demo_replaces_only_its_own_models(run, texts, tmp_path, monkeypatch, small, name):
    monkeypatch.setattr("polyaurn.datasets.python_docs", lambda on_file=None: small)
    assert run("train", texts, "-k", 2, "--sweeps", 2, "--out", name, "-q")[0] == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()}
    code, _, err = run("demo", "--out", name)
    assert code == 2
    assert "holds a model that this command did not make" in err
    assert "Choose another folder with --out" in err
    assert {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} == before


def test_topics_by_size_for_people_and_machines(run, texts):
    run("train", texts, "-k", 4, "--sweeps", 20, "--out", "m", "-q")
    _, out, _ = run("topics", "m", "--by-size", "--json")
    sizes = [t["tokens"] for t in json.loads(out)]
    assert sizes == sorted(sizes, reverse=True)
    _, plain, _ = run("topics", "m", "--by-size")
    assert [int(line.split("\t")[1]) for line in plain.splitlines()] == sizes


def test_theory_writes_a_picture_and_numbers(run, tmp_path, monkeypatch):
    monkeypatch.setattr("polyaurn.studies.paper.theory.urn.WEIGHTS", (2, 4, 8, 16))
    code, _, err = run("theory", "urn", "--out", "t")
    assert code == 0
    assert "urn.png" in err
    assert (tmp_path / "t" / "urn.json").exists()
    code, _, err = run("theory", "nonsense")
    assert code == 2
    assert "'appendix-a', 'urn', 'complexity'" in err


def test_the_version_is_shown(run):
    from polyaurn import __version__

    assert run("--version") == (0, f"polyaurn {__version__}\n", "")


def test_no_arguments_show_help(run):
    code, out, err = run()
    assert code == 2
    assert "train" in out + err


def test_an_interruption_before_the_first_sweep_says_so(run, texts, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("polyaurn.corpus.readers.read_corpus", interrupted)
    code, _, err = run("train", texts, "--out", "m")
    assert code == cli.INTERRUPTED
    assert "nothing was written" in err


@pytest.mark.parametrize(("start", "phase"), [("auto", "anneal"), ("smooth", "smooth")])
def test_a_run_stopped_in_its_warm_start_says_so(run, texts, monkeypatch, start, phase):
    class StoppedAtOnce(StopOnSignal):
        def __enter__(self):
            self.asked = True
            return self

    monkeypatch.setattr("polyaurn.training.signals.StopOnSignal", StoppedAtOnce)
    code, _, err = run(
        "train", texts, "-k", 2, "--sweeps", 30, "--min-count", 1, "--out", "m",
        "--warm-start", start,
    )  # fmt: skip
    assert code == cli.INTERRUPTED
    assert f"Note: The chain ended inside its warm start, after sweep 1 ({phase})" in err
    assert load("m").parameters["stopped_in"] == phase


def shell(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "polyaurn.cli.app", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_it_has(tmp_path, number):
    X = np.random.default_rng(0).poisson(1.0, (300, 50))
    rows = "\n".join(" ".join(f"w{v}" for v in np.repeat(np.arange(50), row)) for row in X)
    (tmp_path / "t.txt").write_text(rows)
    process = shell(
        "train", "t.txt", "-k", 5, "--sweeps", 10_000_000, "--out", "m", "--trace", "t.jsonl",
        cwd=tmp_path,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not any(part.stat().st_size > 500 for part in tmp_path.glob(".t.jsonl.*.new")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == cli.INTERRUPTED
    assert "Stopping after this sweep" in err
    assert "the model so far and a checkpoint are in m" in err
    assert "Continue with the same command and --resume" in err
    model = load(tmp_path / "m")
    assert 1 <= model.parameters["sweeps"] == len(model.trace) < 10_000_000
    assert (tmp_path / "t.jsonl").read_text().count("\n") == len(model.trace)


def test_help_and_import_need_no_compiler():
    for code in (
        "import polyaurn, sys; polyaurn.__version__",
        "import sys; sys.argv = ['polyaurn', 'train', '--help']\n"
        "from polyaurn.cli.app import app\n"
        "try:\n app()\nexcept SystemExit:\n pass",
    ):
        heavy = "assert not {'numba', 'numpy', 'scipy', 'sklearn'} & set(sys.modules), 1"
        done = subprocess.run(
            [sys.executable, "-c", f"import sys\n{code}\n{heavy}"],
            capture_output=True, text=True, env=os.environ | {"COLUMNS": "80"}, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_every_public_name_is_there():
    import polyaurn

    for name in polyaurn.__all__:
        assert getattr(polyaurn, name) is not None
    assert set(dir(polyaurn)) == set(polyaurn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = polyaurn.nonsense


def test_compiling_is_announced_once(tmp_path):
    """In a fresh cache the first run says why it waits, at a terminal."""
    from polyaurn.backends.registry import load_steps
    from polyaurn.training.sweeps import warm_up

    said = []
    steps = load_steps("polya-urn")
    warm_up(steps)
    warm_up(steps, lambda: said.append("compiling"))
    assert said == []

    def slow(*arguments, **options):
        time.sleep(2.2)
        return steps(*arguments, **options)

    warm_up(slow, lambda: said.append("compiling"))
    assert said == ["compiling"]


def test_the_number_of_topics_is_said_where_it_was_not_chosen(run, tmp_path):
    (tmp_path / "t.txt").write_text("cat dog cat\nmoon star\n" * 10)
    said = "100 topics, the default; --topics chooses"
    assert said in run("train", "t.txt", "--sweeps", 2, "--out", "a")[2]
    assert said not in run("train", "t.txt", "--sweeps", 2, "-k", 100, "--out", "b")[2]
    again = run("train", "--config", tmp_path / "a" / "config.toml", "--out", "c")
    assert again[0] == 0
    assert said not in again[2]
