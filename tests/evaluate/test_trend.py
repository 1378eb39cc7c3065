"""What is said of a chain's trend: of traces whose truth is known, and of real chains."""

import json
from pathlib import Path

import numpy as np
import pytest

from polyaurn.evaluate import trend
from polyaurn.evaluate.trend import Trend, more_sweeps, trend_in_words, trend_of

RESULT = Path(__file__).parents[2] / "benchmarks" / "results" / "trend.json"


def trace_of(values, every=10, began=0, phase="full"):
    return [
        {"sweep": began + every * (i + 1), "phase": phase, "log_posterior": float(value)}
        for i, value in enumerate(values)
    ]


def rising(n, step=4000.0, level=-1e6, noise=200.0):
    t = 10.0 * np.arange(1, n + 1)
    return level + step * np.log(t) + noise * np.random.default_rng(0).normal(size=n)


def test_a_chain_that_rises_is_said_to():
    found = trend_of(trace_of(rising(40)))
    actual = 4000 * np.log(491 / 391) / 9.76e5  # the first full sweep with a value is the tenth
    assert abs(found.gain - actual) < 2 * found.error
    assert found.error < actual / 4
    assert trend_in_words(trace_of(rising(40))) == (
        "The log posterior was still rising at the end, by about 0.08% per 100 sweeps: the chain "
        "has not settled."
    )


def test_a_level_chain_has_a_noise():
    words = trend_in_words(trace_of(rising(70, step=0.0, noise=100.0)))
    assert words == (
        "No rise of the log posterior can be seen within the noise of ±0.004% per 100 sweeps."
    )
    assert "was still falling at the end" in trend_in_words(trace_of(rising(70, step=-4000.0)))


def waves(rng, n, correlation):
    """Return an autoregression of order one, with a standard deviation of one for what is new."""
    wave = rng.normal(size=n)
    wave[0] /= np.sqrt(1 - correlation**2)
    for i in range(1, n):
        wave[i] += correlation * wave[i - 1]
    return wave


CURVES = [
    lambda t: 2000 * np.log(t),
    lambda t: -400_000 / t,
    lambda t: 0 * t,
]


def share_of_good_errors(correlation, curve, chains=60, n=80):
    """Return how often the gain of chains with slow waves is within two errors of the truth."""
    rng, good = np.random.default_rng(1), []
    t = 10.0 * np.arange(1, n + 1)
    began = t - 9  # the first full sweep with a value is the first one of the trace
    for _ in range(chains):
        found = trend_of(trace_of(-1e6 + curve(began) + 200 * waves(rng, n, correlation)))
        end = began[-1]
        actual = (curve(end + 100) - curve(end)) / 1e6
        good.append(abs(found.gain - actual) < 2 * found.error)
    return np.mean(good), np.sqrt(0.05 * 0.95 / chains)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(("correlation", "n"), [(0.0, 80), (0.8, 80), (0.8, 20)])
def test_errors_are_those_of_chains_with_slow_waves(correlation, n, curve):
    share, error = share_of_good_errors(correlation, curve, n=n)
    assert share > 0.95 - 3 * error


def test_errors_of_independent_draws_are_too_small_for_slow_waves(monkeypatch):
    """A planted fault."""
    monkeypatch.setattr(trend, "_CORRELATIONS", [0.0])
    share, error = share_of_good_errors(0.8, CURVES[2])
    assert share < 0.95 - 3 * error


def test_errors_do_not_depend_on_how_often_a_wave_is_seen():
    """Consecutive log posteriors of every sweep say as much about slow waves as every tenth."""
    rng = np.random.default_rng(3)
    wave = -1e6 + 100 * waves(rng, 800, 0.98)
    often, seldom = trend_of(trace_of(wave, every=1)), trend_of(trace_of(wave[9::10]))
    assert often.error == pytest.approx(seldom.error, rel=0.5)


def test_the_start_of_a_chain_does_not_count():
    start = trace_of(np.linspace(-9e6, -1e6, 30), phase="anneal")
    first = [{"sweep": 301, "phase": "full", "log_posterior": None}]
    found = trend_of(start + first + trace_of(rising(40), began=300))
    assert found == pytest.approx(trend_of(trace_of(rising(40)))[:], rel=0.1)
    assert trend_in_words(start) == ""


@pytest.mark.parametrize(("every", "full", "more"), [(10, 75, 125), (10, 190, 10), (1, 75, 25)])
def test_so_many_more_sweeps_are_enough(every, full, more):
    """75 full sweeps are those of a run of 300."""
    began = 225
    start = [{"sweep": began, "phase": "anneal", "log_posterior": -2e6}]

    def first(sweeps):
        at = [s for s in range(began + 1, began + sweeps + 1) if s % every == 0 or s == began + 1]
        return start + [
            {"sweep": s, "phase": "full", "log_posterior": None if s % every else -1e6 + s % 7}
            for s in at
        ] + ([] if (began + sweeps) % every == 0 else [
            {"sweep": began + sweeps, "phase": "full", "log_posterior": None}
        ])  # fmt: skip

    assert more_sweeps(first(full)) == more
    assert trend_in_words(first(full)) == (
        f"Too few sweeps to say whether the log posterior still rises: {full} after the warm "
        f"start; run at least {more} more."
    )
    assert trend_of(first(full)) is None
    assert trend_of(first(full + more - every)) is None
    assert trend_of(first(full + more)) is not None


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ([], "There are no log posteriors"),
        ([{"sweep": 1, "phase": "full", "log_posterior": None}], "There are no log posteriors"),
        ([*trace_of(rising(40)), {"sweep": 401, "phase": "anneal", "log_posterior": -1.0}], ""),
        (trace_of([0.0] * 40), "The log posterior is constant"),
        (trace_of([-5.0] * 40), "The log posterior is constant"),
    ],
)
def test_nothing_is_said_of_a_chain_that_says_nothing(trace, said):
    assert trend_of(trace) is None
    words = trend_in_words(trace)
    assert words.startswith(said)
    assert bool(words) == bool(said)


def recorded():
    """Return what is said of chains of AP and KOS, and what followed."""
    chains = json.loads(RESULT.read_text(encoding="utf-8"))["chains"]
    for chain in chains:
        names = ("sweep", "phase", "log_posterior")
        trace = [dict(zip(names, record, strict=True)) for record in chain["trace"]]
        for row in chain["found"]:
            yield [r for r in trace if r["sweep"] <= row["length"]], row


def has_skill(gains, errors):
    """Return whether gains are nearer to the actual ones than a constant, as near as they say."""
    rows = [row for _, row in recorded()]
    actual, noise = (np.array([row[name] for row in rows]) for name in ("actual", "actual_error"))
    gaps = abs(np.array(gains) - actual)
    constant = abs(actual - np.median(actual)).mean()
    within = (gaps < 2 * np.hypot(errors, noise)).mean()
    return gaps.mean() < 0.9 * constant, within > 0.95 - 3 * np.sqrt(0.05 * 0.95 / len(rows))


def test_gains_of_real_chains_are_nearer_than_a_constant():
    found = [trend_of(trace, 200) for trace, _ in recorded()]
    assert has_skill([f.gain for f in found], [f.error for f in found]) == (True, True)


def test_a_constant_has_no_skill():
    """A planted fault: the same is said of every chain, the best constant there is."""
    actual = [row["actual"] for _, row in recorded()]
    same = Trend(float(np.median(actual)), 0.0003)
    assert not has_skill([same.gain] * len(actual), [same.error] * len(actual))[0]
