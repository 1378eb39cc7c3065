"""What samplers share in which Phi is integrated out, and counts take its place."""

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.compilation import njit
from polyaurn.chain.state import Counts


def no_counts(n_words: int) -> Counts:
    """Return the counts of no documents."""
    zeros = np.zeros(n_words, np.int64)
    return Counts(zeros, zeros, np.empty(0, np.uint16), np.empty(0, np.int32))


def topic_totals(counts: Counts, n_topics: int) -> I64:
    """Return the number of tokens of each topic."""
    totals = np.zeros(n_topics, np.int64)
    _add_up(*counts, totals)
    return totals


@njit(nogil=True, cache=True)
def _add_up(first, last, topic, number, totals):
    for v in range(len(first)):
        for j in range(first[v], last[v]):
            totals[topic[j]] += number[j]
