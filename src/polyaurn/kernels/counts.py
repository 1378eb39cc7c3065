"""The statistic n counted from z, word by word: each word belongs to one range, no atomics."""

from itertools import pairwise

import numpy as np
from numba import njit

from polyaurn.kernels.layout import Layout
from polyaurn.state import U16, Counts
from polyaurn.workers import Workers


def count(layout: Layout, z: U16, workers: Workers) -> Counts:
    """Count topics of each word.

    Parameters
    ----------
    layout : Layout
        The corpus.
    z : ndarray of uint16
        Topics of the tokens.
    workers : Workers
        Threads.

    Returns
    -------
    Counts
        n, sparse, topics in increasing order inside each word.
    """
    V, K = layout.n_words, layout.n_topics
    room = np.zeros(V + 1, np.int64)
    np.cumsum(np.minimum(np.diff(layout.word_ptr), K), out=room[1:])
    first, last = np.empty(V, np.int64), np.empty(V, np.int64)
    topic, number = np.empty(room[-1], np.uint16), np.empty(room[-1], np.int32)
    ranges = layout.word_ranges
    workers.run(
        _count_words,
        [
            (lo, hi, room[lo], layout.word_ptr, layout.token, z, K, first, last, topic, number)
            for lo, hi in pairwise(ranges)
        ],
    )
    return Counts(first, last, topic, number)


@njit(nogil=True, cache=True)
def _count_words(lo, hi, at, word_ptr, token, z, K, first, last, topic, number):
    n = np.zeros(K, np.int32)
    seen = np.empty(K, np.uint16)
    for v in range(lo, hi):
        start, stop = word_ptr[v], word_ptr[v + 1]
        K_v = 0
        for j in range(start, stop):
            k = z[token[j]]
            if n[k] == 0:
                seen[K_v] = k
                K_v += 1
            n[k] += 1
        first[v] = at
        if 8 * K_v > K:  # long column: walking all topics is cheaper than sorting those seen
            for k in range(K):
                if n[k] > 0:
                    topic[at] = k
                    number[at] = n[k]
                    n[k] = 0
                    at += 1
        else:
            seen[:K_v].sort()
            for j in range(K_v):
                k = seen[j]
                topic[at] = k
                number[at] = n[k]
                n[k] = 0
                at += 1
        last[v] = at
