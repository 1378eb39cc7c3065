"""How often documents have each number of tokens of each topic: what alpha is learned from."""

from itertools import pairwise

import numpy as np

from polyaurn.backends.cpu.layout import LEAST_BLOCK, even_ranges
from polyaurn.base.arrays import I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import Histogram
from polyaurn.chain.state import NO_TOPIC

TABLE = 1 << 18  # cells of a thread's table of small numbers: about the size of a core's own cache
WIDTHS = 16, 256  # the least and most numbers that a row of it has; larger ones are listed


def count_documents(doc_ptr: I64, z: U16, n_topics: int, workers: Workers) -> Histogram:
    """Count documents by topic and number of tokens, the same for any number of threads.

    Small numbers are counted in a table for each thread. A cell with a larger number is listed; it
    has as many tokens, so that the lists are short however long documents are.
    """
    width = min(max(TABLE // (n_topics + 1), WIDTHS[0]), WIDTHS[1])
    n_ranges = min(workers.n_threads, 1 + len(z) // LEAST_BLOCK)
    ranges = even_ranges(doc_ptr, n_ranges)
    found = workers.run(
        _count_documents, [(lo, hi, doc_ptr, z, n_topics, width) for lo, hi in pairwise(ranges)]
    )
    table = np.zeros((n_topics + 1, width), np.int64)
    for small, *_ in found:
        table += small
    large = np.concatenate([np.empty((2, 0), np.int64), *(pairs for _, pairs in found)], axis=1)
    return _histogram(table, large)


def _histogram(table: I64, large: I64) -> Histogram:
    """Return the cells of a table and a list of large ones, by topic, then number."""
    most = max(table.shape[1], int(large[1].max(initial=0))) + 1
    listed, listed_times = np.unique(large[0] * most + large[1], return_counts=True)
    row, column = np.nonzero(table)
    keys = np.concatenate((row * most + column, listed))
    order = np.argsort(keys)
    keys = keys[order]
    times = np.concatenate((table[row, column], listed_times))[order]
    topic, number = np.divmod(keys, most)
    cells = int(np.searchsorted(topic, len(table) - 1))  # those of the last row are lengths
    return Histogram(topic[:cells], number[:cells], times[:cells], number[cells:], times[cells:])


@njit(nogil=True, cache=True)
def _count_documents(lo, hi, doc_ptr, z, K, width):
    """Count cells of documents lo to hi in a table, lengths in its last row; list large ones."""
    small = np.zeros((K + 1, width), np.int64)
    # A large cell has at least `width` tokens, and so has a document whose length is large
    large = np.empty((2, 2 * ((doc_ptr[hi] - doc_ptr[lo]) // width)), np.int64)
    n_large = 0
    m = np.zeros(K + 1, np.int64)
    seen = np.empty(K + 1, np.int64)
    for d in range(lo, hi):
        K_d = 0
        length = 0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if k == NO_TOPIC:
                continue
            if m[k] == 0:
                seen[K_d] = k
                K_d += 1
            m[k] += 1
            length += 1
        if length == 0:
            continue
        seen[K_d], m[K] = K, length
        for j in range(K_d + 1):
            k = seen[j]
            if m[k] < width:
                small[k, m[k]] += 1
            else:
                large[0, n_large], large[1, n_large] = k, m[k]
                n_large += 1
            m[k] = 0
    return small, large[:, :n_large]
