"""When a GPU fails: errors of CuPy and numba-cuda as one of ours.

Topics are changed in place, and cannot be used after a failure in the middle of a step. Older
states are therefore rejected from the moment at which a step begins to change topics; a failure
before that, such as a Phi for which there is no memory, leaves the state as it was.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from polyaurn.base.errors import DeviceError, first_line

_PACKAGES = ("cupy", "cupyx", "cupy_backends", "cuda")
_DRIVER = "numba.cuda.cudadrv"
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
        full = isinstance(error, MemoryError) or "out of memory" in said.lower().replace("_", " ")
        what = "ran out of memory" if full else "failed"
        raise DeviceError(f"The GPU {what} ({said:.200}).", remedy) from error


def _is_of_device(error: Exception) -> bool:
    kinds = [kind.__module__ for kind in type(error).__mro__]
    return any(kind.split(".")[0] in _PACKAGES or kind.startswith(_DRIVER) for kind in kinds)
