"""Documents cut into slices of time: by their dates, or by labels that are given."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.checks import check_one_of
from polyaurn.base.errors import InputError
from polyaurn.model.dates import AT_POSITION, SPANS, Span, is_missing, read_date

BY = tuple(name for name in SPANS if name != "century")
_SHOWN = 5  # rows of dates that cannot be read


class Cut(NamedTuple):
    """Slices in the order of time.

    `number` is the slice of each document, -1 of one that is in none, and `steps` how many spans of
    time each slice comes after the one before: more than 1 after spans without documents.
    """

    labels: tuple[str, ...]
    number: I64
    steps: I64


def cut_by_date(
    dates: Any, by: Any, n_documents: int, where: Callable[[int], str] = AT_POSITION
) -> Cut:
    """Return the slices of documents with dates; those without a date are in none.

    `where` says in messages where a document's date is.
    """
    span = SPANS[check_one_of(by, "by", BY)]
    given = check_values(dates, "dates", n_documents)
    found = [_number(value, span) for value in given]
    bad = [i for i, number in enumerate(found) if number is False]
    if bad:
        shown = ", ".join(f"{given[i]!r:.40} {where(i)}" for i in bad[:_SHOWN])
        more = f" and {len(bad) - _SHOWN:,} more" if len(bad) > _SHOWN else ""
        raise InputError(
            "The 'dates' parameter must have dates such as '2021-03-14', '2021-03' or '2021', "
            f"exact enough to be cut by {span.name}. Got {shown}{more}; correct them, or leave "
            "them empty, and their documents are left out."
        )
    spans = sorted({number for number in found if number is not None})
    _note_left_out(found, "date")
    if not spans:
        raise InputError("The 'dates' parameter must have a date. Got none in any document.")
    place_of = {number: i for i, number in enumerate(spans)}
    steps: I64 = np.diff([spans[0], *spans]).astype(np.int64)
    number = [-1 if n is None else place_of[n] for n in found]
    return Cut(tuple(map(span.label, spans)), np.array(number, np.int64), steps)


def cut_by_label(slices: Any, order: Any, n_documents: int) -> Cut:
    """Return slices by a label of each document, in sorted order unless one is given."""
    given = check_values(slices, "slices", n_documents)
    found = [None if is_missing(value) or value == "" else value for value in given]
    try:
        there = list(dict.fromkeys(value for value in found if value is not None))
    except TypeError:
        raise InputError(
            "The 'slices' parameter must have a string or a number for each document. Got values "
            "such as lists, which cannot name slices."
        ) from None
    if order is None:
        with suppress(TypeError):  # labels of several types stay in the order of the documents
            there.sort()
    else:
        there = _in_order(there, order)
    if not there:
        raise InputError("The 'slices' parameter must have labels. Got none in any document.")
    labels = tuple(map(str, there))
    if len(set(labels)) < len(labels):
        raise InputError(
            "The 'slices' parameter must have labels that differ as text. Got "
            f"{', '.join(map(repr, there[:_SHOWN]))}, some of which read alike; rename them."
        )
    _note_left_out(found, "slice")
    place_of = {value: i for i, value in enumerate(there)}
    number = [-1 if value is None else place_of[value] for value in found]
    steps = np.ones(len(there), np.int64)
    steps[0] = 0
    return Cut(labels, np.array(number, np.int64), steps)


def check_words(cut: Cut, lengths: Any) -> None:
    """Reject slices none of whose documents has words."""
    n = len(cut.labels)
    tokens = np.bincount(cut.number + 1, lengths, n + 1)[1:]
    empty = [cut.labels[i] for i in np.flatnonzero(tokens == 0)]
    if empty:
        raise InputError(
            "The slices must have documents with words. Got no word in the documents of "
            f"{', '.join(map(repr, empty[:_SHOWN]))}; cut into longer slices, or leave these "
            "documents out."
        )


def _in_order(there: Sequence[Any], order: Any) -> list[Any]:
    listed = [] if isinstance(order, str) or not hasattr(order, "__iter__") else list(order)
    without = [label for label in listed if label not in there]
    if without:
        raise InputError(
            "The 'order' parameter must name slices that have documents. Got "
            f"{', '.join(map(repr, without[:_SHOWN]))}, which no document is in; leave them out."
        )
    if sorted(map(str, there)) != sorted(map(str, listed)):
        raise InputError(
            f"The 'order' parameter must list each of the {len(there):,} labels of 'slices' once. "
            f"Got {order!r:.80} instead."
        )
    return listed


def _number(value: Any, span: Span) -> int | bool | None:
    """Return the number of a date's span, None without a date, False for what is no date."""
    if not isinstance(value, str) and is_missing(value):
        return None
    try:
        found = read_date(value)
        if found is None:
            return None
        return span.number(found[:3]) if all(found[: span.parts]) else False
    except (ValueError, OverflowError):
        return False


def check_values(values: Any, name: str, n_documents: int) -> list[Any]:
    """Return what is given for each document, as a list."""
    single = isinstance(values, str | dict) or not hasattr(values, "__iter__")
    listed = None if single else list(values)
    if listed is None or len(listed) != n_documents:
        got = type(values).__name__ if listed is None else f"{len(listed):,}"
        raise InputError(
            f"The '{name}' parameter must have one value for each of the {n_documents:,} "
            f"documents. Got {got} instead."
        )
    return listed


def _note_left_out(found: list[Any], what: str) -> None:
    missing = sum(value is None for value in found)
    if missing:
        warnings.warn(
            f"{missing:,} of {len(found):,} documents have no {what} and were left out.",
            stacklevel=5,
        )
