"""What GPU kernels draw in numba's simulator, compared with what the CPU's draw.

`gpu_simulator.py` gives the simulator what it lacks, and runs this.
"""

import math
import os
import sys
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import scipy.sparse as sp

from polyaurn import TopicModel
from polyaurn.backends import variates as on_cpu
from polyaurn.backends.cpu import layout as cpu_layout
from polyaurn.backends.cpu.columns import from_prior as search_prior
from polyaurn.backends.gpu import buckets, columns, layout, phi_steps, sizes, steps, z_short
from polyaurn.backends.gpu import variates as on_gpu
from polyaurn.backends.gpu.toolkit import cuda
from polyaurn.backends.registry import load_steps
from polyaurn.backends.tables import ball_sizes, logs
from polyaurn.base.rng import Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP, first_top
from polyaurn.chain.loop import sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import WHOLE, State, on_host, to_host
from polyaurn.chain.steps import Address
from polyaurn.corpus.known_words import freeze
from polyaurn.evaluate.held_out import score_documents
from polyaurn.model.inference import mean_counts
from support.gpu_cases import CASES, Case
from support.gpu_faults import FAULTS, planted
from support.gpu_kernels import KERNELS

ONE = Workers(1)
LARGEST = 1.0 - 2.0**-53  # of the uniforms


def main(names, launched, variant) -> None:
    """Compare everything, or what has these names; then every kernel must have run."""
    warnings.simplefilter("ignore")
    comparisons = {
        "variates": compare_variates,
        "new documents": compare_new_documents,
        "guide": compare_guide,
        **{f"chain: {name}": lambda case=case: compare_chain(case) for name, case in CASES.items()},
        **{f"fault: {name}": lambda name=name: see_fault(name) for name in FAULTS},
    }
    for name in names or [name for name in comparisons if not name.startswith("fault")]:
        begun = time.perf_counter()
        result = comparisons[name]()
        print(f"{name} ({time.perf_counter() - begun:.1f} s): {result}", flush=True)
    missing = {variant(kernel.py_func) for kernel, _ in KERNELS.values()} - launched
    if missing:
        message = f"These kernels did not run: {sorted(missing)}"
        print(message) if names else sys.exit(message)


def see_fault(name) -> str:
    """Return what a broken kernel's chain differs in; fail where it does not differ."""
    compare_chain(FAULTS[name].case)
    with planted(name) as case:
        try:
            compare_chain(case)
        except (AssertionError, IndexError) as error:
            return f"seen by an {type(error).__name__}"
    sys.exit(f"The fault {name!r} is not seen")


# Chains


def compare_chain(case) -> str:
    """Compare Phi, topics, counts, work, lists and log posterior after each sweep."""
    corpus = case.corpus()
    with _shaped(case) as watched:
        for cpu, gpu in zip(_run("cpu", case, corpus), _run("gpu", case, corpus), strict=True):
            assert cpu[:-1] == gpu[:-1], case
            assert math.isclose(cpu[-1], gpu[-1], rel_tol=1e-12), case
    assert watched.resumed == case.resumed, case
    assert not case.made_even or watched.made_even, case
    assert not (case.no_empty and watched.empty), case
    return "the same bytes"


class _Watched:
    """What happened to lists of topics, and whether a topic came out empty."""

    resumed = made_even = empty = False


@contextmanager
def _shaped(case):
    """Have kernels launched in a case's shape; yield what happens."""
    watched, store_list, from_host = _Watched(), z_short.store_list, phi_steps._from_host

    def shape_for(n_listed, longest, log_lanes, n_topics, dense):
        watched.resumed |= n_listed == sizes.LONGEST
        if case.spare is None or n_listed == sizes.LONGEST:
            shape = buckets.shape_for(n_listed, longest, log_lanes, n_topics, dense)
            return shape._replace(block=case.block)
        entries = max(1, min(n_listed + case.spare, longest, n_topics))
        batch = sizes.DENSE_AT_ONCE if dense else sizes.PACKED_AT_ONCE
        return buckets.Shape(-(-entries // (1 << log_lanes)) + 1, batch, case.block)

    def counted(*arguments):
        thread = threading.current_thread()
        watched.made_even |= getattr(thread, "stores", False)  # before it does so at the end
        thread.stores = True
        return store_list(*arguments)

    def seen(*arguments):
        watched.empty = True
        return from_host(*arguments)

    with ExitStack() as stack:
        for module, changes in (
            # documents may join one after another, and there are several ranges of words
            (cpu_layout, {"LEAST_SHARED": 0, "LEAST_WORK": 64}),
            (layout, {"DENSE_TOPICS": case.K if case.dense else 0, "_RESERVE": 0,
                      "_LEAST_CHUNK": 4}),
            (layout.Layout, {"_model_bytes": lambda self, full: 0}),
            (buckets, {"LONGEST": case.longest, "EDGES": (case.longest,),
                       "lanes_for": lambda longest, n_topics: case.log_lanes}),
            (steps, {"shape_for": shape_for}),
            (z_short, {"store_list": counted}),
            (phi_steps, {"_from_host": seen}),
        ):  # fmt: skip
            stack.enter_context(mock.patch.multiple(module, **changes))
        memory = {"POLYAURN_GPU_MEMORY": str(case.memory or 1 << 30)}
        stack.enter_context(mock.patch.dict(os.environ, memory))
        yield watched


def _run(device, case, corpus):
    """Yield what must be the same after each sweep, and the log posterior."""
    rules = HDP(start_topics=2) if case.hdp else None
    made = load_steps(case.sampler, device)(corpus, case.K, hdp=rules)
    share = case.plans[0].share
    layout = made.layout
    assert getattr(layout, "streams", False) == (device == "gpu" and case.memory > 0)
    priors = make_priors(case.alpha, case.beta, case.K, corpus.n_words, pseudo=case.pseudo_counts())
    if case.hdp:
        alpha, top = first_top(case.alpha, 1.0, case.K, 2)
        priors = priors._replace(alpha=alpha, top=top)
    blocks = None if share == WHOLE else np.flatnonzero(layout.share <= share)
    if case.topics == "random":
        z = made.start(1, blocks)
    else:
        z = case.first_topics(corpus.doc_ptr).astype(np.uint16)
    state = State(z, made.count(z), priors, share=share)
    for plan in case.plans:
        state, draw = sweep(state, made, plan, 1)
        score = made.log_posterior(state) if plan.share == WHOLE else 0.0
        here = on_host(state)
        if device == "gpu" and not layout.streams and b"all" in layout.listed:
            _check_lists(layout.chunks[0], corpus, here.z)
        arrays = (here.z, here.counts.number, here.counts.topic, *_columns(to_host(draw.phi)),
                  here.priors.alpha)  # fmt: skip
        yield *(array.tobytes() for array in arrays), draw.work, score


def _check_lists(chunk, corpus, z) -> None:
    """Check that lists have been updated to what would be listed again."""
    for d in range(corpus.n_documents):
        begin, end = corpus.doc_ptr[d : d + 2]
        if 0 < end - begin <= buckets.LONGEST:
            topic, number = np.unique(z[begin:end], return_counts=True)
            found = chunk.lists[begin : begin + chunk.listed[d]].astype(int)
            assert (found & sizes.TOPIC).tolist() == topic.tolist()
            assert (found // sizes.ONE).tolist() == number.tolist()


def _columns(phi):
    """Return what topics are drawn given, column after column."""
    inside = [np.arange(a, b) for a, b in zip(phi.first, phi.last, strict=True)]
    cells = np.concatenate(inside)
    return (
        np.array([len(column) for column in inside]),
        *(array[cells] for array in (phi.topic, phi.weight, phi.prior)),
        phi.exponent,
        phi.sigma_a,
    )


# The guide


@cuda.jit
def find(v, u, record, guide, prior, out):
    """Write what the guide finds for words and uniforms."""
    i = cuda.grid(1)
    if i < len(v):
        out[i] = columns.from_prior(v[i], u[i], record, guide, prior)


def compare_guide() -> str:
    """Compare topics that the guide finds with a search, near every edge; walks must be short."""
    n_found = 0
    for K in (2, 33, 100):
        ks = np.arange(K)
        for alpha in (0.1, 10.0 ** -(ks % 13), np.where(ks == K // 2, 1e3, 1e-9)):
            for dense in (True, False):
                case = Case(lengths=(60,), n_words=4, K=K, dense=dense, alpha=alpha)
                n_found += _compare_guide(case)
    return f"the same topics, {n_found} of them"


def _compare_guide(case) -> int:
    corpus, found = case.corpus(), []
    priors = make_priors(case.alpha, case.beta, case.K, corpus.n_words)
    with _shaped(case):
        for device in ("cpu", "gpu"):
            made = load_steps(case.sampler, device)(corpus, case.K)
            found.append(made.draw_phi(made.count(made.start(0)), priors, Address(0, 0)))
    cpu, gpu = found
    words, uniforms, expected = [], [], []
    for v in np.flatnonzero(cpu.last > cpu.first):
        start, length = cpu.first[v], cpu.last[v] - cpu.first[v]
        edges = cpu.prior[start : start + length][:9] / cpu.prior[start + length - 1]
        near = np.nextafter(edges[edges < 1.0], [[0.0], [1.0]]).ravel()
        for u in np.concatenate(([0.0, 0.3, 0.7, LARGEST], edges[edges < 1.0], near)):
            j = search_prior(cpu.prior, np.uint64(start), length, u)
            expected.append((cpu.topic[start + j], length, cpu.sigma_a[v]))
            words.append(v)
            uniforms.append(u)
        first, last = gpu.col[v], gpu.col[v + 1]
        total = gpu.prior[last - 1]
        goal = (np.arange(100) / 100 * total).astype(np.uint64)
        place = np.minimum((goal * (length / total)).astype(int), length - 1)
        reached = np.searchsorted(gpu.prior[first:last], goal, side="right")
        walked = reached - (gpu.guide[first:last][place] & sizes.TOPIC).astype(int)
        assert (walked >= 0).all()
        assert walked.mean() <= 1.0
    out = np.empty((len(words), 3))
    find[-(-len(words) // 32), 32](
        np.array(words), np.array(uniforms), gpu.record, gpu.guide, gpu.prior, out
    )
    assert out.tobytes() == np.array(expected, np.float64).tobytes()
    return len(words)


# New documents and variates


def compare_new_documents() -> str:
    """Compare mixtures and left-to-right scores."""
    rng = np.random.default_rng(2)
    n_tokens = 0
    for K, V, lengths, alpha in ((3, 5, [0, 1, 3, 12], 1e-5), (70, 4, [3, 0, 7], 1.0)):
        n = sp.csr_matrix(rng.poisson(0.8, (K, V)).astype(np.int32))
        priors = make_priors((rng.random(K) / K + 0.01) * alpha, rng.random(V) + 0.05, K, V)
        none = sp.csr_matrix((0, K), dtype=np.int32)
        vocab = tuple(f"w{v}" for v in range(V))
        model = TopicModel(n, none, np.empty(0, np.uint16), vocab, (), priors)
        word = rng.integers(0, V, sum(lengths))
        nothing = np.zeros(len(lengths), np.int64)
        known = freeze(np.cumsum([0, *lengths]), word, nothing, [""] * len(lengths))
        found = [
            (
                mean_counts(model, known, burn_in=2, kept=2, workers=ONE, device=device),
                score_documents(model, known, 2, 0, ONE, device),
            )
            for device in ("cpu", "gpu")
        ]
        (cpu, scores), (gpu, same_scores) = found
        for name in ("data", "indices", "indptr"):
            assert getattr(cpu, name).tobytes() == getattr(gpu, name).tobytes(), (name, cpu, gpu)
        for one_way, other in zip(scores, same_scores, strict=True):
            assert one_way.tobytes() == other.tobytes(), (scores, same_scores)
        n_tokens += len(word)
    return f"the same bytes, {n_tokens} tokens"


def draw_variates(rate, i, a, b, of):
    """Return a draw of each distribution and values of each function that they use."""
    r = np.uint64(of.bits(a, b, i))
    names = ("rounded_gaussian", "poisson_rate", "poisson_positive")
    counts = [getattr(of, name)(rate, r) for name in names]
    shapes = of.log_of(rate), of.exp_of(-rate), of.normal(of.open_unit(r))
    balls = ball_sizes(0.05)
    gammas = [of.gamma_mass(n, a, b, i, logs()) for n in (rate, np.ceil(rate))]
    return (
        *counts, *shapes, of.normal(of.unit(r) * 1e-12), of.log_gamma_draw(rate, a, b, i),
        *gammas, of.exponential(r, logs()), of.exponential_below(rate, r),
        of.ball_size(r, balls.scale, balls.quantile),
    )  # fmt: skip


def compare_variates(of=on_gpu) -> str:
    """Compare what is drawn from addresses, for rates on both sides of every limit."""

    @cuda.jit
    def kernel(rate, a, b, out):
        i = cuda.grid(1)
        out[i] = draw_variates(rate[i], i, a, b, of)

    rate = np.repeat(10.0 ** np.linspace(-6, 3, 32), 2)
    a, b = key(1, 0, Purpose.CELL)
    out = np.empty((len(rate), 13))
    kernel[2, 32](rate, a, b, out)
    expected = [draw_variates(x, i, a, b, on_cpu) for i, x in enumerate(rate)]
    assert out.tobytes() == np.array(expected, np.float64).tobytes()
    return f"the same bytes, {out.size} draws"
