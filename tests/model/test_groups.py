"""Shares of topics over time and by class."""

import datetime as dt

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError


@pytest.fixture(scope="module")
def model():
    """Six documents, the last without words."""
    matrix = np.random.default_rng(0).integers(0, 6, (6, 5))
    matrix[5] = 0
    with pytest.warns(UserWarning, match="is empty"):
        return LDA(3, max_iter=5, verbose=False).fit(Corpus.from_matrix(matrix)).model_


def by_hand(model, groups):
    """Return the mean mixture and the tokens of groups of documents, a row each."""
    theta, m = model.doc_topics(), model.doc_topic_counts.toarray()
    return (
        np.concatenate([theta[group].mean(axis=0) for group in groups]),
        np.concatenate([m[group].sum(axis=0) for group in groups]),
    )


def check(model, table, groups):
    share, tokens = by_hand(model, groups)
    assert np.allclose(table["share"], share, rtol=1e-12)
    assert np.array_equal(table["tokens"], tokens)
    of_group = np.repeat(np.add.reduceat(tokens, np.arange(0, len(tokens), 3)), 3)
    assert np.allclose(table["token_share"], tokens / of_group, rtol=1e-12)
    assert np.allclose(np.add.reduceat(table["share"], np.arange(0, len(share), 3)), 1.0)
    assert table["topic"].tolist() == [0, 1, 2] * len(groups)
    assert table["documents"].tolist() == [len(group) for group in groups for _ in range(3)]


def test_classes(model):
    table = model.topics_per_class(list("babbac"), as_frame=False)
    assert table["class"] == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert np.isnan(table["share"][6:]).all()  # nothing but a document without words
    assert table["documents"][6:].tolist() == [0, 0, 0]
    words = {name: column[:6] for name, column in table.items()}
    check(model, words, [[1, 4], [0, 2, 3]])
    some = model.topics_per_class(list("babbac"), topics=[2, 0], as_frame=False)
    assert some["topic"].tolist() == [2, 0] * 3
    assert np.array_equal(some["share"][:4], table["share"][[2, 0, 5, 3]])


def test_labels_that_are_missing_or_of_several_types(model):
    pandas = pytest.importorskip("pandas")
    for missing in (None, np.nan, pandas.NA, pandas.NaT):
        with pytest.warns(UserWarning, match="2 of 6 documents have no class and were left out"):
            table = model.topics_per_class([1, missing, 1, 0, 0, missing], as_frame=False)
        assert table["class"] == [0, 0, 0, 1, 1, 1]
        check(model, table, [[3, 4], [0, 2]])
    table = model.topics_per_class(["x", 1, "x", 1, 1, 1], as_frame=False)
    assert table["class"] == ["x"] * 3 + [1] * 3
    check(model, table, [[0, 2], [1, 3, 4]])
    series = pandas.Series(list("aabbbb"), index=range(10, 16))
    frame = model.topics_per_class(series)
    assert frame["class"].tolist() == ["a"] * 3 + ["b"] * 3


@pytest.mark.parametrize(
    ("times", "bins", "starts", "groups"),
    [
        ([2001, 1999, 2001, 1999, 2005, 2001], None, [1999, 2001, 2005], [[1, 3], [0, 2], [4]]),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 0.0], 2, [0.0, 2.0], [[0, 1], [2, 3, 4]]),
        ([0, 1, 2, 3, 4, 0], [0, 1, 4], [0, 1], [[0], [1, 2, 3, 4]]),
        ([7, 7, 7, 7, 7, 7], 4, [7], [[0, 1, 2, 3, 4]]),
    ],
)
def test_times_that_are_numbers(model, times, bins, starts, groups):
    table = model.topics_over_time(times, bins, as_frame=False)
    assert table["time"].tolist() == np.repeat(starts, 3).tolist()
    check(model, table, groups)


def test_dates(model):
    days = ["2023-12-30", "2024-01-02", "2024-01-31", "2024-02-01", "2024-02-01", "2024-02-01"]
    expected = np.repeat(np.array(["2023-12-01", "2024-01-01", "2024-02-01"], "M8[us]"), 3)
    zone = dt.timezone(dt.timedelta(hours=1))
    dates = [dt.date.fromisoformat(day) for day in days]
    times = [
        days,
        dates,
        [dt.datetime(d.year, d.month, d.day, 12, tzinfo=zone) for d in dates],
        np.array(days, "M8[ns]"),
        pytest.importorskip("pandas").Series(days).astype("datetime64[ns]"),
    ]
    for given in times:
        table = model.topics_over_time(given, "month", as_frame=False)
        assert np.array_equal(table["time"], expected)
        check(model, table, [[0], [1, 2], [3, 4]])
    table = model.topics_over_time(days, 2, as_frame=False)
    assert table["time"][3] == np.datetime64("2024-01-15T12:00")
    check(model, table, [[0, 1], [2, 3, 4]])
    edges = ["2024-01-01", "2024-02-01", "2024-03-01"]
    with pytest.warns(UserWarning, match="1 of 6 documents have no time and were left out"):
        table = model.topics_over_time(days, edges, as_frame=False)
    check(model, table, [[1, 2], [3, 4]])
    midnight = dt.datetime(2024, 1, 1, 0, 30, tzinfo=zone)  # still 2023 in UTC
    table = model.topics_over_time([midnight] * 6, "year", as_frame=False)
    assert table["time"][0] == np.datetime64("2023-01-01")


def test_weeks_begin_on_mondays(model):
    days = ["2024-01-01", "2024-01-07", "2024-01-08", "2023-12-31", "1969-12-28", "1969-12-29"]
    table = model.topics_over_time(days, "week", topics=[0], as_frame=False)
    starts = ["1969-12-22", "1969-12-29", "2023-12-25", "2024-01-01", "2024-01-08"]
    assert table["time"].tolist() == np.array(starts, "M8[us]").tolist()
    assert table["documents"].tolist() == [1, 0, 1, 2, 1]  # the last document has no words
    assert {time.weekday() for time in table["time"].tolist()} == {0}


def test_a_plot_and_the_report_have_the_shares_of_the_table(model):
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot as plt

    from polyaurn.pages.report.dates import over_time, parse_dates
    from polyaurn.plots import plot_over_time

    years = [2001, 2000, 2001, 2000, 2000, 2000]
    table = model.topics_over_time(years, topics=[1, 2], as_frame=False)["share"].reshape(2, 2)
    drawn = [line.get_ydata() for line in plot_over_time(model, years, [1, 2]).lines]
    plt.close("all")
    assert np.allclose(np.array(drawn).T, table, rtol=1e-12)
    found = over_time(model, parse_dates(map(str, years), 6, "dates"), np.array([1, 2]))
    assert np.allclose(np.array(found["share"]).T, table, atol=1e-5)
    lengths = model.doc_topic_counts.sum(axis=1)
    assert len(set(lengths[:5].ravel().tolist()[0])) > 1  # else both kinds of share are the same


def test_a_span_without_documents_and_missing_times(model):
    with pytest.warns(UserWarning, match="1 of 6 documents have no time"):
        table = model.topics_over_time([0, 0, np.nan, 9, 9, 9], 3, as_frame=False)
    assert table["documents"].tolist() == [2, 2, 2, 0, 0, 0, 2, 2, 2]
    assert np.isnan(table["share"][3:6]).all()
    assert table["tokens"][3:6].tolist() == [0, 0, 0]


@pytest.mark.parametrize("values", [[1, 2], "abcdef", 3, None])
def test_one_value_for_each_document(model, values):
    for view, name in ((model.topics_per_class, "labels"), (model.topics_over_time, "timestamps")):
        with pytest.raises(InputError, match=f"'{name}' parameter must have one value for each of"):
            view(values)


@pytest.mark.parametrize(
    ("times", "bins", "message"),
    [
        (
            ["2024-01-01", "soon"] * 3,
            None,
            r"'timestamps' parameter must hold.*'soon' at position 1",
        ),
        ([2024, "2024-01-01"] * 3, None, r"'timestamps' parameter must hold.*2024 at position 0"),
        ([None] * 6, None, "'timestamps' parameter must have a time"),
        ([1] * 6, "year", "'bins' parameter must be a whole number"),
        ([1] * 6, 0, "'bins' parameter must be a whole number"),
        ([1] * 6, [1], "'bins' parameter must be a whole number"),
        ([1] * 6, [2, 1], "'bins' parameter must be a whole number"),
        ([1] * 6, ["2024-01-01", "2025-01-01"], "'bins' parameter must be a whole number"),
        (["2024-01-01"] * 6, "decade", "one of 'year', 'month'"),
    ],
)
def test_times_that_are_rejected(model, times, bins, message):
    with pytest.raises(InputError, match=message):
        model.topics_over_time(times, bins)


def test_labels_that_are_rejected(model):
    with pytest.raises(InputError, match="'labels' parameter must have a string or a number"):
        model.topics_per_class([[1], [2], [1], [2], [1], [2]])


def test_years_and_months_may_be_strings():
    from polyaurn.model.dates import as_times

    found = as_times(["1990", "1990-05", "1990-05-02", None], "timestamps")
    assert found[:3].astype("datetime64[D]").astype(str).tolist() == [
        "1990-01-01", "1990-05-01", "1990-05-02",
    ]  # fmt: skip
