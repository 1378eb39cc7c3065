"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from polyaurn.errors import InputError

PATH = "'path' parameter"


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


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a temporary name beside a file, renamed to it when all went well."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        yield fresh
        fresh.replace(path)
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be written: {error.strerror or error}. Free some space or "
            "choose another folder."
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
