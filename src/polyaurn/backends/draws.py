"""Arrays of random variates by address, for priors that are drawn on the host.

Binomial variates are exact for any n: the median of n uniform numbers is a beta variate, and says
of half of them on which side of p they are (Devroye 1986, X.4.3). What is left when n p or
n (1 - p) is small is found by inversion.
"""

import numpy as np

from polyaurn.backends.variates import bits, exp_of, gamma_draw, log_gamma_draw, log_of, unit
from polyaurn.base.arrays import F64, I64
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key

FEW = 16.0  # successes expected, or failures, that are found one by one
SPACE = 1 << 14  # addresses of a binomial draw: two gamma draws for each halving of n < 2**31


class AddressedDraws:
    """Draws of one sweep; see `polyaurn.chain.hdp.Draws`."""

    def __init__(self, seed: int, sweep: Moment) -> None:
        self._seed, self._sweep = seed, sweep

    def uniform(self, purpose: Purpose, index: I64) -> F64:
        """Return numbers in [0, 1)."""
        return np.asarray(_uniform(index, *self._key(purpose)), np.float64)

    def binomial(self, purpose: Purpose, n: I64, p: F64, index: I64) -> I64:
        """Return Binomial(n, p)."""
        return np.asarray(_binomials(n, p, index, *self._key(purpose)), np.int64)

    def log_gamma(self, purpose: Purpose, shape: F64, index: I64) -> F64:
        """Return logarithms of Gamma(shape, 1)."""
        return np.asarray(_log_gammas(shape, index, *self._key(purpose)), np.float64)

    def exp(self, x: F64) -> F64:
        """Return exponentials, rounded alike on every machine."""
        return np.asarray(_exp(x), np.float64)

    def log(self, x: F64) -> F64:
        """Return logarithms, rounded alike on every machine."""
        return np.asarray(_log(x), np.float64)

    def _key(self, purpose: Purpose) -> tuple[np.uint64, np.uint64]:
        found = key(self._seed, self._sweep, purpose)
        return found.a, found.b


@njit(nogil=True, cache=True)
def _uniform(index, a, b):
    found = np.empty(len(index))
    for i in range(len(index)):
        found[i] = unit(bits(a, b, index[i]))
    return found


@njit(nogil=True, cache=True)
def _log_gammas(shape, index, a, b):
    found = np.empty(len(index))
    for i in range(len(index)):
        found[i] = log_gamma_draw(shape[i], a, b, index[i] * 256)
    return found


@njit(nogil=True, cache=True)
def _exp(x):
    found = np.empty(len(x))
    for i in range(len(x)):
        found[i] = exp_of(x[i])
    return found


@njit(nogil=True, cache=True)
def _log(x):
    found = np.empty(len(x))
    for i in range(len(x)):
        found[i] = log_of(x[i])
    return found


@njit(nogil=True, cache=True)
def _binomials(n, p, index, a, b):
    found = np.empty(len(index), np.int64)
    for i in range(len(index)):
        found[i] = binomial_draw(n[i], p[i], a, b, index[i] * SPACE)
    return found


@njit(nogil=True, cache=True)
def binomial_draw(n, p, a, b, index):
    """Return a Binomial(n, p) draw; uses ``[index, index + SPACE)``."""
    x = np.int64(0)
    while n * min(p, 1.0 - p) >= FEW:
        half = (n + 1) // 2
        below = gamma_draw(float(half), a, b, index + 1)
        above = gamma_draw(float(n + 1 - half), a, b, index + 257)
        median = below / (below + above)
        index += 512
        if median <= p:
            x += half
            n -= half
            p = (p - median) / (1.0 - median)
        else:
            n = half - 1
            p = p / median
    if n == 0 or p <= 0.0:
        return x
    if p >= 1.0:
        return x + n
    u = unit(bits(a, b, index))
    if p > 0.5:
        return x + n - _invert_binomial(n, 1.0 - p, u)
    return x + _invert_binomial(n, p, u)


@njit(nogil=True, cache=True)
def _invert_binomial(n, p, u):
    """Add up the binomial probabilities of 0, 1, 2 and so on until they pass u."""
    q, odds = exp_of(n * log_of(1.0 - p)), p / (1.0 - p)
    x = np.int64(0)
    while u >= q and x < n:
        u -= q
        x += 1
        q *= odds * (n - x + 1) / x
    return x
