"""The z step in document order, for documents too long or topics too many for a block.

The part with m is summed over the shorter of two lists, the word's column and the document's
topics, both in increasing order of topic, so that either walk gives the same choice.
"""

import numpy as np

from polyaurn.backends.cpu.columns import from_prior
from polyaurn.backends.variates import bits, unit
from polyaurn.base.compilation import njit


@njit(nogil=True, cache=True)
def draw_documents(documents, word, doc_ptr, z, new, tally, phi, K, z_key, prior_key):
    """Draw topics of some documents, one after another; return the work."""
    first, last, topic, weight = phi.first, phi.last, phi.topic, phi.weight
    prior, sigma_a, row, dense = phi.prior, phi.sigma_a, phi.row, phi.dense
    m = np.zeros(K, np.uint32)  # topics of the document, by topic
    topics = np.empty(K + 1, np.uint16)  # those with m > 0 (and the one left), increasing
    running = np.empty(K + 1, np.uint64)  # running sums of the walk
    work = 0
    for d in documents:
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        K_d = _list_topics(z, begin, end, m, topics, K)
        K_d_begun = K_d
        for i in range(begin, end):
            v = word[i]
            old = z[i]
            m[old] -= np.uint32(1)
            start = first[v]
            K_v = last[v] - start
            work += min(K_d_begun, K_v)
            s = np.uint64(0)
            by_column = K_v <= K_d or (row[v] < 0 and K_v <= 8 * K_d)
            if by_column:
                c = np.uint64(start)
                for j in range(np.uint64(K_v)):
                    s += np.uint64(weight[c + j]) * np.uint64(m[topic[c + j]])
                    running[j] = s
            elif row[v] >= 0:
                w = dense[np.uint64(row[v])]
                for j in range(np.uint64(K_d)):
                    k = topics[j]
                    s += np.uint64(w[k]) * np.uint64(m[k])
                    running[j] = s
            else:
                at = start
                for j in range(K_d):
                    k = topics[j]
                    at += np.searchsorted(topic[at : last[v]], k)
                    if at < last[v] and topic[at] == k:
                        s += np.uint64(weight[at]) * np.uint64(m[k])
                    running[j] = s
            sigma_b = np.float64(s)
            u = unit(bits(z_key.a, z_key.b, i)) * (sigma_b + sigma_a[v])
            if u < sigma_b:
                goal = min(np.uint64(u), s - np.uint64(1))
                place = np.uint64(0)
                while running[place] <= goal:
                    place += np.uint64(1)
                if by_column:
                    j = start + np.int64(place)
                else:
                    j = start + np.searchsorted(topic[start : last[v]], topics[place])
            else:
                u = unit(bits(prior_key.a, prior_key.b, i))
                j = start + np.int64(from_prior(prior, np.uint64(start), K_v, u))
            k = topic[j]
            tally[j] += np.int32(1)
            new[i] = k
            if k != old:
                if m[old] == 0:
                    K_d = _leave(topics, K_d, old)
                if m[k] == 0:
                    K_d = _enter(topics, K_d, k)
            m[k] += np.uint32(1)
        for j in range(K_d):
            m[topics[j]] = 0
    return work


@njit(nogil=True, cache=True)
def _list_topics(z, begin, end, m, topics, K):
    """Count the document's topics and list them in increasing order; return how many."""
    K_d = 0
    for i in range(begin, end):
        k = z[i]
        if m[k] == 0:
            topics[K_d] = k
            K_d += 1
        m[k] += np.uint32(1)
    if 8 * K_d > K:
        K_d = 0
        for k in range(K):
            if m[k] > 0:
                topics[K_d] = k
                K_d += 1
    else:
        topics[:K_d].sort()
    return K_d


@njit(nogil=True, cache=True)
def _leave(topics, K_d, k):
    """Take topic k out of the list."""
    j = 0
    while topics[j] != k:
        j += 1
    for i in range(j, K_d - 1):
        topics[i] = topics[i + 1]
    return K_d - 1


@njit(nogil=True, cache=True)
def _enter(topics, K_d, k):
    """Put topic k into the list, in its place."""
    j = K_d
    while j > 0 and topics[j - 1] > k:
        topics[j] = topics[j - 1]
        j -= 1
    topics[j] = k
    return K_d + 1
