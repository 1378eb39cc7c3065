"""Twins of the GPU's kernels give the CPU's bytes: what lanes do together, tested anywhere."""

import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from chains import ONE
from gpu_sources import kernels_in_source
from polyaurn import datasets
from polyaurn.corpus import Corpus
from polyaurn.diagnostics import log_posterior
from polyaurn.gpu.sizes import LONGEST, TOPIC
from polyaurn.gpu.sizes import ONE as A_COUNT
from polyaurn.gpu.twins import columns, steps, tokens
from polyaurn.gpu.twins.phi_steps import draw_urn
from polyaurn.gpu.twins.steps import TWINS, Shape, twin_kernels
from polyaurn.kernels import GPU_SAMPLERS, load_kernels
from polyaurn.kernels.columns import from_prior
from polyaurn.sampler import sweep
from polyaurn.schedule import Plan
from polyaurn.state import WHOLE, State, make_priors
from twin_faults import FAULTS, broken_twin, twins_with

THREE = (Plan(),) * 3
LARGEST = 1.0 - 2.0**-53  # of the uniforms


def of_lengths(*lengths, n_words=300, seed=0):
    """Return documents of these lengths, of words that are common and rare."""
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    word = (n_words * rng.random(int(ptr[-1])) ** 3).astype(np.int32)
    return Corpus(ptr, word, tuple(f"w{v}" for v in range(n_words)))


def column_arrays(phi):
    """Return what the z step reads of Phi, column after column."""
    phi = phi.on_host() if hasattr(phi, "on_host") else phi
    length = phi.last - phi.first
    inside = np.concatenate([np.arange(a, b) for a, b in zip(phi.first, phi.last, strict=True)])
    cells = [array[inside] for array in (phi.topic, phi.weight, phi.prior)]
    return [length, *cells, phi.exponent, phi.sigma_a]


def states(kernels, corpus, priors, plans, z=None, seed=1):
    """Yield states of a chain and the work of each sweep, by the steps of `kernels`."""
    layout = kernels.make_layout(corpus, len(priors.alpha))
    share = plans[0].share
    blocks = None if share == WHOLE else np.flatnonzero(layout.share <= share)
    z = kernels.start(layout, seed, blocks) if z is None else z
    state = State(z, kernels.count(layout, z, ONE), 0, share=share)
    for plan in plans:
        state, cost = sweep(layout, state, priors, kernels, seed, ONE, plan)
        yield state, cost.work


def assert_same(twins, sampler, corpus, priors, plans=THREE, z=None):
    """Compare a chain of twins with the CPU's."""
    pairs = zip(
        states(load_kernels(sampler), corpus, priors, plans, z),
        states(twins, corpus, priors, plans, z),
        strict=True,
    )
    for (cpu, work), (twin, same_work) in pairs:
        for a, b in zip(column_arrays(cpu.phi), column_arrays(twin.phi), strict=True):
            assert a.tobytes() == b.tobytes()
        assert cpu.z.tobytes() == twin.z.tobytes(), f"sweep {cpu.sweep}"
        assert cpu.counts.topic.tobytes() == twin.counts.topic.tobytes()
        assert cpu.counts.number.tobytes() == twin.counts.number.tobytes()
        assert work == same_work


LENGTHS = (1, 2, 0, 31, 32, 33, 500, LONGEST, LONGEST + 1, 5_000)


@pytest.mark.parametrize("K", [3, 40, 300])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_the_urn_has_the_bytes_of_the_cpu(lanes, dense, K):
    corpus = of_lengths(*LENGTHS)
    priors = make_priors(0.1, 0.01, K, corpus.n_words)
    twins = twin_kernels("polya-urn", Shape(lanes=lanes, dense=dense, warps=lanes - 1))
    assert_same(twins, "polya-urn", corpus, priors)


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_the_dirichlet_has_the_bytes_of_the_cpu(lanes):
    corpus = of_lengths(*LENGTHS)
    priors = make_priors(0.1, 0.01, 40, corpus.n_words)
    twins = twin_kernels("partially-collapsed", Shape(lanes=lanes))
    assert_same(twins, "partially-collapsed", corpus, priors)


@pytest.mark.parametrize("longest", [0, 50, 10_000])
@pytest.mark.parametrize("sampler", GPU_SAMPLERS)
def test_which_documents_are_long_does_not_matter(sampler, longest):
    corpus = of_lengths(*LENGTHS)
    priors = make_priors(0.1, 0.01, 70, corpus.n_words)
    for dense in (True, False):
        twins = twin_kernels(sampler, Shape(longest=longest, dense=dense))
        assert_same(twins, sampler, corpus, priors)


@pytest.mark.parametrize("sampler", GPU_SAMPLERS)
def test_priors_that_differ_by_many_powers_of_ten(sampler):
    corpus, rng = of_lengths(200, 300, 2_100), np.random.default_rng(2)
    alpha, beta = 10.0 ** rng.uniform(-12, 0, 60), 10.0 ** rng.uniform(-5, 0, corpus.n_words)
    priors = make_priors(alpha, beta, 60, corpus.n_words)
    for dense in (True, False):
        assert_same(twin_kernels(sampler, Shape(dense=dense)), sampler, corpus, priors)


def test_growth_and_refreshes(monkeypatch):
    monkeypatch.setattr("polyaurn.kernels.layout.LEAST_SHARED", 0)
    monkeypatch.setattr("polyaurn.kernels.layout.LEAST_BLOCK", 100)
    corpus = datasets.generate(300, 200, 10, 30.0)
    priors = make_priors(0.1, 0.01, 20, corpus.n_words)
    plans = (Plan(4), Plan(4), Plan(16), Plan(WHOLE), Plan(WHOLE, 3), Plan(WHOLE, 3))
    for sampler in GPU_SAMPLERS:
        assert_same(twin_kernels(sampler), sampler, corpus, priors, plans)


def test_pseudo_counts_are_added():
    corpus = of_lengths(20, 30)
    pseudo = np.zeros((10, corpus.n_words))
    pseudo[2, :5] = 7
    priors = make_priors(0.1, 0.01, 10, corpus.n_words, pseudo=pseudo)
    assert_same(twin_kernels("polya-urn"), "polya-urn", corpus, priors)


@pytest.mark.plain
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("sampler", GPU_SAMPLERS)
@pytest.mark.parametrize(
    ("counts", "K", "beta", "sweeps"),
    [
        ([[1] + [0] * 50] * 9, 100, 0.03, 1),  # many topics of a word, one of a document
        ([[1, 0]] * 40 + [[0, 1]], 200, 0.01, 1),  # topics that come out empty
        ([[2, 0, 0], [1, 1, 0]], 3, 0.3, 40),  # columns and rows that come out empty
        ([[1, 1]], 4, 0.0005, 12),  # gammas too small to write down
        ([[150, 3]], 2, 60.0, 2),  # rates above the tables
        ([[9, 9, 9, 9], [9, 0, 9, 0]], 40, 0.1, 4),  # topics that come and go
    ],
)
def test_corners(sampler, dense, counts, K, beta, sweeps):
    corpus = Corpus.from_matrix(counts)
    priors = make_priors(0.2, beta, K, corpus.n_words)
    for shape in (Shape(4, 0, dense=dense), Shape(4, longest=10, dense=dense)):
        twins = twin_kernels(sampler, shape)
        assert_same(twins, sampler, corpus, priors, [Plan()] * sweeps)


@pytest.mark.plain
def test_the_log_posterior_is_that_of_the_cpu():
    corpus = Corpus.from_matrix([[9, 4, 1, 0], [0, 0, 0, 0], [1, 1, 40, 1]])
    priors = make_priors([0.2, 0.4, 0.1], 0.3, 3, 4)
    kernels = twin_kernels("polya-urn", Shape(longest=14))
    layout = kernels.make_layout(corpus, 3)
    z = kernels.start(layout, 0)
    state = State(z, kernels.count(layout, z, ONE), 0)
    expected = log_posterior(corpus, state, priors)
    assert kernels.log_posterior(layout, state, priors) == pytest.approx(expected, rel=1e-13)


# Lists of topics


class Launch(NamedTuple):
    """What a launch of z_short did."""

    resumes: bool
    made_even: int  # times
    n_stopped: int  # documents
    lists: np.ndarray
    listed: np.ndarray


def watch_z_short(launches):
    """Return a z_short that tells what it did."""

    def watched(lanes, dense, resumes, *arguments):
        made_even = TWINS["z_short"](lanes, dense, resumes, *arguments)
        lists, listed, work = arguments[4].copy(), arguments[5].copy(), arguments[-2]
        launches.append(Launch(resumes, made_even, int(work[1]), lists, listed))

    return watched


def launches_of(corpus, K, shape, z, alpha=0.5):
    """Return what launches did in a chain whose bytes are the CPU's."""
    priors, launches = make_priors(alpha, 0.01, K, corpus.n_words), []
    twins = twin_kernels("polya-urn", shape, z_short=watch_z_short(launches))
    assert_same(twins, "polya-urn", corpus, priors, z=z)
    return launches


@pytest.mark.parametrize("length", [60, LONGEST])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_full_stretches_are_made_even(lanes, dense, length):
    """Tokens begin with different topics, so that stretches are full from the first that enters."""
    corpus, K = of_lengths(length, length, 1), length + 100
    z = np.concatenate((np.arange(length), np.arange(length)[::-1], [0])).astype(np.uint16)
    launches = launches_of(corpus, K, Shape(lanes, 0, dense=dense), z)
    assert launches[0].made_even > 0
    assert all(launch.n_stopped == 0 for launch in launches)


@pytest.mark.parametrize("length", [150, LONGEST])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_documents_that_find_no_room_go_on_in_another_launch(lanes, dense, length):
    """Documents begin with one topic each, so that lists grow far beyond it."""
    corpus, K = of_lengths(length, length - 7, 1), 300
    z = np.repeat([0, 299, 7], np.diff(corpus.doc_ptr)).astype(np.uint16)
    for spare, stop in ((0, 2), (K, 0)):
        first, second, *_ = launches_of(corpus, K, Shape(lanes, spare, dense=dense), z)
        assert (first.resumes, second.resumes) == (False, True)
        assert first.n_stopped == second.n_stopped == stop
        assert (first.listed > lanes).sum() == 2


@pytest.mark.parametrize("lanes", [4, 32])
def test_documents_whose_lists_are_longer_than_was_thought(lanes):
    """They are left to the launch that resumes, from their first token on."""
    corpus, K = of_lengths(60, 700, 1), 200
    priors, launches = make_priors(0.5, 0.01, K, corpus.n_words), []
    twins = twin_kernels("polya-urn", Shape(lanes, -100), z_short=watch_z_short(launches))
    assert_same(twins, "polya-urn", corpus, priors)
    assert launches[0].n_stopped > 0


def test_lists_are_kept_up():
    """After a sweep they hold what would be listed anew, so that the next one may use them."""
    corpus, K = of_lengths(1, 7, 60, 700, LONGEST), 100
    priors, launches = make_priors(0.5, 0.01, K, corpus.n_words), []
    twins = twin_kernels("polya-urn", Shape(spare=0), z_short=watch_z_short(launches))
    layout, z = twins.make_layout(corpus, K), np.zeros(corpus.n_tokens, np.uint16)
    for state, _ in states(twins, corpus, priors, THREE, z):
        lists, listed = launches[-1].lists, launches[-1].listed
        for d in range(corpus.n_documents):
            begin, end = corpus.doc_ptr[d : d + 2]
            topic, number = np.unique(state.z[begin:end], return_counts=True)
            mine = lists[begin : begin + listed[d]].astype(int)
            assert (mine & TOPIC).tolist() == topic.tolist()
            assert (mine // A_COUNT).tolist() == number.tolist()
    assert launches[0].n_stopped > 0
    order = np.arange(corpus.n_documents, dtype=np.uint32)
    anew, length = steps.list_documents(tokens, layout, order, LONGEST, state.z)
    assert length.tobytes() == listed.tobytes()
    for d, (begin, size) in enumerate(zip(corpus.doc_ptr, length, strict=False)):
        assert anew[begin : begin + size].tobytes() == lists[begin : begin + listed[d]].tobytes()


# The guide


def guided(priors, K, dense):
    """Return columns of twins and of the CPU."""
    corpus = of_lengths(3_000, 500)
    priors = priors(K, corpus.n_words)
    found = []
    for kernels in (twin_kernels("polya-urn", Shape(dense=dense)), load_kernels("polya-urn")):
        layout = kernels.make_layout(corpus, K)
        counts = kernels.count(layout, kernels.start(layout, 0), ONE)
        found.append(kernels.draw_phi(layout, counts, priors, 0, 0, ONE))
    return found


PRIORS = {
    "even": lambda K, V: make_priors(0.1, 0.05, K, V),
    "tiny ratios": lambda K, V: make_priors(10.0 ** -(np.arange(K) % 13), 0.05, K, V),
    "one large": lambda K, V: make_priors(np.where(np.arange(K) == K // 2, 1e3, 1e-9), 0.05, K, V),
}


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("K", [2, 33, 500])
@pytest.mark.parametrize("priors", PRIORS)
def test_the_guide_finds_what_the_search_finds(priors, K, dense):
    twin, cpu = guided(PRIORS[priors], K, dense)
    uniforms = np.concatenate(([0.0, LARGEST], np.random.default_rng(0).random(300)))
    for v in range(len(cpu.first)):
        start, length = cpu.first[v], cpu.last[v] - cpu.first[v]
        if length == 0:
            continue
        edges = cpu.prior[start : start + length][:40] / cpu.prior[start + length - 1]
        near = np.nextafter(edges[edges < 1.0], [[0.0], [1.0]]).ravel()
        for u in np.concatenate((uniforms, edges[edges < 1.0], near)):
            expected = cpu.topic[start + from_prior(cpu.prior, np.uint64(start), length, u)]
            found, K_v, sigma_a = columns.from_prior(v, u, twin.record, twin.guide, twin.prior)
            assert (found, K_v, sigma_a) == (expected, length, cpu.sigma_a[v])


def test_the_guide_makes_walks_short():
    """A place of the guide has as many topics as places, on average one."""
    twin, _ = guided(PRIORS["one large"], 500, False)
    length, total = np.diff(twin.col), twin.record.reshape(-1, 4)[:, 1]
    for v in np.flatnonzero(length > 30):
        column = slice(twin.col[v], twin.col[v + 1])
        goal = (np.arange(1000) / 1000 * total[v]).astype(np.uint64)
        place = np.minimum((goal * (length[v] / total[v])).astype(int), length[v] - 1)
        reached = np.searchsorted(twin.prior[column], goal, side="right")
        assert ((twin.guide[column][place] & TOPIC) <= reached).all()
        assert (reached - (twin.guide[column][place] & TOPIC)).mean() <= 1.0


# Faults


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_twin_has_other_bytes(fault):
    corpus = of_lengths(*(20,) * 10)
    priors = make_priors(0.5, 0.1, 30, corpus.n_words)
    z = np.zeros(corpus.n_tokens, np.uint16)
    with pytest.raises((AssertionError, IndexError), match=r"sweep \d|out of bounds"):
        assert_same(twins_with(fault), "partially-collapsed", corpus, priors, z=z)


def test_a_column_that_is_left_empty_is_seen():
    corpus = Corpus.from_matrix([[1, 0, 2, 0], [0, 1, 0, 9]])
    priors = make_priors(0.1, 0.001, 2, 4)
    twins = twin_kernels("polya-urn")
    assert_same(twins, "polya-urn", corpus, priors, [Plan()] * 50)
    layout = twins.make_layout(corpus, 2)
    counts = twins.count(layout, np.zeros(13, np.uint16), ONE)
    broken = broken_twin("urn", ("total + balls == 0 and", "False and"))
    for urn, shortest in ((TWINS["urn"], 1), (broken, 0)):
        kernels = SimpleNamespace(urn=urn)
        drawn = [draw_urn(kernels, Shape(), layout, counts, priors, 0, t)[0] for t in range(50)]
        assert min(np.diff(col).min() for col in drawn) == shortest


# What there is


def test_every_kernel_has_a_twin():
    kernels = kernels_in_source()
    assert len(kernels) >= 13
    for module, name in kernels:
        if module == "fold_in":  # which does what the CPU's kernels do, literally
            assert callable(getattr(import_module("polyaurn.kernels.fold_in"), name))
            continue
        twin = getattr(import_module(f"polyaurn.gpu.twins.{module}"), name)
        assert TWINS[name] is twin


def test_twins_need_no_compiler_for_the_gpu():
    program = (
        "import sys; sys.modules['numba_cuda'] = None; import polyaurn.gpu.twins.steps;"
        "assert 'polyaurn.gpu.toolkit' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
