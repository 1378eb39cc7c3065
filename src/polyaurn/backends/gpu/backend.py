"""One NVIDIA GPU as a backend; nothing of CUDA is loaded before it is needed."""

import os
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

from polyaurn.backends.backend import NewDocuments
from polyaurn.backends.gpu.failures import failures_named
from polyaurn.base.errors import first_line

EXTRA = "pip install 'polyaurn[gpu]'"
VISIBLE = "CUDA_VISIBLE_DEVICES"


class GPU:
    """Kernels on one GPU, with the CPU's bytes; topics and counts are changed in place."""

    name = "gpu"
    in_place = True
    on_threads = False
    holds_phi = False
    in_shards = False

    def missing(self) -> str | None:
        """Return what is missing for work on a GPU, as a clause; None when nothing is."""
        for module, package in (("numba_cuda", "numba-cuda"), ("cupy", "CuPy")):
            if find_spec(module) is None:
                return f"the package {package} is not installed ({EXTRA} brings it)"
        try:
            from polyaurn.backends.gpu.toolkit import cupy

            runtime = cupy().cuda.runtime
        except Exception as error:  # parts of CUDA that are missing, or of another version
            return f"its packages cannot be loaded ({first_line(error)}; {EXTRA} brings them)"
        try:
            count = runtime.getDeviceCount()
        except Exception as error:  # the driver's own words differ by version
            return (
                _hidden()
                or _too_old(runtime, error)
                or (f"there is no NVIDIA GPU or no driver for one ({first_line(error)})")
            )
        if count:
            return None
        return (
            _hidden()
            or "there is no NVIDIA GPU (nvidia-smi -L lists GPUs, and MIG slices if there are any)"
        )

    def describe(self) -> dict[str, str]:
        """Return the name of the GPU."""
        from polyaurn.backends.gpu.toolkit import device_name

        return {"gpu": device_name()}

    def failures(self, remedy: str = "") -> AbstractContextManager[None]:
        """Turn failures of the GPU inside a with block into `DeviceError`."""
        return failures_named(remedy)

    def new_documents(self) -> NewDocuments:
        """Return the module for documents that are not part of a chain."""
        from polyaurn.backends.gpu import new_documents

        return new_documents


def _hidden() -> str | None:
    """Return a clause if the environment hides every GPU."""
    visible = os.environ.get(VISIBLE)
    if visible is None or visible.strip() not in ("", "-1", "NoDevFiles"):
        return None
    return f"the environment variable {VISIBLE} is {visible!r}, which hides every GPU; unset it"


def _too_old(runtime: Any, error: Exception) -> str | None:
    """Return a clause if there is a driver, but one older than CUDA's packages need."""
    if "insufficient" not in str(error).lower():
        return None
    try:
        driver, needed = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    except Exception:  # nothing is known of it then
        return None
    if not 0 < driver < needed:
        return None
    return (
        f"its driver is too old: it supports CUDA {_version(driver)}, and the packages are for "
        f"CUDA {_version(needed)} (update the driver, or pip install 'polyaurn[gpu-cuda12]')"
    )


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
