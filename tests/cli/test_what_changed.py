"""The commands diff and drift: exit codes, files, and what they find by themselves."""

import csv
import inspect
import json
import random
import re

import pytest

from polyaurn import drift
from polyaurn.cli.drift import drift as command

SKY, PETS, CUP = (
    ["moon", "star", "orbit", "planet", "comet"],
    ["cat", "dog", "bird", "horse", "fish"],
    ["goal", "team", "match", "league", "penalty"],
)


def write(path, *subjects, n=60, seed=0):
    draw = random.Random(seed)
    rows = [[" ".join(draw.choices(subjects[d % len(subjects)], k=12))] for d in range(n)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["review"], *rows])


@pytest.fixture
def models(run, tmp_path):
    write(tmp_path / "old.csv", SKY, PETS)
    write(tmp_path / "new.csv", SKY, CUP, seed=1)
    for name in ("old", "new"):
        code, _, error = run(
            "train", f"{name}.csv", "--text-column", "review", "-k", 2, "--sweeps", 60,
            "--min-df", 1, "--max-df", "1.0", "--language", "en", "--threads", 1, "--out",
            f"m-{name}", "-q",
        )  # fmt: skip
        assert code == 0, error
    return tmp_path


def test_drift_says_by_its_exit_code_whether_a_batch_differs(run, models):
    write(models / "same.csv", SKY, PETS, seed=2)
    code, out, error = run("drift", "m-old", "same.csv", "--threads", 1)
    assert (code, out.startswith("No drift: ")) == (0, True), error
    code, out, _ = run("drift", "m-old", "new.csv", "--threads", 1, "--json")
    said = json.loads(out)
    assert (code, said["drifted"]) == (1, True)
    beyond = {signal["name"]: signal["beyond"] for signal in said["signals"]}
    assert beyond["unknown"]
    assert said["signals"][1]["difference"] == pytest.approx(0.5)
    assert run("drift", "m-old", "new.csv", "--threads", 1, "--against", "new.csv", "-q")[0] == 0


def test_drift_rejects_what_it_cannot_judge(run, models):
    (models / "short.csv").write_text("review\n" + "moon\n" * 9)
    for arguments, message in (
        (("short.csv",), "'BATCH' argument must have at least 2 documents with two or more words"),
        (("missing.csv",), "missing.csv"),
        (("new.csv", "--threshold", 0), "'--threshold' option must be a positive number"),
        (("new.csv", "--against", "new.csv", "--corpus", "old.csv"), "without '--corpus'"),
    ):
        code, out, error = run("drift", "m-old", *arguments, "--threads", 1, "-q")
        assert (code, out) == (2, ""), error
        assert message in error
        assert "Traceback" not in error
    (models / "old.csv").unlink()
    code, _, error = run("drift", "m-old", "new.csv", "--threads", 1, "-q")
    assert code == 2
    assert "no longer there" in error
    assert "--against" in error


def test_a_batch_of_unknown_words_has_a_verdict(run, models):
    write(models / "other.csv", CUP)
    code, out, error = run("drift", "m-old", "other.csv", "--threads", 1)
    assert (code, error.count("polyaurn: ")) == (1, 0)
    assert out.startswith("Drift: none of the words is known to the model: 100.0% of tokens")
    assert "nan" not in out
    said = json.loads(run("drift", "m-old", "other.csv", "--threads", 1, "--json")[1])
    score, unknown, topics = said["signals"]
    assert (said["drifted"], unknown["batch"], unknown["beyond"]) == (True, 1.0, True)
    assert score["batch"] is topics["difference"] is said["topics"][0]["share"] is None


def test_a_fault_of_ours_is_no_drift(run, models, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("polyaurn.evaluate.drift.drift", broken)
    code, out, error = run("drift", "m-old", "old.csv", "--threads", 1)
    assert (code, out) == (70, "")
    assert "RuntimeError: a fault of ours" in error


def test_diff_writes_a_page_and_a_table(run, models):
    files = ("--out", "d.html", "--csv", "d.csv")
    code, out, error = run("diff", "m-old", "m-new", *files, "--threads", 1)
    assert code == 0, error
    assert "1 new, 1 died" in out
    page = (models / "d.html").read_text(encoding="utf-8")
    assert "m-old" in page
    assert "Documents that no old topic explains" in page
    assert "goal" in page
    assert "http" not in page.replace("http-equiv", "")
    with (models / "d.csv").open() as file:
        changes = sorted(row["change"] for row in csv.DictReader(file))
    assert changes == ["died", "new", "same"]
    code, _, error = run("diff", "m-old", "m-new", *files, "--threads", 1)
    assert code == 2
    assert "is there already" in error
    said = json.loads(run("diff", "m-old", "m-new", "--json", "--threads", 1)[1])
    assert said["documents"][0]["unknown_before"] == 1.0
    assert said["documents"][0]["snippet"]


def test_diff_of_several_models(run, models):
    code, out, _ = run("diff", "m-old", "m-old", "m-new", "--json", "--out", "three.html")
    said = json.loads(out)
    assert code == 0
    page = (models / "three.html").read_text()
    assert f"<bdi>{said['summary']}</bdi>" in page
    assert re.findall(r"<td>(\d) of 2</td>", page) == ["2", "1"]
    assert [topic["found_in"] for topic in said["topics"]].count(2) == 1
    for arguments, message in (
        (("m-old",), "two model folders"),
        (("m-old", "m-new", "m-old", "--corpus", "new.csv"), "is for two models"),
        (("m-old", "nowhere"), "does not exist"),
        (("m-old", "m-new", "--match", "best"), "'--match' option must be one of"),
    ):
        code, out, error = run("diff", *arguments)
        assert (code, out) == (2, ""), error
        assert message in error


def test_the_command_has_the_defaults_of_python():
    here, there = (inspect.signature(f).parameters for f in (command, drift))
    for name in ("threshold", "unknown_threshold", "topics_threshold", "sample"):
        assert here[name].default == there[name].default
