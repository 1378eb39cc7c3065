"""Tables for random variates: Walker alias tables, and quantiles of the prior's gamma balls.

An alias table over n outcomes is n pairs (cut, other): choose a slot uniformly, keep it when
32 further bits are below its cut, else take the other outcome. Drawing costs the same for any n.
"""

from decimal import Decimal
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import exp1, gammaln

from polyaurn.base.arrays import F64, U8, U32

LARGEST_RATE = 100  # L in the paper: Poisson rates up to here come from tables
SLOTS = 256  # outcomes of a Poisson table; P(Poisson(100) > 255) is below 1e-35

CUTS = ((50, 0.01), (300, 0.05), (65_535, 0.1))  # topics up to which a cut is used, and the cut
OCTAVES, KNOTS = 54, 128  # of a table of quantiles: 54 halvings of a probability, 128 knots in each


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


class BallSizes(NamedTuple):
    """Gamma(beta) as balls of random size: how many there are, and how large they are.

    Gamma(beta) is the sum of infinitely many jumps, beta exp(-x) / x dx of them of size x. Those
    above `cut` are kept as they are. One below, of size x, becomes a ball of size `cut` with
    probability x / cut and nothing otherwise, which leaves every mean as it is. There are then
    Poisson(beta rate) balls, of a distribution that does not depend on beta. Their sizes are
    `quantile`, at s = `scale` times an upper tail probability, for the s whose floating-point
    numbers end after log2(KNOTS) bits: s = 1 belongs to the cut, and larger ones do too.
    """

    rate: float
    scale: float
    quantile: F64


def default_cut(n_topics: int) -> float:
    """Return the cut of the sampler "sparse-dirichlet": coarser where balls are many.

    It is chosen by measurement, see docs/algorithm.md; any cut is right that is small enough.
    """
    return next(cut for most, cut in CUTS if n_topics <= most)


@cache
def ball_sizes(cut: float) -> BallSizes:
    """Return the balls that stand for Gamma(beta), for any beta."""
    above, below = float(exp1(cut)), -float(np.expm1(-cut)) / cut
    octave, place = np.divmod(np.arange(OCTAVES * KNOTS), KNOTS)
    s = np.append(2.0 ** (octave - OCTAVES) * (1.0 + place / KNOTS), 1.0)
    goal = np.log(s * above)
    grid = np.linspace(np.log(cut), np.log(60.0), 4000)  # sizes, as logarithms
    y = np.interp(-goal, -np.log(exp1(np.exp(grid))), grid)
    for _ in range(4):  # Newton's steps on the logarithms
        x = np.exp(y)
        y += (np.log(exp1(x)) - goal) * exp1(x) * np.exp(x)
    # rounded, so that the last bit of a library's functions does not show
    sizes = np.maximum(np.exp(y), cut).astype(np.float32).astype(np.float64)
    rate, scale = np.float32(above + below), np.float32((above + below) / above)
    larger = np.full(KNOTS * int(np.ceil(np.log2(scale))), sizes[-1])
    return BallSizes(float(rate), float(scale), np.concatenate((sizes, larger)))


@cache
def logs() -> F64:
    """Return 1 / m at the knots m = 1, 1 + 1 / KNOTS, ... below 2, then log(m) at them.

    Logarithms are decimal ones rounded once: the last bit of a library's own may differ.
    """
    m = 1.0 + np.arange(KNOTS) / KNOTS
    return np.concatenate((1.0 / m, [float(Decimal(float(x)).ln()) for x in m]))
