"""Topics over time: their share of the tokens in each period."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.model.model import TopicModel
from polyaurn.plots.paper import (
    COLOURS,
    PALE,
    STYLES,
    check_whole,
    fitted,
    need_documents,
    new_axes,
    pick_topics,
    topic_label,
)

TOPICS, PERIODS = 6, 24
FIRST, LAST = np.datetime64("0001-01-02"), np.datetime64("9999-12-30")  # that can be drawn
MARKS = ("o", "s", "^", "D", "v", "P", "X")


def plot_over_time(
    model: Any, timestamps: Any, topics: Any = None, *, periods: int = PERIODS, ax: Any = None
) -> Any:
    """Draw the share of topics in the tokens of each period.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    timestamps : sequence
        One for each training document, in their order: numbers (such as years), dates, or strings
        such as "2021-03-14", "2021-03" or "2021". None, NaN and "" leave a document out.
    topics : iterable of int, optional
        Which; the six largest when not given.
    periods : int
        At most so many, of equal length; where there are no more different times, each is one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        With the picture. A period without documents is a gap.
    """
    trained = fitted(model)
    need_documents(trained)
    when, there = _times(timestamps, len(trained.doc_names))
    chosen = pick_topics(trained, topics, TOPICS)
    middle, period = _periods(when, check_whole(periods, "periods"))
    share = _shares(trained, there, period, len(middle), chosen)
    ax = new_axes(ax, 8.6, 4.4)
    for i, k in enumerate(chosen):
        ax.plot(
            middle, share[:, i], STYLES[i // len(COLOURS) % len(STYLES)],
            color=COLOURS[i % len(COLOURS)], marker=MARKS[i % len(MARKS)], markersize=4,
            linewidth=1.6, label=topic_label(trained, k),
        )  # fmt: skip
    lost = len(there) - int(there.sum())
    ax.set(
        xlabel="time" + (f" ({lost:,} documents without one left out)" if lost else ""),
        ylabel="share of the tokens",
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


def _times(timestamps: Any, D: int) -> tuple[Any, Any]:
    """Return the times of documents that have one, as numbers or dates, and which have one."""
    if isinstance(timestamps, str | dict) or not hasattr(timestamps, "__len__"):
        raise InputError(
            "The 'timestamps' parameter must be a sequence of times, one for each document. Got "
            f"{type(timestamps).__name__} instead."
        )
    if len(timestamps) != D:
        raise InputError(
            f"The 'timestamps' parameter must have one time for each of the {D:,} training "
            f"documents. Got {len(timestamps):,}; None stands for a document without one."
        )
    given = list(timestamps)
    there = np.array([not _missing(t) for t in given], bool)
    if not there.any():
        raise InputError("The 'timestamps' parameter must have at least one time. Got none.")
    known = [(d, t) for d, t in enumerate(given) if there[d]]
    numbers = all(isinstance(t, int | float | np.number) for _, t in known)
    read = _number if numbers else as_date
    return np.array([read(t, f"for document {d}") for d, t in known]), there


def _missing(t: Any) -> bool:
    if t is None or (isinstance(t, str) and not t.strip()):
        return True
    return np.ndim(t) == 0 and bool(t != t)  # NaN and NaT are not themselves


def _number(t: Any, where: str) -> float:
    if not math.isfinite(t):
        raise _no_time(t, where)
    return float(t)


def as_date(t: Any, where: str) -> Any:
    """Return a date in seconds; one with a zone in that of Greenwich.

    Parameters
    ----------
    t : str, date, datetime or datetime64
        The date.
    where : str
        Where it was found, for the error message.

    Returns
    -------
    datetime64
        In seconds.
    """
    try:
        if isinstance(t, str):
            t = t.strip()
            with suppress(ValueError):
                t = datetime.fromisoformat(t)
        if isinstance(t, datetime) and t.tzinfo is not None:
            t = t.astimezone(UTC).replace(tzinfo=None)
        if isinstance(t, int | float | np.number):
            raise ValueError
        found = np.datetime64(t).astype("datetime64[s]")
        if not FIRST <= found <= LAST:
            raise ValueError
        return found
    except (ValueError, TypeError, OverflowError):
        raise _no_time(t, where) from None


def _no_time(t: Any, where: str) -> InputError:
    return InputError(
        "The 'timestamps' parameter must hold numbers alone, or dates such as '2021-03-14', "
        f"'2021-03' or '2021'. Got {t!r:.60} {where}; write it so."
    )


def _periods(when: Any, periods: int) -> tuple[Any, Any]:
    """Return the middle of each period, and the period of each time."""
    different, which = np.unique(when, return_inverse=True)
    if len(different) <= periods:
        return different, which
    begin, length = different[0], different[-1] - different[0]
    place = (when - begin) / length * periods
    width = length / periods
    if np.issubdtype(when.dtype, np.datetime64):
        middle = begin + (np.arange(periods) + 0.5) * width.astype(float) * np.timedelta64(1, "s")
    else:
        middle = begin + (np.arange(periods) + 0.5) * width
    return middle, np.minimum(place.astype(np.int64), periods - 1)


def _shares(model: TopicModel, there: Any, period: Any, n_periods: int, chosen: list[int]) -> Any:
    m = model.doc_topic_counts[np.flatnonzero(there)]
    tokens = np.bincount(period, np.asarray(m.sum(axis=1)).ravel(), minlength=n_periods)
    parts = [np.bincount(period, m[:, [k]].toarray().ravel(), minlength=n_periods) for k in chosen]
    with np.errstate(invalid="ignore"):
        return np.array(parts).T / np.where(tokens > 0, tokens, np.nan)[:, None]


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
