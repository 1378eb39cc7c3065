"""A GPU that is the computer's memory: the CPU's kernels, with the behaviour of a device.

Topics are changed in place, states are void once the next sweep has begun to change them, and
nothing is copied unless it is requested. It can be made to fail.
"""

import signal

import numpy as np

from polyaurn.backends.registry import KernelSet, load_kernels
from polyaurn.base.errors import InputError
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, State
from polyaurn.evaluate.diagnostics import log_posterior

ONE = Workers(1)


def error_of(module, name, base=Exception):
    """Return a class of errors that looks as if it came from another package."""
    return type(name, (base,), {"__module__": module})


OUT_OF_MEMORY = error_of("cupy.cuda.memory", "OutOfMemoryError", MemoryError)
RUNTIME = error_of("cupy_backends.cuda.api.runtime", "CUDARuntimeError", RuntimeError)
DRIVER = error_of("numba.cuda.cudadrv.driver", "CudaAPIError")


class Device:
    """A layout, and what is on the device."""

    def __init__(self, gpu, corpus, inner):
        self.gpu, self.corpus, self.inner = gpu, corpus, inner
        self.version, self.z, self.n = 0, None, None

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Ticket:
    def __init__(self, layout):
        self.layout, self.version = layout, layout.version

    def copied(self, what, array):
        if self.version != self.layout.version:
            raise InputError("This state is no longer on the GPU.")
        self.layout.gpu.meet("copy", what)
        self.layout.gpu.copies.append(what)
        return array


class Topics(Ticket):
    def __len__(self):
        return len(self.layout.z)

    def on_host(self):
        return self.copied("z", self.layout.z.copy())

    def __array__(self, dtype=None, copy=None):
        return self.on_host()


class Counted(Ticket):
    def __init__(self, layout, n=None):
        super().__init__(layout)
        self.n = n or layout.n

    def on_host(self):
        return self.copied("counts", self.n)


class Drawn:
    def __init__(self, phi):
        self.phi, self.nonzeros = phi, phi.nonzeros

    def on_host(self):
        return self.phi


class FakeGPU:
    """Hand out kernels; `faults` says what happens at which step and sweep."""

    def __init__(self):
        self.faults, self.copies, self.armed = {}, [], True
        self.loss, self.lost = (None, None), False  # where it goes for good, with which error

    def load(self, sampler, *, mh_steps=None, device="cpu"):
        """Stand in for `polyaurn.backends.registry.load_kernels`."""
        if device == "cpu":
            return load_kernels(sampler, mh_steps=mh_steps)
        self.cpu = load_kernels(sampler)
        steps = {name: getattr(self, name) for name in KernelSet._fields}
        return KernelSet(**steps)

    def meet(self, step, sweep):
        """Fail where this was planned, and from then on where the device is lost."""
        place, error = self.loss
        self.lost |= self.armed and place == (step, sweep)
        if self.lost:
            raise error
        fault = self.faults.get((step, sweep)) if self.armed else None
        if isinstance(fault, Exception):
            raise fault
        for _ in range(fault or 0):
            signal.raise_signal(signal.SIGINT)

    def make_layout(self, corpus, n_topics, workers=None):
        self.armed = corpus.n_tokens > 10  # warming up goes well
        return Device(self, corpus, self.cpu.make_layout(corpus, n_topics, ONE))

    def start(self, layout, seed, blocks=None):
        layout.version += 1
        layout.z = self.cpu.start(layout.inner, seed, blocks).copy()
        return Topics(layout)

    def count(self, layout, z, workers=None):
        if not isinstance(z, Topics):
            layout.z = np.array(z)
        layout.version += 1
        layout.n = self.cpu.count(layout.inner, layout.z, ONE)
        return Counted(layout)

    def count_blocks(self, layout, z, counts, blocks, workers=None):
        return counts

    def replace_counts(self, layout, counts, old, new, workers=None):
        if not isinstance(new, Counts):
            return new
        return Counted(layout, self.cpu.replace_counts(layout.inner, counts.n, old, new, ONE))

    def draw_phi(self, layout, counts, priors, seed, sweep, workers=None):
        self.meet("draw_phi", sweep)
        return Drawn(self.cpu.draw_phi(layout.inner, counts.n, priors, seed, sweep, ONE))

    def enter(self, layout, z, phi, seed, sweep, workers, blocks):
        new = self.cpu.enter(layout.inner, layout.z, phi.phi, seed, sweep, ONE, blocks)
        return self._changed(layout, new)

    def draw_z(self, layout, z, phi, priors, seed, sweep, workers=None, blocks=None, into=None):
        new, _, work = self.cpu.draw_z(
            layout.inner, layout.z, phi.phi, priors, seed, sweep, ONE, blocks
        )
        half = len(new) // 2
        layout.z[:half] = new[:half]
        self.meet("draw_z", sweep)
        drawn = self._changed(layout, new)
        return drawn, Counted(layout), work

    def _changed(self, layout, new):
        layout.z[:] = new
        layout.n = self.cpu.count(layout.inner, layout.z, ONE)
        layout.version += 1
        return Topics(layout)

    def log_posterior(self, layout, state, priors):
        self.meet("log_posterior", state.sweep)
        return log_posterior(layout.corpus, State(layout.z, layout.n, state.sweep), priors)


def installed(monkeypatch):
    """Return a fake that chains find in place of a GPU."""
    fake = FakeGPU()
    monkeypatch.setattr("polyaurn.chain.loop.load_kernels", fake.load)
    monkeypatch.setattr("polyaurn.backends.devices.missing_for_gpu", lambda: None)
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.device_name", lambda: "a fake")
    return fake
