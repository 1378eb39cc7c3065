"""The one place that knows whether there is a GPU, and how it is reached.

Kernels are written in Python with numba-cuda; CuPy holds arrays and does device-wide sums. Both
come with ``pip install polyaurn[gpu]``. Importing this module needs numba-cuda, but neither a GPU
nor a driver, so that kernels can be compiled and examined anywhere.
"""

import os
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from polyaurn.base.compilation import kept_while_fresh
from polyaurn.base.errors import InputError

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1"
_GONE = "row_stack"  # of NumPy


def _import_cuda() -> Any:
    """Import numba-cuda; 0.30.4 asks NumPy for a function that NumPy 2.5 no longer has."""
    stand_in = not hasattr(np, _GONE)
    if stand_in:
        setattr(np, _GONE, np.vstack)
    try:
        if find_spec("numba_cuda") is not None:
            import_module("numba_cuda")
        found = import_module("numba.cuda")
        if stand_in and not SIMULATED:  # what asks for it is loaded with the first kernel
            import_module("numba.cuda.np.arrayobj")
        return found
    finally:
        if stand_in:
            delattr(np, _GONE)


cuda = _import_cuda()
device_function = partial(cuda.jit, device=True, **({} if SIMULATED else {"forceinline": True}))


def kernel(function: Any) -> Any:
    """Have a kernel compiled when it is first used, and kept on the disk."""
    return kept_while_fresh(cuda.jit, function, cache=True)


@cache
def cupy() -> Any:
    """Return the module CuPy."""
    return import_module("cupy")


def array_module() -> Any:
    """Return CuPy, or NumPy where kernels run in numba's simulator."""
    return np if SIMULATED else cupy()


def hand(array: Any) -> Any:
    """Return an array in the form that kernels take without checks each time."""
    return array if SIMULATED else cuda.as_cuda_array(array, sync=False)


def upload(array: Any) -> Any:
    """Return an array's copy on the device, with none left in memory for copying."""
    host = np.ascontiguousarray(array)
    if SIMULATED:
        return np.array(host)
    found = cupy().empty(host.shape, host.dtype)
    found.set(host)
    return found


def to_host(array: Any) -> Any:
    """Return an array of the device as a NumPy array."""
    return np.array(array) if SIMULATED else cupy().asnumpy(array)


def free_bytes() -> int:
    """Return how much memory of the device is free, what CuPy holds in reserve included."""
    limit = os.environ.get("POLYAURN_GPU_MEMORY")
    if limit:
        if not limit.isdecimal():
            raise InputError(
                "The environment variable POLYAURN_GPU_MEMORY must be a whole number of bytes. "
                f"Got {limit!r} instead."
            )
        return int(limit)
    if SIMULATED:
        return 1 << 30
    return unused_bytes()


def unused_bytes() -> int:
    """Return how much memory nobody uses at this moment, whatever the environment says."""
    free, _ = cupy().cuda.runtime.memGetInfo()
    return int(free) + int(cupy().get_default_memory_pool().free_bytes())


def device_name() -> str:
    """Return what the GPU is called."""
    name: bytes = cupy().cuda.runtime.getDeviceProperties(0)["name"]
    return name.decode()


def synchronise() -> None:
    """Wait until the device has finished all work."""
    if not SIMULATED:
        cupy().cuda.runtime.deviceSynchronize()


def wait_for(stream: Any) -> None:
    """Wait for one stream of work, while others continue; 0 is the one that CuPy works in."""
    if SIMULATED:
        return
    if isinstance(stream, int):
        cupy().cuda.Stream.null.synchronize()
    else:
        stream.synchronize()
