"""Compiled twins of `polyaurn.base.rng`, and the laws built on them.

Each function draws from an address and returns the same number whoever calls it.
"""

import math

import numpy as np

from polyaurn.backends.tables import LARGEST_RATE, SLOTS
from polyaurn.base.compilation import njit
from polyaurn.base.rng import MIX_1, MIX_2, WEYL

_WEYL = np.uint64(WEYL)
_MIX_1 = np.uint64(MIX_1)
_MIX_2 = np.uint64(MIX_2)
_S11, _S12, _S27, _S30, _S31, _S32 = (np.uint64(s) for s in (11, 12, 27, 30, 31, 32))
_SLOT_SHIFT = np.uint64(64 - int(math.log2(SLOTS)))
_LOW_32 = np.uint64(0xFFFFFFFF)
_FRACTION, _ONE = np.int64((1 << 52) - 1), np.int64(1023 << 52)  # of the bits of a float
_SQRT_2 = math.sqrt(2.0)

LN2 = math.log(2.0)
LN2_HIGH = (
    6.93147180369123816490e-01  # its last 21 bits are zero: products with exponents are exact
)
LN2_LOW = 1.90821492927058770002e-10
# Series from the lowest power on: of (artanh(s) - s) / s**3 in s**2, and of the exponential.
ATANH = tuple(1.0 / (2 * k + 1) for k in range(1, 9))
ATANH_FAR = tuple(1.0 / (2 * k + 1) for k in range(9, 13))
EXP = tuple(1.0 / math.factorial(k) for k in range(8))
EXP_FAR = tuple(1.0 / math.factorial(k) for k in range(8, 16))
# Numerators and denominators of AS 241, lowest powers first.
CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
     5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
     2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
     5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
     1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


@njit(cache=True)
def bits(a, b, index):
    """Return the 64 bits of one address; see `polyaurn.base.rng.bits`."""
    x = np.uint64(index) * _WEYL + a
    x = (x ^ (x >> _S30)) * _MIX_1
    x = ((x ^ (x >> _S27)) + b) * _MIX_2
    return x ^ (x >> _S31)


@njit(cache=True)
def unit(r):
    """Return a number in [0, 1)."""
    return np.float64(r >> _S11) * 2.0**-53


@njit(cache=True)
def open_unit(r):
    """Return a number in (0, 1)."""
    return (np.float64(r >> _S12) + 0.5) * 2.0**-52


@njit(cache=True)
def below(r, n):
    """Return an integer in [0, n), n < 2**31."""
    return np.int64(((r >> _S32) * np.uint64(n)) >> _S32)


@njit(cache=True)
def log_of(x):
    """Return the logarithm of a positive number, by steps that every machine rounds alike.

    A library's logarithm is as exact, but may differ in the last bit from another library's,
    and a draw that is rounded to a whole number would then now and then be another.
    """
    b = np.float64(x).view(np.int64)
    e = (b >> 52) - 1023
    m = np.int64((b & _FRACTION) | _ONE).view(np.float64)  # x = m 2**e, m in [1, 2)
    if m > _SQRT_2:
        m *= 0.5
        e += 1
    s = (m - 1.0) / (m + 1.0)
    x = s * s
    x_8 = (x * x * (x * x)) * (x * x * (x * x))
    p = eight(x, ATANH) + four(x, ATANH_FAR) * x_8
    return e * LN2_HIGH + (2.0 * s + (2.0 * s * x * p + e * LN2_LOW))


@njit(cache=True)
def exp_of(x):
    """Return the exponential, likewise; zero below 2**-995."""
    if x < -690.0:
        return 0.0
    k = np.rint(x * (1.0 / LN2))
    r = x - k * LN2_HIGH - k * LN2_LOW
    power = np.int64((np.int64(k) + 1023) << 52).view(np.float64)
    r_8 = (r * r * (r * r)) * (r * r * (r * r))
    return (eight(r, EXP) + eight(r, EXP_FAR) * r_8) * power


@njit(cache=True)
def four(x, c):
    """Return c[0] + c[1] x + c[2] x**2 + c[3] x**3, in pairs that need not wait for each other."""
    return (c[0] + c[1] * x) + (c[2] + c[3] * x) * (x * x)


@njit(cache=True)
def eight(x, c):
    """Return the same of eight coefficients."""
    x_2 = x * x
    low = (c[0] + c[1] * x) + (c[2] + c[3] * x) * x_2
    high = (c[4] + c[5] * x) + (c[6] + c[7] * x) * x_2
    return low + high * (x_2 * x_2)


@njit(cache=True)
def normal(u):
    """Return the normal quantile of u by Wichura's rational functions (AS 241, PPND16)."""
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * eight(r, CENTRE[0]) / eight(r, CENTRE[1])
    r = math.sqrt(-log_of(u if q < 0 else 1.0 - u))
    if r <= 5.0:
        x = eight(r - 1.6, TAIL[0]) / eight(r - 1.6, TAIL[1])
    else:
        x = eight(r - 5.0, FAR_TAIL[0]) / eight(r - 5.0, FAR_TAIL[1])
    return -x if q < 0 else x


@njit(cache=True)
def rounded_gaussian(rate, r):
    """Return the paper's stand-in for Poisson(rate) above the tables: a rounded Gaussian."""
    x = math.floor(rate + math.sqrt(rate) * normal(open_unit(r)) + 0.5)
    return np.int64(max(x, 0.0))


@njit(cache=True)
def poisson_count(n, r, cut, other):
    """Return Poisson(n) for a whole n > 0, by alias table up to 100 and rounded Gaussian above."""
    if n > LARGEST_RATE:
        return rounded_gaussian(np.float64(n), r)
    slot = r >> _SLOT_SHIFT
    if (r & _LOW_32) < np.uint64(cut[n, slot]):
        return np.int64(slot)
    return np.int64(other[n, slot])


@njit(cache=True)
def poisson_rate(rate, r):
    """Return Poisson(rate) for any rate, by inversion up to 100 and rounded Gaussian above."""
    if rate > LARGEST_RATE:
        return rounded_gaussian(rate, r)
    return _invert(rate, exp_of(-rate), 0, unit(r))


@njit(cache=True)
def poisson_positive(rate, r):
    """Return Poisson(rate) conditioned on not being zero."""
    if rate > LARGEST_RATE:
        return max(rounded_gaussian(rate, r), 1)
    if rate > 1e-3:
        e = exp_of(-rate)
        p = rate * e / (1.0 - e)
    else:
        p = 1.0 - rate * 0.5 + rate * rate / 12.0
    return _invert(rate, p, 1, unit(r))


@njit(cache=True)
def _invert(rate, p, x, u):
    """Walk the Poisson probabilities from P(x) = p until they pass u."""
    while u >= p and x < 1000:
        u -= p
        x += 1
        p *= rate / x
    return np.int64(x)


@njit(cache=True)
def log_gamma_draw(shape, a, b, index):
    """Return the logarithm of a Gamma(shape, 1) draw (Marsaglia and Tsang 2000).

    Shapes below one are boosted by a power of a uniform; the logarithm keeps draws that are
    too small to write down, which a shape of 0.01 often gives. Uses ``[index, index + 256)``.
    """
    d = shape + 2.0 / 3.0 if shape < 1.0 else shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    v = 1.0
    for attempt in range(127):
        x = normal(open_unit(bits(a, b, index + 2 * attempt + 1)))
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = open_unit(bits(a, b, index + 2 * attempt + 2))
        if u < 1.0 - 0.0331 * (x * x) * (x * x):  # true for most, and then the next is, too
            break
        if log_of(u) < 0.5 * x * x + d - d * v + d * log_of(v):
            break
    g = log_of(d * v)
    if shape < 1.0:
        g += log_of(open_unit(bits(a, b, index))) / shape
    return g
