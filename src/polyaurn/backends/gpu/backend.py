"""One NVIDIA GPU as a backend; nothing of CUDA is loaded before it is needed."""

from contextlib import AbstractContextManager
from importlib.util import find_spec

from polyaurn.backends.backend import NewDocuments
from polyaurn.backends.gpu.failures import failures_named
from polyaurn.base.errors import first_line

EXTRA = "pip install 'polyaurn[gpu]'"


class GPU:
    """Kernels on one GPU, with the CPU's bytes; topics and counts are changed in place."""

    name = "gpu"
    in_place = True
    on_threads = False
    holds_phi = False

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
            return f"there is no NVIDIA GPU or no driver for one ({first_line(error)})"
        return None if count else "there is no NVIDIA GPU (nvidia-smi lists those there are)"

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
