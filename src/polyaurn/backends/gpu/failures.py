"""When a GPU fails: errors of CuPy and numba-cuda as one of ours.

Topics are changed in place, and cannot be used after a failure in the middle of a step. Older
states are therefore rejected from the moment at which a step begins to change topics; a failure
before that, such as a Phi for which there is no memory, leaves the state as it was.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from polyaurn.base.errors import DeviceError, first_line

_PACKAGES = ("cupy", "cupyx", "cupy_backends", "cuda")
_DRIVER = "numba.cuda.cudadrv"
# What happened, by letters of the message: of CUDA's names of errors, or of what they stand for.
SIGNS = (
    ("unavailable", "cannot be reached: it is gone, or another process has it for itself"),
    ("nodevice", "is no longer there"),
    ("devicelost", "is no longer there"),
    ("eccuncorrectable", "found an error in its memory"),
)
Step = TypeVar("Step", bound=Callable[..., Any])


def guarded(step: Step) -> Step:
    """Let failures of a step be raised as `DeviceError`."""

    @wraps(step)
    def run(*arguments: Any, **options: Any) -> Any:
        with failures_named():
            return step(*arguments, **options)

    return run  # type: ignore[return-value]


@contextmanager
def failures_named(remedy: str = "") -> Iterator[None]:
    """Raise `DeviceError` in place of what CuPy and numba-cuda raise when a GPU fails.

    What is launched inside may be small: numba-cuda's warning of that is left out, and no other.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*Grid size \d+ will")
            yield
    except Exception as error:
        if not _is_of_device(error):
            raise
        said = first_line(error).rstrip(".")
        raise DeviceError(f"The GPU {_what(error, said)} ({said:.200}).", remedy) from error


def _what(error: Exception, said: str) -> str:
    """Return what happened to the GPU, by what its packages say."""
    words = re.sub("[^a-z]", "", said.lower())
    if isinstance(error, MemoryError) or "outofmemory" in words:
        return f"ran out of memory{_how_much(said)}"
    return next((what for sign, what in SIGNS if sign in words), "failed")


def _how_much(said: str) -> str:
    """Return how much memory was asked for and how much is free, as far as that is known."""
    asked = re.search(r"allocating ([\d,]+) bytes", said)
    parts = [f"a step needs {_in_units(int(asked[1].replace(',', '')))} more"] if asked else []
    try:
        from polyaurn.backends.gpu.toolkit import unused_bytes

        parts.append(f"{_in_units(unused_bytes())} are free")
    except Exception:  # its packages cannot be loaded, or the device no longer answers
        pass
    return f": {', and '.join(parts)}" if parts else ""


def _in_units(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _is_of_device(error: Exception) -> bool:
    kinds = [kind.__module__ for kind in type(error).__mro__]
    return any(kind.split(".")[0] in _PACKAGES or kind.startswith(_DRIVER) for kind in kinds)
