"""Topics by topics: how alike they are, with alike ones side by side."""

from typing import Any

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.model.data import largest_topics
from polyaurn.model.distance import topic_distances
from polyaurn.model.model import fitted
from polyaurn.model.tables.hierarchy import linkage_of
from polyaurn.plots.axes import new_axes, topic_label

TOPICS, LABELLED = 200, 60


def plot_similarity(model: Any, *, topics: int = TOPICS, ax: Any = None) -> Any:
    """Draw how alike the topics of a model are, as a heat map.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    topics : int
        The most topics, the largest.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        With the picture: one minus the Hellinger distance of two topics' words. Topics are in the
        order of the leaves of their tree (`plot_dendrogram`), so that groups are squares. Up to 60
        have their labels, more their numbers.
    """
    trained = fitted(model)
    shown = np.sort(largest_topics(trained, check_whole(topics, "topics")))
    distance = topic_distances(trained.topic_word_mass[shown])
    order = tree_order(distance)
    alike = 1.0 - distance[np.ix_(order, order)]
    n = len(order)
    labelled = n <= LABELLED
    side = max(3.8, 0.19 * n) if labelled else 9.0
    ax = new_axes(ax, side + (4.4 if labelled else 1.4), side + 0.9)
    masked = np.where(np.eye(n, dtype=bool), np.nan, alike)  # 1 with itself, which says nothing
    most = float(np.nanmax(masked)) if n > 1 else 1.0
    image = ax.imshow(masked, cmap="cividis", vmin=0.0, vmax=most, interpolation="nearest")
    ax.set_facecolor("#dddddd")
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.02, shrink=min(1.0, 4.0 / side))
    bar.set_label("similarity")
    numbers = [int(shown[i]) for i in order]
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
    K = trained.n_topics
    which = f"{K:,} topics" if n == K else f"the {n:,} largest of {K:,} topics"
    ax.set(xlabel="topic", title=f"Similarity of {which} by their words")
    return ax


def tree_order(distance: Any) -> list[int]:
    """Return the topics in the order of the leaves of their tree, by average distance."""
    links = linkage_of(distance)
    if not len(links):
        return list(range(len(distance)))
    from scipy.cluster.hierarchy import leaves_list

    order: list[int] = leaves_list(links).tolist()
    return order
