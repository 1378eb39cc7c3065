"""On a GPU: mixtures of new documents and held-out scores in the CPU's bytes.

Run with ``pytest -m gpu`` on a machine that has one; elsewhere these tests are skipped.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, Corpus, TopicModel, datasets
from polyaurn.backends.registry import BACKENDS
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import make_priors
from polyaurn.evaluate import document_completion, left_to_right

LACKING = BACKENDS["gpu"].missing()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(LACKING is not None, reason=f"no GPU to test on: {LACKING}"),
    pytest.mark.filterwarnings("ignore:.*documents have no word that the model knows"),
]
LENGTHS = [0, 1, 2, 7, 31, 32, 33, 0, 64, 65, 400, 1]
V = 300


def model_of(K, seed=0, pseudo=None, rate=0.4):
    """Return a model of random counts, with priors that differ by topic and by word."""
    rng = np.random.default_rng(seed)
    n = rng.poisson(rng.gamma(0.3, rate / 0.3, (K, V))).astype(np.int32)
    alpha, beta = rng.gamma(0.5, 0.5, K) + 1e-3, rng.gamma(2.0, 0.02, V) + 1e-4
    priors = make_priors(alpha, beta, K, V, pseudo=pseudo)
    none = sp.csr_matrix((0, K), dtype=np.int32)
    vocab = tuple(f"w{v}" for v in range(V))
    return TopicModel(sp.csr_matrix(n), none, np.empty(0, np.uint16), vocab, (), priors)


def documents_of(lengths, seed=1):
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    parts = [np.sort((V * rng.random(n) ** 2).astype(np.int32)) for n in lengths]
    return Corpus(ptr, np.concatenate(parts), tuple(f"w{v}" for v in range(V)))


def assert_same_mixtures(model, corpus, **options):
    cpu, gpu = (
        model.transform(corpus, sparse=True, device=device, **options) for device in ("cpu", "gpu")
    )
    assert cpu.nnz > 0
    for name in ("indptr", "indices", "data"):
        assert getattr(cpu, name).tobytes() == getattr(gpu, name).tobytes(), name


def assert_same_scores(model, corpus, particles, **options):
    cpu, gpu = (
        left_to_right(model, corpus, particles, device=device, **options)
        for device in ("cpu", "gpu")
    )
    assert cpu.log_likelihood.tobytes() == gpu.log_likelihood.tobytes()
    assert cpu.error.tobytes() == gpu.error.tobytes()
    assert cpu.total < 0


@pytest.mark.parametrize("K", [1, 2, 31, 32, 33, 100, 1000, 5000, 65_535])
def test_mixtures_are_those_of_the_cpu(K):
    model = model_of(K, rate=0.4 if K < 5000 else 0.01)
    assert_same_mixtures(model, documents_of(LENGTHS))
    assert_same_mixtures(model, documents_of(LENGTHS), burn_in=0, kept=1, random_state=7)


def test_mixtures_of_long_documents():
    assert_same_mixtures(model_of(100), documents_of([20_000, 3, 5_000]))


@pytest.mark.parametrize("particles", [1, 2, 20])
@pytest.mark.parametrize("K", [1, 2, 33, 100, 1000])
def test_left_to_right_scores_are_those_of_the_cpu(K, particles):
    assert_same_scores(model_of(K), documents_of(LENGTHS[:-2]), particles, random_state=3)


def test_left_to_right_of_a_long_document():
    assert_same_scores(model_of(50), documents_of([1_000, 0, 300]), 3)


def test_many_documents_of_a_trained_model():
    train, test = datasets.generate(4000, 1500, 40, 90.0).split(0.5)
    lda = LDA(60, max_iter=30, verbose=False).fit(train)
    assert_same_mixtures(lda.model_, test)
    assert_same_scores(lda, test.select(np.arange(300)), 20)
    cpu, gpu = (document_completion(lda, test, device=device) for device in ("cpu", "gpu"))
    assert cpu.log_likelihood.tobytes() == gpu.log_likelihood.tobytes()


def test_pseudo_counts_of_seeds():
    pseudo = np.zeros((20, V))
    pseudo[3, :8] = 50
    pseudo[19, 100:130] = 3
    model = model_of(20, pseudo=pseudo)
    assert_same_mixtures(model, documents_of(LENGTHS))
    assert_same_scores(model, documents_of(LENGTHS[:-2]), 5)


@pytest.mark.parametrize("size", [1, 20_000])
def test_batches_and_few_warps(size, monkeypatch):
    monkeypatch.setattr("polyaurn.backends.gpu.new_documents._BATCH_BYTES", size)
    monkeypatch.setattr("polyaurn.backends.gpu.new_documents._MOST_WARPS", 4)
    corpus = documents_of([*LENGTHS[:-2], 0, 0, 0, *LENGTHS[:-2]])
    assert_same_mixtures(model_of(40), corpus)
    assert_same_scores(model_of(40), corpus, 4)


def test_a_gpu_without_room(monkeypatch):
    monkeypatch.setenv("POLYAURN_GPU_MEMORY", "1000")
    with pytest.raises(InputError, match="The model and the longest document need about"):
        model_of(40).transform(documents_of(LENGTHS), device="gpu")


def test_the_command_line(run, tmp_path):
    texts = ["cat dog cat bird", "planet star moon", "dog cat", "star moon planet star"] * 10
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    assert run("train", "texts.txt", "-k", 2, "--sweeps", 20, "--out", "model", "-q")[0] == 0
    said = []
    for device in ("cpu", "gpu", "auto"):
        name = f"{device}.csv"
        assert run("infer", "model", "texts.txt", "--out", name, "--device", device)[0] == 0
        code, out, _ = run("evaluate", "model", "texts.txt", "--json", "--device", device)
        assert code == 0
        said.append(((tmp_path / name).read_bytes(), out))
    assert said[0] == said[1] == said[2]
