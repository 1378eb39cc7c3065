"""Dates as people write them, and the spans of time they fall into."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.checks import is_whole
from polyaurn.base.errors import InputError

CALENDAR = {"year": "Y", "month": "M", "week": "W", "day": "D", "hour": "h"}
_THURSDAY = 3  # days after Monday, the weekday of 1970-01-01
_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ](.*))?)?)?")
_FLOAT = re.compile(r"(\d{4}|\d{8})\.0+")  # of a column of numbers in which one is missing
MISSING = ("", "None", "NaT", "nan", "<NA>")
AT_POSITION = "at position {:,}".format  # where a date is that cannot be read
_NUMBER = int | float | np.integer | np.floating


Day = tuple[int, int, int]  # year, month and day; 0 where not known


class Span(NamedTuple):
    """A span of the calendar: its name, the number of the one a day is in, a number's label.

    `parts` is how many of year, month and day a date must have to be in one.
    """

    name: str
    parts: int
    number: Callable[[Day], int]
    label: Callable[[int], str]


def _week(i: int) -> str:
    year, week, _ = dt.date.fromordinal(i * 7 + 1).isocalendar()
    return f"{year:04}-W{week:02}"


SPANS = {  # finest first; weeks begin on Monday
    span.name: span
    for span in (
        Span(
            "day",
            3,
            lambda d: dt.date(*d).toordinal(),
            lambda i: dt.date.fromordinal(i).isoformat(),
        ),
        Span("week", 3, lambda d: (dt.date(*d).toordinal() - 1) // 7, _week),
        Span("month", 2, lambda d: d[0] * 12 + d[1] - 1, lambda i: f"{i // 12:04}-{i % 12 + 1:02}"),
        Span(
            "quarter",
            2,
            lambda d: d[0] * 4 + (d[1] - 1) // 3,
            lambda i: f"{i // 4:04} Q{i % 4 + 1}",
        ),
        Span("year", 1, lambda d: d[0], lambda i: f"{i:04}"),
        Span("decade", 1, lambda d: d[0] // 10, lambda i: f"{i}0s"),
        Span("century", 1, lambda d: d[0] // 100, lambda i: f"{i}00s"),
    )
}


class Date(NamedTuple):
    """A date as it was written, month and day 0 where not given, and its moment in UTC."""

    year: int
    month: int
    day: int
    moment: Any  # datetime64[us]; None where the time after the day cannot be read


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, NaT, or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # NA compared with NA is neither true nor false
        return True


def read_date(value: Any) -> Date | None:
    """Read a year, a month, a day or a moment; None for a missing value, ValueError for others.

    Takes strings such as 2024, 2024.0, 2024-05, 2024/5/17 or ISO 8601, and whatever prints so, such
    as dates, datetimes and datetime64.
    """
    text = "" if value is None else str(value).strip()
    if text in MISSING:
        return None
    if whole := _FLOAT.fullmatch(text):
        text = whole[1]
    found = _DATE.fullmatch(text)
    if found is None:
        moment = dt.datetime.fromisoformat(text)
        return Date(moment.year, moment.month, moment.day, _in_utc(moment))
    year, month, day = (int(part) if part else 0 for part in found.groups()[:3])
    first = dt.datetime(year, month or 1, day or 1)
    if isinstance(value, dt.datetime):
        return Date(year, month, day, _in_utc(value))
    if isinstance(value, np.datetime64):
        return Date(year, month, day, value.astype("datetime64[us]"))
    if found[4] is None:
        return Date(year, month, day, _in_utc(first))
    try:
        moment = dt.datetime.fromisoformat(f"{first.date().isoformat()}T{found[4]}")
    except ValueError:
        return Date(year, month, day, None)
    return Date(year, month, day, _in_utc(moment))


def _in_utc(moment: dt.datetime) -> Any:
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def as_times(values: list[Any], name: str = "timestamps") -> Any:
    """Return numbers as they are, and dates as datetime64[us]; NaN and NaT where missing."""
    missing = [_no_value(value) for value in values]
    there = [value for value, lost in zip(values, missing, strict=True) if not lost]
    if all(isinstance(value, _NUMBER) for value in there):
        if len(there) < len(values):
            return np.array(
                [np.nan if lost else x for x, lost in zip(values, missing, strict=True)]
            )
        return np.array(values)
    times = np.full(len(values), np.datetime64("NaT", "us"))
    for at, (value, lost) in enumerate(zip(values, missing, strict=True)):
        if not lost:
            times[at] = as_moment(value, AT_POSITION(at), name)
    return times


def _no_value(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() in MISSING
    return np.ndim(value) == 0 and is_missing(value)


def as_moment(value: Any, where: str, name: str = "timestamps") -> Any:
    """Return a date as datetime64[us] in UTC, or raise an error that says where it was found."""
    dated = isinstance(value, str | dt.date | np.datetime64)
    try:
        found = read_date(value) if dated else None
    except (ValueError, OverflowError):
        found = None
    if found is None or found.moment is None:
        raise no_time(value, where, name)
    return found.moment


def no_time(value: Any, where: str, name: str = "timestamps") -> InputError:
    """Return the error for what is neither a number nor a date."""
    return InputError(
        f"The '{name}' parameter must hold only numbers, or dates such as '2021-03-14', '2021-03' "
        f"or '2021'. Got {value!r:.60} {where}; write it so."
    )


def in_bins(times: Any, bins: Any) -> tuple[I64, Any]:
    """Return the bin of each time, -1 for none, and the increasing starts of the bins.

    `times` are those of `as_times`, and `bins` as in `TopicModel.topics_over_time`.
    """
    dated = times.dtype.kind == "M"
    missing = np.isnat(times) if dated else ~np.isfinite(times)
    there = times[~missing]
    if not len(there):
        raise InputError("The 'timestamps' parameter must have a time. Got none in any document.")
    group = np.full(len(times), -1)
    if bins is None or (dated and isinstance(bins, str) and bins in CALENDAR):
        spans = there if bins is None else _begin_of_span(there, bins)
        starts, group[~missing] = np.unique(spans, return_inverse=True)
        return group, starts.astype(times.dtype)
    edges = _edges(there, bins, dated=dated)
    at = np.searchsorted(edges, there, side="right") - 1
    at[there == edges[-1]] = len(edges) - 2
    at[(there < edges[0]) | (there > edges[-1])] = -1
    group[~missing] = at
    return group, edges[:-1]


def _begin_of_span(times: Any, span: str) -> Any:
    """Return when the span of each time begins, as `CALENDAR` names it; weeks begin on Monday."""
    if span == "week":  # NumPy's weeks begin on Thursday, as 1970 did
        days = times.astype("datetime64[D]")
        return days - (days.astype(np.int64) + _THURSDAY) % 7
    return times.astype(f"datetime64[{CALENDAR[span]}]")


def _edges(there: Any, bins: Any, *, dated: bool) -> Any:
    least, most = there.min(), there.max()
    if is_whole(bins) and bins >= 1:
        if least == most:
            return np.array([least, most])
        ends = (least.astype(np.int64), most.astype(np.int64)) if dated else (least, most)
        edges = np.linspace(*ends, int(bins) + 1)
        return np.rint(edges).astype(np.int64).view(there.dtype) if dated else edges
    several = not isinstance(bins, str) and hasattr(bins, "__iter__")
    edges = as_times(list(bins), "bins") if several else np.empty(0)
    same = (edges.dtype.kind == "M") == dated
    if len(edges) < 2 or not same or not (edges[1:] > edges[:-1]).all():
        words = " or one of " + ", ".join(map(repr, CALENDAR)) if dated else ""
        raise InputError(
            f"The 'bins' parameter must be a whole number of bins,{words} or increasing edges of "
            f"the timestamps' type, at least two. Got {bins!r} instead; leave it out for one bin "
            "per time."
        )
    return edges
