"""Which device a chain runs on: the parameter, checked, without loading anything of a GPU's."""

import warnings
from importlib.util import find_spec
from typing import Any

from polyaurn.backends.registry import DEFAULT_SAMPLER, GPU_SAMPLERS
from polyaurn.base.errors import DeviceWarning, InputError, first_line

DEVICES = ("cpu", "gpu", "auto")
EXTRA = "pip install 'polyaurn[gpu]'"


def check_device(
    device: Any, sampler: str = DEFAULT_SAMPLER, name: str = "device", *, stacklevel: int = 3
) -> str:
    """Return "cpu" or "gpu", or refuse.

    Parameters
    ----------
    device : {"cpu", "gpu", "auto"}
        What the user asks for. "auto" takes a GPU where there is one, and says so where there is
        none.
    sampler : str
        What shall run there.
    name : str
        The parameter's name, for the error message.
    stacklevel : int
        Of the warning: how far up the user's line is.

    Returns
    -------
    {"cpu", "gpu"}
        Where the chain runs.
    """
    if device not in DEVICES:
        raise InputError(
            f"The '{name}' parameter must be one of {', '.join(map(repr, DEVICES))}. "
            f"Got {device!r} instead."
        )
    if device == "cpu":
        return "cpu"
    lacking = missing_for_gpu()
    if lacking is None and sampler not in GPU_SAMPLERS:
        lacking = f"sampler {sampler!r} has no kernels for it ({', '.join(GPU_SAMPLERS)} have)"
    if lacking is None:
        return "gpu"
    if device == "auto":
        warnings.warn(f"Running on the CPU: {lacking}.", DeviceWarning, stacklevel=stacklevel)
        return "cpu"
    raise InputError(
        f"The '{name}' parameter is 'gpu', but {lacking}. Use 'cpu', or 'auto' to take a GPU only "
        "where there is one."
    )


def missing_for_gpu() -> str | None:
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
        return f"there is no NVIDIA GPU or no driver for one ({first_line(error)})"
    return None if count else "there is no NVIDIA GPU (nvidia-smi lists those there are)"
