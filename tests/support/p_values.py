"""P-values with a threshold that a sound sampler misses once in a million runs."""

from collections.abc import Callable, Iterable

import numpy as np
from scipy import stats

UNLIKELY = 1e-6  # a fixed seed makes the outcome the same for ever; a fault is far below


def chi_square_p(observed: np.ndarray, probability: np.ndarray) -> float:
    """P-value of counts against probabilities, cells pooled until each expects five."""
    expected = probability * observed.sum()
    order = np.argsort(expected)
    pooled_o, pooled_e, o, e = [], [], 0.0, 0.0
    for j in order:
        o, e = o + observed[j], e + expected[j]
        if e >= 5.0:
            pooled_o.append(o)
            pooled_e.append(e)
            o = e = 0.0
    if pooled_e:
        pooled_o[-1] += o
        pooled_e[-1] += e
    o, e = np.array(pooled_o), np.array(pooled_e)
    if len(e) < 2:
        return 1.0 if abs(o.sum() - e.sum()) < 1e-9 else 0.0
    return float(stats.chi2.sf(((o - e) ** 2 / e).sum(), len(e) - 1))


def z_score(sample: np.ndarray, mean: float) -> float:
    """Distance of a sample's mean from the truth, in its own standard errors."""
    return float((np.mean(sample) - mean) / (np.std(sample, ddof=1) / np.sqrt(len(sample))))


def smallest_p(p_value: Callable[[int], float], sizes: Iterable[int]) -> float:
    """Return the first p-value below `UNLIKELY` squared as a sample grows, else the last one.

    For faults: most show in a small sample, and each look has the same far threshold.
    """
    p = 1.0
    for size in sizes:
        p = p_value(size)
        if p < UNLIKELY**2:
            break
    return p
