"""Trainers to compare: ours and peers', behind one face.

An engine trains `step` sweeps at a time; only that is timed. Priors are fixed, symmetric and
the same for all, and every engine has the same number of threads.
"""

import time
import warnings
from typing import Any

import numpy as np

from polyaurn import Corpus, sweeps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.chain.state import State, topic_word_matrix

ALPHA, BETA = 0.1, 0.01
RIVALS = tuple(name for name in SAMPLERS if name != "polya-urn")  # by their own names
NAMES = ("polyaurn", "polyaurn-plain", *RIVALS, "tomotopy", "topica")


class Ours:
    """polyaurn with its warm start and refreshes, or plain; or another of its samplers, plain."""

    def __init__(
        self, name: str, corpus: Corpus, topics: int, threads: int, sweeps_: int, seed: int
    ) -> None:
        plain = {"warm_start": "random", "phi_refreshes": 1}
        sampler = name if name in RIVALS else "polya-urn"
        self._chain = sweeps(
            corpus, topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, sampler=sampler,
            n_jobs=threads, max_iter=sweeps_, evaluate_every=0, random_state=seed,
            **({} if name == "polyaurn" else plain),
        )  # fmt: skip
        self._corpus, self._topics = corpus, topics
        self.phi_seconds = 0.0

    def train(self, step: int) -> float:
        """Train so many sweeps; return the seconds they took."""
        seconds = 0.0
        for _ in range(step):
            self.state, info = next(self._chain)
            seconds += info.phi_seconds + info.z_seconds
            self.phi_seconds += info.phi_seconds
        return seconds

    def log_posterior(self) -> float | None:
        """Return log p(w, z), or None while not all documents are in."""
        from polyaurn.evaluate.diagnostics import log_posterior

        priors = make_priors(ALPHA, BETA, self._topics, self._corpus.n_words)
        whole = self.state.share == 64
        return log_posterior(self._corpus, self.state, priors) if whole else None

    def phi(self) -> np.ndarray:
        """Return the probabilities of words, topic by topic."""
        return smooth(topic_word_matrix(self.state.counts, self._topics).toarray())


class Tomotopy:
    """tomotopy's LDAModel, hyperparameters not optimised."""

    def __init__(
        self, name: str, corpus: Corpus, topics: int, threads: int, sweeps_: int, seed: int
    ) -> None:
        import tomotopy as tp

        warnings.simplefilter("ignore")  # it warns that several workers are not reproducible
        self._model = tp.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=seed)
        names = np.array([str(v) for v in range(corpus.n_words)])
        for words in corpus:
            if len(words):
                self._model.add_doc(names[words].tolist())
        self._model.optim_interval = 0
        self._model.train(0)
        assert self._model.num_words == corpus.n_tokens
        self._corpus, self._topics, self._threads = corpus, topics, threads

    def train(self, step: int) -> float:
        """Train so many sweeps; return the seconds they took."""
        start = time.perf_counter()
        self._model.train(step, workers=self._threads)
        return time.perf_counter() - start

    def _tokens(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where documents begin, words by our numbers and topics."""
        ours = np.array([int(word) for word in self._model.vocabs])
        docs = [(np.asarray(d.words), np.asarray(d.topics)) for d in self._model.docs]
        word = ours[np.concatenate([w for w, _ in docs])]
        ptr = np.concatenate(([0], np.cumsum([len(w) for w, _ in docs])))
        return ptr, word, np.concatenate([z for _, z in docs])

    def log_posterior(self) -> float:
        """Return log p(w, z)."""
        return score(*self._tokens(), self._topics, self._corpus)

    def phi(self) -> np.ndarray:
        """Return the probabilities of words, topic by topic."""
        _, word, z = self._tokens()
        n = np.zeros((self._topics, self._corpus.n_words))
        np.add.at(n, (z, word), 1)
        return smooth(n)


class Topica:
    """topica's LDA with its sparse sampler; it trains in one go, so `step` is all there is."""

    def __init__(
        self, name: str, corpus: Corpus, topics: int, threads: int, sweeps_: int, seed: int
    ) -> None:
        import topica

        names = np.array([f"w{v:07d}" for v in range(corpus.n_words)])
        self._data = topica.Corpus.from_documents([names[words].tolist() for words in corpus])
        self._model = topica.LDA(
            topics, alpha_sum=ALPHA * topics, beta=BETA, optimize_interval=0, burn_in=0,
            num_threads=threads, sampler="sparse", use_symmetric_alpha=True, seed=seed + 1,
        )  # fmt: skip
        self._corpus = corpus
        self.clock: list[tuple[int, float]] = []

    def train(self, step: int) -> float:
        """Train so many sweeps; return the seconds they took."""

        def note(sweep: int, total: int, values: Any) -> None:
            self.clock.append((sweep, time.perf_counter()))

        start = time.perf_counter()
        self._model.fit(
            self._data, iters=step, num_samples=1, sample_interval=1, keep_theta_draws=False,
            progress=note, progress_interval=max(1, step // 2),
        )  # fmt: skip
        return time.perf_counter() - start

    def log_posterior(self) -> float:
        """Return its own figure, which is the log joint as ours (compared on small corpora)."""
        return float(self._model.log_likelihood())

    def phi(self) -> np.ndarray:
        """Return the probabilities of words, topic by topic."""
        theirs = np.asarray(self._model.topic_word)
        phi = np.full((theirs.shape[0], self._corpus.n_words), 1e-12)
        phi[:, [int(word[1:]) for word in self._model.vocabulary]] = theirs
        return phi / phi.sum(axis=1, keepdims=True)


def make_engine(
    name: str, corpus: Corpus, topics: int, threads: int, sweeps_: int, seed: int = 0
) -> Any:
    """Return an engine that will train so many sweeps in all."""
    kind = {"tomotopy": Tomotopy, "topica": Topica}.get(name, Ours)
    return kind(name, corpus, topics, threads, sweeps_, seed)


def score(ptr: np.ndarray, word: np.ndarray, z: np.ndarray, topics: int, corpus: Corpus) -> float:
    """Return log p(w, z) of a peer's state, by our own function."""
    from polyaurn.backends.registry import load_steps

    order = np.lexsort((word, np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))))
    same = Corpus(ptr, word[order].astype(np.int32), corpus.vocab)
    z = z[order].astype(np.uint16)
    steps = load_steps("polya-urn")(same, topics)
    priors = make_priors(ALPHA, BETA, topics, corpus.n_words)
    return float(steps.log_posterior(State(z, steps.count(z), priors)))


def smooth(n: np.ndarray) -> np.ndarray:
    """Return the probabilities of words by counts, topic by topic."""
    return (n + BETA) / (n.sum(axis=1, keepdims=True) + BETA * n.shape[1])


def held_out(phi: np.ndarray, test: Corpus, iterations: int = 30) -> float:
    """Return the mean log probability of every second token of test documents.

    The other tokens fix a document's mixture, by so many steps of expectation maximisation with
    phi given and alpha as prior: quick, approximate, and the same for every engine.
    """
    total, tokens = 0.0, 0
    for words in test:
        seen, hidden = words[::2], words[1::2]
        if not len(hidden):
            continue
        p = phi[:, seen]
        theta = np.full(len(phi), 1.0 / len(phi))
        for _ in range(iterations):
            r = theta[:, None] * p
            theta = (r / r.sum(axis=0)).sum(axis=1) + ALPHA
            theta /= theta.sum()
        total += float(np.log(theta @ phi[:, hidden]).sum())
        tokens += len(hidden)
    return total / tokens
