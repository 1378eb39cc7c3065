"""Topics as a tree: which are alike, and which groups are."""

from typing import Any

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.model.leading_words import BY_RELEVANCE
from polyaurn.model.model import fitted
from polyaurn.model.tables.hierarchy import Hierarchy, hierarchy
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import PALE, new_axes, short, topic_label

LEAVES = 100
WORDS = 4  # of a group of topics that is drawn as one


def plot_dendrogram(
    model: Any,
    *,
    method: str = "average",
    leaves: int = LEAVES,
    order: str = BY_RELEVANCE,
    ax: Any = None,
) -> Any:
    """Draw how topics merge, the nearest first, as a tree.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model of at least two topics.
    method : {"average", "complete", "single", "weighted", "ward"}
        How far groups of topics are from each other, as in `TopicModel.hierarchy`.
    leaves : int
        The most topics that have a branch of their own; where there are more, the nearest are drawn
        as one.
    order : {"relevance", "frequency"}
        Order of the words: those that set a topic apart first, or the most probable ones.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture: forks are at the Hellinger distance of what they join. The axis
        begins where the first topics merge, not at 0.
    """
    trained = fitted(model)
    check_whole(leaves, "leaves", 2)
    if trained.n_topics < 2:
        raise InputError("The 'model' parameter must have at least two topics. Got one.")
    tree = hierarchy(trained, method, WORDS, order)
    found = drawn_tree(tree, leaves)
    names = [_name(trained, tree, leaf, order) for leaf in found["leaves"]]
    ax = new_axes(ax, 8.6, 1.0 + 0.2 * len(names))
    from matplotlib.collections import LineCollection

    forks = [
        np.column_stack((x, np.asarray(y) / 10 - 0.5))  # scipy puts leaves at 5, 15, 25, ...
        for x, y in zip(found["dcoord"], found["icoord"], strict=True)
    ]
    ax.add_collection(LineCollection(forks, colors=COLOURS[0], linewidths=1.2))
    far = max(float(tree.linkage[:, 2].max()), 1e-9)
    near = min((y for fork in found["dcoord"] for y in fork if y > 0), default=far)
    ax.set_xlim(1.02 * far, max(0.0, near - 0.4 * (far - near)))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.yaxis.tick_right()
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=PALE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "left", "right"]].set_visible(False)
    ax.set_xlabel(f"distance between topics by their words (Hellinger, {method})")
    ax.set_title(f"Tree of {trained.n_topics:,} topics")
    return ax


def drawn_tree(tree: Hierarchy, leaves: int) -> dict[str, Any]:
    """Return scipy's drawing of a hierarchy: coordinates of forks, and its leaves in order."""
    from scipy.cluster.hierarchy import dendrogram

    K = len(tree.linkage) + 1
    cut = {"truncate_mode": "lastp", "p": leaves} if leaves < K else {}
    found: dict[str, Any] = dendrogram(tree.linkage, no_plot=True, **cut)
    return found


def _name(model: Any, tree: Hierarchy, leaf: int, order: str) -> str:
    K = model.n_topics
    if leaf < K:
        return topic_label(model, leaf, order=order)
    step = leaf - K
    size = int(tree.linkage[step, 3])
    return f"{size:,} topics: {short(str(tree.table['words'][step]), 36)}"
