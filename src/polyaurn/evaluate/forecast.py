"""What more sweeps would gain, from the log posteriors of a chain so far."""

import math
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.checks import is_number
from polyaurn.chain.schedule import FULL
from polyaurn.evaluate.convergence import effective_sample_size

LEAST_VALUES = 10  # in the second half of the full sweeps
LEAST_SWEEPS = 100  # full ones
LEAST_GAIN = 0.0005  # that is worth a number
_FAR = 2.0  # standard errors


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
    x = np.log(t[late])
    x -= x.mean()
    slope = float(x @ y[late] / (x @ x))
    left = y[late] - y[late].mean() - slope * x
    size = effective_sample_size(left)
    spread = 0.0 if math.isnan(size) else float(left.std()) * math.sqrt(len(x) / max(size, 2.0))
    far, level = math.log((done + more) / done), abs(float(y[-1]))
    return Forecast(more, slope * far / level, spread / math.sqrt(float(x @ x)) * far / level)


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
