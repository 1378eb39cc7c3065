"""The statistic n, word by word: each word belongs to one range, no atomics, no K by V.

A z step counts as it draws. A token's new topic lies in the column of Phi that it was drawn
from, so that a number beside each nonzero of Phi holds all counts; what is zero is then left out.
"""

from itertools import pairwise

import numpy as np
from numba import njit

from polyaurn.kernels.layout import Layout, clear_other_blocks
from polyaurn.state import I32, I64, NO_TOPIC, U16, Counts, Phi
from polyaurn.workers import Workers


def count(layout: Layout, z: U16, workers: Workers, blocks: I64 | None = None) -> Counts:
    """Count topics of each word from scratch; tokens without a topic do not count.

    Parameters
    ----------
    layout : Layout
        The corpus.
    z : ndarray of uint16
        Topics of the tokens.
    workers : Workers
        Threads.
    blocks : ndarray of int64, optional
        Which blocks of documents to count; all when not given.

    Returns
    -------
    Counts
        n, sparse, topics in increasing order inside each word.
    """
    if blocks is not None:
        z = z.copy()
        clear_other_blocks(layout, z, blocks)
    V, K = layout.n_words, layout.n_topics
    room = np.zeros(V + 1, np.int64)
    np.cumsum(np.minimum(layout.word_tokens, K), out=room[1:])
    first, last = np.empty(V, np.int64), np.empty(V, np.int64)
    topic, number = np.empty(room[-1], np.uint16), np.empty(room[-1], np.int32)
    made = (first, last, topic, number)
    workers.run(
        _count_words,
        [
            (lo, hi, room[lo], layout.word_tokens, layout.word, z, K, *made)
            for lo, hi in pairwise(layout.word_ranges)  # each reads all tokens
        ],
    )
    return Counts(*made)


def gather_counts(layout: Layout, phi: Phi, tallies: I32, workers: Workers) -> Counts:
    """Add up what threads counted beside the nonzeros of Phi, and leave out the zeros."""
    V = layout.n_words
    first, last = np.empty(V, np.int64), np.empty(V, np.int64)
    topic, number = np.empty(len(phi.topic), np.uint16), np.empty(len(phi.topic), np.int32)
    workers.run(
        _gather_words,
        [
            (lo, hi, phi.first, phi.last, phi.topic, tallies, first, last, topic, number)
            for lo, hi in pairwise(layout.word_ranges)
        ],
    )
    return Counts(first, last, topic, number)


def replace_counts(
    layout: Layout, counts: Counts, old: Counts, new: Counts, workers: Workers
) -> Counts:
    """Return counts without those of some documents (old) and with others instead (new)."""
    V, K = layout.n_words, layout.n_topics
    room = np.zeros(V + 1, np.int64)
    np.cumsum(np.diff(counts[:2], axis=0)[0] + np.diff(new[:2], axis=0)[0], out=room[1:])
    first, last = np.empty(V, np.int64), np.empty(V, np.int64)
    topic, number = np.empty(room[-1], np.uint16), np.empty(room[-1], np.int32)
    workers.run(
        _replace_words,
        [
            (lo, hi, room[lo], *counts, *old, *new, K, first, last, topic, number)
            for lo, hi in pairwise(layout.word_ranges)
        ],
    )
    return Counts(first, last, topic, number)


@njit(nogil=True, cache=True)
def _count_words(lo, hi, at, word_tokens, word, z, K, first, last, topic, number):
    place = np.zeros(hi - lo + 1, np.int64)
    for v in range(lo, hi):
        place[v - lo + 1] = place[v - lo] + word_tokens[v]
    topics = np.empty(place[hi - lo], np.uint16)  # of the range's tokens, word by word
    for i in range(len(word)):
        v = word[i] - lo
        if 0 <= v < hi - lo and z[i] != NO_TOPIC:
            topics[place[v]] = z[i]
            place[v] += 1
    n = np.zeros(K, np.int32)
    seen = np.empty(K, np.uint16)
    start = 0
    for v in range(lo, hi):
        K_v = 0
        for j in range(start, place[v - lo]):
            k = topics[j]
            if n[k] == 0:
                seen[K_v] = k
                K_v += 1
            n[k] += 1
        start += word_tokens[v]
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


@njit(nogil=True, cache=True)
def _gather_words(lo, hi, phi_first, phi_last, phi_topic, tallies, first, last, topic, number):
    at = phi_first[lo]
    for v in range(lo, hi):
        first[v] = at
        for j in range(phi_first[v], phi_last[v]):
            n = tallies[0, j]
            for t in range(1, len(tallies)):
                n += tallies[t, j]
            if n > 0:
                topic[at] = phi_topic[j]
                number[at] = n
                at += 1
        last[v] = at


@njit(nogil=True, cache=True)
def _replace_words(
    lo, hi, at, first, last, topic, number, old_first, old_last, old_topic, old_number,
    new_first, new_last, new_topic, new_number, K, out_first, out_last, out_topic, out_number,
):  # fmt: skip
    gone = np.zeros(K, np.int32)
    for v in range(lo, hi):
        for j in range(old_first[v], old_last[v]):
            gone[old_topic[j]] = old_number[j]
        out_first[v] = at
        i, stop = first[v], last[v]
        j, new_stop = new_first[v], new_last[v]
        while i < stop or j < new_stop:
            k = min(topic[i] if i < stop else NO_TOPIC, new_topic[j] if j < new_stop else NO_TOPIC)
            n = np.int32(0)
            if i < stop and topic[i] == k:
                n += number[i] - gone[k]
                i += 1
            if j < new_stop and new_topic[j] == k:
                n += new_number[j]
                j += 1
            if n > 0:
                out_topic[at] = k
                out_number[at] = n
                at += 1
        out_last[v] = at
        for j in range(old_first[v], old_last[v]):
            gone[old_topic[j]] = 0
