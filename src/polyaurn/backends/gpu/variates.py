"""Chance on the GPU: device functions that draw what `backends.variates` draws, bit for bit.

A GPU's compiler joins a product and a sum into one operation, which rounds once instead of twice.
Where a draw depends on the last bit, products and sums are therefore spelled out.
"""

import math

from numba import float64, int64, uint32, uint64

from polyaurn.backends import variates as plain
from polyaurn.backends.gpu.sizes import FULL
from polyaurn.backends.gpu.toolkit import cuda, device_function
from polyaurn.backends.tables import LARGEST_RATE, SLOTS
from polyaurn.base.rng import MIX_1, MIX_2, WEYL

_SLOT_SHIFT = 64 - int(math.log2(SLOTS))
_FRACTION, _ONE = (1 << 52) - 1, 1023 << 52
_SQRT_2 = math.sqrt(2.0)
_LN2_HIGH, _LN2_LOW, _PER_LN2 = plain.LN2_HIGH, plain.LN2_LOW, 1.0 / plain.LN2
_ATANH, _ATANH_FAR = plain.ATANH, plain.ATANH_FAR
_EXP, _EXP_FAR = plain.EXP, plain.EXP_FAR
_CENTRE, _CENTRE_BELOW = plain.CENTRE
_TAIL, _TAIL_BELOW = plain.TAIL
_FAR, _FAR_BELOW = plain.FAR_TAIL
_MOST = float(LARGEST_RATE)


@device_function
def bits(a, b, index):
    """Return the 64 bits of one address."""
    x = uint64(index) * uint64(WEYL) + a
    x = (x ^ (x >> uint64(30))) * uint64(MIX_1)
    x = ((x ^ (x >> uint64(27))) + b) * uint64(MIX_2)
    return x ^ (x >> uint64(31))


@device_function
def unit(r):
    """Return a number in [0, 1)."""
    return float64(r >> uint64(11)) * 2.0**-53


@device_function
def open_unit(r):
    """Return a number in (0, 1)."""
    return (float64(r >> uint64(12)) + 0.5) * 2.0**-52


@device_function
def below(r, n):
    """Return an integer in [0, n)."""
    return int64(((r >> uint64(32)) * uint64(n)) >> uint64(32))


@device_function
def times(x, y):
    """Return a product that is rounded by itself."""
    return cuda.libdevice.dmul_rn(x, y)


@device_function
def plus(x, y):
    """Return a sum that is rounded by itself."""
    return cuda.libdevice.dadd_rn(x, y)


@device_function
def four(x, c):
    """Return c[0] + c[1] x + c[2] x**2 + c[3] x**3."""
    low, high = plus(c[0], times(c[1], x)), plus(c[2], times(c[3], x))
    return plus(low, times(high, times(x, x)))


@device_function
def eight(x, c):
    """Return the same of eight coefficients."""
    x_2 = times(x, x)
    low = plus(plus(c[0], times(c[1], x)), times(plus(c[2], times(c[3], x)), x_2))
    high = plus(plus(c[4], times(c[5], x)), times(plus(c[6], times(c[7], x)), x_2))
    return plus(low, times(high, times(x_2, x_2)))


@device_function
def to_the_eighth(x):
    """Return x**8."""
    x_4 = times(times(x, x), times(x, x))
    return times(x_4, x_4)


@device_function
def log_of(x):
    """Return the logarithm of a positive number."""
    b = int64(cuda.libdevice.double_as_longlong(x))
    e = (b >> int64(52)) - int64(1023)
    m = cuda.libdevice.longlong_as_double((b & int64(_FRACTION)) | int64(_ONE))
    if m > _SQRT_2:
        m = times(m, 0.5)
        e += int64(1)
    s = cuda.libdevice.ddiv_rn(plus(m, -1.0), plus(m, 1.0))
    x = times(s, s)
    p = plus(eight(x, _ATANH), times(four(x, _ATANH_FAR), to_the_eighth(x)))
    tail = plus(times(times(times(2.0, s), x), p), times(float64(e), _LN2_LOW))
    return plus(times(float64(e), _LN2_HIGH), plus(times(2.0, s), tail))


@device_function
def exp_of(x):
    """Return the exponential; zero below 2**-995."""
    if x < -690.0:
        return 0.0
    k = cuda.libdevice.rint(times(x, _PER_LN2))
    r = plus(plus(x, -times(k, _LN2_HIGH)), -times(k, _LN2_LOW))
    power = cuda.libdevice.longlong_as_double((int64(k) + int64(1023)) << int64(52))
    series = plus(eight(r, _EXP), times(eight(r, _EXP_FAR), to_the_eighth(r)))
    return times(series, power)


@device_function
def normal(u):
    """Return the normal quantile of u."""
    q = plus(u, -0.5)
    if abs(q) <= 0.425:
        r = plus(0.180625, -times(q, q))
        return cuda.libdevice.ddiv_rn(times(q, eight(r, _CENTRE)), eight(r, _CENTRE_BELOW))
    p = u
    if q >= 0.0:
        p = plus(1.0, -u)
    r = cuda.libdevice.dsqrt_rn(-log_of(p))
    if r <= 5.0:
        r = plus(r, -1.6)
        x = cuda.libdevice.ddiv_rn(eight(r, _TAIL), eight(r, _TAIL_BELOW))
    else:
        r = plus(r, -5.0)
        x = cuda.libdevice.ddiv_rn(eight(r, _FAR), eight(r, _FAR_BELOW))
    return -x if q < 0.0 else x


@device_function
def rounded_gaussian(rate, r):
    """Return the stand-in for Poisson(rate) above the tables."""
    spread = times(cuda.libdevice.dsqrt_rn(rate), normal(open_unit(r)))
    return int64(max(math.floor(plus(plus(rate, spread), 0.5)), 0.0))


@device_function
def poisson_count(n, r, cut, other):
    """Return Poisson(n) for a whole n > 0; the tables lie row after row."""
    if n > uint32(LARGEST_RATE):
        return rounded_gaussian(float64(n), r)
    slot = int64(r >> uint64(_SLOT_SHIFT))
    at = int64(n) * int64(SLOTS) + slot
    if uint32(r & uint64(FULL)) < cut[at]:
        return slot
    return int64(other[at])


@device_function
def poisson_rate(rate, r):
    """Return Poisson(rate) for any rate."""
    if rate > _MOST:
        return rounded_gaussian(rate, r)
    return _invert(rate, exp_of(-rate), int64(0), unit(r))


@device_function
def poisson_positive(rate, r):
    """Return Poisson(rate) conditioned on not being zero."""
    if rate > _MOST:
        return max(rounded_gaussian(rate, r), int64(1))
    if rate > 1e-3:
        e = exp_of(-rate)
        p = cuda.libdevice.ddiv_rn(times(rate, e), plus(1.0, -e))
    else:
        p = plus(plus(1.0, -times(rate, 0.5)), cuda.libdevice.ddiv_rn(times(rate, rate), 12.0))
    return _invert(rate, p, int64(1), unit(r))


@device_function
def _invert(rate, p, x, u):
    while u >= p and x < int64(1000):
        u = plus(u, -p)
        x += int64(1)
        p = times(p, cuda.libdevice.ddiv_rn(rate, float64(x)))
    return x


@device_function
def log_gamma_draw(shape, a, b, index):
    """Return the logarithm of a Gamma(shape, 1) draw; uses ``[index, index + 256)``."""
    d = plus(shape, 2.0 / 3.0) if shape < 1.0 else plus(shape, -1.0 / 3.0)
    c = cuda.libdevice.ddiv_rn(1.0, cuda.libdevice.dsqrt_rn(times(9.0, d)))
    v = 1.0
    attempt = int64(0)
    done = False
    while attempt < int64(127) and not done:
        x = normal(open_unit(bits(a, b, index + int64(2) * attempt + int64(1))))
        v = plus(1.0, times(c, x))
        if v > 0.0:
            v = times(times(v, v), v)
            u = open_unit(bits(a, b, index + int64(2) * attempt + int64(2)))
            x_2 = times(x, x)
            done = u < plus(1.0, -times(times(0.0331, x_2), x_2))
            if not done:
                limit = plus(times(times(0.5, x), x), d)
                limit = plus(plus(limit, -times(d, v)), times(d, log_of(v)))
                done = log_of(u) < limit
        attempt += int64(1)
    g = log_of(times(d, v))
    if shape < 1.0:
        g = plus(g, cuda.libdevice.ddiv_rn(log_of(open_unit(bits(a, b, index))), shape))
    return g
