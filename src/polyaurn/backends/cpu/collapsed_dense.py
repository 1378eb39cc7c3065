"""The textbook collapsed Gibbs sampler (Griffiths and Steyvers): every topic of every token.

It takes time O(K) per token and memory K by V, and is here to be read, and as an oracle for
`polyaurn.backends.cpu.collapsed`. It runs on one thread whatever is requested, and is exact.
"""

import numpy as np

from polyaurn.backends.cpu.counts import count
from polyaurn.backends.cpu.layout import Layout
from polyaurn.backends.cpu.steps import CollapsedSteps
from polyaurn.backends.variates import bits, unit
from polyaurn.base.arrays import I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Priors, Work, topic_word_matrix


def draw_z(
    layout: Layout,
    z: U16,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    blocks: I64 | None = None,
    into: U16 | None = None,
) -> tuple[U16, Counts, Work]:
    """Draw topics one after another, each given all others, on one thread."""
    new = z.copy()
    n = np.ascontiguousarray(topic_word_matrix(counts, layout.n_topics).toarray().T)
    _draw_tokens(
        layout.doc_ptr, layout.word, new, n, priors.alpha, priors.beta, *key(seed, sweep, Purpose.Z)
    )
    return new, count(layout, new, workers), Work(len(z) * layout.n_topics)


@njit(nogil=True, cache=True)
def _draw_tokens(doc_ptr, word, z, n, alpha, beta, key_a, key_b):
    K = len(alpha)
    n_k = n.sum(axis=0)
    beta_all = beta.sum()
    running = np.empty(K)
    for d in range(len(doc_ptr) - 1):
        m = np.zeros(K, np.int64)
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            m[z[i]] += 1
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            v, old = word[i], z[i]
            m[old] -= 1
            n[v, old] -= 1
            n_k[old] -= 1
            total = 0.0
            for j in range(K):
                total += (alpha[j] + m[j]) * (beta[v] + n[v, j]) / (beta_all + n_k[j])
                running[j] = total
            u = unit(bits(key_a, key_b, i)) * total
            k = 0
            while running[k] <= u and k < K - 1:
                k += 1
            m[k] += 1
            n[v, k] += 1
            n_k[k] += 1
            z[i] = k


class Steps(CollapsedSteps):
    """Steps of the sampler "collapsed-dense"."""

    z_step = staticmethod(draw_z)
