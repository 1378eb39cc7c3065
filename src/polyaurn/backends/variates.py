"""Random variates for compiled code: draws from addresses, and the functions that they need.

They are written once and compiled twice, here for the CPU and in `polyaurn.backends.gpu.variates`
for the GPU, and give the same bits on both. Where a draw depends on the last bit, products, sums,
quotients and square roots are therefore spelled as functions, of which the GPU has its own: its
compiler would join a product and a sum into one operation, which rounds once instead of twice.
"""

import math

import numpy as np
from numba import float64, int64, uint64

from polyaurn.backends.tables import KNOTS, LARGEST_RATE, OCTAVES, SLOTS
from polyaurn.base.compilation import njit
from polyaurn.base.rng import MIX_1, MIX_2, WEYL

_SLOT_SHIFT = 64 - int(math.log2(SLOTS))
_LOW_32 = 0xFFFFFFFF
_FRACTION, _ONE = (1 << 52) - 1, 1023 << 52  # of the bits of a float
MOST_FACTORS = 8  # of a product of uniforms; more cost as much as a rejection
_SQRT_2 = math.sqrt(2.0)
_KNOT_SHIFT = 52 - int(math.log2(KNOTS))
_KNOT_PART = (1 << _KNOT_SHIFT) - 1
_FIRST_KNOT = (1023 - OCTAVES) * KNOTS

_PER_LN2 = 1.0 / math.log(2.0)
_LN2_HIGH = (
    6.93147180369123816490e-01  # its last 21 bits are zero: products with exponents are exact
)
_LN2_LOW = 1.90821492927058770002e-10
# Series from the lowest power on: of (artanh(s) - s) / s**3 in s**2, and of the exponential.
_ATANH = tuple(1.0 / (2 * k + 1) for k in range(1, 9))
_ATANH_FAR = tuple(1.0 / (2 * k + 1) for k in range(9, 13))
_LOG1P, _LOG1P_FAR = (1.0, -1.0 / 2.0, 1.0 / 3.0, -1.0 / 4.0), (1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0)
_EXP = tuple(1.0 / math.factorial(k) for k in range(8))
_EXP_FAR = tuple(1.0 / math.factorial(k) for k in range(8, 16))
# Numerators and denominators of AS 241, lowest powers first.
_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
     5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
     2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
     5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
     1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


# Operations that the GPU has its own of


@njit(cache=True)
def times(x, y):
    """Return a product."""
    return x * y


@njit(cache=True)
def plus(x, y):
    """Return a sum."""
    return x + y


@njit(cache=True)
def over(x, y):
    """Return a quotient."""
    return x / y


@njit(cache=True)
def root(x):
    """Return a square root."""
    return math.sqrt(x)


@njit(cache=True)
def to_whole(x):
    """Return the nearest whole number, as a float."""
    return np.rint(x)


@njit(cache=True)
def bits_of(x):
    """Return the 64 bits of a float."""
    return np.float64(x).view(np.int64)


@njit(cache=True)
def float_of(b):
    """Return the float of 64 bits."""
    return np.int64(b).view(np.float64)


@njit(cache=True)
def entry(table, n, slot):
    """Return an entry of a row of a Poisson table."""
    return table[n, slot]


# Uniform numbers


@njit(cache=True)
def bits(a, b, index):
    """Return the 64 bits of one address; see `polyaurn.base.rng.bits`."""
    x = uint64(index) * uint64(WEYL) + a
    x = (x ^ (x >> uint64(30))) * uint64(MIX_1)
    x = ((x ^ (x >> uint64(27))) + b) * uint64(MIX_2)
    return x ^ (x >> uint64(31))


@njit(cache=True)
def unit(r):
    """Return a number in [0, 1)."""
    return float64(r >> uint64(11)) * 2.0**-53


@njit(cache=True)
def open_unit(r):
    """Return a number in (0, 1)."""
    return (float64(r >> uint64(12)) + 0.5) * 2.0**-52


@njit(cache=True)
def below(r, n):
    """Return an integer in [0, n), n < 2**31."""
    return int64(((r >> uint64(32)) * uint64(n)) >> uint64(32))


# Functions that every machine rounds alike


@njit(cache=True)
def four(x, c):
    """Return c[0] + c[1] x + c[2] x**2 + c[3] x**3, in pairs that need not wait for each other."""
    low, high = plus(c[0], times(c[1], x)), plus(c[2], times(c[3], x))
    return plus(low, times(high, times(x, x)))


@njit(cache=True)
def eight(x, c):
    """Return the same of eight coefficients."""
    x_2 = times(x, x)
    low = plus(plus(c[0], times(c[1], x)), times(plus(c[2], times(c[3], x)), x_2))
    high = plus(plus(c[4], times(c[5], x)), times(plus(c[6], times(c[7], x)), x_2))
    return plus(low, times(high, times(x_2, x_2)))


@njit(cache=True)
def to_the_eighth(x):
    """Return x**8."""
    x_4 = times(times(x, x), times(x, x))
    return times(x_4, x_4)


@njit(cache=True)
def log_of(x):
    """Return the logarithm of a positive number.

    A library's logarithm is as exact, but may differ in the last bit from another library's,
    and a draw that is rounded to a whole number would then occasionally differ.
    """
    b = int64(bits_of(x))
    e = (b >> int64(52)) - int64(1023)
    m = float_of((b & int64(_FRACTION)) | int64(_ONE))  # x = m 2**e, m in [1, 2)
    if m > _SQRT_2:
        m = times(m, 0.5)
        e += int64(1)
    s = over(plus(m, -1.0), plus(m, 1.0))
    x = times(s, s)
    p = plus(eight(x, _ATANH), times(four(x, _ATANH_FAR), to_the_eighth(x)))
    tail = plus(times(times(times(2.0, s), x), p), times(float64(e), _LN2_LOW))
    return plus(times(float64(e), _LN2_HIGH), plus(times(2.0, s), tail))


@njit(cache=True)
def quick_log(x, logs):
    """Return the logarithm of a positive number by a table, see `polyaurn.backends.tables.logs`.

    The error is about 2**-52 and thus no longer relative near x = 1.
    """
    b = int64(bits_of(x))
    i = (b >> int64(_KNOT_SHIFT)) & int64(KNOTS - 1)
    e = float64((b >> int64(52)) - int64(1023))
    m = float_of((b & int64(_FRACTION)) | int64(_ONE))  # x = m 2**e, m in [1, 2)
    s = times(plus(m, -plus(1.0, times(float64(i), 1.0 / KNOTS))), logs[i])
    far = plus(_LOG1P_FAR[0], times(s, plus(_LOG1P_FAR[1], times(s, _LOG1P_FAR[2]))))
    series = plus(four(s, _LOG1P), times(times(times(s, s), times(s, s)), far))
    tail = plus(times(s, series), times(e, _LN2_LOW))
    return plus(plus(times(e, _LN2_HIGH), logs[KNOTS + i]), tail)


@njit(cache=True)
def exp_of(x):
    """Return the exponential; zero below 2**-995."""
    if x < -690.0:
        return 0.0
    k = to_whole(times(x, _PER_LN2))
    r = plus(plus(x, -times(k, _LN2_HIGH)), -times(k, _LN2_LOW))
    power = float_of((int64(k) + int64(1023)) << int64(52))
    series = plus(eight(r, _EXP), times(eight(r, _EXP_FAR), to_the_eighth(r)))
    return times(series, power)


@njit(cache=True)
def normal(u):
    """Return the normal quantile of u by Wichura's rational functions (AS 241, PPND16)."""
    q = plus(u, -0.5)
    if abs(q) <= 0.425:
        r = plus(0.180625, -times(q, q))
        return over(times(q, eight(r, _CENTRE[0])), eight(r, _CENTRE[1]))
    p = u
    if q >= 0.0:
        p = plus(1.0, -u)
    r = root(-log_of(p))
    if r <= 5.0:
        r = plus(r, -1.6)
        x = over(eight(r, _TAIL[0]), eight(r, _TAIL[1]))
    else:
        r = plus(r, -5.0)
        x = over(eight(r, _FAR[0]), eight(r, _FAR[1]))
    return -x if q < 0.0 else x


# Distributions


@njit(cache=True)
def rounded_gaussian(rate, r):
    """Return the paper's approximation of Poisson(rate) above the tables: a rounded Gaussian."""
    spread = times(root(rate), normal(open_unit(r)))
    return int64(max(math.floor(plus(plus(rate, spread), 0.5)), 0.0))


@njit(cache=True)
def poisson_count(n, r, cut, other):
    """Return Poisson(n) for a whole n > 0, by alias table up to 100 and rounded Gaussian above."""
    if n > LARGEST_RATE:
        return rounded_gaussian(float64(n), r)
    slot = int64(r >> uint64(_SLOT_SHIFT))
    if (r & uint64(_LOW_32)) < uint64(entry(cut, n, slot)):
        return slot
    return int64(entry(other, n, slot))


@njit(cache=True)
def poisson_rate(rate, r):
    """Return Poisson(rate) for any rate, by inversion up to 100 and rounded Gaussian above."""
    if rate > float64(LARGEST_RATE):
        return rounded_gaussian(rate, r)
    return invert(rate, exp_of(-rate), int64(0), unit(r))


@njit(cache=True)
def poisson_positive(rate, r):
    """Return Poisson(rate) conditioned on not being zero."""
    if rate > float64(LARGEST_RATE):
        return max(rounded_gaussian(rate, r), int64(1))
    if rate > 1e-3:
        e = exp_of(-rate)
        p = over(times(rate, e), plus(1.0, -e))
    else:
        p = plus(plus(1.0, -times(rate, 0.5)), over(times(rate, rate), 12.0))
    return invert(rate, p, int64(1), unit(r))


@njit(cache=True)
def invert(rate, p, x, u):
    """Walk the Poisson probabilities from P(x) = p until they pass u."""
    while u >= p and x < int64(1000):
        u = plus(u, -p)
        x += int64(1)
        p = times(p, over(rate, float64(x)))
    return x


@njit(cache=True)
def gamma_factor(d, a, b, index):
    """Return v for which d v is a Gamma(d + 1/3, 1) draw, d >= 2/3 (Marsaglia and Tsang 2000).

    Uses ``[index + 1, index + 256)``.
    """
    c = over(1.0, root(times(9.0, d)))
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
            done = u < plus(1.0, -times(times(0.0331, x_2), x_2))  # true for most
            if not done:
                limit = plus(times(times(0.5, x), x), d)
                limit = plus(plus(limit, -times(d, v)), times(d, log_of(v)))
                done = log_of(u) < limit
        attempt += int64(1)
    return v


@njit(cache=True)
def gamma_draw(shape, a, b, index):
    """Return a Gamma(shape, 1) draw for a shape of at least one; addresses as in `gamma_factor`."""
    d = plus(shape, -1.0 / 3.0)
    return times(d, gamma_factor(d, a, b, index))


@njit(cache=True)
def log_gamma_draw(shape, a, b, index):
    """Return the logarithm of a Gamma(shape, 1) draw.

    Shapes below one are boosted by a power of a uniform; the logarithm keeps draws that are
    too small to write down, which a shape of 0.01 often gives. Uses ``[index, index + 256)``.
    """
    d = plus(shape, 2.0 / 3.0) if shape < 1.0 else plus(shape, -1.0 / 3.0)
    g = log_of(times(d, gamma_factor(d, a, b, index)))
    if shape < 1.0:
        g = plus(g, over(log_of(open_unit(bits(a, b, index))), shape))
    return g


@njit(cache=True)
def gamma_count(n, a, b, index, logs):
    """Return a Gamma(n, 1) draw for a whole n > 0; addresses as in `gamma_factor`.

    Up to `MOST_FACTORS` it is a sum of exponential draws: the logarithm of a product.
    """
    if n > MOST_FACTORS:
        return gamma_draw(float64(n), a, b, index)
    product = open_unit(bits(a, b, index + int64(1)))
    for j in range(int64(2), int64(n) + int64(1)):
        product = times(product, open_unit(bits(a, b, index + j)))
    return -quick_log(product, logs)


@njit(cache=True)
def gamma_mass(n, a, b, index, logs):
    """Return a Gamma(n, 1) draw for any n > 0, of a fraction perhaps 0; addresses as there."""
    whole = int64(n)
    if n == whole:
        return gamma_count(whole, a, b, index, logs)
    if n > 1.0:
        return gamma_draw(float64(n), a, b, index)
    return exp_of(log_gamma_draw(float64(n), a, b, index))


@njit(cache=True)
def exponential(r, logs):
    """Return an exponential draw of mean one."""
    return -quick_log(open_unit(r), logs)


@njit(cache=True)
def exponential_below(limit, r):
    """Return an exponential draw of mean one, conditioned on being below a limit."""
    below_limit = plus(1.0, -exp_of(-limit))
    x = -log_of(plus(1.0, -times(open_unit(r), below_limit)))
    return min(x, times(limit, 1.0 - 2.0**-40))


@njit(cache=True)
def ball_size(r, scale, quantile):
    """Return the size of a ball of the prior; see `polyaurn.backends.tables.BallSizes`."""
    b = int64(bits_of(times(open_unit(r), scale)))
    i = (b >> int64(_KNOT_SHIFT)) - int64(_FIRST_KNOT)
    part = times(float64(b & int64(_KNOT_PART)), 2.0**-_KNOT_SHIFT)
    return plus(quantile[i], times(part, plus(quantile[i + 1], -quantile[i])))
