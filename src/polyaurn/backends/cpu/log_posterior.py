"""The log joint density log p(w, z), Theta and Phi integrated out."""

import math
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from polyaurn.backends.cpu.layout import LEAST_BLOCK, WORD_RANGES, even_ranges
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import pseudo_at, pseudo_sizes
from polyaurn.chain.state import Priors, State, topic_word_matrix
from polyaurn.corpus.corpus import Corpus


def log_posterior(corpus: Corpus, state: State, priors: Priors, workers: Workers) -> float:
    """Return log p(w, z), Theta and Phi integrated out, the same for any number of threads."""
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
