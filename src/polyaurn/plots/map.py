"""Topics as circles on a plane, near each other where they share words."""

import math
from typing import Any

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.checks import check_whole
from polyaurn.model.data import largest_topics
from polyaurn.model.labels import labelled_first
from polyaurn.model.model import fitted
from polyaurn.model.topic_map import ASPECT, MOST_TOPICS, areas_by_tokens, place_topics
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import PALE, new_axes, topic_label

LABELLED = 12  # topics that get their names, the largest that have space
NUMBERED = 80  # largest topics that get their numbers, where there is space


def plot_map(model: Any, *, labelled: int = LABELLED, ax: Any = None) -> Any:
    """Draw a map of topics: distance by their words, area by their tokens.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    labelled : int
        How many topics have their labels or leading words beside them: those with labels that were
        given first, then the largest that have space there; 0 for none.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture. Topics are placed as in the report (`polyaurn.write_report`), at
        most the 2,000 largest; circles do not overlap.
    """
    trained = fitted(model)
    check_whole(labelled, "labelled", 0)
    shown = np.sort(largest_topics(trained, MOST_TOPICS))
    sizes = trained.topic_sizes[shown]
    placed = place_topics(trained.topic_word_mass[shown], sizes)
    ax = new_axes(ax, 8.0, 6.2)
    from matplotlib.collections import EllipseCollection

    centre, radius = np.column_stack((placed.x, placed.y)), areas_by_tokens(sizes)
    ax.add_collection(
        EllipseCollection(
            2 * radius, 2 * radius, np.zeros(len(radius)), units="x", offsets=centre,
            offset_transform=ax.transData, facecolor=COLOURS[0], alpha=0.4, edgecolor="white",
            linewidth=0.8,
        )
    )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(ASPECT, 0), aspect="equal", xticks=[], yticks=[])
    K = trained.n_topics
    which = f"{K:,} topics" if len(shown) == K else f"the {len(shown):,} largest of {K:,} topics"
    ax.set_title(f"Map of {which} by the words they use")
    if not math.isnan(placed.order):
        ax.set_xlabel(
            f"distances on the map and between topics: rank correlation {placed.order:.2f}"
        )
    for side in ax.spines.values():
        side.set_color(PALE)
    _label(ax, trained, shown, centre, radius, labelled)
    return ax


def _label(ax: Any, model: Any, topics: I64, centre: Any, radius: Any, labelled: int) -> None:
    """Put names beside circles and numbers into them, where they hide nothing."""
    figure = ax.figure.figure
    figure.draw_without_rendering()
    scale = ax.transData.transform([(1, 0)])[0, 0] - ax.transData.transform([(0, 0)])[0, 0]
    space = Space(ax.get_window_extent(), ax.transData.transform(centre), radius * scale)
    points = radius * scale * 72 / figure.dpi
    largest = largest_topics(model, min(max(NUMBERED, labelled), len(topics)))
    named = 0
    for k in labelled_first(model, largest).tolist():
        i = int(np.searchsorted(topics, k))
        gap = points[i] + 2
        places = [
            (gap, 0, "left", "center"), (-gap, 0, "right", "center"),
            (0, gap, "center", "bottom"), (0, -gap, "center", "top"),
        ]  # fmt: skip
        style = {"xy": centre[i], "textcoords": "offset points", "fontsize": "x-small"}
        label = topic_label(model, k) if named < labelled else ""
        done = label and any(
            space.keep(ax.annotate(label, xytext=(dx, dy), ha=ha, va=va, **style), circles=True)
            for dx, dy, ha, va in places
        )
        named += bool(done)
        if not done and points[i] > 6:
            text = ax.annotate(str(k), xytext=(0, 0), ha="center", va="center", **style)
            space.keep(text, circles=False)


class Space:
    """What is occupied in a picture, in pixels."""

    def __init__(self, frame: Any, centre: Any, radius: Any) -> None:
        self._frame, self._centre, self._radius = frame, centre, radius
        self._texts: list[Any] = []

    def keep(self, text: Any, *, circles: bool) -> bool:
        """Keep a text that is inside the frame and covers nothing; else remove it."""
        text.set_in_layout(False)
        box, frame = text.get_window_extent(), self._frame
        free: bool = frame.x0 <= box.x0 and box.x1 <= frame.x1
        free = free and frame.y0 <= box.y0 and box.y1 <= frame.y1
        free = free and not any(box.overlaps(other) for other in self._texts)
        if free and circles:
            nearest = np.clip(self._centre, (box.x0, box.y0), (box.x1, box.y1))
            far = ((nearest - self._centre) ** 2).sum(axis=1)
            free = bool((far >= self._radius**2).all())
        if free:
            self._texts.append(box)
        else:
            text.remove()
        return free
