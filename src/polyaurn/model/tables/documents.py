"""Documents: one row each, those with most of a topic, and those similar to another."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.corpus.known_words import in_words_of
from polyaurn.model.checks import (
    check_document,
    check_documents,
    check_topic,
    check_value_per_document,
)
from polyaurn.model.data import ModelData, document_lengths
from polyaurn.model.distance import hellinger
from polyaurn.model.inference import infer
from polyaurn.model.labels import labels_at
from polyaurn.model.leading_words import first_places
from polyaurn.model.snippets import LENGTH, snippets
from polyaurn.model.tables.words import Columns

TOPICS_ONLY = "its topics have tables, and transform finds the mixtures of documents"
_ROUNDING = 1e-14  # of a sum that is one for equal mixtures


def document_info(model: ModelData) -> Columns:
    """Return one row per document, in the corpus' order."""
    check_documents(model, TOPICS_ONLY)
    length = document_lengths(model)
    total = length + model.priors.alpha.sum()
    topic, mass = leading_topics(model)
    empty = length == 0
    topic = np.where(empty, -1, topic)
    return {
        "document": list(model.doc_names),
        "length": length,
        "topic": topic,
        "label": labels_at(model, topic),
        "share": np.where(empty, np.nan, mass / total),
        "entropy": np.where(empty, np.nan, _entropy(model, total)),
    }


def _mass(model: ModelData) -> F64:
    """Return m + alpha where m is not zero, in the order of the sparse counts."""
    m = model.doc_topic_counts
    return np.asarray(m.data + model.priors.alpha[m.indices], dtype=np.float64)


def leading_topics(model: ModelData) -> tuple[I64, F64]:
    """Return the topic of largest m + alpha in each document, the first of equal ones."""
    m, alpha = model.doc_topic_counts, model.priors.alpha
    D = m.shape[0]
    favourite = int(np.argmax(alpha))  # no other topic without tokens can lead
    document = np.concatenate((np.repeat(np.arange(D), np.diff(m.indptr)), np.arange(D)))
    topic = np.concatenate((m.indices.astype(np.int64), np.full(D, favourite)))
    mass = np.concatenate((_mass(model), np.full(D, alpha[favourite])))
    order = np.lexsort((topic, -mass, document))
    first = order[np.arange(D) + m.indptr[:-1]]
    return topic[first], mass[first]


def _entropy(model: ModelData, total: F64) -> F64:
    """Return the entropy of each mixture in nats, from the sparse counts."""
    m, alpha = model.doc_topic_counts, model.priors.alpha
    mass, prior = _mass(model), alpha[m.indices]
    terms = mass * np.log(mass) - prior * np.log(prior)
    rows = sp.csr_matrix((terms, m.indices, m.indptr), shape=m.shape)
    of_mass = np.asarray(rows.sum(axis=1)).ravel() + (alpha * np.log(alpha)).sum()
    return np.asarray(np.maximum(np.log(total) - of_mass / total, 0.0))


def representative_documents(
    model: ModelData, topic: Any, n: int, texts: Any, snippet: int = LENGTH
) -> Columns:
    """Return the documents with the largest shares of a topic."""
    check_documents(model, TOPICS_ONLY)
    k = check_topic(model, topic)
    check_whole(n, "n")
    check_whole(snippet, "snippet", 20, of="characters")
    m = model.doc_topic_counts
    at = np.flatnonzero(m.indices == k)
    document = np.searchsorted(m.indptr, at, side="right") - 1
    length = document_lengths(model)[document]
    share = _shares(model, k, m.data[at], length)
    order = first_places(share, document, n)
    table = _named(model, document[order]) | {
        "share": share[order],
        "tokens": m.data[at][order].astype(np.int64),
        "length": length[order],
    }
    shown = _texts(model, texts, document[order])
    if shown:
        shown["snippet"] = snippets(model, k, map(str, shown["text"]), snippet)
    return table | shown


def leading_documents(model: ModelData, topics: I64, n: int) -> list[I64]:
    """Return the numbers of the documents with the largest shares of each of some topics."""
    columns, length = model.doc_topic_counts.tocsc(), document_lengths(model)
    found = []
    for k in topics.tolist():
        column = slice(columns.indptr[k], columns.indptr[k + 1])
        document = columns.indices[column].astype(np.int64)
        share = _shares(model, k, columns.data[column], length[document])
        found.append(document[first_places(share, document, n)])
    return found


def _shares(model: ModelData, k: int, tokens: Any, length: I64) -> F64:
    """Return the shares of a topic in documents of these lengths with so many tokens of it."""
    alpha = model.priors.alpha
    return np.asarray((tokens + alpha[k]) / (length + alpha.sum()), dtype=np.float64)


def similar_documents(model: ModelData, document: Any, n: int, text: Any, texts: Any) -> Columns:
    """Return the documents with the nearest mixtures."""
    check_documents(model, TOPICS_ONLY)
    check_whole(n, "n")
    if (document is None) == (text is None):
        raise InputError(
            "The 'document' parameter must be a document's number or name, or left out where "
            f"'text' is given. Got {'neither' if text is None else 'both'}."
        )
    eligible = document_lengths(model) > 0
    if text is None:
        d = check_document(model, document, remedy="give other texts as text=...")
        if not eligible[d]:
            raise InputError(
                f"The 'document' parameter must name a document that has words. Got {document!r}, "
                "which is empty, so that nothing is known of its topics."
            )
        mixture = _mixture(model, d)
        eligible[d] = False
    else:
        mixture = _mixture_of_text(model, text)
    distance = hellinger_to(model, mixture)
    found = np.flatnonzero(eligible)
    order = found[np.lexsort((found, distance[found]))[:n]]
    table = _named(model, order) | {"distance": distance[order]}
    return table | _texts(model, texts, order)


def hellinger_to(model: ModelData, mixture: F64) -> F64:
    """Return the Hellinger distance of each document's mixture from one, by the sparse counts."""
    m, alpha = model.doc_topic_counts, model.priors.alpha
    root = np.sqrt(mixture)
    above_prior = np.sqrt(_mass(model)) - np.sqrt(alpha[m.indices])
    rows = sp.csr_matrix((above_prior, m.indices, m.indptr), shape=m.shape)
    shared = (rows @ root + root @ np.sqrt(alpha)) / np.sqrt(document_lengths(model) + alpha.sum())
    return hellinger(np.where(1.0 - shared < _ROUNDING, 1.0, shared))


def _mixture(model: ModelData, d: int) -> F64:
    mass = model.doc_topic_counts[d].toarray().ravel() + model.priors.alpha
    return np.asarray(mass / mass.sum())


def _mixture_of_text(model: ModelData, text: Any) -> F64:
    if not isinstance(text, str):
        raise InputError(
            f"The 'text' parameter must be a string. Got {type(text).__name__} instead."
        )
    if not in_words_of(model.vocab, [text], model.tokenization).tokens.sum():
        raise InputError(
            "The 'text' parameter must have words that the model knows. Got none; vocab lists them."
        )
    return np.asarray(infer(model, [text])[0])


def _named(model: ModelData, documents: I64) -> Columns:
    numbers = np.asarray(documents, np.int64)
    return {"number": numbers, "document": [model.doc_names[d] for d in numbers.tolist()]}


def _texts(model: ModelData, texts: Any, documents: I64) -> Columns:
    if texts is None:
        return {}
    listed = check_value_per_document(model, texts, "texts")
    return {"text": [listed[d] for d in documents.tolist()]}
