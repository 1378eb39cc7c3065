"""Documents on the page: which ones, their topics, and their words by topic."""

from typing import Any

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.rng import Purpose, bits, key
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.data import ModelData
from polyaurn.model.tables.documents import leading_documents

MOST_DOCUMENTS = 2_000
LEAST_SAMPLE = 100  # documents drawn at random, however many lead a topic
LEADING = 8  # documents of each topic, fewer where there are many topics
MOST_PAIRS = 160_000  # of a word and a topic, in all documents shown
PAIRS_OF_A_DOCUMENT = 400
_TOPICS_OF_A_DOCUMENT = 12
_LONGEST_NAME = 200


def choose_documents(model: ModelData, corpus: Corpus | None, topics: I64) -> I64:
    """Return the documents to show, in increasing order; always the same ones.

    These are the ones with the largest shares of each topic, and a random sample of the others.
    With a corpus, fewer are drawn where they are long, so that the page stays small.
    """
    D = len(model.doc_names)
    if D <= LEAST_SAMPLE:
        return np.arange(D)
    each = int(np.clip(MOST_DOCUMENTS // max(len(topics), 1), 1, LEADING))
    leading = np.unique(np.concatenate(leading_documents(model, topics, each)))
    others = np.setdiff1d(np.arange(D), leading)
    others = others[np.argsort(bits(key(0, 0, Purpose.REPORT), others), kind="stable")]
    most = max(MOST_DOCUMENTS - len(leading), LEAST_SAMPLE)
    if corpus is not None:
        length = np.minimum(np.diff(corpus.doc_ptr), PAIRS_OF_A_DOCUMENT)
        pairs = int(length[leading].sum()) + np.cumsum(length[others])
        room = int(np.searchsorted(pairs, MOST_PAIRS, side="right"))
        most = min(most, max(room, LEAST_SAMPLE))
    return np.sort(np.concatenate((leading, others[:most])))


def name_documents(model: ModelData, documents: I64) -> list[str]:
    """Return names, the very long ones cut."""
    names = (model.doc_names[d] for d in documents.tolist())
    return [n if len(n) <= _LONGEST_NAME else n[: _LONGEST_NAME - 1] + "…" for n in names]


def mix_documents(model: ModelData, documents: I64) -> list[list[int]]:
    """Return the topics with most tokens of documents: topic, tokens, topic, tokens, ..."""
    found = []
    for row in model.doc_topic_counts[documents]:
        first = np.lexsort((row.indices, -row.data))[:_TOPICS_OF_A_DOCUMENT]
        found.append(np.column_stack((row.indices[first], row.data[first])).ravel().tolist())
    return found


def bag_documents(model: ModelData, corpus: Corpus, documents: I64) -> list[list[list[int]]]:
    """Return, for each document, lists of a topic and its words, both most frequent first.

    A negative number says how often the word before it occurs, where that is more than once. Of
    long documents the `PAIRS_OF_A_DOCUMENT` most frequent pairs are kept.
    """
    return [_bag(model, corpus, d) for d in documents.tolist()]


def _bag(model: ModelData, corpus: Corpus, d: int) -> list[list[int]]:
    topic, word, count = pairs_of(model, corpus, d)
    if len(topic) > PAIRS_OF_A_DOCUMENT:
        kept = np.sort(np.lexsort((word, topic, -count))[:PAIRS_OF_A_DOCUMENT])
        topic, word, count = topic[kept], word[kept], count[kept]
    sizes: Any = np.bincount(topic, count) if len(topic) else np.zeros(1)
    order = np.lexsort((word, -count, topic, -sizes[topic]))
    bag: list[list[int]] = []
    for k, v, n in zip(
        topic[order].tolist(), word[order].tolist(), count[order].tolist(), strict=True
    ):
        if not bag or bag[-1][0] != k:
            bag.append([k])
        bag[-1] += [v] if n == 1 else [v, -n]
    return bag


def pairs_of(model: ModelData, corpus: Corpus, d: int) -> tuple[I64, I64, I64]:
    """Return the topics and words that tokens of a document have, and how many have them."""
    tokens = slice(int(corpus.doc_ptr[d]), int(corpus.doc_ptr[d + 1]))
    pairs = (model.assignments[tokens].astype(np.int64) << 32) | corpus.word[tokens]
    pair, count = np.unique(pairs, return_counts=True)
    return pair >> 32, pair & 0xFFFFFFFF, count
