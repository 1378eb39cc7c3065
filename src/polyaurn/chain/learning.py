"""Priors learned from the topics at hand: Minka's fixed point, as in Wallach, Mimno and McCallum.

alpha becomes a number for each topic, beta stays one for all words. Values that maximise p(z, w)
given the topics are put in place of the old ones every few sweeps: empirical Bayes, in which the
target of the chain moves with its state, and comes to rest where the two agree.
"""

from typing import Any

import numpy as np
from scipy.special import digamma

from polyaurn.base.arrays import F64
from polyaurn.chain.state import (
    Counts,
    Priors,
    doc_topic_matrix,
    pseudo_at,
    pseudo_sizes,
    topic_word_matrix,
)

STEPS = 200  # most steps of a fixed point
TOLERANCE = 1e-6  # change of a prior, relative, at which it is found
LEAST, MOST = 1e-6, 1e6  # a prior stays between these


def learn_priors(doc_ptr: Any, z: Any, counts: Counts, priors: Priors) -> Priors:
    """Return the priors under which the topics at hand are the most probable.

    Parameters
    ----------
    doc_ptr, z : ndarray
        Documents and topics of their tokens.
    counts : Counts
        n.
    priors : Priors
        Where to start.

    Returns
    -------
    Priors
        alpha asymmetric, beta symmetric.
    """
    alpha = learn_alpha(doc_ptr, z, priors.alpha)
    beta = np.full(len(priors.beta), learn_beta(counts, priors))
    alpha.flags.writeable = beta.flags.writeable = False
    return priors._replace(alpha=alpha, beta=beta)


def learn_alpha(doc_ptr: Any, z: Any, alpha: F64) -> F64:
    """Return the asymmetric alpha that the topics of documents tell.

    Each step multiplies alpha[k] by the sum over documents of digamma(m + alpha[k]) -
    digamma(alpha[k]), over the same for the lengths of documents and the sum of alpha.
    """
    K = len(alpha)
    m = doc_topic_matrix(doc_ptr, z, K)
    most = int(m.data.max(initial=0)) + 1
    cells, times = np.unique(m.indices.astype(np.int64) * most + m.data, return_counts=True)
    topic, number = cells // most, cells % most
    lengths, documents = np.unique(np.diff(doc_ptr), return_counts=True)
    alpha = np.array(alpha)
    for _ in range(STEPS):
        gain = times * (digamma(number + alpha[topic]) - digamma(alpha[topic]))
        loss = (documents * (digamma(lengths + alpha.sum()) - digamma(alpha.sum()))).sum()
        before = alpha
        alpha = np.clip(alpha * np.bincount(topic, gain, minlength=K) / loss, LEAST, MOST)
        if np.abs(alpha - before).max() <= TOLERANCE * before.max():
            break
    return alpha


def learn_beta(counts: Counts, priors: Priors) -> float:
    """Return the symmetric beta that the words of topics tell, beside their pseudo-counts."""
    V, K = len(priors.beta), len(priors.alpha)
    if priors.pseudo is None:
        (numbers, times), pseudo = np.unique(counts.number, return_counts=True), 0
    else:
        n = topic_word_matrix(counts, K)
        numbers, times, pseudo = n.data, np.ones(n.nnz), pseudo_at(n, priors)
    sizes = np.bincount(counts.topic, counts.number, minlength=K)
    pseudo_sums = pseudo_sizes(priors)
    b = float(priors.beta.mean())
    for _ in range(STEPS):
        gain = float((times * (digamma(numbers + pseudo + b) - digamma(pseudo + b))).sum())
        grown = digamma(sizes + pseudo_sums + V * b) - digamma(pseudo_sums + V * b)
        loss = float(V * grown.sum())
        before = b
        b = min(max(b * gain / loss, LEAST), MOST)
        if abs(b - before) <= TOLERANCE * before:
            break
    return b
