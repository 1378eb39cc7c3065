"""The direct assignment sampler of a hierarchical Dirichlet process: the oracle of our own.

Teh, Jordan, Beal and Blei (2006), section 5.3, written as there: one token after another, Phi and
Theta integrated out, topics opened and closed without a limit, counts of tables drawn document by
document, and the auxiliary variables of their appendix. Nothing is shared with the samplers that
it is compared with, not even the source of its random numbers. One thread, time O(K) per token.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.compilation import njit
from polyaurn.corpus.corpus import Corpus

SPARE = 512  # topics that may be opened in a sweep before arrays are made larger


class DirectAssignment(NamedTuple):
    """A draw: topics of the tokens, weights by topic, 0 where there is none, and of new topics."""

    z: I64
    psi: F64
    new: float
    alpha: float
    gamma: float


def direct_assignment(
    corpus: Corpus,
    *,
    beta: float,
    alpha: float = 1.0,
    gamma: float = 1.0,
    alpha_prior: tuple[float, float] | None = (1.0, 1.0),
    gamma_prior: tuple[float, float] | None = (1.0, 1.0),
    start_topics: int = 1,
    seed: int = 0,
) -> Iterator[DirectAssignment]:
    """Yield the draw after each sweep, indefinitely."""
    rng = np.random.default_rng(seed)
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
    word, lengths = corpus.word.astype(np.int64), np.diff(corpus.doc_ptr)
    lengths = lengths[lengths > 0]
    z = rng.integers(start_topics, size=corpus.n_tokens)
    K = start_topics
    m, n = np.zeros((corpus.n_documents, K), np.int64), np.zeros((corpus.n_words, K), np.int64)
    np.add.at(m, (document, z), 1)
    np.add.at(n, (word, z), 1)
    psi, new = np.full(K, 1.0 / (K + 1)), 1.0 / (K + 1)
    while True:
        opened = int((psi > 0).sum())
        if len(psi) - opened < SPARE:
            more = max(SPARE, len(psi))
            m, n = (np.pad(counts, ((0, 0), (0, more))) for counts in (m, n))
            psi = np.pad(psi, (0, more))
        new = _sweep(document, word, z, m, n, n.sum(axis=0), psi, new, alpha, gamma, beta, rng)
        tables = np.zeros(len(psi), np.int64)
        _draw_tables(m, alpha * psi, tables, rng)
        total = int(tables.sum())
        if alpha_prior is not None:
            w = rng.beta(alpha + 1.0, lengths)
            s = rng.random(len(lengths)) < lengths / (lengths + alpha)
            shape, rate = alpha_prior
            alpha = float(rng.gamma(shape + total - s.sum()) / (rate - np.log(w).sum()))
        if gamma_prior is not None:
            used = int((tables > 0).sum())
            rate = gamma_prior[1] - np.log(rng.beta(gamma + 1.0, total))
            removed = rng.random() < total / (total + gamma)
            gamma = float(rng.gamma(gamma_prior[0] + used - removed) / rate)
        parts = rng.gamma(np.append(tables, gamma))
        parts /= parts.sum()
        psi, new = parts[:-1], float(parts[-1])
        yield DirectAssignment(z.copy(), psi.copy(), new, alpha, gamma)


@njit(cache=True)
def _sweep(document, word, z, m, n, n_k, psi, new, alpha, gamma, beta, rng):
    """Draw the topic of every token given all others; return the weight of new topics."""
    V = len(n)
    topics = np.flatnonzero(n_k)  # those that have tokens
    K = len(topics)
    topics = np.append(topics, np.zeros(len(n_k) - K, np.int64))
    psi[n_k == 0] = 0.0
    running = np.empty(len(n_k) + 1)
    for i in range(len(z)):
        d, v, k = document[i], word[i], z[i]
        m[d, k] -= 1
        n[v, k] -= 1
        n_k[k] -= 1
        if n_k[k] == 0:  # the topic closes
            new += psi[k]
            psi[k] = 0.0
            for j in range(K):
                if topics[j] == k:
                    topics[j] = topics[K - 1]
                    K -= 1
                    break
        total = 0.0
        for j in range(K):
            k = topics[j]
            total += (m[d, k] + alpha * psi[k]) * (n[v, k] + beta) / (n_k[k] + V * beta)
            running[j] = total
        running[K] = total + alpha * new / V
        u = rng.random() * running[K]
        j = 0
        while j < K and running[j] <= u:
            j += 1
        if j == K:  # a topic opens
            free = 0
            while n_k[free] > 0:
                free += 1
            b = rng.beta(1.0, gamma)
            psi[free] = b * new
            new *= 1.0 - b
            topics[K] = free
            K += 1
        k = topics[j]
        z[i] = k
        m[d, k] += 1
        n[v, k] += 1
        n_k[k] += 1
    return new


@njit(cache=True)
def _draw_tables(m, a, tables, rng):
    """Draw how many tables serve each topic: of its j-th customer with odds a to j - 1."""
    for d in range(len(m)):
        for k in range(len(a)):
            for j in range(m[d, k]):
                if rng.random() * (a[k] + j) < a[k]:
                    tables[k] += 1
