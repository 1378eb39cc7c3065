"""Fully collapsed Gibbs: a token given all others, by the three buckets of Yao, Mimno and McCallum.

Phi and theta are integrated out. A token of word v takes topic k with weight

    (alpha[k] + m[d, k]) (beta[v] + n[k, v]) / (n[k] + sum of beta),

itself left out of all counts. The product is cut in three: n[k, v] times the rest, over the
topics of the word; m[d, k] beta[v], over the topics of the document; alpha[k] beta[v], over all
topics. The first is summed for each token, the sums of the other two are kept up to date.

On one thread every token sees all that came before it, and the posterior is stationary. On several,
the documents are split, each thread changes a copy of the counts of its own, and the counts are
made again after the sweep: approximate distributed LDA (Newman, Asuncion, Smyth and Welling), whose
stationary distribution is only near the posterior and depends on the number of threads.
"""

from itertools import pairwise

import numpy as np

from polyaurn.backends.cpu.collapsed_parts import topic_totals
from polyaurn.backends.cpu.counts import count
from polyaurn.backends.cpu.layout import Layout, even_ranges
from polyaurn.backends.cpu.steps import CollapsedSteps
from polyaurn.backends.variates import bits, unit
from polyaurn.base.arrays import I64, U16, empty
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Priors, Work


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
    """Draw topics one after another, each given all others; approximate on several threads."""
    new = z.copy()
    n_k = topic_totals(counts, layout.n_topics)
    most = np.minimum(layout.word_tokens + counts.last - counts.first, layout.n_topics)
    offset = np.concatenate(([0], np.cumsum(most)))
    address = key(seed, sweep, Purpose.Z)

    def draw(lo: int, hi: int) -> int:
        columns = (offset, counts.last - counts.first, empty(offset[-1], np.uint16),
                   empty(offset[-1], counts.number.dtype))  # fmt: skip
        _spread(*counts, *columns)
        return int(
            _draw_documents(
                lo, hi, layout.doc_ptr, layout.word, new, *columns, n_k.copy(), priors.alpha,
                priors.beta, *address,
            )
        )  # fmt: skip

    work = workers.run(draw, list(pairwise(even_ranges(layout.doc_ptr, workers.n_threads))))
    return new, count(layout, new, workers), Work(sum(work))


@njit(nogil=True, cache=True)
def _spread(first, last, topic, number, offset, used, out_topic, out_number):
    """Copy columns to where each has space for as many topics as its word may have."""
    for v in range(len(first)):
        for j in range(used[v]):
            out_topic[offset[v] + j] = topic[first[v] + j]
            out_number[offset[v] + j] = number[first[v] + j]


@njit(nogil=True, cache=True)
def _draw_documents(
    lo, hi, doc_ptr, word, z, offset, used, topic, number, n_k, alpha, beta, key_a, key_b
):
    K = len(n_k)
    beta_all = beta.sum()
    share = 1.0 / (n_k + beta_all)
    coefficient = alpha * share  # (alpha + m) times share, for the document at hand
    m = np.zeros(K, np.int64)
    topics = np.empty(K, np.uint16)  # those with m > 0, in no order
    where = np.empty(K, np.int64)  # of a topic in that list
    running = np.empty(K + 1, np.float64)
    A = 0.0  # sum of alpha times share, over all topics
    work, stale = 0, K
    for d in range(lo, hi):
        if stale >= K:  # rounding errors do not gather
            A, stale = (alpha * share).sum(), 0
        stale += doc_ptr[d + 1] - doc_ptr[d]
        K_d = 0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if m[k] == 0:
                topics[K_d] = k
                where[k] = K_d
                K_d += 1
            m[k] += 1
        M = 0.0  # sum of m times share, over the document's topics
        for j in range(K_d):
            k = topics[j]
            M += m[k] * share[k]
            coefficient[k] = (alpha[k] + m[k]) * share[k]
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            v, old = word[i], z[i]
            A_before, M_before = A, M
            share_before, coefficient_before = share[old], coefficient[old]
            s = 1.0 / (n_k[old] - 1 + beta_all)  # without the token at hand
            A += alpha[old] * (s - share_before)
            M += (m[old] - 1) * s - m[old] * share_before
            m[old] -= 1
            share[old] = s
            coefficient[old] = (alpha[old] + m[old]) * s
            start, K_v = offset[v], used[v]
            Q = 0.0
            for j in range(K_v):
                k = topic[start + j]
                Q += (number[start + j] - np.int32(k == old)) * coefficient[k]
                running[j] = Q
            work += K_v
            u = unit(bits(key_a, key_b, i)) * (Q + beta[v] * (M + A))
            chosen = -1  # place in the column, where it is known
            if u < Q:
                chosen = 0
                while running[chosen] <= u:
                    chosen += 1
                k = topic[start + chosen]
            else:
                u = (u - Q) / beta[v]
                if u < M:
                    work += K_d
                    k = _walk_document(u, topics, K_d, m, share)
                else:
                    work += K
                    k = _walk_all(u - M, alpha, share)
            if k == old:
                A, M = A_before, M_before
                m[old] += 1
                share[old], coefficient[old] = share_before, coefficient_before
                continue
            z[i] = k
            place = _find(topic, start, K_v, old)
            number[start + place] -= 1
            if number[start + place] == 0:
                used[v] -= 1
                topic[start + place] = topic[start + used[v]]
                number[start + place] = number[start + used[v]]
                chosen = place if chosen == used[v] else chosen
            if chosen < 0:
                chosen = _find(topic, start, used[v], k)
                if chosen == used[v]:
                    topic[start + chosen] = k
                    number[start + chosen] = 0
                    used[v] += 1
            number[start + chosen] += 1
            if m[old] == 0:
                K_d -= 1
                topics[where[old]] = topics[K_d]
                where[topics[K_d]] = where[old]
            if m[k] == 0:
                topics[K_d] = k
                where[k] = K_d
                K_d += 1
            n_k[old] -= 1
            n_k[k] += 1
            s = 1.0 / (n_k[k] + beta_all)
            A += alpha[k] * (s - share[k])
            M += (m[k] + 1) * s - m[k] * share[k]
            m[k] += 1
            share[k] = s
            coefficient[k] = (alpha[k] + m[k]) * s
        for j in range(K_d):
            k = topics[j]
            m[k] = 0
            coefficient[k] = alpha[k] * share[k]
    return work


@njit(cache=True)
def _walk_document(u, topics, K_d, m, share):
    """Return the topic where the sum of m times share passes u; one with m > 0 in any case."""
    k = topics[0]
    for j in range(K_d):
        if m[topics[j]] > 0:
            k = topics[j]
            u -= m[k] * share[k]
            if u < 0.0:
                break
    return k


@njit(cache=True)
def _walk_all(u, alpha, share):
    """Return the topic where the sum of alpha times share passes u, or the last one."""
    k = 0
    u -= alpha[0] * share[0]
    while u >= 0.0 and k < len(alpha) - 1:
        k += 1
        u -= alpha[k] * share[k]
    return np.uint16(k)


@njit(cache=True)
def _find(topic, start, n, k):
    """Return the place of a topic in a column, or its length."""
    j = 0
    while j < n and topic[start + j] != k:
        j += 1
    return j


class Steps(CollapsedSteps):
    """Steps of the sampler "collapsed"."""

    z_step = staticmethod(draw_z)
