"""A GPU made of the computer's memory: the CPU's steps behind a device's behaviour.

Topics are changed in place, states are void once the next sweep has begun to change them, and
nothing is copied unless somebody asks. It can be made to fail.
"""

import json
import signal
from functools import partial

import numpy as np

from polyaurn import LDA
from polyaurn.backends.gpu.failures import failures_named, guarded
from polyaurn.backends.registry import load_steps
from polyaurn.base.errors import InputError
from polyaurn.chain.steps import LDASteps
from polyaurn.files.names import CONFIG, TIMINGS
from polyaurn.model.folder import TIMED


def error_of(module, name, base=Exception):
    """Return a class of errors that looks as if it came from another package."""
    return type(name, (base,), {"__module__": module})


OUT_OF_MEMORY = error_of("cupy.cuda.memory", "OutOfMemoryError", MemoryError)
RUNTIME = error_of("cupy_backends.cuda.api.runtime", "CUDARuntimeError", RuntimeError)
DRIVER = error_of("numba.cuda.cudadrv.driver", "CudaAPIError")


class Device:
    """A layout, and what the device holds."""

    def __init__(self, gpu, corpus, inner):
        self.gpu, self.corpus, self.inner = gpu, corpus, inner
        self.version, self.z, self.n = 0, None, None

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Held:
    def __init__(self, layout):
        self.layout, self.version = layout, layout.version

    def copied(self, what, array):
        if self.version != self.layout.version:
            raise InputError("This state is no longer on the GPU.")
        with failures_named():
            self.layout.gpu.meet("copy", what)
        self.layout.gpu.copies.append(what)
        return array


class Topics(Held):
    def __len__(self):
        return len(self.layout.z)

    def on_host(self):
        return self.copied("z", self.layout.z.copy())

    def __array__(self, dtype=None, copy=None):
        return self.on_host()


class Counted(Held):
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
    """A device; `faults` says what happens at which step and sweep."""

    def __init__(self):
        self.faults, self.copies, self.armed = {}, [], True
        self.loss, self.lost = (None, None), False  # where it fails for good, with which error
        self.free = None  # bytes of its memory; None where it no longer answers

    def load(self, sampler, backend="cpu"):
        """Stand in for `polyaurn.backends.registry.load_steps`."""
        made = load_steps(sampler)
        return made if backend == "cpu" else partial(FakeSteps, self, made)

    def unused_bytes(self):
        if self.free is None:
            raise RUNTIME("the device has gone")
        return self.free

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


class FakeSteps(LDASteps):
    """A sampler's steps on the fake."""

    def __init__(self, gpu, made, corpus, n_topics, workers=None, **options):
        super().__init__(corpus, **options)
        gpu.armed = corpus.n_tokens > 10 and corpus.n_words > 2  # warming up succeeds
        self.gpu, self.cpu = gpu, made(corpus, n_topics)
        self.layout = Device(gpu, corpus, self.cpu.layout)

    @guarded
    def start(self, seed, blocks=None):
        self.layout.version += 1
        self.layout.z = self.cpu.start(seed, blocks).copy()
        return Topics(self.layout)

    @guarded
    def count(self, z):
        if not isinstance(z, Topics):
            self.layout.z = np.array(z)
        self.layout.version += 1
        self.layout.n = self.cpu.count(self.layout.z)
        if isinstance(z, Topics):
            z.version = self.layout.version
        return Counted(self.layout)

    def document_histogram(self, z):
        return self.cpu.document_histogram(z)

    def count_blocks(self, z, counts, blocks):
        return counts

    def replace_counts(self, counts, old, new):
        return new

    @guarded
    def draw_phi(self, counts, priors, address):
        self.gpu.meet("draw_phi", address.moment)
        return Drawn(self.cpu.draw_phi(counts.n, priors, address))

    @guarded
    def enter(self, z, phi, address, blocks):
        self.layout.version += 1
        return self._changed(self.cpu.enter(self.layout.z, phi.phi, address, blocks))

    @guarded
    def draw_z(self, z, phi, priors, address, blocks=None, into=None):
        self.layout.version += 1
        new, _, work = self.cpu.draw_z(self.layout.z, phi.phi, priors, address, blocks)
        half = len(new) // 2
        self.layout.z[:half] = new[:half]
        self.gpu.meet("draw_z", address.moment)
        return self._changed(new), Counted(self.layout), work

    def _changed(self, new):
        self.layout.z[:] = new
        self.layout.n = self.cpu.count(self.layout.z)
        self.layout.version += 1
        return Topics(self.layout)

    @guarded
    def log_posterior(self, state):
        self.gpu.meet("log_posterior", state.sweep)
        return self.cpu.log_posterior(state._replace(z=self.layout.z, counts=self.layout.n))


def installed(monkeypatch):
    """Return a fake that chains find in place of a GPU."""
    fake = FakeGPU()
    monkeypatch.setattr("polyaurn.training.sweeps.load_steps", fake.load)
    monkeypatch.setattr("polyaurn.backends.gpu.backend.GPU.missing", lambda self: None)
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.device_name", lambda: "a fake")
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.unused_bytes", fake.unused_bytes)
    return fake


# Runs on it


def lda(device="cpu", folder=None, **options):
    given = {"n_components": 4, "max_iter": 20, "evaluate_every": 3, "random_state": 7}
    given |= {"sampler": "polya-urn"} | options  # "auto" takes another one on the CPU
    return LDA(**given, device=device, checkpoint=folder, verbose=False, n_jobs=1)


def summary(model):
    """Return all that a run gives, but for how long it took."""
    trace = [{k: v for k, v in record.items() if k not in TIMED} for record in model.trace]
    counts = model.topic_word_counts
    arrays = model.assignments, counts.data, counts.indices, *model.priors[:2]
    return [a.tobytes() for a in arrays], trace, json.dumps(model.parameters)


def stop_at(sweep):
    return lambda state, info: info.sweep == sweep


def train(run, texts, *options):
    return run("train", texts, "-k", 2, "--sweeps", 12, "-t", 1, "--sampler", "polya-urn", *options)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in (TIMINGS, CONFIG)}
