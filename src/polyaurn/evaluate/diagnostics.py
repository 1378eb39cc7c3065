"""Functions of arrays that say how a chain or a corpus looks."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polyaurn.base.threads import Workers
from polyaurn.chain.state import Priors, State, on_host, pseudo_sizes
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.text import document_frequency


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
    from polyaurn.backends.cpu.layout import LEAST_BLOCK, WORD_RANGES, even_ranges
    from polyaurn.backends.cpu.log_posterior import (
        gain_of_pseudo_counts,
        score_documents,
        score_words,
    )

    state = on_host(state._replace(phi=None))
    workers = workers or Workers(1)
    alpha, beta = priors.alpha, priors.beta
    doc_ranges = even_ranges(corpus.doc_ptr, -(-corpus.n_tokens // LEAST_BLOCK))
    documents = workers.run(
        score_documents,
        [(lo, hi, corpus.doc_ptr, state.z, alpha, alpha.sum()) for lo, hi in pairwise(doc_ranges)],
    )
    n_ranges = min(WORD_RANGES, 1 + corpus.n_words // 1024)
    word_ranges = np.linspace(0, corpus.n_words, n_ranges + 1).astype(np.int64)
    words = workers.run(
        score_words,
        [(lo, hi, *state.counts, beta) for lo, hi in pairwise(word_ranges)],
    )
    beta_sum = float(beta.sum())
    counts = state.counts
    sizes = np.bincount(counts.topic, counts.number, minlength=len(alpha)).tolist()
    sums = (beta_sum + pseudo_sizes(priors)).tolist()
    topics = [math.lgamma(b) - math.lgamma(b + n_k) for b, n_k in zip(sums, sizes, strict=True)]
    if priors.pseudo is not None:
        words = [*words, *gain_of_pseudo_counts(state, priors)]
    return math.fsum(documents) + math.fsum(words) + math.fsum(topics)


def effective_sample_size(series: npt.ArrayLike) -> float:
    """Estimate how many independent draws a chain's trace is worth.

    Autocorrelations are summed in pairs while the pairs are positive and falling (Geyer 1992).

    Parameters
    ----------
    series : array_like of float
        A scalar function of the chain, after burn-in.

    Returns
    -------
    float
        At most the length of the series; NaN for a constant one.
    """
    x = np.asarray(series, dtype=np.float64)
    x = x - x.mean()
    n = len(x)
    spectrum = np.fft.rfft(x, 2 * n)
    covariance = np.fft.irfft(spectrum * spectrum.conj())[:n] / n
    if not covariance[0] > 0.0:
        return math.nan
    pairs = covariance[: n // 2 * 2].reshape(-1, 2).sum(axis=1) / covariance[0]
    negative = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    return float(min(n / max(2.0 * kept.sum() - 1.0, 1e-12), n))


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
    frequency = document_frequency(corpus)
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
