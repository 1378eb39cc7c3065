"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from polyaurn.base.errors import InputError

PATH = "'path' parameter"
_END = ".new"  # of temporary names, which begin with a dot


def check_new_file(
    path: str | Path, *, force: bool, what: str = PATH, suffixes: Sequence[str] = ()
) -> Path:
    """Refuse a file that cannot be written, before long work.

    Parameters
    ----------
    path : str or Path
        The file.
    force : bool
        Whether an older file may go.
    what : str
        What the user calls it, for the error message.
    suffixes : sequence of str
        How the name may end; none where it is free.

    Returns
    -------
    Path
        The file.
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
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(
            f"The {what} must name a file in a folder that exists. Got '{path}'; create the folder "
            "or choose another name."
        )
    if not os.access(path.absolute().parent, os.W_OK):
        raise InputError(
            f"The {what} must be in a folder that can be written to. Got '{path}'; choose another "
            "folder."
        )
    if path.exists() and not force:
        raise InputError(
            f"The {what} must be a new name. '{path}' is there already; choose another name, or "
            "replace it with --force (force=True)."
        )
    return path


def temporary_name(path: Path) -> Path:
    """Return a name beside a file that no other writer has."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{_END}")


def is_temporary(name: str) -> bool:
    """Tell whether a file name is one that an interrupted writer left."""
    return name.startswith(".") and name.endswith(_END)


def write_text(path: Path, text: str) -> None:
    """Write a file whole."""
    with new_file(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a temporary name beside a file, flushed and renamed to it when all went well."""
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
