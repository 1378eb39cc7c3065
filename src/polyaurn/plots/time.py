"""Topics over time: their mean share of the documents of each period."""

from typing import Any

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.model.checks import check_value_per_document
from polyaurn.model.data import ModelData
from polyaurn.model.dates import AT_POSITION, as_times, in_bins, no_time
from polyaurn.model.model import fitted
from polyaurn.model.tables.groups import share_in_groups
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import PALE, STYLES, need_documents, new_axes, pick_topics, topic_label

TOPICS, PERIODS = 6, 24
FIRST, LAST = np.datetime64("0001-01-02"), np.datetime64("9999-12-30")  # that can be drawn
MARKS = ("o", "s", "^", "D", "v", "P", "X")


def plot_over_time(
    model: Any, timestamps: Any, topics: Any = None, *, periods: int = PERIODS, ax: Any = None
) -> Any:
    """Draw the mean share of topics in the documents of each period.

    The column ``share`` of `TopicModel.topics_over_time`: long documents count as short ones do.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    timestamps : sequence
        A time for each training document, in their order: numbers (such as years), dates, or
        strings such as "2021-03-14", "2021-03" or "2021". None, NaN and "" leave a document out.
    topics : iterable of int, optional
        Which topics; the six largest when not given.
    periods : int
        The most periods, of equal length; where there are no more different times, each is one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture. A period without documents is a gap.
    """
    trained = fitted(model)
    need_documents(trained)
    chosen = pick_topics(trained, topics, TOPICS)
    middle, share, when, lost = shares_over_time(trained, timestamps, chosen, periods)
    ax = new_axes(ax, 8.6, 4.4)
    for i, k in enumerate(chosen):
        ax.plot(
            middle, share[:, i], STYLES[i // len(COLOURS) % len(STYLES)],
            color=COLOURS[i % len(COLOURS)], marker=MARKS[i % len(MARKS)], markersize=4,
            linewidth=1.6, label=topic_label(trained, k),
        )  # fmt: skip
    ax.set(
        xlabel="time" + (f" ({lost:,} documents without one left out)" if lost else ""),
        ylabel="mean share of a document",
        title="Topics over time",
    )
    ax.set_ylim(bottom=0)
    ax.grid(color=PALE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small",
        borderaxespad=0,
    )  # fmt: skip
    _tick(ax, when)
    return ax


def shares_over_time(
    model: ModelData, timestamps: Any, topics: list[int], periods: int
) -> tuple[Any, Any, Any, int]:
    """Return the middles of periods, shares in each, all times, and how many are missing."""
    when, there = _times(model, timestamps)
    middle, period = _periods(when, check_whole(periods, "periods"))
    group = np.full(len(there), -1)
    group[there] = period
    share = share_in_groups(model, group, len(middle), topics).share
    return middle, share, when, len(there) - int(there.sum())


def _times(model: ModelData, timestamps: Any) -> tuple[Any, Any]:
    """Return the times of documents that have one, as numbers or dates, and which have one."""
    times = as_times(check_value_per_document(model, timestamps, "timestamps"))
    there = ~(np.isnat(times) if times.dtype.kind == "M" else np.isnan(times))
    if not there.any():
        raise InputError("The 'timestamps' parameter must have at least one time. Got none.")
    when = times[there]
    bad = (when < FIRST) | (when > LAST) if times.dtype.kind == "M" else ~np.isfinite(when)
    if bad.any():
        at = int(np.flatnonzero(there)[np.argmax(bad)])
        raise no_time(times[at], AT_POSITION(at))
    return when, there


def _periods(when: Any, periods: int) -> tuple[Any, Any]:
    """Return the middle of each period, and the period of each time."""
    if len(np.unique(when)) <= periods:
        period, different = in_bins(when, None)
        return different, period
    period, starts = in_bins(when, periods)
    return starts + (when.max() - when.min()) / (2 * periods), period


def _tick(ax: Any, when: Any) -> None:
    """Write dates briefly, and whole numbers such as years as whole numbers."""
    if np.issubdtype(when.dtype, np.datetime64):
        from matplotlib.dates import ConciseDateFormatter

        locator = ax.xaxis.get_major_locator()
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif (when == np.round(when)).all():
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
