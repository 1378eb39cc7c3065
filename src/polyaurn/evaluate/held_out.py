"""How probable held-out documents are under a model: left to right, and by completion."""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.documents import fix_topics
from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.backends.sharded.new_documents import Cluster, cluster_of
from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.base.events import range_reporter, report
from polyaurn.base.rng import Purpose, check_seed, key
from polyaurn.base.threads import Workers, count_threads
from polyaurn.corpus.known_words import Known, freeze, in_words_of
from polyaurn.model.cluster_inference import assign_known
from polyaurn.model.inference import BURN_IN, KEPT, mean_counts
from polyaurn.model.model import TopicModel, fitted


class HeldOut(NamedTuple):
    """Log likelihoods of documents, in nats.

    Attributes
    ----------
    log_likelihood : ndarray of float64
        The score of each document; 0 for one without tokens.
    error : ndarray of float64
        Monte Carlo standard error of each; how far another seed would be, not how far another
        model would. NaN where one particle gives none.
    tokens : ndarray of int64
        Tokens that were scored.
    unknown : ndarray of int64
        Tokens of words unknown to the model, which were left out.
    first_copy : ndarray of int64, optional
        The first document with the same tokens, which may be the document itself. A score depends
        only on a document's tokens and the seed, so copies share their draws, and their errors are
        one error repeated. Without it, no document is taken to be a copy.
    """

    log_likelihood: F64
    error: F64
    tokens: I64
    unknown: I64
    first_copy: I64 | None = None

    @property
    def total(self) -> float:
        """The log likelihood of all documents."""
        return math.fsum(self.log_likelihood)

    @property
    def total_error(self) -> float:
        """Its Monte Carlo standard error.

        Errors of copies of one document are equal and are added; different documents have
        independent draws, so their errors add as squares.
        """
        error = self.error
        if self.first_copy is not None:
            error = np.bincount(self.first_copy, self.error).astype(np.float64)
        return math.sqrt(math.fsum(error**2))

    @property
    def per_token(self) -> float:
        """The log likelihood per token."""
        return self.total / int(self.tokens.sum())

    @property
    def per_token_error(self) -> float:
        """Its Monte Carlo standard error."""
        return self.total_error / int(self.tokens.sum())

    @property
    def perplexity(self) -> float:
        """The exponential of minus the log likelihood per token."""
        return math.exp(-self.per_token)


def left_to_right(
    model: Any,
    corpus: Any,
    particles: int = 20,
    *,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
    cluster: str | None = None,
    n_workers: int | None = None,
    cluster_address: str | None = None,
) -> HeldOut:
    """Estimate log p(w) of documents by the left-to-right algorithm of Wallach et al. (2009).

    The probability of each token given those before it is averaged over particles, each of which
    holds topics of the tokens before it and draws all of them again, once, before each token. The
    time grows as the square of a document's length. Phi is the model's,
    (n + beta) / (sum of n + beta). Approximate: on models small enough to enumerate, 4,000
    particles are within their error of log p(w). For document clusters, log p(w) is a sum over
    clusters, which is computed in place of it.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    corpus : Corpus, matrix of counts, or sequence of str
        Documents it was not trained on.
    particles : int
        More take longer and have a smaller error.
    random_state : int, None or NumPy generator
        The seed.
    n_jobs : int or None
        Threads; the result does not depend on it.
    device : {"cpu", "gpu", "auto"}
        Where to sample; the result does not depend on it.
    cluster, n_workers, cluster_address
        Workers to share the documents among, as in `LDA`; the result does not depend on them.

    Returns
    -------
    HeldOut
        The values of a document do not depend on the other documents.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=120, n_words=100, n_topics=5)
    >>> train, test = corpus.split(0.2)
    >>> lda = polyaurn.LDA(5, max_iter=60, verbose=False).fit(train)
    >>> score = polyaurn.evaluate.left_to_right(lda, test)
    >>> -5 < score.per_token < -3
    True
    """
    particles = check_particles(particles)
    device = check_device(device)
    several = cluster_of(cluster, n_workers, cluster_address)
    fitted, known, seed, threads = _check(model, corpus, random_state, n_jobs)
    with Workers(threads) as workers:
        level, error = score_documents(fitted, known, particles, seed, workers, device, several)
    return HeldOut(level, error, known.tokens, known.unknown, _first_copies(known))


def score_documents(
    model: TopicModel,
    known: Known,
    particles: int,
    seed: int,
    workers: Workers,
    device: str,
    cluster: Cluster | None = None,
) -> tuple[F64, F64]:
    """Return log p(w) of documents and their errors, left to right; the device was checked.

    For document clusters it is a sum over clusters, without an error.
    """
    if model.clusters is not None:
        level = assign_known(model, known, workers, sparse=True).level
        return level, np.zeros(len(level))
    topics = fix_topics(model.topic_word_counts, model.priors)
    backend = BACKENDS[device]
    report("compiling kernels")
    on_done = range_reporter("scoring documents", len(known.tokens))
    with backend.failures("Score with device='cpu'."):
        return (cluster or backend.new_documents()).left_to_right(
            known.doc_ptr, known.word, topics, particles, key(seed, 0, Purpose.LEFT_TO_RIGHT),
            workers, on_done,
        )  # fmt: skip


def _first_copies(known: Known) -> I64:
    """Return the first document that has the same tokens in the same order, for each document."""
    seen: dict[bytes, int] = {}
    bounds = pairwise(known.doc_ptr.tolist())
    first = [seen.setdefault(known.word[lo:hi].tobytes(), d) for d, (lo, hi) in enumerate(bounds)]
    return np.array(first, np.int64)


def check_particles(particles: Any) -> int:
    """Return a number of particles, at least 1."""
    return check_whole(particles, "particles", remedy="20 is usual")


def document_completion(
    model: Any,
    corpus: Any,
    *,
    burn_in: int = BURN_IN,
    kept: int = KEPT,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
    cluster: str | None = None,
    n_workers: int | None = None,
    cluster_address: str | None = None,
) -> HeldOut:
    """Score every second token of documents, given the mixture inferred from the others.

    Cheap, and not log p(w): it asks how well half a document predicts the other half. Tokens of a
    bag of words are in the order of the vocabulary, so that each word is split evenly.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    corpus : Corpus, matrix of counts, or sequence of str
        Documents it was not trained on.
    burn_in, kept : int
        Sweeps over a document, as in `TopicModel.transform`.
    random_state : int, None or NumPy generator
        The seed.
    n_jobs : int or None
        Threads; the result does not depend on it.
    device : {"cpu", "gpu", "auto"}
        Where to sample; the result does not depend on it.
    cluster, n_workers, cluster_address
        Workers to share the documents among, as in `LDA`; the result does not depend on them.

    Returns
    -------
    HeldOut
        The score of half of each document. Its errors are NaN: it is one estimate.
    """
    device = check_device(device)
    several = cluster_of(cluster, n_workers, cluster_address)
    fitted, known, seed, threads = _check(model, corpus, random_state, n_jobs)
    with Workers(threads) as workers:
        return complete_known(
            fitted, known, burn_in=burn_in, kept=kept, seed=seed, workers=workers, device=device,
            cluster=several,
        )  # fmt: skip


def complete_known(
    model: TopicModel,
    known: Known,
    *,
    burn_in: int = BURN_IN,
    kept: int = KEPT,
    seed: int,
    workers: Workers,
    device: str,
    cluster: Cluster | None = None,
) -> HeldOut:
    """Return what `document_completion` does, of documents in the model's words."""
    from polyaurn.backends.cpu.new_documents import complete

    seen, hidden = _halves(known)
    if model.clusters is not None:
        whole, half = (assign_known(model, part, workers, sparse=True) for part in (known, seen))
        level = whole.level - half.level
        return HeldOut(level, np.full(len(level), np.nan), hidden.tokens, known.unknown)
    topics = fix_topics(model.topic_word_counts, model.priors)
    mean = mean_counts(
        model, seen, burn_in=burn_in, kept=kept, seed=seed, workers=workers, device=device,
        cluster=cluster,
    )  # fmt: skip
    level = complete(hidden.doc_ptr, hidden.word, topics, seen.tokens, mean, workers)
    return HeldOut(level, np.full(len(level), np.nan), hidden.tokens, known.unknown)


def _halves(known: Known) -> tuple[Known, Known]:
    """Split each document into its tokens 0, 2, 4, ... and 1, 3, 5, ..."""
    place = np.arange(len(known.word)) - np.repeat(known.doc_ptr[:-1], known.tokens)
    halves = []
    for parity in (0, 1):
        tokens = (known.tokens + 1 - parity) // 2
        ptr = np.concatenate(([0], np.cumsum(tokens))).astype(np.int64)
        word = known.word[place % 2 == parity]
        halves.append(freeze(ptr, word, known.unknown, known.doc_names))
    return halves[0], halves[1]


def _check(
    model: Any, corpus: Any, random_state: Any, n_jobs: int | None
) -> tuple[TopicModel, Known, int, int]:
    trained = fitted(model)
    known = in_words_of(trained.vocab, corpus, trained.tokenization)
    if not known.tokens.sum():
        raise InputError(
            "The documents must have words that the model knows. Got none; nothing can be scored."
        )
    return trained, known, check_seed(random_state), count_threads(n_jobs)
