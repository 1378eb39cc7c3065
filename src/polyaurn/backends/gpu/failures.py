"""When a GPU fails: errors of CuPy and numba-cuda as one of ours, and no state that is half drawn.

Topics are changed in place, and what is left of them after a failure in the middle is worthless.
Whoever holds an older state is therefore refused from the moment at which a step begins to change
them; a failure before that, such as a Phi for which there is no memory, leaves the state as it was.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from polyaurn.backends.registry import KernelSet
from polyaurn.base.errors import DeviceError, first_line

CHANGING = ("enter", "draw_z")  # steps that change topics in place
_PACKAGES = ("cupy", "cupyx", "cupy_backends", "cuda")
_DRIVER = "numba.cuda.cudadrv"


def guarded(kernels: KernelSet) -> KernelSet:
    """Return kernels whose failures are told as `DeviceError`.

    Parameters
    ----------
    kernels : KernelSet
        Steps on the GPU, over layouts that have a `version`.

    Returns
    -------
    KernelSet
        The same steps; those that change topics make all earlier states void when they begin.
    """
    steps = {name: step for name, step in kernels._asdict().items() if step is not None}
    return kernels._replace(
        **{name: _guarded(step, changes=name in CHANGING) for name, step in steps.items()}
    )


def _guarded(step: Callable[..., Any], *, changes: bool) -> Callable[..., Any]:
    @wraps(step)
    def run(layout: Any, *arguments: Any, **options: Any) -> Any:
        if changes:
            layout.version += 1
        with failures_named(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Grid size")  # a small corpus is no mistake
            return step(layout, *arguments, **options)

    return run


@contextmanager
def failures_named(remedy: str = "") -> Iterator[None]:
    """Raise `DeviceError` in place of what CuPy and numba-cuda raise when a GPU fails."""
    try:
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
