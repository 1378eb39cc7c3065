"""One reading of dates for tables, plots and the report."""

import datetime as dt

import numpy as np
import pytest

from polyaurn import InputError
from polyaurn.model.dates import as_times, read_date
from polyaurn.pages.report.dates import parse_dates

ZONE = dt.timezone(dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "written", "moment"),
    [
        ("2024", (2024, 0, 0), "2024-01-01"),
        ("2024.0", (2024, 0, 0), "2024-01-01"),
        ("20240507.0", (2024, 5, 7), "2024-05-07"),
        (" 2024-05 ", (2024, 5, 0), "2024-05-01"),
        ("2024/5/7", (2024, 5, 7), "2024-05-07"),
        ("20240507", (2024, 5, 7), "2024-05-07"),
        ("2024-05-07T23:30:00.5Z", (2024, 5, 7), "2024-05-07T23:30:00.5"),
        ("2024-05-07 00:30+01:00", (2024, 5, 7), "2024-05-06T23:30"),
        (dt.date(2024, 5, 7), (2024, 5, 7), "2024-05-07"),
        (dt.datetime(2024, 5, 7, 0, 30, tzinfo=ZONE), (2024, 5, 7), "2024-05-06T23:30"),
        (np.datetime64("2024"), (2024, 0, 0), "2024-01-01"),
        (np.datetime64("2024-05-07T12", "ns"), (2024, 5, 7), "2024-05-07T12"),
        ("0999-12-31", (999, 12, 31), "0999-12-31"),
    ],
)
def test_dates_are_read_alike_everywhere(value, written, moment):
    found = read_date(value)
    assert found[:3] == written
    assert found.moment == np.datetime64(moment, "us")
    assert as_times([value, None])[0] == np.datetime64(moment, "us")
    assert parse_dates([value], 1, "dates") == [written]


@pytest.mark.parametrize(
    "value", [None, "", "  ", "NaT", "nan", np.datetime64("NaT"), float("nan")]
)
def test_missing_dates(value):
    assert read_date(value) is None
    assert np.isnat(as_times(["2024", value])[1])
    assert parse_dates([value], 1, "dates") == [None]


@pytest.mark.parametrize(
    "value", ["soon", "2024-13", "2024-02-30", "99999", "2024.5", "0000", "1.2.2024"]
)
def test_what_is_not_a_date_is_rejected_everywhere(value):
    with pytest.raises(ValueError):  # noqa: PT011
        read_date(value)
    with pytest.raises(InputError, match="'timestamps' parameter must hold only numbers, or dates"):
        as_times(["2024", value])
    with pytest.raises(InputError, match="dates, at position 0: expected a date such as 2024"):
        parse_dates([value], 1, "dates")


def test_a_time_that_cannot_be_read_leaves_the_day():
    """The report needs days only; elsewhere the moment counts."""
    assert parse_dates(["2024-05-07 noon"], 1, "dates") == [(2024, 5, 7)]
    with pytest.raises(InputError, match="Got '2024-05-07 noon' at position 0"):
        as_times(["2024-05-07 noon"])
