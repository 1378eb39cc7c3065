"""Documents on the map of topics: each near the topics it has most of."""

from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.model.checks import check_documents
from polyaurn.model.data import document_lengths
from polyaurn.model.model import fitted
from polyaurn.model.tables.documents import TOPICS_ONLY, leading_topics
from polyaurn.model.topic_map import ASPECT, TopicMap, topic_map

_GOLDEN = 2.399963  # the angle by which one seed of a sunflower follows another
_ROWS = 4096


class DocumentMap(NamedTuple):
    """Places of documents on a map of topics, in its widths; only those that have words.

    `number` is a document's place in the corpus, `topic` its leading topic and `share` the part of
    it that has this topic. `topics` is the map itself.
    """

    number: I64
    x: F64
    y: F64
    topic: I64
    share: F64
    topics: TopicMap


def document_map(model: Any) -> DocumentMap:
    """Place the training documents on the map of topics (`polyaurn.topic_map`).

    A document is at the mean of the places of its topics, weighted by the squares of their
    shares, so that its leading topic counts most. Documents with the same leading topic are spread
    around that place as the seeds of a sunflower, those with the largest shares inside, so that
    they do not cover each other. Nothing is random.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model of at most 2,000 topics, with its documents.

    Returns
    -------
    DocumentMap
        Places of the documents that have words.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=60, n_words=80, n_topics=4)
    >>> lda = polyaurn.LDA(4, max_iter=20, verbose=False).fit(corpus)
    >>> polyaurn.document_map(lda).x.shape
    (60,)
    """
    trained = fitted(model)
    check_documents(trained, TOPICS_ONLY)
    placed = topic_map(trained)
    length = document_lengths(trained)
    number = np.flatnonzero(length > 0)
    if not len(number):
        raise InputError("The 'model' parameter must have a document with words. Got none.")
    leading, mass = leading_topics(trained)
    topic = leading[number]
    share = mass[number] / (length[number] + trained.priors.alpha.sum())
    x, y = _means(trained, number, placed)
    order = np.lexsort((number, -share, topic))
    first = np.searchsorted(topic[order], topic[order])  # where the documents of a topic begin
    rank = np.empty(len(number), np.int64)
    rank[order] = np.arange(len(number)) - first
    size = np.bincount(topic, minlength=trained.n_topics)[topic]
    away = placed.radius[topic] * np.sqrt((rank + 0.5) / size)
    x = np.clip(x + away * np.cos(_GOLDEN * rank), 0.0, 1.0)
    y = np.clip(y + away * np.sin(_GOLDEN * rank), 0.0, ASPECT)
    return DocumentMap(number, x, y, topic, share, placed)


def _means(model: Any, number: I64, placed: TopicMap) -> tuple[F64, F64]:
    """Return the means of the places of topics, weighted by the squares of m + alpha."""
    x, y = np.empty(len(number)), np.empty(len(number))
    for lo in range(0, len(number), _ROWS):
        rows = number[lo : lo + _ROWS]
        weight = (model.doc_topic_counts[rows].toarray() + model.priors.alpha) ** 2
        total = weight.sum(axis=1)
        x[lo : lo + _ROWS] = (weight * placed.x).sum(axis=1) / total
        y[lo : lo + _ROWS] = (weight * placed.y).sum(axis=1) / total
    return x, y
