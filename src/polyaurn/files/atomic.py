"""Files that are written completely or not at all, and flushed so that a power cut keeps them."""

import errno
import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from polyaurn.base.errors import InputError

PATH = "'path' parameter"
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{8}\.new")
_CANNOT_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)  # a disk that flushes no folders


def check_new_file(
    path: str | Path, *, force: bool, what: str = PATH, suffixes: Sequence[str] = ()
) -> Path:
    """Return the path of a file to write, or raise an error before any long work.

    `force` allows an older file to be replaced, `what` is what the user calls the parameter, and
    `suffixes` are the endings that the name may have, if not any.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"The {what} must be a path. Got {path!r} instead.")
    path = Path(path)
    if suffixes and path.suffix not in suffixes:
        *most, last = suffixes
        ends = f"{', '.join(most)} or {last}" if most else last
        raise InputError(
            f"The {what} must end in {ends}. Got '{path}'; {path.stem or 'NAME'}{suffixes[0]} "
            "would do."
        )
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise InputError(
            f"The {what} must name a file in a folder that exists. Got '{path}'; create the folder "
            "or choose another name."
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"The {what} must be in a folder that can be written to. '{path}' cannot be written: "
            f"{error.strerror or error}; choose another folder."
        ) from None
    if path.exists() and not force:
        raise InputError(
            f"The {what} must be a new name. '{path}' is there already; choose another name, or "
            "replace it with --force (force=True)."
        )
    return path


def temporary_name(path: Path) -> Path:
    """Return the path of a temporary file beside a file, which no other writer uses."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")


def file_of_temporary(name: str) -> str:
    """Return the file that a temporary name was made for; "" for a name that is not one."""
    found = _TEMPORARY.fullmatch(name)
    return found[1] if found else ""


def flush_file(number: int) -> None:
    """Flush an open file to the disk; on macOS, where fsync does not, past the disk's cache too."""
    try:
        import fcntl

        fcntl.fcntl(number, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined,unused-ignore]
    except (ImportError, AttributeError, OSError):
        os.fsync(number)


def flush_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk, where the system can, so that renames last."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders
        return
    try:
        flush_file(number)
    except OSError as error:
        if error.errno not in _CANNOT_FLUSH:
            raise
    finally:
        os.close(number)


def make_folder(folder: Path) -> None:
    """Create a folder, and those it is in, and flush the entry of each that is new."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    flush_folder(folder.parent)


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with new_file(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file; it is flushed and renamed to the file at the end."""
    fresh = temporary_name(path)
    try:
        yield fresh
        with fresh.open("rb+") as file:
            flush_file(file.fileno())
        fresh.replace(path)
        flush_folder(path.absolute().parent)
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be written: {error.strerror or error}. Free some space or "
            "choose another folder."
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
