"""Topics as circles on a plane, near each other where they share words."""

from typing import Any

import numpy as np

from polyaurn.model.topic_map import topic_map
from polyaurn.plots.paper import COLOURS, PALE, fitted, new_axes, topic_label

LABELLED = 12  # largest topics that get their words, where there is room
NUMBERED = 80  # largest topics that get their numbers, where there is room
LARGEST = 1600.0  # area of the largest circle, in square points


def plot_map(model: Any, *, labelled: int = LABELLED, ax: Any = None) -> Any:
    """Draw a map of topics: distance by their words, area by their tokens.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    labelled : int
        How many topics, the largest first, have their words beside them where there is room; 0
        for none.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        With the picture. Positions are those of `polyaurn.model.topic_map.topic_map`.
    """
    trained = fitted(model)
    placed = topic_map(trained)
    ax = new_axes(ax, 7.6, 6.4)
    sizes = np.asarray(trained.topic_sizes, np.float64)
    order = np.argsort(-sizes, kind="stable")
    shrink = min(1.0, 30.0 / len(sizes))
    area = np.maximum(LARGEST * max(shrink, 0.12) * sizes / max(sizes.max(), 1.0), 4.0)
    x, y = placed.positions.T
    ax.axhline(0, color=PALE, linewidth=0.8, zorder=0)
    ax.axvline(0, color=PALE, linewidth=0.8, zorder=0)
    ax.scatter(
        x[order], y[order], s=area[order], color=COLOURS[0], alpha=0.4, edgecolor="white",
        linewidth=0.8,
    )  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.14)
    ax.set(
        xlabel=f"first direction ({placed.share[0]:.0%} of the spread)",
        ylabel=f"second direction ({placed.share[1]:.0%} of the spread)",
        title=f"Map of {len(sizes):,} topics by the words they use",
    )
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color(PALE)
    _label(ax, trained, order, area, placed.positions, labelled)
    return ax


def _label(ax: Any, model: Any, order: Any, area: Any, positions: Any, labelled: int) -> None:
    """Put words beside circles and numbers into them, where they hide nothing."""
    figure = ax.figure.figure
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    centre = ax.transData.transform(positions)
    radius = np.sqrt(area / np.pi)  # in points
    room = _Room(ax.get_window_extent(), centre, radius * scale)
    for rank, k in enumerate(order[: max(NUMBERED, labelled)].tolist()):
        gap = radius[k] + 2
        places = [
            (gap, 0, "left", "center"), (-gap, 0, "right", "center"),
            (0, gap, "center", "bottom"), (0, -gap, "center", "top"),
        ]  # fmt: skip
        style = {"xy": positions[k], "textcoords": "offset points", "fontsize": "x-small"}
        label = topic_label(model, k) if rank < labelled else ""
        done = label and any(
            room.keep(ax.annotate(label, xytext=(dx, dy), ha=ha, va=va, **style), circles=True)
            for dx, dy, ha, va in places
        )
        if not done and radius[k] > 6:
            text = ax.annotate(str(k), xytext=(0, 0), ha="center", va="center", **style)
            room.keep(text, circles=False)


class _Room:
    """What is taken in a picture, in pixels."""

    def __init__(self, frame: Any, centre: Any, radius: Any) -> None:
        self._frame, self._centre, self._radius = frame, centre, radius
        self._texts: list[Any] = []

    def keep(self, text: Any, *, circles: bool) -> bool:
        """Keep a text inside the frame and on no other, nor on circles; remove it otherwise."""
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
