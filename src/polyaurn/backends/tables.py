"""Walker alias tables: for Poisson counts, made once, and for any column of weights.

An alias table over n outcomes is n pairs (cut, other): choose a slot uniformly, keep it when
32 further bits are below its cut, else take the other outcome. Drawing costs the same for any n.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from polyaurn.base.arrays import U8, U32

LARGEST_RATE = 100  # L in the paper: Poisson rates up to here come from tables
SLOTS = 256  # outcomes of a Poisson table; P(Poisson(100) > 255) is below 1e-35


class PoissonTables(NamedTuple):
    """Alias tables of Poisson(l) for l = 0, ..., 100, one row each."""

    cut: U32
    other: U8


@cache
def poisson_tables() -> PoissonTables:
    """Return the alias tables for whole rates up to `LARGEST_RATE`."""
    cut = np.empty((LARGEST_RATE + 1, SLOTS), np.uint32)
    other = np.empty((LARGEST_RATE + 1, SLOTS), np.uint8)
    x = np.arange(SLOTS)
    for rate in range(LARGEST_RATE + 1):
        p = np.exp(x * np.log(rate) - rate - gammaln(x + 1)) if rate else (x == 0).astype(float)
        cut[rate], other[rate] = alias_table(p)
    return PoissonTables(cut, other)


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Build an alias table of weights that are not all zero, plainly (Vose 1991).

    Slot j is kept when 32 random bits are below ``cut[j]``, else it gives ``other[j]``.
    """
    n = len(weights)
    total = 0.0
    for w in weights:
        total += float(w)
    share = [float(w) * n / total for w in weights]
    small = [j for j in range(n) if share[j] < 1.0]
    large = [j for j in range(n) if share[j] >= 1.0]
    cut = np.full(n, 2**32 - 1, np.uint32)
    other = np.arange(n, dtype=np.int64)
    while small and large:
        s, g = small.pop(), large[-1]
        cut[s] = min(int(share[s] * 2.0**32), 2**32 - 1)
        other[s] = g
        share[g] -= 1.0 - share[s]
        if share[g] < 1.0:
            small.append(large.pop())
    return cut, other
