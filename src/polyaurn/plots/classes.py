"""Topics in classes of documents: their mean share of the documents of each class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.model.model import fitted
from polyaurn.model.tables.groups import classes_of, share_in_groups
from polyaurn.plots.axes import need_documents, new_axes, pick_topics, short, topic_label

TOPICS, CLASSES, WRITTEN = 20, 20, 400


def plot_per_class(
    model: Any, classes: Any, topics: Any = None, *, most: int = CLASSES, ax: Any = None
) -> Any:
    """Draw the mean share of topics in the documents of each class, as a heat map.

    The column ``share`` of `TopicModel.topics_per_class`: long documents count as short ones do.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    classes : sequence
        The class of each training document, in their order; None and NaN leave a document out.
    topics : iterable of int, optional
        Which topics, in this order; the twenty largest when not given.
    most : int
        The most classes shown, those with most documents.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture.
    """
    trained = fitted(model)
    chosen = pick_topics(trained, topics, TOPICS)
    found = shares_per_class(trained, classes, chosen, most)
    share = found.share
    heads = [f"{short(name, 24)} ({n:,})" for name, n in found.classes]
    wide = max(4.6, 0.55 * len(heads)) + 3.4
    ax = new_axes(ax, wide, 2.0 + 0.26 * len(chosen))
    image = ax.imshow(share, aspect="auto", cmap="cividis", vmin=0.0, interpolation="nearest")
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.02)
    bar.set_label("mean share of a document")
    ax.set_xticks(range(len(heads)), heads, fontsize="small")
    if len(heads) > 3:
        ax.tick_params(axis="x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(chosen)), [topic_label(trained, k) for k in chosen], fontsize="small")
    if share.size <= WRITTEN:
        half = 0.6 * float(np.nanmax(share, initial=0.0))
        for (row, column), value in np.ndenumerate(share):
            if np.isfinite(value):
                colour = "black" if value > half else "white"
                ax.text(column, row, f"{value:.0%}", ha="center", va="center", color=colour,
                        fontsize="x-small")  # fmt: skip
    ax.set(xlabel=found.said, title="Topics per class")
    return ax


@dataclass(frozen=True)
class Shares:
    """Mean shares of topics (rows) in classes, the classes with their documents, and a caption."""

    share: F64
    classes: list[tuple[str, int]]
    said: str


def shares_per_class(trained: Any, classes: Any, chosen: list[int], most: int) -> Shares:
    """Return the mean shares of topics in the classes with most documents."""
    need_documents(trained)
    check_whole(most, "most")
    group, names = classes_of(trained, classes, "classes")
    if not names:
        raise InputError("The 'classes' parameter must name at least one class. Got none.")
    found = share_in_groups(trained, group, len(names), chosen)
    shown = np.sort(np.argsort(-found.documents, kind="stable")[:most]).tolist()
    lost = int((group < 0).sum())
    left_out = f" ({lost:,} documents without one left out)" if lost else ""
    of = [(str(names[g]), int(found.documents[g])) for g in shown]
    return Shares(found.share[shown].T, of, f"class, and its documents{left_out}")
