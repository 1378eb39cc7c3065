"""Files that are written completely or not at all."""

import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from polyaurn.base.errors import InputError

PATH = "'path' parameter"
_END = ".new"  # temporary names end so, and begin with a dot


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
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{_END}")


def is_temporary(name: str) -> bool:
    """Return whether a file name is one that an interrupted writer left."""
    return name.startswith(".") and name.endswith(_END)


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
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be written: {error.strerror or error}. Free some space or "
            "choose another folder."
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
