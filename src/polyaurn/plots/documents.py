"""Documents by topics: a heatmap of mixtures."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.model.checks import check_document
from polyaurn.model.data import ModelData
from polyaurn.model.labels import given_labels
from polyaurn.model.model import fitted
from polyaurn.plots.axes import need_documents, new_axes, pick_topics, short, short_name

DOCUMENTS, TOPICS = 30, 20


def plot_documents(model: Any, documents: Any = None, topics: Any = None, *, ax: Any = None) -> Any:
    """Draw the mixtures of topics of training documents as a heatmap.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    documents : iterable of int or str, optional
        Numbers from 0, or names; the first thirty when not given.
    topics : iterable of int, optional
        Which topics, in this order; those with most of these documents, twenty at most, when not
        given.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture: (m + alpha) / (tokens + sum of alpha). Labelled topics have their
        labels.
    """
    trained = fitted(model)
    need_documents(trained)
    rows = _numbers(trained, documents)
    mass = trained.doc_topic_counts[rows].toarray() + trained.priors.alpha
    mass /= mass.sum(axis=1, keepdims=True)
    if topics is None:
        largest = np.argsort(-mass.sum(axis=0), kind="stable")[:TOPICS]
        chosen = sorted(largest.tolist())
    else:
        chosen = pick_topics(trained, topics, TOPICS)
    names = [short_name(trained.doc_names[d], 32) for d in rows]
    width = 2.2 + 0.09 * max(map(len, names)) + 0.3 * len(chosen)
    ax = new_axes(ax, max(4.0, width), 1.4 + 0.22 * len(rows))
    image = ax.imshow(
        mass[:, chosen], aspect="auto", cmap="cividis", vmin=0.0, interpolation="nearest"
    )
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.02)
    bar.set_label("share of the document")
    labels = given_labels(trained)
    ticks = [f"{k}: {short(labels[k] or '', 24)}" if labels[k] else str(k) for k in chosen]
    ax.set_xticks(range(len(chosen)), ticks)
    if len(chosen) > 12 or max(map(len, ticks)) > 2:
        ax.tick_params(axis="x", labelrotation=90)
    ax.set_yticks(range(len(rows)), names, fontsize="small")
    ax.set(xlabel="topic", ylabel="document", title="Topics of documents")
    return ax


def _numbers(model: ModelData, documents: Any) -> list[int]:
    if documents is None:
        return list(range(min(len(model.doc_names), DOCUMENTS)))
    several = isinstance(documents, Iterable) and not isinstance(documents, str)
    asked = list(documents) if several else [documents]
    if not asked:
        raise InputError("The 'documents' parameter must name at least one document. Got none.")
    return [check_document(model, document, "documents") for document in asked]
