"""Shares of topics in groups of documents: over time, and by class."""

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.model.checks import check_documents, check_topics_asked, check_value_per_document
from polyaurn.model.data import ModelData, document_lengths
from polyaurn.model.dates import as_times, in_bins, is_missing
from polyaurn.model.labels import labels_at
from polyaurn.model.tables.documents import TOPICS_ONLY
from polyaurn.model.tables.words import Columns

MOST_ROWS = 5_000_000


def topics_per_class(model: ModelData, labels: Any, topics: Any) -> Columns:
    """Return the shares of topics in each class."""
    group, distinct = classes_of(model, labels)
    return _shares(model, group, "class", distinct, topics, "labels")


def classes_of(model: ModelData, labels: Any, name: str = "labels") -> tuple[I64, list[Any]]:
    """Return the class of each document by its place, -1 for none, and the classes in order."""
    check_documents(model, TOPICS_ONLY)
    listed = check_value_per_document(model, labels, name)
    try:
        distinct = list(dict.fromkeys(label for label in listed if not is_missing(label)))
    except (TypeError, ValueError):
        raise InputError(
            f"The '{name}' parameter must have a string or a number for each document. Got values "
            "such as lists, which cannot name classes."
        ) from None
    with suppress(TypeError):  # labels of several types stay in the order of the documents
        distinct.sort()
    number = {label: g for g, label in enumerate(distinct)}
    return np.array([number.get(label, -1) for label in listed], np.int64), distinct


def topics_over_time(model: ModelData, timestamps: Any, bins: Any, topics: Any) -> Columns:
    """Return the shares of topics in each span of time."""
    check_documents(model, TOPICS_ONLY)
    times = as_times(check_value_per_document(model, timestamps, "timestamps"))
    group, starts = in_bins(times, bins)
    return _shares(model, group, "time", starts, topics, "timestamps")


def _shares(
    model: ModelData, group: I64, column: str, names: Any, topics: Any, parameter: str
) -> Columns:
    """Return a row for each group and topic."""
    asked = check_topics_asked(model, topics)
    G, T = len(names), len(asked)
    if G * T > MOST_ROWS:
        raise InputError(
            f"The '{parameter}' parameter must leave at most {MOST_ROWS:,} rows. Got {G:,} groups "
            f"of {T:,} topics; make fewer groups, or name some topics=[...]."
        )
    left_out = int((group < 0).sum())
    if left_out:
        warnings.warn(
            f"{left_out:,} of {len(group):,} documents have no {column} and were left out.",
            stacklevel=4,
        )
    found = share_in_groups(model, group, G, asked)
    rows = np.repeat(np.arange(G), T)
    return {
        column: names[rows] if isinstance(names, np.ndarray) else [names[g] for g in rows],
        "topic": np.tile(asked, G),
        "label": labels_at(model, asked) * G,
        "documents": found.documents[rows],
        "tokens": found.tokens.ravel(),
        "share": found.share.ravel(),
        "token_share": found.token_share.ravel(),
    }


class InGroups(NamedTuple):
    """Topics in groups of documents: numbers by group, tables by group and topic.

    `share` is the mean of the documents' shares, (m + alpha) / (tokens + sum of alpha);
    `token_share` is the part of the group's tokens that have the topic, in which a long document
    counts for more. Both are NaN for a group without words.
    """

    documents: I64
    tokens: I64
    share: F64
    token_share: F64


def share_in_groups(model: ModelData, group: I64, n_groups: int, topics: Any) -> InGroups:
    """Return what topics have in groups of the documents with words; those of group -1 in none."""
    alpha, length = model.priors.alpha, document_lengths(model)
    used = np.flatnonzero((group >= 0) & (length > 0))
    weight = 1.0 / (length[used] + alpha.sum())
    m = model.doc_topic_counts[used][:, topics].astype(np.float64)
    member = sp.csr_matrix(
        (np.ones(len(used)), (group[used], np.arange(len(used)))), shape=(n_groups, len(used))
    )
    documents = np.bincount(group[used], minlength=n_groups)
    mass = (member @ sp.diags_array(weight) @ m).toarray()
    mass += np.outer(member @ weight, alpha[topics])
    tokens = (member @ m).toarray()
    return InGroups(
        documents,
        tokens.astype(np.int64),
        _divide(mass, documents),
        _divide(tokens, member @ length[used]),
    )


def _divide(table: F64, by: Any) -> F64:
    """Divide rows by numbers; NaN where these are zero."""
    found = np.full(table.shape, np.nan)
    np.divide(table, by[:, None], out=found, where=by[:, None] > 0)
    return found
