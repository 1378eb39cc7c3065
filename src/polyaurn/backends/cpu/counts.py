"""The statistic n, word by word: each word belongs to one range, without atomics or a K by V array.

A z step counts as it draws. A token's new topic is in the column of Phi that it was drawn
from, so that a number beside each nonzero of Phi holds all counts; what is zero is then left out.
"""

from collections.abc import Callable
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

import numpy as np

from polyaurn.backends.cpu.layout import Layout, block_of
from polyaurn.base.arrays import I32, I64, U16, empty, release, zeros
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.chain.state import NO_TOPIC, Counts, Phi

_PIECE = 1 << 22  # tokens looked at in one go: a corpus on disk need not be in memory


def count(layout: Layout, z: U16, workers: Workers) -> Counts:
    """Count topics of each word from scratch; tokens without a topic do not count."""
    V, K = layout.n_words, layout.n_topics
    offset = np.zeros(V + 1, np.int64)
    np.cumsum(np.minimum(layout.word_tokens, K), out=offset[1:])
    first, last = np.empty(V, np.int64), np.empty(V, np.int64)
    topic, number = empty(offset[-1], np.uint16), empty(offset[-1], np.int32)
    made = (first, last, topic, number)

    def count_range(lo: int, hi: int) -> None:
        start = np.concatenate(([0], np.cumsum(layout.word_tokens[lo:hi])))
        place, topics = start[:-1].copy(), empty(start[-1], np.uint16)
        for at in range(0, len(z), _PIECE):  # each range of words reads all tokens
            piece = slice(at, at + _PIECE)
            _collect_topics(lo, hi, layout.word[piece], z[piece], place, topics)
            release(layout.word)
        count_words(lo, hi, offset[lo], start, place, topics, K, *made)

    workers.run(count_range, list(pairwise(layout.word_ranges.tolist())))
    return _without_gaps(layout, *made)


def count_blocks(layout: Layout, z: U16, counts: Counts, blocks: I64, workers: Workers) -> Counts:
    """Count topics in some blocks of documents, given the counts of all."""
    tallies = zeros(len(counts.topic), np.int32).reshape(1, -1)
    columns = (counts.first, counts.last, counts.topic)
    for b in blocks:
        documents, *runs = block_of(layout, b)
        if len(runs[0]):
            _tally_block(documents, *runs, layout.doc_ptr, z, *columns, layout.n_topics, tallies)
        else:
            _tally_documents(documents, layout.word, layout.doc_ptr, z, *columns, tallies)
    return gather_counts(layout, *columns, tallies, workers)


def draw_and_count(
    layout: Layout,
    phi: Phi,
    tasks: list[tuple[Any]],
    draw: Callable[[int, I32], Any],
    workers: Workers,
) -> tuple[list[Any], Counts]:
    """Draw topics of blocks, counting beside the nonzeros of Phi; return results and counts.

    Tasks are numbers of blocks, in the order in which to begin them. ``draw(block, tally)`` draws,
    and adds to the tally of each topic drawn; each thread has a tally of its own.
    """
    n_threads = max(1, min(workers.n_threads, len(tasks)))
    tallies = zeros(n_threads * len(phi.topic), np.int32).reshape(n_threads, -1)
    free: SimpleQueue[I32] = SimpleQueue()
    for tally in tallies:
        free.put(tally)

    def draw_with_tally(b: int) -> Any:
        tally = free.get()
        try:
            return draw(b, tally)
        finally:
            free.put(tally)

    results = workers.run(draw_with_tally, tasks)
    return results, gather_counts(layout, phi.first, phi.last, phi.topic, tallies, workers)


def gather_counts(
    layout: Layout, first: I64, last: I64, topic: U16, tallies: I32, workers: Workers
) -> Counts:
    """Add up what threads counted beside the topics of columns, and leave out the zeros."""
    V, source = layout.n_words, (first, last, topic)
    made = (np.empty(V, np.int64), np.empty(V, np.int64), empty(len(topic), np.uint16),
            empty(len(topic), np.int32))  # fmt: skip
    workers.run(
        _gather_words,
        [(lo, hi, *source, tallies, *made) for lo, hi in pairwise(layout.word_ranges)],
    )
    return _without_gaps(layout, *made)


def replace_counts(
    layout: Layout, counts: Counts, old: Counts, new: Counts, workers: Workers
) -> Counts:
    """Return counts without those of some documents (old) and with others instead (new)."""
    return _replaced(layout, counts, old, new, workers, counts.number.dtype)


def add_pseudo_counts(layout: Layout, counts: Counts, pseudo: Counts, workers: Workers) -> Counts:
    """Return counts with pseudo-counts, whole where these are."""
    nothing = no_counts(layout.n_words)
    return _replaced(layout, counts, nothing, pseudo, workers, pseudo.number.dtype)


def remove_pseudo_counts(
    layout: Layout, counts: Counts, pseudo: Counts, workers: Workers
) -> Counts:
    """Return counts without the pseudo-counts that were added, whole again."""
    return _replaced(layout, counts, pseudo, no_counts(layout.n_words), workers, np.int32)


def no_counts(n_words: int) -> Counts:
    """Return the counts of no documents."""
    zeros = np.zeros(n_words, np.int64)
    return Counts(zeros, zeros, np.empty(0, np.uint16), np.empty(0, np.int32))


def _replaced(
    layout: Layout, counts: Counts, old: Counts, new: Counts, workers: Workers, dtype: Any
) -> Counts:
    V, K = layout.n_words, layout.n_topics
    offset = np.zeros(V + 1, np.int64)
    np.cumsum(np.diff(counts[:2], axis=0)[0] + np.diff(new[:2], axis=0)[0], out=offset[1:])
    first, last = np.zeros(V, np.int64), np.zeros(V, np.int64)  # of words in no range as well
    topic, number = empty(offset[-1], np.uint16), empty(offset[-1], dtype)
    workers.run(
        _replace_words,
        [
            (lo, hi, offset[lo], *counts, *old, *new, K, first, last, topic, number)
            for lo, hi in pairwise(layout.word_ranges)
        ],
    )
    return _without_gaps(layout, first, last, topic, number)


def _without_gaps(layout: Layout, first: I64, last: I64, topic: U16, number: Any) -> Counts:
    """Move ranges of words together, so that counts take no more memory than they need."""
    pieces = [slice(first[lo], last[hi - 1]) for lo, hi in pairwise(layout.word_ranges) if hi > lo]
    at = 0
    for (lo, hi), piece in zip(pairwise(layout.word_ranges), pieces, strict=True):
        moved = first[lo] - at
        at += int(piece.stop - piece.start)
        first[lo:hi] -= moved
        last[lo:hi] -= moved
    packed = Counts(first, last, empty(at, np.uint16), empty(at, number.dtype))
    np.concatenate([topic[piece] for piece in pieces], out=packed.topic)
    np.concatenate([number[piece] for piece in pieces], out=packed.number)
    return packed


@njit(nogil=True, cache=True)
def _collect_topics(lo, hi, word, z, place, topics):
    """Sort topics of tokens by word; `place` is where a word's next one goes."""
    for i in range(len(word)):
        if lo <= word[i] < hi and z[i] != NO_TOPIC:
            topics[place[word[i] - lo]] = z[i]
            place[word[i] - lo] += 1


@njit(nogil=True, cache=True)
def count_words(lo, hi, at, start, place, topics, K, first, last, topic, number):
    """Count the topics of some words, topics[start[v - lo]:place[v - lo]] of each."""
    n = np.zeros(K, np.int32)
    seen = np.empty(K, np.uint16)
    for v in range(lo, hi):
        K_v = 0
        for j in range(start[v - lo], place[v - lo]):
            k = topics[j]
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


@njit(nogil=True, cache=True)
def _tally_block(documents, step, length, place, doc_ptr, z, first, last, topic, K, tallies):
    token = np.empty(len(documents), np.int64)  # the document's next token
    for d in range(len(documents)):
        token[d] = doc_ptr[documents[d]]
    where = np.zeros(K, np.int64)  # of a topic in the word's column
    v, at = 0, 0
    for r in range(len(step)):
        v += step[r]
        for j in range(first[v], last[v]):
            where[topic[j]] = j
        for t in range(at, at + length[r]):
            tallies[0, where[z[token[place[t]]]]] += 1
            token[place[t]] += 1
        at += length[r]


@njit(nogil=True, cache=True)
def _tally_documents(documents, word, doc_ptr, z, first, last, topic, tallies):
    for d in documents:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            v = word[i]
            j = first[v] + np.searchsorted(topic[first[v] : last[v]], z[i])
            tallies[0, j] += 1


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
    gone = np.zeros(K, old_number.dtype)
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
