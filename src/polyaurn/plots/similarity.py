"""Topics by topics: how alike they are, with alike ones side by side."""

from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_whole
from polyaurn.model.model import fitted
from polyaurn.model.similarity import similar_topics
from polyaurn.plots.axes import new_axes, topic_label

TOPICS, LABELLED = 200, 60


def plot_similarity(model: Any, *, topics: int = TOPICS, ax: Any = None) -> Any:
    """Draw how alike the topics of a model are, as a heat map.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    topics : int
        The most topics shown, the largest ones.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture: one minus the Hellinger distance of two topics' words. Topics are
        in the order of the leaves of their tree (`plot_dendrogram`), so that groups are squares. Up
        to 60 have their labels, more their numbers.
    """
    trained = fitted(model)
    numbers, masked = shown_cells(trained, topics)
    n = len(numbers)
    labelled = n <= LABELLED
    side = max(3.8, 0.19 * n) if labelled else 9.0
    ax = new_axes(ax, side + (4.4 if labelled else 1.4), side + 0.9)
    most = float(np.nanmax(masked)) if n > 1 else 1.0
    image = ax.imshow(masked, cmap="cividis", vmin=0.0, vmax=most, interpolation="nearest")
    ax.set_facecolor("#dddddd")
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.02, shrink=min(1.0, 4.0 / side))
    bar.set_label("similarity")
    if labelled:
        ax.set_xticks(range(n), [str(k) for k in numbers], fontsize="x-small")
        ax.set_yticks(range(n), [topic_label(trained, k) for k in numbers], fontsize="x-small")
        if n > 12:
            ax.tick_params(axis="x", labelrotation=90)
    else:
        step = -(-n // 50)
        places = range(0, n, step)
        ax.set_xticks(places, [str(numbers[i]) for i in places], fontsize="x-small", rotation=90)
        ax.set_yticks(places, [str(numbers[i]) for i in places], fontsize="x-small")
    ax.set(xlabel="topic", title=title_of(trained, n))
    return ax


def shown_cells(trained: Any, topics: int) -> tuple[list[int], F64]:
    """Return the topics that a picture shows, and how alike each two are.

    A topic is NaN with itself, since 1 says nothing.
    """
    found = similar_topics(trained, check_whole(topics, "topics"))
    alike = found.alike.copy()
    np.fill_diagonal(alike, np.nan)
    return found.topics.tolist(), alike


def title_of(trained: Any, n: int) -> str:
    """Return the title of a picture with so many topics."""
    K = trained.n_topics
    which = f"{K:,} topics" if n == K else f"the {n:,} largest of {K:,} topics"
    return f"Similarity of {which} by their words"
