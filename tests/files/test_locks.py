"""One writer per folder: processes and threads, and files that are not our lock."""

import os
import sys
import threading
from types import SimpleNamespace

import pytest

from polyaurn import LDA, InputError
from polyaurn.files import locks
from polyaurn.files.locks import LOCK, locked


def in_a_thread(call):
    """Return what a call raised in another thread, or None."""
    raised = []

    def run():
        try:
            call()
        except InputError as error:
            raised.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def take(folder):
    with locked(folder):
        pass


def test_a_second_thread_waits_outside_and_the_same_may_lock_again(tmp_path):
    folder, link = tmp_path / "m", tmp_path / "link"
    link.symlink_to(folder)
    with locked(folder), locked(folder):
        assert "by another thread of this process" in in_a_thread(lambda: take(folder))
        assert "by another thread of this process" in in_a_thread(lambda: take(link))
        assert (folder / LOCK).read_text() == f"polyaurn {os.getpid()}\n"
    assert in_a_thread(lambda: take(folder)) is None
    assert not folder.exists()


def test_two_threads_with_one_checkpoint_folder(small, tmp_path):
    """The second is rejected while the first is in the middle of its run."""
    said = []

    def second(state, info):
        if info.sweep == 2:
            other = LDA(3, max_iter=4, checkpoint=tmp_path / "m", resume=True, verbose=False)
            said.append(in_a_thread(lambda: other.fit(small)))

    options = {"max_iter": 5, "checkpoint": tmp_path / "m", "checkpoint_every": 1}
    LDA(3, callbacks=second, verbose=False, **options).fit(small)
    assert len(said) == 1
    assert "is being written to by another thread of this process" in said[0]


def test_a_thread_that_the_system_lets_pass_is_still_rejected(tmp_path, monkeypatch):
    """Disks of a network may keep locks by process."""
    monkeypatch.setattr(locks, "_lock_byte", lambda number, wanted: None)
    with locked(tmp_path / "m"):
        assert "another thread" in in_a_thread(lambda: take(tmp_path / "m"))


@pytest.mark.parametrize("content", [b"mine", b"polyaurn", b"1234\n", b"polyaurn 12\nmore"])
def test_a_file_that_is_not_our_lock_is_not_touched(tmp_path, content):
    (tmp_path / LOCK).write_bytes(content)
    with pytest.raises(InputError, match="must be a lock of polyaurn"):
        take(tmp_path)
    assert (tmp_path / LOCK).read_bytes() == content


def test_a_lock_of_another_name_does_not_concern_us(tmp_path):
    (tmp_path / ".lock").write_bytes(b"mine")
    take(tmp_path)
    assert (tmp_path / ".lock").read_bytes() == b"mine"
    assert [p.name for p in tmp_path.iterdir()] == [".lock"]


def test_a_lock_that_was_left_is_taken_over(tmp_path):
    (tmp_path / LOCK).write_bytes(b"polyaurn 1\n")
    take(tmp_path)
    assert not (tmp_path / LOCK).exists()


def test_on_windows_a_lock_is_unlocked_and_closed_before_it_is_removed(tmp_path, monkeypatch):
    """With a msvcrt of our own that records; a byte is locked that nobody needs to read."""
    calls = []
    windows = SimpleNamespace(LK_NBLCK="lock", LK_UNLCK="unlock")
    windows.locking = lambda number, mode, n: calls.append(
        (mode, os.lseek(number, 0, os.SEEK_CUR), n)
    )
    unlink, close = locks.Path.unlink, os.close
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr(locks, "_WINDOWS", True)
    with locked(tmp_path / "m"):
        monkeypatch.setattr(locks.os, "close", lambda n: (calls.append("close"), close(n))[1])
        monkeypatch.setattr(
            locks.Path, "unlink", lambda self, **o: (calls.append("unlink"), unlink(self, **o))[1]
        )
    assert calls == [("lock", 1 << 30, 1), ("unlock", 1 << 30, 1), "close", "unlink"]
