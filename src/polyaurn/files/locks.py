"""One writer per folder: a lock that the system releases when its owner ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polyaurn.base.errors import InputError

LOCK = ".lock"
_HELD: set[tuple[Path, int]] = set()  # by this process, which may lock a folder again


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, or raise an error if another process writes to it.

    The folder is created if it does not exist, and removed again if it is still empty at the end.
    """
    if (folder, os.getpid()) in _HELD:
        yield
        return
    new = not folder.exists()
    number = _acquire(folder)
    _HELD.add((folder, os.getpid()))
    try:
        yield
    finally:
        _HELD.discard((folder, os.getpid()))
        (folder / LOCK).unlink(missing_ok=True)
        os.close(number)
        if new and not any(folder.iterdir()):
            folder.rmdir()


def _acquire(folder: Path) -> int:
    """Lock a folder; return the descriptor of the open lock file."""
    path = folder / LOCK
    try:
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(number)
                if os.path.samestat(os.fstat(number), path.stat()):
                    os.ftruncate(number, 0)
                    os.write(number, f"{os.getpid()}\n".encode())
                    return number
            except BlockingIOError:
                owner = os.read(number, 20).decode(errors="replace").strip()
                os.close(number)
                raise InputError(
                    f"The folder '{folder}' is being written to by another process "
                    f"({owner or 'unknown'}). Wait until it has ended, or choose another folder."
                ) from None
            except FileNotFoundError:  # its owner has just ended and removed the file
                pass
            os.close(number)
    except OSError as error:
        raise InputError(
            f"The folder '{folder}' cannot be written: {error.strerror}. Choose another folder."
        ) from None


def _lock(number: int) -> None:
    """Lock an open file, or raise BlockingIOError."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            raise BlockingIOError from None
        return
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
