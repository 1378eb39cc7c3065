"""What more sweeps would gain: from traces whose future is known, and from real chains."""

import numpy as np
import pytest

from polyaurn import LDA
from polyaurn.chain import schedule
from polyaurn.datasets import python_docs
from polyaurn.evaluate.forecast import forecast_gain, forecast_in_words


def trace_of(values, every=10, began=0, phase="full"):
    return [
        {"sweep": began + every * (i + 1), "phase": phase, "log_posterior": float(value)}
        for i, value in enumerate(values)
    ]


def rising(n, step=4000.0, level=-1e6, noise=200.0):
    t = 10.0 * np.arange(1, n + 1)
    return level + step * np.log(t) + noise * np.random.default_rng(0).normal(size=n)


def test_a_chain_that_gains_with_each_doubling_is_forecast():
    found = forecast_gain(trace_of(rising(40)))
    assert found.sweeps == 400
    actual = 4000 * np.log(791 / 391) / 9.76e5  # the first full sweep with a value is the tenth
    assert abs(found.gain - actual) < 3 * found.error
    assert found.error < actual / 5
    assert forecast_in_words(trace_of(rising(40))) == (
        "400 more sweeps would gain about 0.3% of the log posterior."
    )


def test_a_level_chain_has_an_upper_bound():
    words = forecast_in_words(trace_of(rising(70, step=0.0, noise=100.0)))
    assert words == "700 more sweeps would gain less than 0.1% of the log posterior."
    falling = forecast_in_words(trace_of(rising(70, step=-4000.0)))
    assert "would gain less than 0.1%" in falling


def share_of_good_errors(correlation, chains=200, n=80):
    """Return how often a forecast of chains with slow waves is within two errors of the truth."""
    rng, good = np.random.default_rng(1), []
    t = 10.0 * np.arange(1, n + 1)
    for _ in range(chains):
        wave = rng.normal(size=n)
        wave[0] /= np.sqrt(1 - correlation**2)
        for i in range(1, n):
            wave[i] += correlation * wave[i - 1]
        found = forecast_gain(trace_of(-1e6 + 2000 * np.log(t) + 200 * wave))
        actual = 2000 * np.log((10 * n - 9 + found.sweeps) / (10 * n - 9)) / 1e6
        good.append(abs(found.gain - actual) < 2 * found.error + 0.02 * actual)
    return np.mean(good), np.sqrt(0.05 * 0.95 / chains)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_errors_are_those_of_chains_with_slow_waves(correlation):
    share, error = share_of_good_errors(correlation)
    assert share > 0.95 - 3 * error


def test_errors_of_independent_draws_are_too_small_for_slow_waves(monkeypatch):
    monkeypatch.setattr("polyaurn.evaluate.forecast._CORRELATIONS", [0.0])
    share, error = share_of_good_errors(0.8)
    assert share < 0.95 - 3 * error


def test_the_start_of_a_chain_does_not_count():
    start = trace_of(np.linspace(-9e6, -1e6, 30), phase="anneal")
    late = trace_of(rising(40), began=300)
    first = [{"sweep": 301, "phase": "full", "log_posterior": None}]
    found = forecast_gain(start + first + late)
    assert found.sweeps == 400
    assert found.gain == pytest.approx(4000 * np.log(2) / 9.76e5, rel=0.1)
    assert forecast_in_words(start) == ""


@pytest.mark.parametrize(
    "trace",
    [
        [],
        trace_of(rising(12)),
        trace_of(rising(90), every=1),
        [{"sweep": 1, "phase": "full", "log_posterior": None}],
        [*trace_of(rising(40)), {"sweep": 401, "phase": "anneal", "log_posterior": -1.0}],
        trace_of([0.0] * 40),
    ],
)
def test_nothing_is_said_of_a_chain_that_is_too_short(trace):
    assert forecast_gain(trace) is None
    assert forecast_in_words(trace) == ""


@pytest.mark.slow
def test_forecasts_of_a_real_chain_agree_with_a_longer_one(monkeypatch):
    """On Python's docstrings, to 0.25% of the log posterior, the tolerance that the docs state."""
    monkeypatch.setattr(schedule, "MOST_ANNEALED", 100)
    trace = LDA(20, max_iter=500, evaluate_every=5, verbose=False).fit(python_docs()).trace_
    for length in (240, 300):
        found = forecast_gain([r for r in trace if r["sweep"] <= length])
        level = {r["sweep"]: r["log_posterior"] for r in trace if r["log_posterior"] is not None}

        def mean(until, level=level):
            return np.mean([level[s] for s in level if until - 20 < s <= until])

        actual = (mean(length + found.sweeps) - mean(length)) / abs(mean(length))
        assert abs(found.gain - actual) < 0.0025
