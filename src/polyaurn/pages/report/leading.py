"""Words of topics: those that lead at some relevance, and those the page lists at all."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.model.model import TopicModel

LAMBDAS = np.linspace(0.0, 1.0, 11)  # where the page's slider stops
_MOST_SHOWN, _LEAST_SHOWN = 30, 10  # words of a topic
_SHOWN_IN_ALL = 20_000
COMMONEST = 10_000  # words listed whether or not a topic is led by them
TOPICS_OF_A_WORD = 5


class Leading(NamedTuple):
    """Leading words of a topic, in increasing order, and their tokens in it."""

    words: I64
    counts: Any


def words_shown(n_topics: int) -> int:
    """Return how many words of a topic the page shows at once."""
    return int(np.clip(_SHOWN_IN_ALL // max(n_topics, 1), _LEAST_SHOWN, _MOST_SHOWN))


def leading_words(model: TopicModel, topics: I64, n_shown: int) -> list[Leading]:
    """Find the words that are among the first of a topic at any stop of the slider.

    Relevance is Sievert and Shirley's (2014): lambda log p(w | k) + (1 - lambda) log of the lift,
    p(w | k) / p(w). Equal ones come in the order of the vocabulary.

    Parameters
    ----------
    model : TopicModel
        The model.
    topics : ndarray of int
        Which topics.
    n_shown : int
        How many words count as the first.

    Returns
    -------
    list of Leading
        For each of the topics; only words that occur in it.
    """
    log_share = np.log(
        np.maximum(word_totals(model), 1e-300) / max(model.topic_sizes.sum(), 1e-300)
    )
    beta, beta_sum = model.priors.beta, model.priors.beta.sum()
    found = []
    for k in topics.tolist():
        n = model.topic_word_counts[k]
        log_p = np.log((n.data + beta[n.indices]) / (model.topic_sizes[k] + beta_sum))
        lift = log_p - log_share[n.indices]
        chosen = np.unique(
            np.concatenate(
                [_first(a * log_p + (1 - a) * lift, n.indices, n_shown) for a in LAMBDAS]
            )
        )
        found.append(Leading(n.indices[chosen].astype(np.int64), n.data[chosen]))
    return found


def _first(score: F64, words: Any, most: int) -> I64:
    """Return places of the highest scores, equal ones by word."""
    places = np.arange(len(score))
    if len(score) > most:
        least = np.partition(score, len(score) - most)[len(score) - most]
        places = np.flatnonzero(score >= least)
    return places[np.lexsort((words[places], -score[places]))][:most]


def word_totals(model: TopicModel) -> F64:
    """Return how often each word occurs, in all topics together."""
    return np.asarray(model.topic_word_counts.sum(axis=0), np.float64).ravel()


def listed_words(model: TopicModel, needed: list[Any]) -> I64:
    """Return words that the page needs, with the commonest beside them, in increasing order."""
    totals = word_totals(model)
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
