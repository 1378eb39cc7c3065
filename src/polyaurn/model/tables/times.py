"""Times as people write them, and the bins they fall into."""

import datetime as dt
import re
from typing import Any

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.model.tables.checks import is_whole

CALENDAR = {"year": "Y", "month": "M", "week": "W", "day": "D", "hour": "h"}


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, NaT, or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # NA compares to NA, which is neither true nor false
        return True


def as_times(values: list[Any], name: str = "timestamps") -> Any:
    """Return numbers as they are, and dates or strings as datetime64.

    Parameters
    ----------
    values : list
        Numbers; or dates, datetimes and strings in ISO 8601; or missing values.
    name : str
        The parameter's name, for the error message.

    Returns
    -------
    ndarray of int64, float64 or datetime64[us]
        NaN and NaT where a value is missing. Times with a zone are in UTC.
    """
    missing = [is_missing(value) for value in values]
    there = [value for value, lost in zip(values, missing, strict=True) if not lost]
    if all(isinstance(value, int | float | np.integer | np.floating) for value in there):
        if len(there) < len(values):
            return np.array(
                [np.nan if lost else x for x, lost in zip(values, missing, strict=True)]
            )
        return np.array(values)
    instants = np.full(len(values), np.datetime64("NaT", "us"))
    for at, (value, lost) in enumerate(zip(values, missing, strict=True)):
        if not lost:
            instants[at] = _as_instant(value, at, name)
    return instants


def _as_instant(value: Any, at: int, name: str) -> Any:
    try:
        moment = _from_text(value.strip()) if isinstance(value, str) else value
        if isinstance(moment, dt.datetime) and moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
        if isinstance(moment, dt.date | np.datetime64):
            return np.asarray(moment, "datetime64[us]")
    except ValueError:
        pass
    raise InputError(
        f"The '{name}' parameter must hold numbers, dates, or strings such as '2024-05-31' or "
        f"'2024'. Got {value!r} at position {at}; convert it first."
    )


def _from_text(text: str) -> dt.datetime:
    """Return the beginning of a year or month, or a moment in ISO 8601."""
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        text += "-01-01" if len(text) == 4 else "-01"
    return dt.datetime.fromisoformat(text)


def in_bins(times: Any, bins: Any) -> tuple[I64, Any]:
    """Return the bin of each time, and where bins start.

    Parameters
    ----------
    times : ndarray
        As `as_times` returns them.
    bins : None, int, str, or sequence
        As in `Views.topics_over_time`.

    Returns
    -------
    group : ndarray of int64
        -1 for a missing time, and for one outside of the bins.
    starts : ndarray
        The start of each bin, in increasing order.
    """
    dated = times.dtype.kind == "M"
    missing = np.isnat(times) if dated else ~np.isfinite(times)
    there = times[~missing]
    if not len(there):
        raise InputError("The 'timestamps' parameter must have a time. Got none in any document.")
    group = np.full(len(times), -1)
    if bins is None or (dated and isinstance(bins, str) and bins in CALENDAR):
        spans = there if bins is None else there.astype(f"datetime64[{CALENDAR[bins]}]")
        starts, group[~missing] = np.unique(spans, return_inverse=True)
        return group, starts.astype(times.dtype)
    edges = _edges(there, bins, dated=dated)
    at = np.searchsorted(edges, there, side="right") - 1
    at[there == edges[-1]] = len(edges) - 2
    at[(there < edges[0]) | (there > edges[-1])] = -1
    group[~missing] = at
    return group, edges[:-1]


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
            f"the timestamps' type, at least two. Got {bins!r} instead; leave it out for a bin a "
            "time."
        )
    return edges
