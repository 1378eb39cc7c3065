"""Whether chains agree, and how many independent draws they are worth.

The definitions of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021): chains are split in
halves, draws replaced by normal scores of their ranks.
"""

import math
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError

LEAST_DRAWS = 4


def r_hat(draws: Any) -> float:
    """Return the rank-normalised split R-hat: near 1 where chains agree, above 1.01 where not.

    Parameters
    ----------
    draws : array_like of float, chains by draws
        A scalar of each draw, at least four draws a chain.

    Returns
    -------
    float
        The larger of that of the draws and that of their distances from the median; NaN where
        all draws are equal.
    """
    x = _split(draws)
    return max(_ratio(_normal_scores(x)), _ratio(_normal_scores(np.abs(x - np.median(x)))))


def ess_bulk(draws: Any) -> float:
    """Return how many independent draws the chains are worth, for the middle of the law.

    Parameters
    ----------
    draws : array_like of float, chains by draws
        A scalar of each draw, at least four draws a chain.

    Returns
    -------
    float
        May exceed the number of draws, where neighbours differ more than chance lets them; NaN
        where all draws are equal.
    """
    return _effective(_normal_scores(_split(draws)))


def ess_tail(draws: Any) -> float:
    """Return the same for the tails: the smaller one of the 5% and the 95% quantile.

    Parameters
    ----------
    draws : array_like of float, chains by draws
        A scalar of each draw, at least four draws a chain.

    Returns
    -------
    float
        NaN where all draws are equal.
    """
    whole = np.asarray(draws, dtype=np.float64)
    low, high = (_split(whole <= np.quantile(whole, q)) for q in (0.05, 0.95))
    return min(_effective(low), _effective(high))


def _split(draws: Any) -> F64:
    x = np.asarray(draws, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] < LEAST_DRAWS or not x.size:
        raise InputError(
            f"The 'draws' parameter must be an array of chains by draws, at least {LEAST_DRAWS} "
            f"draws a chain. Got one of shape {x.shape}; keep more draws."
        )
    half = x.shape[1] // 2
    return np.concatenate((x[:, :half], x[:, -half:]))


def _normal_scores(x: F64) -> F64:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    rank = rankdata(x, axis=None).reshape(x.shape)
    return np.asarray(ndtri((rank - 0.375) / (x.size + 0.25)), dtype=np.float64)


def _ratio(x: F64) -> float:
    n = x.shape[1]
    within = float(x.var(axis=1, ddof=1).mean())
    between = float(x.mean(axis=1).var(ddof=1))
    return math.sqrt((n - 1) / n + between / within) if within > 0.0 else math.nan


def _effective(x: F64) -> float:
    """Sum autocorrelations of all chains in pairs, while pairs are positive and falling."""
    chains, n = x.shape
    centred = x - x.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n)
    covariance = np.fft.irfft(spectrum * spectrum.conj())[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (x.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    if not total > 0.0:
        return math.nan
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: n // 2 * 2].reshape(-1, 2).sum(axis=1)[: (n - 3) // 2]
    ends = np.flatnonzero(pairs < 0.0)
    kept = int(ends[0]) if len(ends) else len(pairs)
    after = float(max(rho[2 * kept], 0.0)) if 2 * kept < n else 0.0
    tau = 2.0 * float(np.minimum.accumulate(pairs[:kept]).sum()) - 1.0 + after
    size = chains * n
    return float(size / max(tau, 1.0 / math.log10(size)))
