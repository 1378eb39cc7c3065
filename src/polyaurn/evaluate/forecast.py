"""What more sweeps would gain, from the log posteriors of a chain so far."""

import math
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import is_number
from polyaurn.chain.schedule import FULL

LEAST_VALUES = 10  # in the second half of the full sweeps
LEAST_SWEEPS = 100  # full ones
LEAST_GAIN = 0.0005  # that is worth a number
_FAR = 2.0  # standard errors
_CORRELATIONS = np.linspace(0.0, 0.99, 100)  # of neighbours


class Forecast(NamedTuple):
    """What `sweeps` more would add to the log posterior, as a share of it, and a standard error."""

    sweeps: int
    gain: float
    error: float


def forecast_gain(trace: list[dict[str, Any]]) -> Forecast | None:
    """Forecast the gain of about as many full sweeps as there were; None if these are too few.

    The log posteriors of the second half of the full sweeps are fitted by a + b log t, where t
    counts full sweeps: a chain gains as much again whenever its length doubles. Sweeps of an
    annealed or growing start have other priors, or part of the documents, and do not count.
    """
    full = [r for r in trace if r.get("phase", FULL) == FULL and is_number(r.get("sweep"))]
    if not full or trace[-1].get("phase", FULL) != FULL:
        return None
    began = int(full[0]["sweep"]) - 1
    scored = [r for r in full if is_number(r.get("log_posterior"))]
    done = int(full[-1]["sweep"]) - began
    t = np.array([r["sweep"] - began for r in scored], dtype=np.float64)
    y = np.array([r["log_posterior"] for r in scored], dtype=np.float64)
    late = t > done / 2
    if done < LEAST_SWEEPS or late.sum() < LEAST_VALUES or not y[late].any():
        return None
    more = _rounded(done)
    slope, error = _slope(np.log(t[late]), y[late])
    far, level = math.log((done + more) / done), abs(float(y[-1]))
    return Forecast(more, slope * far / level, error * far / level)


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


def forecast_in_words(trace: list[dict[str, Any]]) -> str:
    """Return the forecast as a sentence; nothing where the chain is too short to judge."""
    found = forecast_gain(trace)
    if found is None:
        return ""
    more, bound = f"{found.sweeps:,} more sweeps", found.gain + _FAR * found.error
    if found.gain > max(LEAST_GAIN, _FAR * found.error):
        return f"{more} would gain about {_percent(found.gain)} of the log posterior."
    least = max(math.ceil(bound * 1000 - 1e-9), 1) / 1000
    return f"{more} would gain less than {_percent(least)} of the log posterior."


def _rounded(sweeps: int) -> int:
    """Return the nearest number of one digit and zeros."""
    return round(sweeps, 1 - len(str(sweeps)))


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.1g}'):g}%"
