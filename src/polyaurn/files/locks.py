"""One writer per folder: a lock that the system releases when its owner ends."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from polyaurn.base.errors import InputError
from polyaurn.files.atomic import make_folder

LOCK = ".polyaurn.lock"
_HARMLESS = re.compile(r"\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|\.lock|" + re.escape(LOCK))
_OURS = re.compile(rb"(polyaurn \d{1,20}\n?)?")  # what a lock holds; nothing until it is written
_LOCKED_BYTE = 1 << 30  # beyond the text: Windows lets nobody read a byte that is locked
_WINDOWS = os.name == "nt"
_GUARD = threading.Lock()  # of _HELD


class _Owner(NamedTuple):
    """A thread that holds a lock; it may lock the same folder again."""

    process: int
    thread: int


_HELD: dict[str, _Owner] = {}  # by this process, keyed by the folder's real path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, or raise an error if another process or thread writes to it.

    The folder is created if it does not exist, and removed again if it is still empty at the end.
    """
    key, owner = os.path.realpath(folder), _Owner(os.getpid(), threading.get_ident())
    with _GUARD:
        found = _HELD.get(key)
        if found is not None and found.process != owner.process:  # of the process this one left
            found = None
        if found is None:
            _HELD[key] = owner
    if found == owner:
        yield
        return
    if found is not None:
        raise _taken(folder, "another thread of this process")
    new = not folder.exists()
    try:
        number = _acquire(folder)
        try:
            yield
        finally:
            _release(folder / LOCK, number)
    finally:
        if new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        with _GUARD:
            _HELD.pop(key, None)


def is_harmless(name: str) -> bool:
    """Return whether a file is a lock, or one that systems leave: a folder with it is empty."""
    return bool(_HARMLESS.fullmatch(name))


def _taken(folder: Path, by: str) -> InputError:
    return InputError(
        f"The folder '{folder}' is being written to by {by}. Wait until it has ended, or choose "
        "another folder."
    )


def _acquire(folder: Path) -> int:
    """Lock a folder; return the descriptor of the open lock file."""
    path = folder / LOCK
    try:
        while True:
            make_folder(folder)
            number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if _is_ours(folder, number) and _lock(number, path):
                    return number
            except BaseException:
                os.close(number)
                raise
            os.close(number)  # its owner has just ended and removed the file
    except OSError as error:
        raise InputError(
            f"The folder '{folder}' cannot be written: {error.strerror}. Choose another folder."
        ) from None


def _is_ours(folder: Path, number: int) -> bool:
    """Return True, or raise an error where the file of the lock's name is somebody else's."""
    os.lseek(number, 0, os.SEEK_SET)
    if not _OURS.fullmatch(os.read(number, 64)):
        raise InputError(
            f"The file '{folder / LOCK}' must be a lock of polyaurn. It is another file, which is "
            "left alone; move it, or choose another folder."
        )
    return True


def _lock(number: int, path: Path) -> bool:
    """Lock an open file; return whether it is still the one of this path."""
    try:
        _lock_byte(number, wanted=True)
    except BlockingIOError:
        os.lseek(number, 0, os.SEEK_SET)
        process = os.read(number, 64).decode(errors="replace").removeprefix("polyaurn").strip()
        raise _taken(path.parent, f"another process ({process or 'unknown'})") from None
    try:
        if not os.path.samestat(os.fstat(number), path.stat()):
            return False
    except FileNotFoundError:
        return False
    os.ftruncate(number, 0)
    os.lseek(number, 0, os.SEEK_SET)
    os.write(number, f"polyaurn {os.getpid()}\n".encode())
    return True


def _release(path: Path, number: int) -> None:
    """Release a lock, and remove its file: on Windows only a file that nobody has open."""
    if _WINDOWS:
        with suppress(OSError):
            _lock_byte(number, wanted=False)
        os.close(number)
        with suppress(OSError):  # another process has opened it to take the lock
            path.unlink()
        return
    path.unlink(missing_ok=True)  # while it is locked, so that nobody locks a file that is gone
    os.close(number)


def _lock_byte(number: int, *, wanted: bool) -> None:
    """Lock an open file or release its lock; raise BlockingIOError where it is taken."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        mode = msvcrt.LK_NBLCK if wanted else msvcrt.LK_UNLCK  # type: ignore[attr-defined]
        os.lseek(number, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(number, mode, 1)  # type: ignore[attr-defined]
        except OSError:
            raise BlockingIOError from None
        return
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
