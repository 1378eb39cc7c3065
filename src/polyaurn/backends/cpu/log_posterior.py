"""Compiled parts of the log joint density log p(w, z), Theta and Phi integrated out."""

import math

import numpy as np
from scipy.special import gammaln

from polyaurn.base.compilation import njit
from polyaurn.chain.state import Priors, State, pseudo_at, topic_word_matrix


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


def gain_of_pseudo_counts(state: State, priors: Priors) -> list[float]:
    """Return what pseudo-counts add to the score of each cell that has both them and tokens."""
    n = topic_word_matrix(state.counts, len(priors.alpha))
    before = pseudo_at(n, priors)
    number, beta = n.data[before > 0], priors.beta[n.indices[before > 0]]
    prior = beta + before[before > 0]
    gain = gammaln(prior + number) - gammaln(prior) - gammaln(beta + number) + gammaln(beta)
    found: list[float] = gain.tolist()
    return found
