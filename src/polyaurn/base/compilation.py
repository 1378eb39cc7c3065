"""Kernels are compiled once, and kept on disk until their sources change.

numba keeps a kernel by the file it is written in. But a kernel also holds the functions and numbers
of other files that it uses, and would continue to use old ones after those had changed, with a new
version of the package for example. What is kept here therefore depends on all files that kernels
are made of.
"""

import hashlib
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba

from polyaurn.base.version import __version__

_noted: list[str] = []  # why compiled code is not kept, once that was said
_PACKAGE = Path(__file__).parents[1]
FOLDERS = ("backends",)  # folders whose functions are compiled
PLAIN = "sharded"  # a folder inside that has no kernels
FILES = (
    "base/arrays.py",
    "base/compilation.py",
    "base/rng.py",
    "chain/state.py",
    "corpus/parsers.py",
    "evaluate/windows.py",
    "exchange/mallet_state.py",
)  # of which kernels have numbers


def sources() -> Iterator[Path]:
    """Yield the files that kernels are made of."""
    yield from (_PACKAGE / name for name in FILES)
    for folder in FOLDERS:
        found = sorted((_PACKAGE / folder).rglob("*.py"))
        yield from (file for file in found if file.parent.name != PLAIN)


@cache
def stamp() -> str:
    """Return a digest of the files that kernels are made of; the version where there are none."""
    digest = hashlib.sha256()
    try:
        for file in sources():
            digest.update(f"{file.relative_to(_PACKAGE).as_posix()}\n".encode())
            digest.update(file.read_bytes())
    except OSError:  # a package without sources, as in a frozen program
        return __version__
    return digest.hexdigest()


def kept_while_fresh(compile_: Callable[..., Any], function: Any, **options: Any) -> Any:
    """Compile a function, and keep its machine code on the disk for these sources only.

    Where nothing can be kept, as in a container that is read-only, it is compiled in memory.
    """
    try:
        compiled = compile_(function, **options)
    except RuntimeError as error:
        if not options.get("cache") or "cannot cache" not in str(error):
            raise
        _note_not_kept("there is no folder for it that can be written")
        return compile_(function, **options | {"cache": False})
    kept: Any = getattr(compiled, "_cache", None)
    file: Any = getattr(kept, "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, stamp())
    for name in ("load_overload", "save_overload"):
        if hasattr(kept, name):
            setattr(kept, name, _without_errors(getattr(kept, name)))
    return compiled


def _without_errors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a cache that does nothing where the disk fails, is full or forbidden."""

    def tried(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except OSError as error:
            _note_not_kept(error.strerror or str(error))
            return None

    return tried


def _note_not_kept(reason: str) -> None:
    """Say once in a process that compiled code is not kept, and why."""
    from polyaurn.base.errors import CompilationWarning

    if _noted:
        return
    _noted.append(reason)
    warnings.warn(
        f"Compiled code cannot be kept on the disk ({reason}), so that every process compiles it "
        "again, for half a minute or so; name a folder that can be written to in the environment "
        "variable NUMBA_CACHE_DIR.",
        CompilationWarning,
        stacklevel=2,
    )


def njit(**options: Any) -> Callable[[Any], Any]:
    """Return numba's decorator with these options, for a function of these sources."""
    return lambda function: kept_while_fresh(numba.njit, function, **options)
