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
        x = int(thread.threadIdx.x)
        name = (id(thread._manager), tuple(thread.blockIdx), x // LANES)
        with self.lock:
            if name not in self.places:
                self.places[name] = (threading.Barrier(LANES), [None] * LANES)
            barrier, values = self.places[name]
        values[x % LANES] = value
        barrier.wait(60)
        seen = list(values)
        barrier.wait(60)
        return x % LANES, seen


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


def main() -> None:
    """Compare what the kernels draw with what the CPU's do."""
    import warnings

    warnings.simplefilter("ignore")
    install()
    compare_new_documents()
    compare_sweeps()


def compare_new_documents() -> None:
    """Compare mixtures and left-to-right scores."""
    import scipy.sparse as sp

    from polyaurn import TopicModel
    from polyaurn.evaluate.held_out import score_documents
    from polyaurn.inference import freeze, mean_counts
    from polyaurn.state import make_priors
    from polyaurn.workers import Workers

    rng = np.random.default_rng(2)
    one = Workers(1)
    for K, V, lengths in ((3, 5, [0, 1, 3]), (70, 4, [3])):
        n = sp.csr_matrix(rng.poisson(0.8, (K, V)).astype(np.int32))
        priors = make_priors(rng.random(K) / K + 0.01, rng.random(V) + 0.05, K, V)
        none = sp.csr_matrix((0, K), dtype=np.int32)
        vocab = tuple(f"w{v}" for v in range(V))
        model = TopicModel(n, none, np.empty(0, np.uint16), vocab, (), priors)
        word = rng.integers(0, V, sum(lengths))
        nothing = np.zeros(len(lengths), np.int64)
        known = freeze(np.cumsum([0, *lengths]), word, nothing, [""] * len(lengths))
        found = [
            (
                mean_counts(model, known, burn_in=1, kept=2, workers=one, device=device),
                score_documents(model, known, 2, 0, one, device),
            )
            for device in ("cpu", "gpu")
        ]
        (cpu, scores), (gpu, same_scores) = found
        for name in ("data", "indices", "indptr"):
            assert getattr(cpu, name).tobytes() == getattr(gpu, name).tobytes(), (name, cpu, gpu)
        for one_way, other in zip(scores, same_scores, strict=True):
            assert one_way.tobytes() == other.tobytes(), (scores, same_scores)
        print(f"new documents, K = {K}: {len(word)} tokens, the same bytes", flush=True)


def compare_sweeps() -> None:
    """Compare a few sweeps."""
    from polyaurn.corpus import Corpus
    from polyaurn.kernels import load_kernels
    from polyaurn.sampler import sweep
    from polyaurn.state import State, make_priors, on_host, phi_matrix
    from polyaurn.workers import Workers

    rng = np.random.default_rng(0)
    matrix = rng.poisson(0.5, (5, 9))
    matrix[:, 0] = 1
    matrix[0, 1] = 2_100  # a document too long for a list
    one = Workers(1)
    for sampler, K, long in (("polya-urn", 3, 0), ("polya-urn", 300, 0),
                             ("partially-collapsed", 3, 0), ("polya-urn", 3, 1)):  # fmt: skip
        corpus = Corpus.from_matrix(matrix[:1] if long else matrix[1:])
        states = []
        for device in ("cpu", "gpu"):
            kernels = load_kernels(sampler, device=device)
            layout = kernels.make_layout(corpus, K, one)
            z = kernels.start(layout, 1)
            state = State(z, kernels.count(layout, z, one), 0)
            for _ in range(1 if long else 2):
                priors = make_priors(rng.random(K) * 0 + 0.3, 0.05, K, corpus.n_words)
                state, cost = sweep(layout, state, priors, kernels, 1, one)
            states.append((on_host(state), cost.work))
        (cpu, work), (gpu, same_work) = states
        assert cpu.z.tobytes() == gpu.z.tobytes(), (sampler, K, cpu.z, gpu.z)
        assert cpu.counts.number.tobytes() == gpu.counts.number.tobytes()
        assert (phi_matrix(cpu.phi, K) != phi_matrix(gpu.phi, K)).nnz == 0
        assert work == same_work
        print(f"{sampler}, K = {K}: {corpus.n_tokens} tokens, the same bytes", flush=True)


if __name__ == "__main__":
    main()
