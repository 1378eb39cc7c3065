"""On a GPU: the CPU's bytes, whatever the corpus, the number of topics and the schedule.

Run with ``pytest -m gpu`` on a machine that has one; elsewhere these tests are skipped.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from polyaurn import datasets
from polyaurn.backends.registry import BACKENDS
from polyaurn.chain.samplers import samplers_on
from polyaurn.chain.state import on_host, phi_matrix, to_host
from polyaurn.corpus.corpus import Corpus
from polyaurn.training.sweeps import sweeps

GPU_SAMPLERS = samplers_on("gpu")
LACKING = BACKENDS["gpu"].missing()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(LACKING is not None, reason=f"no GPU to test on: {LACKING}"),
]


def generated(n_documents, n_words, length, n_topics=20):
    return datasets.generate(n_documents, n_words, n_topics, length)


def of_lengths(lengths, n_words=300, seed=0):
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    word = (n_words * rng.random(int(ptr[-1])) ** 3).astype(np.int32)
    return Corpus(ptr, word, tuple(f"w{v}" for v in range(n_words)))


CORPORA = {
    "small": lambda: generated(200, 300, 40.0),
    "medium": lambda: generated(3000, 2000, 120.0),
    "one token": lambda: of_lengths([1, 0, 1, 2, 1]),
    "all lengths": lambda: of_lengths(
        [1, 31, 32, 33, 64, 65, 500, 1024, 1025, 2047, 2048, 0, 2049]
    ),
    "long": lambda: of_lengths([200_000, 3, 5_000]),
}


def run(corpus, device, **options):
    """Return the states of a chain, in the computer's memory."""
    options = {"random_state": 3, "warm_start": "random", "evaluate_every": 1} | options
    chain = sweeps(corpus, device=device, **options)
    return [(on_host(state), info._replace(phi=to_host(info.phi))) for state, info in chain]


def assert_same(corpus, K, sampler, **options):
    options = {"max_iter": 4} | options
    cpu = run(corpus, "cpu", n_components=K, sampler=sampler, **options)
    gpu = run(corpus, "gpu", n_components=K, sampler=sampler, **options)
    assert len(cpu) == len(gpu)
    for (a, on_cpu), (b, on_gpu) in zip(cpu, gpu, strict=True):
        if on_cpu.phi is not None:  # in a collapsed start there is none
            assert (phi_matrix(on_cpu.phi, K) != phi_matrix(on_gpu.phi, K)).nnz == 0
        assert a.z.tobytes() == b.z.tobytes(), f"sweep {on_cpu.sweep}"
        assert a.counts.topic.tobytes() == b.counts.topic.tobytes()
        assert a.counts.number.tobytes() == b.counts.number.tobytes()
        assert on_gpu.work_per_token == on_cpu.work_per_token
        assert on_gpu.phi_nonzeros == on_cpu.phi_nonzeros
        if on_cpu.log_posterior is not None:
            assert on_gpu.log_posterior == pytest.approx(on_cpu.log_posterior, rel=1e-11)


@pytest.mark.parametrize("K", [2, 10, 100, 256, 257, 1000])
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("sampler", GPU_SAMPLERS)
def test_topics_are_those_of_the_cpu(sampler, corpus, K):
    assert_same(CORPORA[corpus](), K, sampler)


@pytest.mark.parametrize("K", [5000, 65_535])
@pytest.mark.parametrize("sampler", ["polya-urn", "sparse-dirichlet"])
def test_very_many_topics(sampler, K):
    assert_same(CORPORA["small"](), K, sampler, max_iter=2)


def test_priors_that_differ_by_topic_and_word():
    corpus, rng = CORPORA["medium"](), np.random.default_rng(1)
    priors = {
        "doc_topic_prior": rng.gamma(0.5, 0.5, 50) + 1e-3,
        "topic_word_prior": rng.gamma(2.0, 0.02, corpus.n_words) + 1e-4,
    }
    for sampler in GPU_SAMPLERS:
        assert_same(corpus, 50, sampler, **priors)


def test_growth_smoothing_and_refreshes():
    corpus = generated(4000, 500, 80.0)
    for sampler in ("polya-urn", "sparse-dirichlet"):
        for warm_start in ("grow", "smooth", "auto"):
            assert_same(corpus, 30, sampler, warm_start=warm_start, phi_refreshes=3, max_iter=30)


@pytest.mark.parametrize("K", [10, 300])
@pytest.mark.parametrize("kind", ["whole", "fractions"])
@pytest.mark.parametrize("sampler", GPU_SAMPLERS)
def test_learned_priors_and_pseudo_counts(sampler, kind, K):
    corpus = CORPORA["medium"]()
    pseudo = np.zeros((K, corpus.n_words))
    pseudo[2, :5] = 7
    if kind == "fractions":
        pseudo += np.random.default_rng(0).random(pseudo.shape) ** 20
    assert_same(corpus, K, sampler, pseudo_counts=pseudo, learn_priors_every=2, max_iter=6)


@pytest.mark.parametrize("sampler", GPU_SAMPLERS)
def test_a_collapsed_start_on_the_cpu(sampler):
    options = {"warm_start": "collapsed", "learn_priors_every": 2, "max_iter": 12}
    assert_same(CORPORA["medium"](), 20, sampler, **options)


@pytest.mark.parametrize("corpus", ["medium", "all lengths", "long"])
def test_a_corpus_that_does_not_fit_is_streamed(corpus, monkeypatch):
    corpus = CORPORA[corpus]()
    monkeypatch.setattr("polyaurn.backends.gpu.layout._RESERVE", 0)
    monkeypatch.setattr("polyaurn.backends.gpu.layout._LEAST_CHUNK", 16)
    monkeypatch.setattr("polyaurn.backends.gpu.layout.Layout._model_bytes", lambda self, full: 0)
    longest = int(np.diff(corpus.doc_ptr).max())
    monkeypatch.setenv("POLYAURN_GPU_MEMORY", str(max(22 * longest, 5 * corpus.n_tokens) + 22))
    for sampler in GPU_SAMPLERS:
        assert_same(corpus, 40, sampler)


@pytest.mark.parametrize("K", [100, 1000])
def test_lists_that_find_no_room_continue_in_another_launch(K, monkeypatch):
    from polyaurn.backends.gpu import steps
    from polyaurn.backends.gpu.buckets import Shape
    from polyaurn.backends.gpu.sizes import DENSE_AT_ONCE, PACKED_AT_ONCE

    launches = []

    def tight(n_listed, longest, log_lanes, n_topics, dense):
        launches.append(n_listed)
        batch = DENSE_AT_ONCE if dense else PACKED_AT_ONCE
        if n_listed >= 2048:  # of documents that stopped: the room they need
            return Shape(-(-min(longest, n_topics) // 32) + 1, batch, 32)
        return Shape(-(-n_listed // (1 << log_lanes)) + 1, batch, 128)

    monkeypatch.setattr(steps, "shape_for", tight)
    assert_same(CORPORA["medium"](), K, "polya-urn")
    assert_same(CORPORA["all lengths"](), K, "polya-urn")
    assert 2048 in launches


TINY = {
    "gpu": ["--documents", "2000", "--words", "500", "--topics", "10", "--sweeps", "2"],
    "gpu_whole_run": ["--documents", "2000", "--words", "500", "--topics", "10", "--sweeps", "3"],
    "gpu_time_to_quality": ["--corpus", "tiny", "--topics", "5", "--sweeps", "4", "--every", "2"],
}


@pytest.mark.parametrize("name", TINY)
def test_benchmarks_run(name, tmp_path):
    out = tmp_path / "result.json"
    program = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    subprocess.run([sys.executable, program, *TINY[name], "--out", out], check=True)
    assert json.loads(out.read_text())
