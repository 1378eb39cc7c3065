"""Kernels are compiled once and kept on the disk, for as long as their sources are what they were.

numba keeps a kernel by the file it is written in. But a kernel also holds the functions and numbers
of other files that it uses, and would continue to use old ones after those had changed, with a new
version of the package for example. What is kept here therefore depends on all files that kernels
are made of.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba

from polyaurn.base.version import __version__

_PACKAGE = Path(__file__).parents[1]
FOLDERS = ("backends",)  # folders whose functions are compiled
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
        yield from sorted((_PACKAGE / folder).rglob("*.py"))


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


def kept_while_fresh(compiled: Any) -> Any:
    """Return a compiled function whose machine code is kept for these sources only."""
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, stamp())
    return compiled


def njit(**options: Any) -> Callable[[Any], Any]:
    """Return numba's decorator with these options, for a function of these sources."""
    compiled = numba.njit(**options)
    return lambda function: kept_while_fresh(compiled(function))
