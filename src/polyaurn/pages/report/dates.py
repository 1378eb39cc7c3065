"""Dates of documents, and topics over them."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.data import ModelData, document_lengths
from polyaurn.model.dates import AT_POSITION, SPANS, Day, read_date
from polyaurn.model.tables.groups import share_in_groups

MOST_STEPS = 60  # of the time axis
_UNITS = [span for span in SPANS.values() if span.name != "week"]
_FINEST = (3, 1, 0)  # unit of dates that are a year, a month, a day


def read_dates(path: Path) -> list[str]:
    """Read a file with a date on each line."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(
            f"The file '{path}' must hold a date on each line. It cannot be read ({why}); check "
            "the path."
        ) from None


def parse_dates(
    dates: Iterable[Any],
    n_documents: int,
    source: str,
    where: Callable[[int], str] = AT_POSITION,
) -> list[Day | None]:
    """Return year, month and day of each document, 0 where not known; None without a date.

    A time after the day is ignored. For error messages, `source` says where dates come from, such
    as "file 'dates.txt'", and `where` where a document's date is there, such as "line 3".
    """
    given = list(dates)
    if len(given) != n_documents:
        raise InputError(
            f"The {source} must have one date for each of the "
            f"{n_documents:,} documents. Got {len(given):,}; leave it empty where there is none."
        )
    return [_parse(value, i, source, where) for i, value in enumerate(given)]


def _parse(value: Any, i: int, source: str, where: Callable[[int], str]) -> Day | None:
    try:
        found = read_date(value)
    except (ValueError, OverflowError):
        raise InputError(
            f"The {source}, {where(i)}: expected a date such as 2024, 2024-05 or 2024-05-17. "
            f"Got {str(value).strip()[:40]!r}; write it so, or leave it empty."
        ) from None
    return None if found is None else found[:3]


class Steps(NamedTuple):
    """Steps of time: their unit and labels, and the step of each document, -1 without a date."""

    unit: str
    labels: list[str]
    group: I64


def steps_of(days: Sequence[Day | None]) -> Steps | None:
    """Return the finest steps that are at most `MOST_STEPS`; None if they are fewer than two."""
    there = [d for d, day in enumerate(days) if day is not None]
    dated = [day for day in days if day is not None]
    if not dated:
        return None
    finest = max(_FINEST[sum(map(bool, day[1:]))] for day in dated)
    for unit in _UNITS[finest:]:
        steps = np.array([unit.number(day) for day in dated])
        if np.ptp(steps) < MOST_STEPS:
            break
    first, last = int(steps.min()), int(steps.max())
    if first == last:
        return None
    group = np.full(len(days), -1)
    group[there] = steps - first
    return Steps(unit.name, [unit.label(i) for i in range(first, last + 1)], group)


def over_time(model: ModelData, days: Sequence[Day | None], topics: I64) -> dict[str, Any] | None:
    """Return the shares of topics in steps of time.

    Returns the unit; labels of the steps; documents of each step that have words; tokens of each
    step; share, for each topic its mean share of the documents of each step, None where there are
    none; undated, documents without a date. None where documents fill fewer than two steps.
    """
    steps = steps_of(days)
    if steps is None:
        return None
    n_steps = len(steps.labels)
    found = share_in_groups(model, steps.group, n_steps, topics)
    share = found.share.T.round(5).tolist()
    dated = steps.group >= 0
    tokens = np.bincount(steps.group[dated], document_lengths(model)[dated], n_steps)
    return {
        "unit": steps.unit,
        "labels": steps.labels,
        "documents": found.documents.tolist(),
        "tokens": tokens.astype(int).tolist(),
        "share": [[None if math.isnan(s) else s for s in row] for row in share],
        "undated": len(days) - int(dated.sum()),
    }


def words_over_time(corpus: Corpus, days: Sequence[Day | None], words: I64) -> list[list[int]]:
    """Return the tokens of words in the steps that have some: step, tokens, step, tokens, ..."""
    steps = steps_of(days)
    if steps is None:
        return []
    step = np.repeat(steps.group, np.diff(corpus.doc_ptr))
    dated = step >= 0
    cells = (step[dated], corpus.word[dated].astype(np.int64))
    shape = (len(steps.labels), corpus.n_words)
    counts = sp.coo_matrix((np.ones(len(cells[0]), np.int64), cells), shape=shape).tocsc()[:, words]
    counts.sort_indices()
    flat = np.column_stack((counts.indices, counts.data)).ravel().tolist()
    return [flat[2 * a : 2 * b] for a, b in pairwise(counts.indptr.tolist())]


def write_day(day: Day | None) -> str:
    """Return a date as text."""
    if day is None:
        return ""
    return "-".join(f"{part:0{width}}" for part, width in zip(day, (4, 2, 2), strict=True) if part)
