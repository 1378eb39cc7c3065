"""Numba's CUDA simulator with what it lacks: exchanges between the lanes of a warp, and libdevice.

Run as a program it compares the real kernels, run thread by thread, with the CPU's:
``python tests/support/gpu_simulator.py [CASE ...]`` (`gpu_compare.py` has the cases).

Numba starts all threads of a block and lets them compete. Here the lanes of a warp take turns, each
up to its next exchange, in an order that is reversed after every exchange: this is much faster, it
is the same each time, and a kernel that forgets to synchronise reads what is not yet written.
"""

import inspect
import math
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from numba.cuda.simulator import kernel as simulated
from numba.cuda.simulator import kernelapi

LANES = 32
VARIANTS = ("dense", "writes", "log_lanes", "resumes")  # what kernels are made for
launched: set[str] = set()  # kernels that have run


def variant(function) -> str:
    """Return the name of a kernel, and what it was made for."""
    made_for = inspect.getclosurevars(function).nonlocals
    known = [f"{name}={made_for[name]}" for name in VARIANTS if name in made_for]
    return " ".join([f"{function.__module__}.{function.__qualname__}", *known])


class Warp:
    """The lanes of a warp: one runs at a time, until it exchanges or returns."""

    def __init__(self):
        self.turn = [threading.Lock() for _ in range(LANES)]
        for lock in self.turn:
            lock.acquire()
        self.forward = True  # whether turns go from lane 0 to lane 31, or back
        self.values, self.next_values = [None] * LANES, [None] * LANES
        self.kind, self.arrived = None, 0
        self.error = None

    def run(self, kernel, arguments, block, thread):
        """Run a kernel in lanes that are the threads from `thread` on of a block."""
        lanes = [Lane(self, lane, kernel, arguments, block, thread + lane) for lane in range(LANES)]
        for lane in lanes:
            lane.start()
        self.turn[0].release()
        for lane in lanes:
            lane.join()
        if self.error is not None:
            raise self.error

    def exchange(self, kind, value):
        """Return this lane and the values of all, once all have come to the same exchange."""
        lane = threading.current_thread().lane
        values = self.values
        if self.kind is not None and self.kind != kind:
            raise AssertionError(f"lanes meet in {self.kind} and in {kind}")
        self.kind, values[lane] = kind, value
        self.arrived += 1
        self.next_turn(lane, wait=True)
        return lane, values

    def next_turn(self, lane, *, wait):
        """Let the next lane run; after the last one, the same lane begins the next round."""
        following = lane + 1 if self.forward else lane - 1
        if 0 <= following < LANES:
            self.turn[following].release()
            if wait:
                self.turn[lane].acquire()
        elif self.arrived in (0, LANES):
            self.forward, self.kind, self.arrived = not self.forward, None, 0
            self.values, self.next_values = self.next_values, self.values
        else:
            raise AssertionError("some lanes have returned while others exchange")
        if self.error is not None:
            raise self.error

    def fail(self, error):
        """Have all lanes end."""
        if self.error is None:
            self.error = error
            for lock in self.turn:
                if lock.locked():
                    lock.release()


class Lane(threading.Thread):
    """A thread of the GPU, with the attributes that the simulator asks for."""

    def __init__(self, warp, lane, kernel, arguments, block, thread):
        super().__init__(daemon=True)
        self.warp, self.lane, self.kernel, self.arguments = warp, lane, kernel, arguments
        self.blockIdx, self.threadIdx = kernelapi.Dim3(*block), kernelapi.Dim3(thread, 0, 0)

    def run(self):
        self.warp.turn[self.lane].acquire()
        try:
            if self.warp.error is None:
                self.kernel(*self.arguments)
                self.warp.next_turn(self.lane, wait=False)
        except Exception as error:
            self.warp.fail(error)


def _call(self, *arguments):
    """Stand in for numba's launch of a kernel, and for its call of a device function."""
    if self._device:
        return self.fn(*arguments)
    launched.add(variant(self.fn))
    fake = kernelapi.FakeCUDAModule(self.grid_dim, self.block_dim, self.dynshared_size)
    holders = [
        vars(module)
        for name, module in list(sys.modules.items())
        if name.startswith("polyaurn.backends.gpu.")
    ]
    holders = [names for names in (*holders, self.fn.__globals__) if "cuda" in names]
    before = [names["cuda"] for names in holders]
    for names in holders:
        names["cuda"] = fake
    try:
        for block in np.ndindex(*self.grid_dim):
            for thread in range(0, self.block_dim[0], LANES):
                Warp().run(self.fn, arguments, block, thread)
    finally:
        for names, cuda in zip(holders, before, strict=True):
            names["cuda"] = cuda
    return None


def _exchange(kind, value):
    return threading.current_thread().warp.exchange(kind, value)


def _shfl_sync(self, mask, value, source):
    return _exchange("shfl_sync", value)[1][int(source) % LANES]


def _shfl_up_sync(self, mask, value, step):
    lane, seen = _exchange("shfl_up_sync", value)
    return seen[lane - int(step)] if lane >= int(step) else value


def _shfl_xor_sync(self, mask, value, bits):
    lane, seen = _exchange("shfl_xor_sync", value)
    return seen[lane ^ int(bits)]


def _ballot_sync(self, mask, yes):
    _, seen = _exchange("ballot_sync", bool(yes))
    return sum(1 << lane for lane, vote in enumerate(seen) if vote)


def _syncwarp(self, mask=None):
    _exchange("syncwarp", None)


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
    """Put this into numba's simulator."""
    module = kernelapi.FakeCUDAModule
    for function in (_shfl_sync, _shfl_up_sync, _shfl_xor_sync, _ballot_sync, _syncwarp, _clz):
        setattr(module, function.__name__.lstrip("_"), function)
    module.libdevice = _LIBDEVICE
    simulated.FakeCUDAKernel.__call__ = _call


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from support import gpu_compare

    if hasattr(os, "sched_setaffinity"):  # one lane runs at a time: handing over is faster so
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})
    install()
    gpu_compare.main(sys.argv[1:], launched, variant)
