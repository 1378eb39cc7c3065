"""Words on the page: those that lead a topic at some relevance, and those listed at all."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.model.data import ModelData
from polyaurn.model.leading_words import first_places, relevance, topic_cells, word_totals

LAMBDAS = np.linspace(0.0, 1.0, 11)  # where the page's slider stops
_MOST_SHOWN, _LEAST_SHOWN = 30, 10  # words of a topic
_SHOWN_IN_ALL = 20_000
COMMONEST = 10_000  # words listed whether or not they lead a topic
TOPICS_OF_A_WORD = 5


class Leading(NamedTuple):
    """Leading words of a topic, in increasing order, and their tokens in it."""

    words: I64
    counts: Any


def words_shown(n_topics: int) -> int:
    """Return how many words of a topic the page shows at once."""
    return int(np.clip(_SHOWN_IN_ALL // max(n_topics, 1), _LEAST_SHOWN, _MOST_SHOWN))


def leading_at_any_lambda(model: ModelData, topics: I64, n_shown: int) -> list[Leading]:
    """Find the words that are among the first `n_shown` of a topic at any stop of the slider."""
    cells = topic_cells(model)
    totals = word_totals(model)
    overall = totals / max(totals.sum(), 1e-300)
    found = []
    for k in topics.tolist():
        row = slice(cells.ptr[k], cells.ptr[k + 1])
        words, p = cells.word[row], cells.probability[row]
        scores = (relevance(p, overall[words], a) for a in LAMBDAS)
        chosen = np.unique(np.concatenate([first_places(s, words, n_shown) for s in scores]))
        found.append(Leading(words[chosen], cells.count[row][chosen]))
    return found


def tokens_of_words(model: ModelData) -> F64:
    """Return how often each word occurs, in all topics together."""
    return np.asarray(model.topic_word_counts.sum(axis=0), np.float64).ravel()


def listed_words(model: ModelData, needed: list[Any]) -> I64:
    """Return words that the page needs, with the commonest beside them, in increasing order."""
    totals = tokens_of_words(model)
    commonest = np.lexsort((np.arange(len(totals)), -totals))[:COMMONEST]
    used = commonest[totals[commonest] > 0]
    return np.unique(np.concatenate([used, *needed]).astype(np.int64))


def topics_of_words(counts: sp.csr_matrix, words: I64) -> list[list[Any]]:
    """Return the topics that hold most tokens of words: topic, tokens, topic, tokens, ..."""
    columns = counts.tocsc()[:, words]
    ends = columns.indptr.tolist()
    found = []
    for lo, hi in pairwise(ends):
        topics, tokens = columns.indices[lo:hi], columns.data[lo:hi]
        first = np.lexsort((topics, -tokens))[:TOPICS_OF_A_WORD]
        found.append(np.column_stack((topics[first], tokens[first])).ravel().tolist())
    return found
