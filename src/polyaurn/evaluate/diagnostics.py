"""Numbers that describe a chain or a corpus."""

import math
from typing import NamedTuple

import numpy as np

from polyaurn.base.threads import Workers
from polyaurn.chain.state import Priors, State, on_host
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.pruning import document_frequency
from polyaurn.evaluate.convergence import effective_sample_size as effective_sample_size


def log_posterior(
    corpus: Corpus, state: State, priors: Priors, workers: Workers | None = None
) -> float:
    """Return log p(w, z), Theta and Phi integrated out.

    This is the log posterior of z up to a constant, log p(w). The result does not depend on the
    number of threads.

    Parameters
    ----------
    corpus : Corpus
        The documents, w.
    state : State
        Topics z with their counts n.
    priors : Priors
        alpha, beta.
    workers : Workers, optional
        Threads; the calling thread when not given.

    Returns
    -------
    float
        In nats, for the whole corpus.
    """
    from polyaurn.backends.cpu.log_posterior import log_posterior as compute

    return compute(corpus, on_host(state), priors, workers or Workers(1))


class CorpusSummary(NamedTuple):
    """What `summarise` finds."""

    documents: int
    empty_documents: int
    vocabulary: int
    words_used: int
    tokens: int
    distinct_pairs: int
    density: float
    shortest: int
    median_length: float
    mean_length: float
    longest: int
    heaps_xi: float
    heaps_psi: float


def summarise(corpus: Corpus) -> CorpusSummary:
    """Describe a corpus in numbers.

    Parameters
    ----------
    corpus : Corpus
        The documents.

    Returns
    -------
    CorpusSummary
        Sizes, document lengths, the share of nonzero cells in the document-word matrix, and the
        constants of Heaps' law V = xi N**psi.
    """
    lengths = np.diff(corpus.doc_ptr)
    frequency = document_frequency(corpus.doc_ptr, corpus.word, corpus.n_words)
    pairs = int(frequency.sum())
    xi, psi = heaps_law(corpus)
    return CorpusSummary(
        documents=corpus.n_documents,
        empty_documents=corpus.n_empty,
        vocabulary=corpus.n_words,
        words_used=int((frequency > 0).sum()),
        tokens=corpus.n_tokens,
        distinct_pairs=pairs,
        density=pairs / (corpus.n_documents * corpus.n_words),
        shortest=int(lengths.min()),
        median_length=float(np.median(lengths)),
        mean_length=float(lengths.mean()),
        longest=int(lengths.max()),
        heaps_xi=xi,
        heaps_psi=psi,
    )


def heaps_law(corpus: Corpus) -> tuple[float, float]:
    """Fit Heaps' law V = xi N**psi to the growth of the vocabulary, document by document.

    Parameters
    ----------
    corpus : Corpus
        The documents, read in their order.

    Returns
    -------
    xi, psi : float
        By least squares of log V on log N at up to 50 document ends evenly spaced in log N;
        NaN when there are fewer than two points to fit.
    """
    first_seen = np.full(corpus.n_words, corpus.n_tokens, np.int64)
    position = np.arange(corpus.n_tokens)
    first_seen[corpus.word[::-1]] = position[::-1]  # of several writes the last one stays
    seen = np.sort(first_seen)
    ends = np.unique(corpus.doc_ptr[1:])
    ends = ends[ends > 0]
    goals = np.geomspace(ends[0], ends[-1], 50)
    N = np.unique(ends[np.minimum(np.searchsorted(ends, goals), len(ends) - 1)])
    if len(N) < 2:
        return math.nan, math.nan
    V = np.searchsorted(seen, N)
    psi, log_xi = np.polyfit(np.log(N), np.log(V), 1)
    return float(np.exp(log_xi)), float(psi)
