"""The leading words of topics: probability, relevance, and the order of equal ones.

Everything that lists words of a topic, in tables, pages, plots and files, lists those found here.
p is (n + beta) / (sum of n + beta), where pseudo-counts of seeds belong to n.
"""

from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.model.data import ModelData

RELEVANCE = 1.0  # lambda of the order in which words are listed where no other is asked for


class Cells(NamedTuple):
    """The cells, topic by topic, in which counts or pseudo-counts are not zero."""

    ptr: I64  # where the cells of each topic begin
    topic: I64
    word: I64
    count: Any  # n only
    mass: F64  # n + beta, and pseudo-counts of the prior
    probability: F64  # p


def topic_cells(model: ModelData) -> Cells:
    """Return all cells of a model's topics."""
    n = model.topic_word_mass
    topic = np.repeat(np.arange(model.n_topics), np.diff(n.indptr))
    mass = n.data + model.priors.beta[n.indices]
    count = (
        n.data if model.priors.pseudo is None else _at(model.topic_word_counts, topic, n.indices)
    )
    probability = mass / topic_totals(model)[topic]
    ptr, word = n.indptr.astype(np.int64), n.indices.astype(np.int64)
    return Cells(ptr, topic, word, count, mass, probability)


def _at(counts: Any, topic: I64, word: Any) -> Any:
    """Return the counts of cells; mean counts have no digits of a subtraction this way."""
    return np.asarray(counts[topic, word]).ravel()


def topic_totals(model: ModelData) -> F64:
    """Return what counts and priors of each topic sum to."""
    sizes = np.asarray(model.topic_word_mass.sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(sizes + model.priors.beta.sum(), dtype=np.float64)


def word_totals(model: ModelData) -> F64:
    """Return how often each word occurs or was seeded, in all topics together."""
    return np.asarray(model.topic_word_mass.sum(axis=0), dtype=np.float64).ravel()


def relevance(probability: F64, overall: F64, weight: float) -> F64:
    """Return the relevance of Sievert and Shirley (2014): log p and log lift, weighted.

    `overall` is the share of each word among all tokens, and `weight` their lambda.
    """
    log_p = np.log(probability)
    return np.asarray(weight * log_p + (1.0 - weight) * (log_p - np.log(overall)))


def first_places(score: F64, words: Any, most: int | None) -> I64:
    """Return the places of the highest scores in decreasing order, equal ones by word."""
    places = np.arange(len(score))
    if most is not None and len(score) > most:
        least = np.partition(score, len(score) - most)[len(score) - most]
        places = np.flatnonzero(score >= least)
    return places[np.lexsort((words[places], -score[places]))][:most]


def leading_words(model: ModelData, k: int, n_words: int) -> tuple[I64, F64]:
    """Return the numbers of a topic's most probable words, and n + beta of each."""
    n = model.topic_word_mass
    row = slice(n.indptr[k], n.indptr[k + 1])
    return _leading(n.indices[row], n.data[row], model.priors.beta, n_words)


def leading_words_of(model: ModelData, mass: Any, n_words: int) -> list[str]:
    """Return the most probable words of a row of counts, such as that of merged topics."""
    words, _ = _leading(mass.indices, mass.data, model.priors.beta, n_words)
    return [model.vocab[v] for v in words]


def _leading(words: Any, counts: Any, beta: F64, n_words: int) -> tuple[I64, F64]:
    mass = counts + beta[words]
    first = first_places(mass, words, n_words)
    return words[first].astype(np.int64), mass[first]


def words_by_topic(model: ModelData, n_words: int) -> list[list[str]]:
    """Return the most probable words of each topic."""
    found = (leading_words(model, k, n_words)[0] for k in range(model.n_topics))
    return [[model.vocab[v] for v in words] for words in found]


def exclusivity(model: ModelData, n_words: int) -> F64:
    """Return the mean over a topic's leading words of their share in it over that in all topics.

    Shares are of tokens and pseudo-counts, without beta; a topic without words has 0.
    """
    n = model.topic_word_mass
    sizes = np.asarray(n.sum(axis=1), np.float64).ravel()
    share = n.data / np.repeat(np.where(sizes > 0, sizes, 1.0), np.diff(n.indptr))
    over_topics = np.bincount(n.indices, share, minlength=len(model.vocab))
    values = np.zeros(model.n_topics)
    for k in range(model.n_topics):
        row = slice(n.indptr[k], n.indptr[k + 1])
        words = n.indices[row]
        first = first_places(n.data[row] + model.priors.beta[words], words, n_words)
        if len(first):
            values[k] = (share[row][first] / over_topics[words[first]]).mean()
    return values
