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

from polyaurn.gpu.toolkit import cuda

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


CASES = (  # sampler, topics, tokens of the longest document that has a list, sweeps
    ("polya-urn", 3, 2_048, 2),
    ("polya-urn", 40, 2_048, 1),
    ("polya-urn", 3, 5, 1),
    ("polya-urn", 40, 5, 1),
    ("partially-collapsed", 3, 2_048, 1),
)


def main() -> None:
    """Compare a sweep or two with the CPU's, on a few tokens."""
    import warnings

    warnings.simplefilter("ignore")
    install()
    from polyaurn.corpus import Corpus
    from polyaurn.gpu import buckets, layout

    _compare_chance()
    layout.DENSE_TOPICS = 8  # beyond, rows are bitmaps
    corpus = Corpus.from_matrix([[2, 1, 0, 3, 1, 0], [0, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 9]])
    for sampler, K, longest, sweeps in CASES:
        buckets.LONGEST, buckets.EDGES = longest, (longest,)
        found = [_run(device, sampler, K, corpus, sweeps) for device in ("cpu", "gpu")]
        (cpu, work), (gpu, same_work) = found
        assert cpu.z.tobytes() == gpu.z.tobytes(), (sampler, K, cpu.z, gpu.z)
        assert cpu.counts.number.tobytes() == gpu.counts.number.tobytes()
        for name in ("topic", "weight", "exponent", "prior", "sigma_a"):
            assert _columns(cpu.phi, name) == _columns(gpu.phi, name), (sampler, K, name)
        assert work == same_work
        print(f"{sampler}, K = {K}: {corpus.n_tokens} tokens, the same bytes", flush=True)


def _compare_chance():
    """Compare what is drawn from addresses, for rates on both sides of every seam."""
    from polyaurn.gpu import chance
    from polyaurn.kernels import chance as plain
    from polyaurn.rng import Purpose, key

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


def _run(device, sampler, K, corpus, sweeps):
    from polyaurn.kernels import load_kernels
    from polyaurn.sampler import sweep
    from polyaurn.state import State, make_priors, on_host
    from polyaurn.workers import Workers

    kernels, one = load_kernels(sampler, device=device), Workers(1)
    layout = kernels.make_layout(corpus, K, one)
    priors = make_priors(0.3, 0.05, K, corpus.n_words)
    z = kernels.start(layout, 1)
    state = State(z, kernels.count(layout, z, one), 0)
    for _ in range(sweeps):
        state, cost = sweep(layout, state, priors, kernels, 1, one)
    return on_host(state), cost.work


def _columns(phi, name):
    """Return an array of Phi as bytes, without room between columns."""
    array = getattr(phi, name)
    if name in ("exponent", "sigma_a"):
        return array.tobytes()
    return b"".join(array[a:b].tobytes() for a, b in zip(phi.first, phi.last, strict=True))


if __name__ == "__main__":
    main()
