"""The log joint density log p(w, z), Theta and Phi integrated out."""

import math
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from polyaurn.backends.cpu.layout import LEAST_BLOCK, WORD_RANGES, even_ranges
from polyaurn.base.arrays import F64, I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import pseudo_at, pseudo_sizes
from polyaurn.chain.state import Counts, Priors, State, topic_word_matrix
from polyaurn.corpus.part import Documents


def log_posterior(corpus: Documents, state: State, priors: Priors, workers: Workers) -> float:
    """Return log p(w, z), Theta and Phi integrated out, the same for any number of threads."""
    counts = state.counts
    ranges = document_ranges(corpus.doc_ptr)
    documents = scores_of_documents(corpus.doc_ptr, ranges, state.z, priors.alpha, workers)
    words = scores_of_words(word_ranges(corpus.n_words), counts, priors.beta, workers)
    sizes = np.bincount(counts.topic, counts.number, minlength=len(priors.alpha))
    if priors.pseudo is not None:
        words = [*words, *gain_of_pseudo_counts(state, priors)]
    return total_score(documents, words, sizes, priors)


def document_ranges(doc_ptr: I64) -> I64:
    """Cut documents into the ranges whose scores are added up in order."""
    return even_ranges(doc_ptr, -(-int(doc_ptr[-1]) // LEAST_BLOCK))


def word_ranges(n_words: int) -> I64:
    """Cut words into the ranges whose scores are added up in order."""
    n_ranges = min(WORD_RANGES, 1 + n_words // 1024)
    return np.linspace(0, n_words, n_ranges + 1).astype(np.int64)


def scores_of_documents(
    doc_ptr: I64, ranges: I64, z: U16, alpha: F64, workers: Workers
) -> list[float]:
    """Return the score of each range of documents."""
    tasks = [(lo, hi, doc_ptr, z, alpha, alpha.sum()) for lo, hi in pairwise(ranges)]
    return workers.run(score_documents, tasks)


def scores_of_words(ranges: I64, counts: Counts, beta: F64, workers: Workers) -> list[float]:
    """Return the score of each range of words."""
    return workers.run(score_words, [(lo, hi, *counts, beta) for lo, hi in pairwise(ranges)])


def total_score(
    documents: list[float], words: list[float], sizes: F64 | I64, priors: Priors
) -> float:
    """Return log p(w, z), given the scores of ranges in any order and the sizes of topics."""
    beta_sum = float(priors.beta.sum())
    sums = (beta_sum + pseudo_sizes(priors)).tolist()
    pairs = zip(sums, sizes.tolist(), strict=True)
    topics = [math.lgamma(b) - math.lgamma(b + n_k) for b, n_k in pairs]
    return math.fsum(documents) + math.fsum(words) + math.fsum(topics)


def gain_of_pseudo_counts(state: State, priors: Priors) -> list[float]:
    """Return what pseudo-counts add to the score of each cell that has both them and tokens."""
    n = topic_word_matrix(state.counts, len(priors.alpha))
    before = pseudo_at(n, priors)
    number, beta = n.data[before > 0], priors.beta[n.indices[before > 0]]
    prior = beta + before[before > 0]
    gain = gammaln(prior + number) - gammaln(prior) - gammaln(beta + number) + gammaln(beta)
    found: list[float] = gain.tolist()
    return found


@njit(nogil=True, cache=True)
def log_rising(x, n):
    """Return log(x (x + 1) ... (x + n - 1)), which is lgamma(x + n) - lgamma(x)."""
    if n > 12:
        return math.lgamma(x + n) - math.lgamma(x)
    product = 1.0
    for j in range(n):
        product *= x + j
    return math.log(product)


@njit(nogil=True, cache=True)
def score_documents(lo, hi, doc_ptr, z, alpha, alpha_sum):
    """Return the sum over documents of log p(z_d)."""
    m = np.zeros(len(alpha), np.int64)
    seen = np.empty(len(alpha), np.int64)
    total = 0.0
    for d in range(lo, hi):
        K_d = 0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if m[k] == 0:
                seen[K_d] = k
                K_d += 1
            m[k] += 1
        for j in range(K_d):
            k = seen[j]
            total += log_rising(alpha[k], m[k])
            m[k] = 0
        total -= log_rising(alpha_sum, doc_ptr[d + 1] - doc_ptr[d])
    return total


@njit(nogil=True, cache=True)
def score_words(lo, hi, first, last, topic, count, beta):
    """Return the sum over words and topics of log (beta)(beta + 1)...(beta + n - 1)."""
    total = 0.0
    for v in range(lo, hi):
        for j in range(first[v], last[v]):
            total += log_rising(beta[v], np.int64(count[j]))
    return total
