"""What numba's CUDA simulator lacks: exchanges between the lanes of a warp, and libdevice.

Run as a program it draws a few sweeps with the real kernels, thread by thread, and compares them
with the CPU's: ``NUMBA_ENABLE_CUDASIM=1 python tests/gpu_simulator.py``.
"""

import math
import os
import threading
from types import SimpleNamespace

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from numba.cuda.simulator import kernelapi

LANES = 32


class _Warps:
    """A meeting place for each warp of the block that is running."""

    def __init__(self):
        self.lock = threading.Lock()
        self.places = {}

    def exchange(self, value):
        """Return this thread's lane, and the values of all lanes of its warp."""
        thread = threading.current_thread()
        lane = int(thread.threadIdx.x) % LANES
        place = getattr(thread, "warp", None) or self._place_of(thread)
        thread.met = not getattr(thread, "met", False)  # two boards: the next may be written early
        values = place[1][thread.met]
        values[lane] = value
        place[0].wait(60)
        return lane, values

    def _place_of(self, thread):
        name = (id(thread._manager), tuple(thread.blockIdx), int(thread.threadIdx.x) // LANES)
        with self.lock:
            if name not in self.places:
                self.places[name] = threading.Barrier(LANES), ([None] * LANES, [None] * LANES)
            thread.warp = self.places[name]
        return thread.warp


_WARPS = _Warps()


def _shfl_sync(self, mask, value, source):
    return _WARPS.exchange(value)[1][int(source) % LANES]


def _shfl_up_sync(self, mask, value, step):
    lane, seen = _WARPS.exchange(value)
    return seen[lane - int(step)] if lane >= int(step) else value


def _shfl_xor_sync(self, mask, value, bits):
    lane, seen = _WARPS.exchange(value)
    return seen[lane ^ int(bits)]


def _ballot_sync(self, mask, yes):
    return sum(1 << lane for lane, vote in enumerate(_WARPS.exchange(bool(yes))[1]) if vote)


def _syncwarp(self, mask=None):
    _WARPS.exchange(None)


def _clz(self, x):
    return LANES - (int(x) & 0xFFFFFFFF).bit_length()


_LIBDEVICE = SimpleNamespace(
    dmul_rn=lambda x, y: np.float64(x) * np.float64(y),
    dadd_rn=lambda x, y: np.float64(x) + np.float64(y),
    ddiv_rn=lambda x, y: np.float64(x) / np.float64(y),
    dsqrt_rn=lambda x: np.float64(math.sqrt(x)),
    rint=lambda x: np.float64(np.rint(x)),
    floor=lambda x: np.float64(math.floor(x)),
    double_as_longlong=lambda x: np.float64(x).view(np.int64),
    longlong_as_double=lambda x: np.int64(x).view(np.float64),
)


def install() -> None:
    """Teach the simulator."""
    module = kernelapi.FakeCUDAModule
    for function in (_shfl_sync, _shfl_up_sync, _shfl_xor_sync, _ballot_sync, _syncwarp, _clz):
        setattr(module, function.__name__.lstrip("_"), function)
    module.libdevice = _LIBDEVICE


if __name__ == "__main__":
    import gpu_compare

    install()
    gpu_compare.main()
