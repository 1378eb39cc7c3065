"""Runs of the race: ours and peers', trained in one go and reported as counts and priors.

Only training is timed. Priors begin at the same values; those that are learned are learned every
ten sweeps, from the first on.
"""

import gzip
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn import LDA, Corpus
from race_score import completion, count, log_joint

ALPHA, BETA = 0.1, 0.01
LEARN_EVERY = 10
PROBE = 40  # sweeps of the run that measures a sweep; its second half counts


class Trained(NamedTuple):
    """What a run reports. `n`, `m` are of the last draw, `estimate` is what topics are made of."""

    seconds: float
    alpha: np.ndarray
    beta: float
    n: sp.csr_matrix
    m: sp.csr_matrix
    estimate: sp.csr_matrix

    def record(self, test: sp.csr_matrix) -> dict[str, Any]:
        """Return the scores of the run, as they are kept."""
        return {
            "seconds": self.seconds,
            "score": completion(self.estimate, test, self.alpha, self.beta),
            "log_joint": log_joint(self.n, self.m, self.alpha, self.beta),
            "nonzeros": int(self.n.nnz),
            "alpha_sum": float(self.alpha.sum()),
            "beta": self.beta,
        }


def documents(train: sp.csr_matrix) -> tuple[np.ndarray, list[list[str]]]:
    """Return the numbers of the documents that have tokens, and their tokens: 'w0', 'w1', ..."""
    names = np.array([f"w{v}" for v in range(train.shape[1])], dtype=object)
    rows = np.flatnonzero(np.diff(train.indptr))
    parts = (slice(train.indptr[d], train.indptr[d + 1]) for d in rows)
    texts = [np.repeat(names[train.indices[s]], train.data[s]).tolist() for s in parts]
    return rows, texts


def numbers(words: Any) -> np.ndarray:
    """Return the numbers of words by their names."""
    return np.array([int(word[1:]) for word in words], np.int64)


def train_tomotopy(
    train: sp.csr_matrix, topics: int, sweeps: int, threads: int, seed: int, learn: bool
) -> Trained:
    """Train tomotopy's LDAModel."""
    import tomotopy

    warnings.simplefilter("ignore")  # it warns that several workers are not reproducible
    model = tomotopy.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=seed)
    model.optim_interval = LEARN_EVERY if learn else 0
    rows, texts = documents(train)
    for text in texts:
        model.add_doc(text)
    model.train(0)
    begin = time.perf_counter()
    model.train(sweeps, workers=threads)
    seconds = time.perf_counter() - begin
    tokens = [(np.asarray(d.words), np.asarray(d.topics)) for d in model.docs]
    word = numbers(model.used_vocabs)[np.concatenate([w for w, _ in tokens])]
    document = np.repeat(rows, [len(w) for w, _ in tokens])
    topic = np.concatenate([z for _, z in tokens])
    n, m = count(document, word, topic, train.shape, topics)
    return Trained(seconds, np.asarray(model.alpha, float), float(model.eta), n, m, n)


def train_topica(
    train: sp.csr_matrix, topics: int, sweeps: int, threads: int, seed: int, learn: bool
) -> Trained:
    """Train topica's LDA with its sparse sampler."""
    import topica

    rows, texts = documents(train)
    corpus = topica.Corpus.from_documents(texts)
    model = topica.LDA(
        topics, alpha_sum=ALPHA * topics, beta=BETA, burn_in=0, seed=seed, num_threads=threads,
        optimize_interval=LEARN_EVERY if learn else 0, sampler="sparse",
    )  # fmt: skip
    begin = time.perf_counter()
    model.fit(
        corpus, iters=sweeps, num_samples=1, sample_interval=1, keep_theta_draws=False,
        check_every=0,
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.gz"
        model.save_state(str(state))
        document, word, topic = read_state(state)
    n, m = count(rows[document], word, topic, train.shape, topics)
    return Trained(seconds, np.asarray(model.alpha, float), float(model.beta), n, m, n)


def read_state(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return document, word and topic of each token in a state of MALLET's format."""
    with gzip.open(path, "rt") as lines:
        parts = (line.split() for line in lines if not line.startswith("#"))
        found = [(int(p[0]), int(p[4][1:]), int(p[5])) for p in parts]
    table = np.array(found, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


PEERS = {"tomotopy": train_tomotopy, "topica": train_topica}


class Ours:
    """polyaurn with a sampler; the code is compiled before anything is timed."""

    def __init__(
        self, train: sp.csr_matrix, topics: int, threads: int, learn: bool, sampler: str
    ) -> None:
        self._corpus = Corpus.from_matrix(train)
        self._topics = topics
        self._given = {
            "doc_topic_prior": ALPHA, "topic_word_prior": BETA, "n_jobs": threads,
            "evaluate_every": 0, "sampler": sampler, "verbose": False,
            "learn_priors_every": LEARN_EVERY if learn else 0,
        }  # fmt: skip
        self._fit(3, 9)

    def _fit(self, sweeps: int, seed: int) -> LDA:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty documents, and of starts cut short
            return LDA(
                self._topics, max_iter=sweeps, random_state=seed, **self._given
            ).fit(self._corpus)  # fmt: skip

    def seconds_per_sweep(self) -> float:
        """Measure a sweep in a run of its own."""
        trace = self._fit(PROBE, 8).trace_
        half = PROBE // 2
        return float(trace[-1]["seconds"] - trace[half - 1]["seconds"]) / (PROBE - half)

    def train(self, sweeps: int, seed: int) -> tuple[Trained, str]:
        """Train so many sweeps; return the run and the sampler that "auto" chose."""
        lda = self._fit(sweeps, seed)
        corpus, priors = self._corpus, lda.model_.priors
        document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
        shape = corpus.n_documents, corpus.n_words
        n, m = count(document, corpus.word, lda.assignments_, shape, self._topics)
        found = Trained(
            float(lda.trace_[-1]["seconds"]), np.asarray(priors.alpha, float),
            float(np.mean(priors.beta)), n, m, sp.csr_matrix(lda.topic_word_counts_),
        )  # fmt: skip
        return found, str(lda.model_.parameters["sampler"])
