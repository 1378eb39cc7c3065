"""Tables of topics in slices, in long form: a row for each slice, topic and word."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_whole
from polyaurn.model.checks import check_topics_asked
from polyaurn.model.data import ModelData
from polyaurn.model.labels import labels_at
from polyaurn.model.leading_words import leading_words, topic_totals
from polyaurn.model.slices.slices import HELD_OUT, Slices, fact
from polyaurn.model.tables.documents import representative_documents
from polyaurn.model.tables.words import Columns, topic_words

ENTERS, LEAVES = "enters", "leaves"
MARGIN = 2  # a word enters the first n if it was not among the first 2 n before


def words_of_slices(slices: Slices, n_words: int, topics: Any) -> Columns:
    """Return the leading words of topics in each slice."""
    check_whole(n_words, "n_words")
    found = [topic_words(model, "relevance", n_words, topics=topics) for model in slices.models]
    names = ("topic", "label", "word", "rank", "count", "probability")
    return _stacked(slices, [{name: table[name] for name in names} for table in found])


def sizes_of_slices(slices: Slices, topics: Any) -> Columns:
    """Return how large topics are in each slice."""
    tables = []
    for model in slices.models:
        asked = check_topics_asked(model, topics)
        sizes = model.topic_sizes
        tables.append(
            {
                "topic": asked,
                "label": labels_at(model, asked),
                "tokens": np.asarray(sizes)[asked],
                "share": np.asarray(sizes)[asked] / max(1, len(model.assignments)),
            }
        )
    return _stacked(slices, tables)


def changes_of_words(slices: Slices, n_words: int, topics: Any) -> Columns:
    """Return the words that enter and leave the leading ones of topics, from slice to slice."""
    check_whole(n_words, "n_words")
    tables: list[Columns] = [_no_change(slices, topics)]
    for before, after in zip(slices.models, slices.models[1:], strict=False):
        rows = []
        for k in check_topics_asked(after, topics).tolist():
            rows += [(k, ENTERS, v, r) for v, r in entering(before, after, k, n_words)]
            rows += [(k, LEAVES, v, r) for v, r in entering(after, before, k, n_words)]
        topic = np.array([row[0] for row in rows], np.int64)
        word = np.array([row[2] for row in rows], np.int64)
        tables.append(
            {
                "topic": topic,
                "label": labels_at(after, topic),
                "change": [row[1] for row in rows],
                "word": [after.vocab[v] for v in word.tolist()],
                "rank": np.array([row[3] for row in rows], np.int64),
                "before": _probability(before, topic, word),
                "after": _probability(after, topic, word),
            }
        )
    return _stacked(slices, tables)


def entering(before: ModelData, after: ModelData, k: int, n_words: int) -> list[tuple[int, int]]:
    """Return the words of a topic that are leading ones only afterwards, and their ranks."""
    known = set(leading_words(before, k, MARGIN * n_words)[0].tolist())
    now = leading_words(after, k, n_words)[0].tolist()
    return [(v, rank) for rank, v in enumerate(now, start=1) if v not in known]


def scores_of_slices(slices: Slices) -> Columns:
    """Return the held-out score of each slice; NaN where no document was held out."""
    found = [fact(model, HELD_OUT) or {} for model in slices.models]
    return {
        "slice": list(slices.labels),
        "documents": np.array([len(model.doc_names) for model in slices.models]),
        "tokens": np.array([len(model.assignments) for model in slices.models]),
        "held_out_documents": np.array([score.get("documents", 0) for score in found]),
        "held_out_tokens": np.array([score.get("tokens", 0) for score in found]),
        "score": np.array([score.get("per_token", np.nan) for score in found]),
        "error": np.array([score.get("error", np.nan) for score in found]),
    }


def documents_of_slice(slices: Slices, slice_: Any, topic: Any, n: int) -> Columns:
    """Return the documents of a slice with the largest shares of a topic."""
    t = slices.place(slice_)
    table = representative_documents(slices.models[t], topic, n, None)
    return table | {"number": slices.documents_of(t)[table["number"]]}


def _no_change(slices: Slices, topics: Any) -> Columns:
    """Return the columns of changes without a row: those of the first slice."""
    check_topics_asked(slices.models[0], topics)
    whole, real = np.zeros(0, np.int64), np.zeros(0)
    return {"topic": whole, "label": [], "change": [], "word": [], "rank": whole, "before": real,
            "after": real}  # fmt: skip


def _probability(model: ModelData, topic: I64, word: I64) -> F64:
    """Return the probabilities of words in topics."""
    if not len(topic):
        return np.zeros(0)
    mass = np.asarray(model.topic_word_mass[topic, word]).ravel() + model.priors.beta[word]
    return np.asarray(mass / topic_totals(model)[topic])


def _stacked(slices: Slices, tables: list[Columns]) -> Columns:
    """Return one table under the other, with a column for the slice."""
    names = [
        label
        for label, table in zip(slices.labels, tables, strict=True)
        for _ in range(len(table["topic"]))
    ]
    return {"slice": names} | {name: _joined(t[name] for t in tables) for name in tables[0]}


def _joined(columns: Iterable[Any]) -> Any:
    parts = list(columns)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [value for part in parts for value in part]
