"""Whether the log posterior of a chain still rises, and by how much: the verdict on training."""

import math
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import is_number
from polyaurn.chain.schedule import FULL

LEAST_VALUES = 10  # in the second half of the full sweeps
LEAST_SWEEPS = 100  # full ones
PER = 100  # sweeps, to which rates refer
MOST_MEANS = 40  # of consecutive values
_FAR = 2.0  # standard errors
# Of neighbours; evenly by the angle, Jeffreys' prior of a correlation.
_CORRELATIONS = np.sin(np.linspace(0.0, math.asin(0.99), 50))
UNKNOWN, RISING, LEVEL, FALLING = "unknown", "rising", "level", "falling"


class Trend(NamedTuple):
    """What the log posterior gains in some more sweeps if it continues as it did.

    Both `gain` and its standard `error` are shares of the log posterior.
    """

    gain: float
    error: float

    @property
    def verdict(self) -> str:
        """Return whether the gain differs from zero by more than two standard errors."""
        if abs(self.gain) <= _FAR * self.error:
            return LEVEL
        return RISING if self.gain > 0 else FALLING


class _Scores(NamedTuple):
    """The log posteriors of full sweeps."""

    t: F64  # full sweeps until each
    y: F64
    done: int  # full sweeps in all


def trend_of(trace: list[dict[str, Any]], ahead: int = PER) -> Trend | None:
    """Return what `ahead` more sweeps gain, by the second half of the full sweeps.

    None if there are too few of them. Two curves are fitted, where t counts full sweeps: a + b log
    t, which gains as much again whenever the chain's length doubles, and a - b / t, which comes to
    an end. The gain is the mean of both, and half their difference is part of the error. Sweeps of
    an annealed or growing start have other priors, or part of the documents, and do not count.
    """
    scores = _scores(trace)
    if scores is None or more_sweeps(trace):
        return None
    late = scores.t > scores.done / 2
    x, y = _means(scores.t[late]), _means(scores.y[late])
    done, level = float(scores.done), abs(float(scores.y[-1]))
    if not np.ptp(y) or not level:
        return None
    slope, error = np.transpose([_slope(np.log(x), y), _slope(-1 / x, y)])
    far = np.array([math.log((done + ahead) / done), 1 / done - 1 / (done + ahead)]) / level
    gain, noise = slope * far, float((error * far).mean())
    return Trend(float(gain.mean()), math.hypot(noise, float(np.ptp(gain)) / 2))


def more_sweeps(trace: list[dict[str, Any]]) -> int:
    """Return how many more full sweeps are needed before a trend can be given; 0 if none are."""
    scores = _scores(trace)
    if scores is None:
        return 0
    if (scores.t > scores.done / 2).sum() >= LEAST_VALUES:
        return max(0, LEAST_SWEEPS - scores.done)
    every = float(np.median(np.diff(scores.t))) if len(scores.t) > 1 else float(scores.t[0])
    return max(1, math.ceil(max(LEAST_SWEEPS, 2 * LEAST_VALUES * every) - scores.done))


def trend_in_words(trace: list[dict[str, Any]]) -> str:
    """Return the verdict as a sentence; nothing of a chain that ended inside its warm start."""
    if trace and trace[-1].get("phase", FULL) != FULL:
        return ""
    scores = _scores(trace)
    if scores is None:
        return (
            "There are no log posteriors, so nothing can be said about convergence; training with "
            "--eval-every (evaluate_every) above 0 keeps them."
        )
    more = more_sweeps(trace)
    if more:
        kind = "" if scores.done == trace[-1]["sweep"] else " after the warm start"
        return (
            f"Too few sweeps to say whether the log posterior still rises: {scores.done:,}{kind}; "
            f"run at least {more:,} more."
        )
    trend = trend_of(trace)
    if trend is None:
        return "The log posterior is constant, so nothing can be said about convergence."
    if trend.verdict == LEVEL:
        noise = f"±{_percent(_FAR * trend.error, up=True)} per {PER} sweeps"
        return f"No rise of the log posterior can be seen within the noise of {noise}."
    return (
        f"The log posterior was still {trend.verdict} at the end, by about "
        f"{_percent(abs(trend.gain))} per {PER} sweeps: the chain has not settled."
    )


def _scores(trace: list[dict[str, Any]]) -> _Scores | None:
    """Return the log posteriors of the full sweeps; None if there are none."""
    full = [r for r in trace if r.get("phase", FULL) == FULL and is_number(r.get("sweep"))]
    scored = [r for r in full if is_number(r.get("log_posterior"))]
    if not scored or trace[-1].get("phase", FULL) != FULL:
        return None
    began = int(full[0]["sweep"]) - 1
    t = np.array([r["sweep"] - began for r in scored], dtype=np.float64)
    y = np.array([r["log_posterior"] for r in scored], dtype=np.float64)
    return _Scores(t, y, int(full[-1]["sweep"]) - began)


def _means(values: F64) -> F64:
    """Return means of as many consecutive values each; the first ones left over are dropped."""
    each = math.ceil(len(values) / MOST_MEANS)
    return np.asarray(values[len(values) % each :].reshape(-1, each).mean(axis=1))


def _slope(x: F64, y: F64) -> tuple[float, float]:
    """Return the slope of a line through points, and its standard error.

    Neighbours are correlated, by how much is not known, and few points say little about it: a line
    that follows a slow wave leaves no trace of the wave. So the correlation of an autoregression
    of order one is not estimated but averaged over, each weighed by its restricted likelihood.
    """
    design, points = np.column_stack((np.ones(len(x)), x - x.mean())), y - y.mean()
    free = len(x) - 2
    found = []
    for r in _CORRELATIONS:
        X, v = _uncorrelated(design, r), _uncorrelated(points[:, None], r)[:, 0]
        inverse = np.linalg.inv(X.T @ X)
        line = inverse @ (X.T @ v)
        left = float(((v - X @ line) ** 2).sum())
        if left <= 1e-18 * float(y @ y):
            return float(line[1]), 0.0
        weight = math.log(1 - r * r) + math.log(float(np.linalg.det(inverse)))
        weight = (weight - free * math.log(left)) / 2
        found.append((weight, float(line[1]), left / (free - 2) * float(inverse[1, 1])))
    weight, slope, variance = np.array(found).T
    share = np.exp(weight - weight.max())
    share /= share.sum()
    mean = float(share @ slope)
    return mean, math.sqrt(float(share @ (variance + (slope - mean) ** 2)))


def _uncorrelated(values: F64, r: float) -> F64:
    """Return what is new in each row of values, given the row before it."""
    new = values.copy()
    new[1:] -= r * values[:-1]
    new[0] *= math.sqrt(1 - r * r)
    return new


def _percent(share: float, *, up: bool = False) -> str:
    """Return a share with one digit, rounded, or rounded up."""
    percent = 100 * share
    if percent <= 0:
        return "0%"
    digits = 10.0 ** math.floor(math.log10(percent))
    whole = percent / digits
    return f"{float(f'{(math.ceil(whole - 1e-9) if up else round(whole)) * digits:.1g}'):.10g}%"
