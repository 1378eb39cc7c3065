"""What numba's CUDA simulator lacks: exchanges between the lanes of a warp, and libdevice.

Run as a program it draws a few sweeps with the real kernels, thread by thread, and compares them
with the CPU's: ``NUMBA_ENABLE_CUDASIM=1 python tests/gpu_simulator.py``.
"""

import math
import os
import threading
import warnings
from types import SimpleNamespace
from typing import NamedTuple

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from numba.cuda.simulator import kernelapi

from polyaurn.corpus import Corpus
from polyaurn.gpu import buckets, chance, layout
from polyaurn.gpu.toolkit import cuda
from polyaurn.kernels import chance as plain
from polyaurn.kernels import layout as cpu_layout
from polyaurn.kernels import load_kernels
from polyaurn.rng import Purpose, key
from polyaurn.sampler import _score, sweep
from polyaurn.schedule import Plan
from polyaurn.state import WHOLE, State, make_priors, on_host
from polyaurn.workers import Workers

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


class Case(NamedTuple):
    """A chain to compare."""

    sampler: str = "polya-urn"
    K: int = 3  # more than 8 are packed
    alpha: float = 0.3  # large ones let topics enter documents
    beta: float = 0.05  # small ones leave topics empty
    longest: int = 2_048  # tokens of a document that has a list
    plans: tuple[Plan, ...] = (Plan(),)
    pseudo: int = 0  # tokens of the first word that the second topic has beforehand
    memory: int = 0  # bytes of the device, where the corpus shall not fit


CASES = (
    Case(plans=(Plan(), Plan(WHOLE, 2))),
    Case(K=40, alpha=0.02, beta=2.0, longest=6),
    Case(K=40, plans=(Plan(16), Plan(WHOLE))),
    Case("partially-collapsed", longest=6, pseudo=3, memory=160),
    Case("partially-collapsed", K=12, beta=1e-5),  # gammas too small to write down
)


def main() -> None:
    """Compare chains with the CPU's, on a few tokens."""
    warnings.simplefilter("ignore")
    install()
    _compare_chance()
    cpu_layout.LEAST_SHARED = 0  # documents may join one after another
    layout.DENSE_TOPICS, layout._RESERVE, layout._LEAST_CHUNK = 8, 0, 4
    layout.Layout._model_bytes = lambda self, full: 0
    corpus = Corpus.from_matrix(
        [[2, 1, 0, 3, 1, 0], [0] * 6, [1, 0, 0, 1, 0, 5], [2] * 3 + [0] * 3]
    )
    for case in CASES:
        os.environ["POLYAURN_GPU_MEMORY"] = str(case.memory or 1 << 30)
        buckets.LONGEST, buckets.EDGES = case.longest, (case.longest,)
        for cpu, gpu in zip(_run("cpu", case, corpus), _run("gpu", case, corpus), strict=True):
            assert cpu[:-1] == gpu[:-1], case
            assert math.isclose(cpu[-1], gpu[-1], rel_tol=1e-12), case
        print(f"{case.sampler}, K = {case.K}: {corpus.n_tokens} tokens, the same bytes", flush=True)


def _run(device, case, corpus):
    """Yield what must be the same after each sweep, and the log posterior."""
    kernels, one, share = load_kernels(case.sampler, device=device), Workers(1), case.plans[0].share
    layout = kernels.make_layout(corpus, case.K, one)
    assert getattr(layout, "streams", False) == (device == "gpu" and case.memory > 0)
    pseudo = np.zeros((case.K, corpus.n_words))
    pseudo[1, 0] = case.pseudo
    priors = make_priors(
        case.alpha, case.beta, case.K, corpus.n_words, pseudo=pseudo if case.pseudo else None
    )
    blocks = None if share == WHOLE else np.flatnonzero(layout.share <= share)
    z = kernels.start(layout, 1, blocks)
    state = State(z, kernels.count(layout, z, one), 0, share=share)
    for plan in case.plans:
        state, cost = sweep(layout, state, priors, kernels, 1, one, plan)
        score = _score(corpus, layout, state, priors, kernels, one) if plan.share == WHOLE else 0.0
        here = on_host(state)
        arrays = (here.z, here.counts.number, *_columns(here.phi))
        yield *(array.tobytes() for array in arrays), cost.work, score


def _columns(phi):
    """Return what topics are drawn given, without room between columns."""
    inside = [np.arange(a, b) for a, b in zip(phi.first, phi.last, strict=True)]
    cells = np.concatenate(inside)
    return (
        np.array([len(column) for column in inside]),
        *(array[cells] for array in (phi.topic, phi.weight, phi.prior)),
        phi.exponent,
        phi.sigma_a,
    )


def _compare_chance():
    """Compare what is drawn from addresses, for rates on both sides of every seam."""
    names = ("rounded_gaussian", "poisson_rate", "poisson_positive")

    def draw(rate, i, a, b, of):
        r = np.uint64(of.bits(a, b, i))
        counts = [getattr(of, name)(rate, r) for name in names]
        shapes = of.log_of(rate), of.exp_of(-rate), of.normal(of.open_unit(r))
        return (*counts, *shapes, of.normal(of.unit(r) * 1e-12), of.log_gamma_draw(rate, a, b, i))

    @cuda.jit
    def kernel(rate, a, b, out):
        i = cuda.grid(1)
        out[i] = draw(rate[i], i, a, b, chance)

    rate = np.repeat(10.0 ** np.linspace(-6, 3, 32), 2)
    a, b = key(1, 0, Purpose.CELL)
    out = np.empty((len(rate), 8))
    kernel[2, LANES](rate, a, b, out)
    expected = np.array([draw(x, i, a, b, plain) for i, x in enumerate(rate)], np.float64)
    assert out.tobytes() == expected.tobytes(), np.argwhere(out != expected)
    print(f"chance: {out.size} draws, the same bytes", flush=True)


if __name__ == "__main__":
    main()
