"""What samplers share that integrate Phi out, and draw topics given the counts."""

from typing import Any

import numpy as np

from polyaurn.base.compilation import njit
from polyaurn.chain.state import Counts


def topic_totals(counts: Counts, n_topics: int) -> Any:
    """Return the number of tokens of each topic: int64, or float64 if the counts are."""
    totals = np.zeros(n_topics, np.float64 if counts.number.dtype.kind == "f" else np.int64)
    _add_up(*counts, totals)
    return totals


@njit(nogil=True, cache=True)
def _add_up(first, last, topic, number, totals):
    for v in range(len(first)):
        for j in range(first[v], last[v]):
            totals[topic[j]] += number[j]
