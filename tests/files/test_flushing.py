"""What is flushed to the disk, and when: the order of calls, as a power cut would see it."""

import os
from pathlib import Path

import pytest

from polyaurn import LDA
from polyaurn.files import atomic
from polyaurn.files.atomic import flush_folder, make_folder, new_file
from polyaurn.files.names import HEADER
from polyaurn.training.trace import TraceFile


@pytest.fixture
def calls(monkeypatch):
    """Record flushes, renames, links and new folders, each with the name it concerns."""
    found = []
    fsync, replace, mkdir, link, unlink = os.fsync, Path.replace, Path.mkdir, os.link, Path.unlink

    def plain(name):
        base = atomic.file_of_temporary(name)
        return f"new {base}" if base else name

    def record_fsync(number):
        found.append(("flush", plain(Path(f"/proc/self/fd/{number}").readlink().name)))
        fsync(number)

    def record_replace(self, target):
        found.append(("rename", Path(target).name))
        return replace(self, target)

    def record_mkdir(self, *arguments, **options):
        new = not self.exists()
        mkdir(self, *arguments, **options)
        if new:
            found.append(("mkdir", self.name))

    def record_link(source, target):
        found.append(("link", Path(target).name))
        link(source, target)

    def record_unlink(self, **options):
        if self.exists():
            found.append(("unlink", plain(self.name)))
        unlink(self, **options)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(Path, "replace", record_replace)
    monkeypatch.setattr(Path, "mkdir", record_mkdir)
    monkeypatch.setattr(os, "link", record_link)
    monkeypatch.setattr(Path, "unlink", record_unlink)
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    return found


def check_order(calls, folder):
    """Hold the rules: data before its name, files before the header, all before what is old."""
    for i, (what, name) in enumerate(calls):
        after = calls[i + 1 :]
        if what == "rename":
            assert ("flush", f"new {name}") in calls[:i], name
            assert ("flush", folder) in after, name
        if what in ("rename", "link") and not name.endswith(".json"):
            headers = [j for j, call in enumerate(after) if call[0] == "rename"
                       and call[1].endswith(".json")]  # fmt: skip
            if headers:
                assert ("flush", folder) in after[: headers[0]], name
        if what == "rename" and name.endswith(".json"):
            old = [j for j, call in enumerate(after) if call == ("unlink", "arrays.npz")]
            assert not old or ("flush", folder) in after[: old[0]]


def test_new_folders_are_flushed_in_the_folder_they_are_in(tmp_path, calls):
    make_folder(tmp_path / "a" / "b")
    assert calls == [("mkdir", "a"), ("flush", tmp_path.name), ("mkdir", "b"), ("flush", "a")]


def test_a_model_is_flushed_before_it_counts(small, tmp_path, calls):
    lda = LDA(3, max_iter=2, verbose=False).fit(small)
    for _ in range(2):  # a new one, and one in the place of another
        calls.clear()
        lda.save(tmp_path / "deep" / "m", force=True)
        assert ("rename", HEADER) in calls
        check_order(calls, "m")
        if _ == 0:
            assert calls[:4] == [
                ("mkdir", "deep"), ("flush", tmp_path.name), ("mkdir", "m"), ("flush", "deep"),
            ]  # fmt: skip
        else:
            assert ("link", "arrays.npz") in calls


def test_a_checkpoint_is_flushed_before_an_older_one_is_removed(small, tmp_path, calls):
    LDA(3, max_iter=4, checkpoint=tmp_path / "m", checkpoint_every=1, verbose=False).fit(small)
    at = calls.index(("mkdir", "checkpoints"))
    assert calls[at + 1] == ("flush", "m")
    check_order(calls, "checkpoints")
    new, old = calls.index(("rename", "sweep-000000003.json")), ("unlink", "sweep-000000001.json")
    assert ("flush", "checkpoints") in calls[new : calls.index(old)]


def test_other_files_and_traces_are_flushed(tmp_path, calls):
    with new_file(tmp_path / "report.html") as fresh:
        fresh.write_text("page")
    with TraceFile(tmp_path / "t.jsonl") as trace:
        trace.rewrite([{"sweep": 1}])
    for name in ("report.html", "t.jsonl"):
        at = calls.index(("rename", name))
        assert calls[at - 1] == ("flush", f"new {name}")
        assert calls[at + 1] == ("flush", tmp_path.name)


def test_a_disk_that_cannot_flush_folders_is_used_all_the_same(tmp_path, monkeypatch):
    def cannot(number):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", cannot)
    flush_folder(tmp_path)
    monkeypatch.setattr(atomic, "_CANNOT_FLUSH", ())
    with pytest.raises(OSError, match="Invalid argument"):
        flush_folder(tmp_path)
