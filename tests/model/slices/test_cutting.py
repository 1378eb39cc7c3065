"""Documents cut into slices of time by dates of every kind."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from polyaurn import InputError
from polyaurn.model.slices.cutting import BY, cut_by_date, cut_by_label
from polyaurn.model.slices.folder import folder_names

DAYS = ["1999-12-31", "2000-01-01", "2000-01-03", "2000-04-01", "2011-02-28"]


@pytest.mark.parametrize(
    ("by", "labels", "number"),
    [
        ("day", tuple(DAYS), [0, 1, 2, 3, 4]),
        ("week", ("1999-W52", "2000-W01", "2000-W13", "2011-W09"), [0, 0, 1, 2, 3]),
        ("month", ("1999-12", "2000-01", "2000-04", "2011-02"), [0, 1, 1, 2, 3]),
        ("quarter", ("1999 Q4", "2000 Q1", "2000 Q2", "2011 Q1"), [0, 1, 1, 2, 3]),
        ("year", ("1999", "2000", "2011"), [0, 1, 1, 1, 2]),
        ("decade", ("1990s", "2000s", "2010s"), [0, 1, 1, 1, 2]),
    ],
)
def test_dates_are_cut_by_spans_of_the_calendar(by, labels, number):
    found = cut_by_date(DAYS, by, 5)
    assert found.labels == labels
    assert found.number.tolist() == number
    again = cut_by_date([dt.date.fromisoformat(day) for day in DAYS], by, 5)
    assert again.number.tolist() == number
    frame = pd.to_datetime(pd.Series(DAYS))
    assert cut_by_date(frame, by, 5).number.tolist() == number


def test_every_span_is_tested():
    assert {"day", "week", "month", "quarter", "year", "decade"} == set(BY)


def test_steps_count_spans_without_documents():
    assert cut_by_date([2001, 2002, 2005], "year", 3).steps.tolist() == [0, 1, 3]
    assert cut_by_date(["2001-01", "2001-12"], "month", 2).steps.tolist() == [0, 11]
    assert cut_by_label(["b", "a", "b"], None, 3).steps.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:1 of 3 documents have no date")
def test_years_are_whole_numbers_of_any_kind():
    """A column of years with one missing is of floats in pandas."""
    for years in ([2001.0, np.nan, 2003.0], pd.Series([2001, None, 2003]), ["2001.0", "", "2003"]):
        found = cut_by_date(years, "year", 3)
        assert found.labels == ("2001", "2003")
        assert found.number.tolist() == [0, -1, 1]


def test_documents_need_not_be_in_order_of_time():
    found = cut_by_date(["2003", "2001", "2003", "2002"], "year", 4)
    assert found.number.tolist() == [2, 0, 2, 1]


@pytest.mark.filterwarnings("ignore:.*were left out")
def test_what_is_empty_is_in_no_slice():
    dates = ["", None, np.nan, pd.NaT, pd.NA, "2001"]
    assert cut_by_date(dates, "year", 6).number.tolist() == [-1] * 5 + [0]
    assert cut_by_label(["", None, "x"], None, 3).number.tolist() == [-1, -1, 0]


def test_dates_that_cannot_be_read_are_named():
    dates = ["2001-01-01", "2001-02-30", "2001", "tomorrow", 3.5]
    with pytest.raises(InputError) as error:
        cut_by_date(dates, "month", 5, "in row {}".format)
    for said in ("'2001-02-30' in row 1", "'2001' in row 2", "'tomorrow' in row 3", "3.5 in row 4"):
        assert said in str(error.value)
    with pytest.raises(InputError, match="such as lists"):
        cut_by_label([["a"], ["b"]], None, 2)


def test_folders_have_names_that_every_disk_takes():
    assert folder_names(("2001", "2001 Q2", "a/b", "A/B", "..", "ä")) == [
        "slice-2001", "slice-2001-Q2", "slice-a-b", "slice-3-A-B", "slice-4", "slice-5",
    ]  # fmt: skip
