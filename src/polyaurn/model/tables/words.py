"""The words of topics, ranked by what sets a topic apart or by probability."""

from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_fraction, check_one_of, check_whole
from polyaurn.model.checks import check_topics_asked
from polyaurn.model.data import ModelData
from polyaurn.model.labels import labels_at
from polyaurn.model.leading_words import (
    RELEVANCE,
    Cells,
    first_places,
    relevance,
    topic_cells,
    topic_totals,
    word_totals,
)

Columns = dict[str, Any]  # names to arrays or lists, all of one length
METHODS = ("probability", "relevance", "frex", "lift", "score")


def topic_words(model: ModelData, method: str, n_words: int | None, **options: Any) -> Columns:
    """Return the leading words of topics, with labels."""
    table = ranked_words(model, method, n_words, **options)
    return {"topic": table["topic"], "label": labels_at(model, table["topic"])} | table


def ranked_words(
    model: ModelData,
    method: str = "relevance",
    n_words: int | None = None,
    *,
    topics: Any = None,
    relevance_lambda: float = RELEVANCE,
    frex_weight: float = 0.5,
) -> Columns:
    """Return the leading words of topics as columns; all words that occur without `n_words`."""
    check_one_of(method, "method", METHODS)
    if n_words is not None:
        check_whole(n_words, "n_words")
    asked = check_topics_asked(model, topics)
    cells = topic_cells(model)
    score = _by_method(
        model,
        cells,
        method,
        check_fraction(relevance_lambda, "relevance_lambda"),
        check_fraction(frex_weight, "frex_weight"),
    )
    order, rank = [], []
    for k in asked.tolist():
        row = slice(cells.ptr[k], cells.ptr[k + 1])
        first = first_places(score[row], cells.word[row], n_words)
        order.append(cells.ptr[k] + first)
        rank.append(np.arange(1, len(first) + 1))
    at = np.concatenate(order)
    return {
        "topic": cells.topic[at],
        "word": [model.vocab[v] for v in cells.word[at]],
        "rank": np.concatenate(rank),
        "count": cells.count[at],
        "probability": cells.probability[at],
        "score": score[at],
    }


def _by_method(
    model: ModelData, cells: Cells, method: str, relevance_lambda: float, frex_weight: float
) -> F64:
    if method == "relevance":
        return relevance(cells.probability, _overall(model, cells), relevance_lambda)
    if method == "frex":
        return _frex(model, cells, frex_weight)
    if method == "lift":
        return np.asarray(cells.probability / _overall(model, cells))
    return _score(model, cells) if method == "score" else cells.probability


def _overall(model: ModelData, cells: Cells) -> F64:
    """Return the share of each cell's word among all tokens."""
    totals = word_totals(model)
    return np.asarray(totals[cells.word] / totals.sum())


def _score(model: ModelData, cells: Cells) -> F64:
    """Blei and Lafferty (2009): p times the log of p over its geometric mean over all topics."""
    beta, K = model.priors.beta, model.n_topics
    above_prior = np.log(cells.mass) - np.log(beta[cells.word])
    total = np.bincount(cells.word, above_prior, minlength=len(beta)) + K * np.log(beta)
    mean = (total - np.log(topic_totals(model)).sum()) / K
    return np.asarray(cells.probability * (np.log(cells.probability) - mean[cells.word]))


def _frex(model: ModelData, cells: Cells, weight: float) -> F64:
    """Bischof and Airoldi (2012): harmonic mean of ranks by exclusivity and by frequency."""
    inverse = 1.0 / topic_totals(model)
    over_topics = model.topic_word_mass.T @ inverse + model.priors.beta * inverse.sum()
    exclusivity = cells.probability / over_topics[cells.word]
    sizes = np.diff(model.topic_word_mass.indptr)
    by_exclusivity, by_frequency = (
        _at_most(value, cells.topic, sizes) for value in (exclusivity, cells.probability)
    )
    return np.asarray(1.0 / (weight / by_exclusivity + (1.0 - weight) / by_frequency))


def _at_most(value: F64, topic: I64, sizes: I64) -> F64:
    """Return for each cell the share of the topic's cells whose value is at most its own."""
    order = np.lexsort((value, topic))
    sorted_value, sorted_topic = value[order], topic[order]
    ends = np.ones(len(order), bool)
    ends[:-1] = (np.diff(sorted_topic) != 0) | (np.diff(sorted_value) != 0)
    last = np.flatnonzero(ends)
    rank = last[np.searchsorted(last, np.arange(len(order)))] + 1
    first = np.concatenate(([0], np.cumsum(sizes)))[sorted_topic]
    share = np.empty(len(order))
    share[order] = (rank - first) / sizes[sorted_topic]
    return share
