"""What GPU kernels draw in numba's simulator, compared with what the CPU's draw.

`gpu_simulator.py` teaches the simulator what it lacks, and runs this.
"""

import math
import os
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn import TopicModel
from polyaurn.backends import variates as plain
from polyaurn.backends.cpu import layout as cpu_layout
from polyaurn.backends.gpu import buckets, layout, steps
from polyaurn.backends.gpu import variates as chance
from polyaurn.backends.gpu.toolkit import cuda
from polyaurn.backends.registry import load_steps
from polyaurn.base.rng import Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import _score, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.schedule import Plan
from polyaurn.chain.state import WHOLE, State, on_host
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.known_words import freeze
from polyaurn.evaluate.held_out import score_documents
from polyaurn.model.inference import mean_counts


class Case(NamedTuple):
    """A chain to compare."""

    sampler: str = "polya-urn"
    K: int = 3  # more than 8 are packed
    alpha: float = 0.3  # large ones let topics enter documents
    beta: float = 0.05  # small ones leave topics empty
    longest: int = 2_048  # tokens of a document that has a list
    plans: tuple[Plan, ...] = (Plan(),)
    pseudo: int = 0  # tokens of the first word that the second topic has beforehand
    tight: bool = False  # documents begin with one topic, and find no room for many more
    memory: int = 0  # bytes of the device, where the corpus shall not fit


CASES = (
    Case(plans=(Plan(), Plan(WHOLE, 2))),
    Case(K=40, alpha=0.02, beta=2.0, longest=6),
    Case(K=40, plans=(Plan(16), Plan(WHOLE))),
    Case(K=40, alpha=3.0, beta=2.0, tight=True),
    Case("partially-collapsed", longest=6, pseudo=3, memory=160),
    Case("partially-collapsed", K=12, beta=1e-5),  # gammas too small to write down
)


def main() -> None:
    """Compare all there is."""
    warnings.simplefilter("ignore")
    compare_chance()
    compare_new_documents()
    compare_sweeps()


def compare_sweeps() -> None:
    """Compare chains on a few tokens, of every kind that kernels are made for."""
    cpu_layout.LEAST_SHARED = 0  # documents may join one after another
    layout.DENSE_TOPICS, layout._RESERVE, layout._LEAST_CHUNK = 8, 0, 4
    buckets.lanes_for = lambda longest, n_topics: 2
    layout.Layout._model_bytes = lambda self, full: 0
    corpus = Corpus.from_matrix(
        [[2, 1, 0, 3, 1, 0], [0] * 6, [1, 0, 0, 1, 0, 5], [2] * 3 + [0] * 3]
    )
    for case in CASES:
        os.environ["POLYAURN_GPU_MEMORY"] = str(case.memory or 1 << 30)
        buckets.LONGEST, buckets.EDGES = case.longest, (case.longest,)
        launches = []
        steps.shape_for = partial(_tight, launches) if case.tight else buckets.shape_for
        for cpu, gpu in zip(_run("cpu", case, corpus), _run("gpu", case, corpus), strict=True):
            assert cpu[:-1] == gpu[:-1], case
            assert math.isclose(cpu[-1], gpu[-1], rel_tol=1e-12), case
        assert (buckets.LONGEST in launches) == case.tight
        print(f"{case.sampler}, K = {case.K}: {corpus.n_tokens} tokens, the same bytes", flush=True)


def _run(device, case, corpus):
    """Yield what must be the same after each sweep, and the log posterior."""
    kernels, one, share = load_steps(case.sampler, device=device), Workers(1), case.plans[0].share
    layout = kernels.make_layout(corpus, case.K, one)
    assert getattr(layout, "streams", False) == (device == "gpu" and case.memory > 0)
    pseudo = np.zeros((case.K, corpus.n_words))
    pseudo[1, 0] = case.pseudo
    priors = make_priors(
        case.alpha, case.beta, case.K, corpus.n_words, pseudo=pseudo if case.pseudo else None
    )
    blocks = None if share == WHOLE else np.flatnonzero(layout.share <= share)
    z = np.zeros(corpus.n_tokens, np.uint16) if case.tight else kernels.start(layout, 1, blocks)
    state = State(z, kernels.count(layout, z, one), 0, share=share)
    for plan in case.plans:
        state, cost = sweep(layout, state, priors, kernels, 1, one, plan)
        score = _score(corpus, layout, state, priors, kernels, one) if plan.share == WHOLE else 0.0
        here = on_host(state)
        arrays = (here.z, here.counts.number, *_columns(here.phi))
        yield *(array.tobytes() for array in arrays), cost.work, score


def _tight(launches, n_listed, longest, log_lanes, n_topics, dense):
    """Stand in for `shape_for`: room for the topics that are there, and a place more."""
    launches.append(n_listed)
    entries = min(n_listed, longest, n_topics)
    return buckets.Shape(-(-entries // (1 << log_lanes)) + 1, 4 if dense else 5, 32)


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


def compare_new_documents() -> None:
    """Compare mixtures and left-to-right scores."""
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


def compare_chance() -> None:
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
    kernel[2, 32](rate, a, b, out)
    expected = np.array([draw(x, i, a, b, plain) for i, x in enumerate(rate)], np.float64)
    assert out.tobytes() == expected.tobytes(), np.argwhere(out != expected)
    print(f"chance: {out.size} draws, the same bytes", flush=True)
