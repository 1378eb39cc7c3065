"""Whether chains agree, and how many independent draws they are worth.

`effective_sample_size` is Geyer's (1992) estimate for one chain as it is. The others follow
Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021): they compare several chains, split in
halves, with draws replaced by the normal scores of their ranks.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError

LEAST_DRAWS = 4


def effective_sample_size(series: npt.ArrayLike) -> float:
    """Estimate how many independent draws the trace of one chain is worth.

    Autocorrelations are summed in pairs while the pairs are positive and falling (Geyer 1992).
    For several chains, `ess_bulk` also accounts for differences between them.

    Parameters
    ----------
    series : array_like of float
        A scalar function of the chain, after burn-in.

    Returns
    -------
    float
        At most the length of the series; NaN for a constant one.
    """
    x = np.asarray(series, dtype=np.float64)
    n = len(x)
    covariance = _autocovariance(x)
    if not covariance[0] > 0.0:
        return math.nan
    pairs = _sums_of_pairs(covariance) / covariance[0]
    negative = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    return float(min(n / max(2.0 * kept.sum() - 1.0, 1e-12), n))


def r_hat(draws: Any) -> float:
    """Return the rank-normalised split R-hat: near 1 where chains agree, above 1.01 where not.

    Parameters
    ----------
    draws : array_like of float, chains by draws
        A scalar of each draw, at least four draws per chain.

    Returns
    -------
    float
        The larger of that of the draws and that of their distances from the median; NaN where
        all draws are equal.
    """
    x = _split(draws)
    return max(_ratio(_normal_scores(x)), _ratio(_normal_scores(np.abs(x - np.median(x)))))


def ess_bulk(draws: Any) -> float:
    """Return how many independent draws the chains are worth, for the middle of the distribution.

    Parameters
    ----------
    draws : array_like of float, chains by draws
        A scalar of each draw, at least four draws per chain.

    Returns
    -------
    float
        May exceed the number of draws, where successive draws are negatively correlated; NaN where
        all draws are equal.
    """
    return _effective(_normal_scores(_split(draws)))


def ess_tail(draws: Any) -> float:
    """Return how many independent draws the chains are worth for the tails.

    This is the smaller of the sizes for the 5% and the 95% quantile.

    Parameters
    ----------
    draws : array_like of float, chains by draws
        A scalar of each draw, at least four draws per chain.

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
            f"draws per chain. Got one of shape {x.shape}; keep more draws."
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
    """Return the effective sample size of several chains, by the same pairs as Geyer's.

    Autocorrelations are relative to the variance over all chains, the term after the last pair
    counts if it is positive, and the autocorrelation time has a lower bound.
    """
    chains, n = x.shape
    covariance = _autocovariance(x).mean(axis=0)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (x.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    if not total > 0.0:
        return math.nan
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = _sums_of_pairs(rho)[: (n - 3) // 2]
    ends = np.flatnonzero(pairs < 0.0)
    kept = int(ends[0]) if len(ends) else len(pairs)
    after = float(max(rho[2 * kept], 0.0)) if 2 * kept < n else 0.0
    tau = 2.0 * float(np.minimum.accumulate(pairs[:kept]).sum()) - 1.0 + after
    size = chains * n
    return float(size / max(tau, 1.0 / math.log10(size)))


def _autocovariance(x: F64) -> F64:
    """Return the autocovariances of each series along the last axis, at all lags."""
    n = x.shape[-1]
    spectrum = np.fft.rfft(x - x.mean(axis=-1, keepdims=True), 2 * n)
    return np.asarray(np.fft.irfft(spectrum * spectrum.conj())[..., :n] / n)


def _sums_of_pairs(values: F64) -> F64:
    """Return the sums of values 0 and 1, 2 and 3, and so on; a last odd one is left out."""
    return np.asarray(values[: len(values) // 2 * 2].reshape(-1, 2).sum(axis=1))
