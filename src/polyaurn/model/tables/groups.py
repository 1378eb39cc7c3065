"""Shares of topics in groups of documents: over time, and by class."""

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import I64
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
    check_documents(model, TOPICS_ONLY)
    listed = check_value_per_document(model, labels, "labels")
    try:
        distinct = list(dict.fromkeys(label for label in listed if not is_missing(label)))
    except (TypeError, ValueError):
        raise InputError(
            "The 'labels' parameter must have a string or a number for each document. Got values "
            "such as lists, which cannot name classes."
        ) from None
    with suppress(TypeError):  # labels of several types stay in the order of the documents
        distinct.sort()
    number = {label: g for g, label in enumerate(distinct)}
    group = np.array([number.get(label, -1) for label in listed])
    return _shares(model, group, "class", distinct, topics, "labels")


def topics_over_time(model: ModelData, timestamps: Any, bins: Any, topics: Any) -> Columns:
    """Return the shares of topics in each span of time."""
    check_documents(model, TOPICS_ONLY)
    times = as_times(check_value_per_document(model, timestamps, "timestamps"))
    group, starts = in_bins(times, bins)
    return _shares(model, group, "time", starts, topics, "timestamps")


def _shares(
    model: ModelData, group: I64, column: str, names: Any, topics: Any, parameter: str
) -> Columns:
    """Return, for each group and topic, tokens and the mean share over documents with words."""
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
    alpha, length = model.priors.alpha, document_lengths(model)
    used = np.flatnonzero((group >= 0) & (length > 0))
    weight = 1.0 / (length[used] + alpha.sum())
    m = model.doc_topic_counts[used][:, asked].astype(np.float64)
    member = sp.csr_matrix(
        (np.ones(len(used)), (group[used], np.arange(len(used)))), shape=(G, len(used))
    )
    weighted = member @ sp.diags_array(weight)
    documents = np.bincount(group[used], minlength=G)
    mass = (weighted @ m).toarray() + np.outer(member @ weight, alpha[asked])
    share = np.full((G, T), np.nan)
    np.divide(mass, documents[:, None], out=share, where=documents[:, None] > 0)
    rows = np.repeat(np.arange(G), T)
    return {
        column: names[rows] if isinstance(names, np.ndarray) else [names[g] for g in rows],
        "topic": np.tile(asked, G),
        "label": labels_at(model, asked) * G,
        "documents": documents[rows],
        "tokens": (member @ m).toarray().ravel().astype(np.int64),
        "share": share.ravel(),
    }
