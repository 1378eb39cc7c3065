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
    longest = int(np.diff(doc_ptr).max(initial=0))
    width = min(max(TABLE // (n_topics + 1), WIDTHS[0]), WIDTHS[1], longest + 1)
    n_ranges = min(workers.n_threads, 1 + len(z) // LEAST_BLOCK)
    ranges = list(pairwise(even_ranges(doc_ptr, n_ranges)))
    tables = np.zeros((len(ranges), n_topics + 1, width), np.int64)
    found = workers.run(
        _count_documents,
        [(lo, hi, doc_ptr, z, table) for (lo, hi), table in zip(ranges, tables, strict=True)],
    )
    most = np.max([most for most, _ in found], axis=0)
    large = np.concatenate([pairs for _, pairs in found], axis=1)
    return _histogram(_cells_of_tables(tables, most), large, n_topics)


def _histogram(cells: I64, large: I64, n_topics: int) -> Histogram:
    """Return the cells of tables and a list of large ones, by topic, then number."""
    topic, number, times = cells
    if large.shape[1]:
        most = int(large[1].max()) + 1
        listed, listed_times = np.unique(large[0] * most + large[1], return_counts=True)
        keys = np.concatenate((topic * most + number, listed))
        order = np.argsort(keys)
        times = np.concatenate((times, listed_times))[order]
        topic, number = np.divmod(keys[order], most)
    end = int(np.searchsorted(topic, n_topics))  # those of the last row are lengths
    return Histogram(topic[:end], number[:end], times[:end], number[end:], times[end:])


@njit(nogil=True, cache=True)
def _cells_of_tables(tables, most):
    """Return the nonzero cells of the sum of tables; most[k] is the largest number in row k."""
    n_cells = most.sum()
    cells = np.empty((3, n_cells), np.int64)
    i = 0
    for k in range(len(most)):
        for number in range(1, most[k] + 1):
            times = np.int64(0)
            for t in range(len(tables)):
                times += tables[t, k, number]
            if times > 0:
                cells[0, i], cells[1, i], cells[2, i] = k, number, times
                i += 1
    return cells[:, :i]


@njit(nogil=True, cache=True)
def _count_documents(lo, hi, doc_ptr, z, small):
    """Count cells of documents lo to hi in a table, lengths in its last row; list large ones.

    The largest number in each row of the table is returned with the list.
    """
    K, width = len(small) - 1, small.shape[1]
    most = np.zeros(K + 1, np.int64)
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
                most[k] = max(most[k], m[k])
            else:
                large[0, n_large], large[1, n_large] = k, m[k]
                n_large += 1
            m[k] = 0
    return most, large[:, :n_large]
