"""The trace on disk: a disk that is full, files of others, models without their timings."""

import io
from pathlib import Path

import pytest

from polyaurn import load
from polyaurn.base.errors import CheckpointWarning
from polyaurn.files.names import TIMINGS
from polyaurn.training.trace import TraceFile

LINE = ("-k", 2, "--sweeps", 6, "--eval-every", 2, "--trace", "t.jsonl")


class FullDisk(io.StringIO):
    """A file that takes a few records, then none."""

    left = 3

    def writelines(self, lines):
        for _ in lines:
            FullDisk.left -= 1
            if FullDisk.left < 0:
                raise OSError(28, "No space left on device")


@pytest.fixture
def full_disk(monkeypatch):
    opened = Path.open

    def open_(self, *arguments, **options):
        return (
            FullDisk() if self.name.startswith(".t.jsonl") else opened(self, *arguments, **options)
        )

    monkeypatch.setattr(Path, "open", open_)
    monkeypatch.setattr(FullDisk, "left", 3)


def test_a_full_disk_under_the_trace_does_not_end_the_run(run, texts, tmp_path, full_disk):
    code, _, err = run("train", texts, "--out", "m", *LINE)
    assert code == 0, err
    assert err.count("The trace 't.jsonl' cannot be written: No space left on device") == 1
    assert "the run continues" in err
    assert load(tmp_path / "m").parameters["sweeps"] == 6
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m", "texts.txt"]


def test_in_python_a_warning_says_so_once(tmp_path, full_disk):
    with TraceFile(tmp_path / "t.jsonl") as trace:
        trace.rewrite([{"sweep": 1}])
        with pytest.warns(CheckpointWarning, match="cannot be written") as said:
            [trace.rewrite([{"sweep": n} for n in range(9)]) for _ in range(2)]
    assert len(said) == 1


def test_space_that_is_there_again_at_the_end_is_used(tmp_path):
    with TraceFile(tmp_path / "t.jsonl") as trace:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "open", lambda self, *arguments, **options: FullDisk())
            patch.setattr(FullDisk, "left", 0)
            with pytest.warns(CheckpointWarning, match="cannot be written"):
                trace.rewrite([{"sweep": 1}])
        trace.rewrite([{"sweep": 1}])
    assert (tmp_path / "t.jsonl").read_text() == '{"sweep": 1}\n'


def test_a_file_beside_the_trace_is_not_touched(run, texts, tmp_path):
    (tmp_path / "t.jsonl.part").write_text("mine")
    assert run("train", texts, "--out", "m", *LINE)[0] == 0
    assert (tmp_path / "t.jsonl.part").read_text() == "mine"
    assert (tmp_path / "t.jsonl").read_text().count("\n") == 6


@pytest.mark.parametrize("sweeps", [6, 9])
def test_a_model_without_timings_is_resumed(run, texts, tmp_path, sweeps):
    for name in ("m", "whole"):
        run("train", texts, "--out", name, *LINE[:2], "--sweeps", 6)
    (tmp_path / "m" / TIMINGS).unlink()
    for name in ("m", "whole"):
        code, _, err = run("train", texts, "--out", name, *LINE[:2], "--sweeps", sweeps, "--resume")
        assert code == 0, err
    found, expected = load(tmp_path / "m"), load(tmp_path / "whole")
    assert found.assignments.tobytes() == expected.assignments.tobytes()
    assert [r["sweep"] for r in found.trace] == list(range(1, sweeps + 1))
