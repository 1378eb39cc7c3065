"""Documents as points on the map of topics."""

from typing import Any

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.model.data import largest_topics
from polyaurn.model.document_map import document_map
from polyaurn.model.labels import labelled_first
from polyaurn.model.model import fitted
from polyaurn.model.tables.groups import classes_of
from polyaurn.model.topic_map import ASPECT
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import GREY, PALE, need_documents, new_axes, short, topic_label
from polyaurn.plots.map import LABELLED, NUMBERED, Space

COLOURED = 6  # groups of documents with a colour of their own; others are grey
OTHERS = "others"


def plot_document_map(
    model: Any, classes: Any = None, *, labelled: int = LABELLED, ax: Any = None
) -> Any:
    """Draw the training documents on the map of topics, each near the topics it has most of.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    classes : sequence, optional
        The class of each training document, which the colours show; the leading topics when not
        given. The six groups with most documents have colours.
    labelled : int
        How many topics have their labels or leading words beside them where there is space, those
        with labels that were given first, then the largest.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture. Places are those of `polyaurn.document_map`.
    """
    trained = fitted(model)
    need_documents(trained)
    check_whole(labelled, "labelled", 0)
    placed = document_map(trained)
    group, names = groups_of(trained, placed, classes)
    ax = new_axes(ax, 9.6, 6.2)
    from matplotlib.collections import EllipseCollection

    topics = placed.topics
    centre = np.column_stack((topics.x, topics.y))
    ax.add_collection(
        EllipseCollection(
            2 * topics.radius, 2 * topics.radius, np.zeros(len(topics.radius)), units="x",
            offsets=centre, offset_transform=ax.transData, facecolor=PALE, alpha=0.5,
            edgecolor="none", zorder=1,
        )
    )  # fmt: skip
    size = float(np.clip(30_000 / max(len(placed.x), 1), 1.5, 14.0))
    for g in reversed(range(len(names))):
        here = group == g
        colour = GREY if names[g] == OTHERS else COLOURS[g % len(COLOURS)]
        ax.scatter(
            placed.x[here], placed.y[here], s=size, color=colour, alpha=0.55, linewidths=0,
            label=f"{short(names[g], 30)} ({int(here.sum()):,})", zorder=2,
        )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(ASPECT, 0), aspect="equal", xticks=[], yticks=[])
    ax.set_title(f"{len(placed.x):,} documents on the map of {trained.n_topics:,} topics")
    for side in ax.spines.values():
        side.set_color(PALE)
    handles, texts = ax.get_legend_handles_labels()
    legend = ax.legend(
        handles[::-1], texts[::-1], loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False,
        fontsize="small", borderaxespad=0, markerscale=max(1.0, 4 / np.sqrt(size)),
        title="leading topic" if classes is None else "class", alignment="left",
    )  # fmt: skip
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
    _label(ax, trained, centre, labelled)
    return ax


def _label(ax: Any, model: Any, centre: Any, labelled: int) -> None:
    """Write labels of topics over their documents, and numbers where labels have no space."""
    from matplotlib.patheffects import withStroke

    ax.figure.figure.draw_without_rendering()
    space = Space(ax.get_window_extent(), ax.transData.transform(centre), np.zeros(len(centre)))
    style = {
        "ha": "center", "va": "center", "fontsize": "x-small", "zorder": 3,
        "path_effects": [withStroke(linewidth=2.5, foreground="white", alpha=0.85)],
    }  # fmt: skip
    for rank, k in enumerate(labelled_first(model, largest_topics(model, NUMBERED)).tolist()):
        label = topic_label(model, k, 24) if rank < labelled else str(k)
        if not space.keep(ax.text(*centre[k], label, **style), circles=False) and rank < labelled:
            space.keep(ax.text(*centre[k], str(k), **style), circles=False)


def groups_of(model: Any, placed: Any, classes: Any) -> tuple[Any, list[str]]:
    """Return the group of each document on a map, largest groups first, and their names."""
    if classes is None:
        group = placed.topic
    else:
        every, distinct = classes_of(model, classes, "classes")
        group = every[placed.number]

    def name(g: int) -> str:
        if classes is None:
            return topic_label(model, g, 28)
        return str(distinct[g]) if g >= 0 else "no class"

    found, number, times = np.unique(group, return_inverse=True, return_counts=True)
    by_size = np.argsort(-times, kind="stable")
    place = np.empty(len(found), np.int64)
    place[by_size] = np.arange(len(found))
    names = [name(int(found[g])) for g in by_size[:COLOURED]]
    if len(found) > COLOURED:
        names.append(OTHERS)
    return np.minimum(place[number], COLOURED), names
