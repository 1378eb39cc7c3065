"""The words of topics, ranked by probability or by what sets a topic apart."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import pseudo_at
from polyaurn.model.tables.checks import check_count, check_share, check_topics_asked
from polyaurn.model.tables.frames import Columns
from polyaurn.model.tables.labels import labels_at

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

METHODS = ("probability", "relevance", "frex", "lift", "score")


class _Cells(NamedTuple):
    """The cells, topic by topic, in which counts or pseudo-counts are not zero."""

    topic: I64
    word: I64
    count: Any
    mass: F64  # n + beta, and pseudo-counts of the prior
    probability: F64  # mass over the topic's


def topic_words(model: "TopicModel", method: str, n_words: int | None, **options: Any) -> Columns:
    """Return the leading words of topics, with labels; see `Views.topic_words`."""
    table = ranked_words(model, method, n_words, **options)
    return {"topic": table["topic"], "label": labels_at(model, table["topic"])} | table


def ranked_words(
    model: "TopicModel",
    method: str = "probability",
    n_words: int | None = None,
    *,
    topics: Any = None,
    relevance_lambda: float = 0.6,
    frex_weight: float = 0.5,
) -> Columns:
    """Return the leading words of topics as columns, all words that occur when not told."""
    if method not in METHODS:
        raise InputError(
            f"The 'method' parameter must be one of {', '.join(map(repr, METHODS))}. "
            f"Got {method!r} instead."
        )
    if n_words is not None:
        check_count(n_words, "n_words")
    asked = check_topics_asked(model, topics)
    cells = _cells(model)
    score = _by_method(
        model,
        cells,
        method,
        check_share(relevance_lambda, "relevance_lambda"),
        check_share(frex_weight, "frex_weight"),
    )
    order = np.lexsort((cells.word, -score, cells.topic))
    first = model.topic_word_mass.indptr[:-1].astype(np.int64)
    rank = np.arange(len(order)) - first[cells.topic] + 1
    place = np.full(model.n_topics, -1)
    place[asked] = np.arange(len(asked))
    kept = place[cells.topic] >= 0
    if n_words is not None:
        kept &= rank <= n_words
    order, rank = order[kept], rank[kept]
    as_asked = np.argsort(place[cells.topic[order]], kind="stable")
    order, rank = order[as_asked], rank[as_asked]
    topic = cells.topic[order]
    return {
        "topic": topic,
        "word": [model.vocab[v] for v in cells.word[order]],
        "rank": rank,
        "count": cells.count[order],
        "probability": cells.probability[order],
        "score": score[order],
    }


def topic_totals(model: "TopicModel") -> F64:
    """Return what counts and priors of each topic sum to."""
    sizes = np.asarray(model.topic_word_mass.sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(sizes + model.priors.beta.sum(), dtype=np.float64)


def _cells(model: "TopicModel") -> _Cells:
    n = model.topic_word_mass
    topic = np.repeat(np.arange(model.n_topics), np.diff(n.indptr))
    mass = n.data + model.priors.beta[n.indices]
    count = n.data - pseudo_at(n, model.priors)
    word = n.indices.astype(np.int64)
    return _Cells(topic, word, count, mass, mass / topic_totals(model)[topic])


def _by_method(
    model: "TopicModel", cells: _Cells, method: str, relevance_lambda: float, frex_weight: float
) -> F64:
    if method == "relevance":
        return _relevance(model, cells, relevance_lambda)
    if method == "frex":
        return _frex(model, cells, frex_weight)
    if method == "lift":
        return np.asarray(cells.probability / _overall(model)[cells.word])
    return _score(model, cells) if method == "score" else cells.probability


def _overall(model: "TopicModel") -> F64:
    """Return the share of each word among all tokens."""
    tokens = np.asarray(model.topic_word_mass.sum(axis=0), dtype=np.float64).ravel()
    return np.asarray(tokens / tokens.sum())


def _relevance(model: "TopicModel", cells: _Cells, weight: float) -> F64:
    """Sievert and Shirley (2014): log probability and log lift, weighed."""
    log_p = np.log(cells.probability)
    log_lift = log_p - np.log(_overall(model)[cells.word])
    return np.asarray(weight * log_p + (1.0 - weight) * log_lift)


def _score(model: "TopicModel", cells: _Cells) -> F64:
    """Blei and Lafferty (2009): p times the log of p over its geometric mean over all topics."""
    beta, K = model.priors.beta, model.n_topics
    above_prior = np.log(cells.mass) - np.log(beta[cells.word])
    total = np.bincount(cells.word, above_prior, minlength=len(beta)) + K * np.log(beta)
    mean = (total - np.log(topic_totals(model)).sum()) / K
    return np.asarray(cells.probability * (np.log(cells.probability) - mean[cells.word]))


def _frex(model: "TopicModel", cells: _Cells, weight: float) -> F64:
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
