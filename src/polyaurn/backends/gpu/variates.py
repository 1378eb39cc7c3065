"""Random variates on the GPU: the functions of `polyaurn.backends.variates`, compiled once more.

What differs is how numbers are rounded, see there.
"""

from types import FunctionType
from typing import Any

from numba import int64

from polyaurn.backends import variates
from polyaurn.backends.gpu.toolkit import cuda, device_function
from polyaurn.backends.tables import SLOTS


@device_function
def times(x, y):
    """Return a product that is rounded by itself."""
    return cuda.libdevice.dmul_rn(x, y)


@device_function
def plus(x, y):
    """Return a sum that is rounded by itself."""
    return cuda.libdevice.dadd_rn(x, y)


@device_function
def over(x, y):
    """Return a quotient that is rounded by itself."""
    return cuda.libdevice.ddiv_rn(x, y)


@device_function
def root(x):
    """Return a square root that is rounded by itself."""
    return cuda.libdevice.dsqrt_rn(x)


@device_function
def to_whole(x):
    """Return the nearest whole number, as a float."""
    return cuda.libdevice.rint(x)


@device_function
def bits_of(x):
    """Return the 64 bits of a float."""
    return cuda.libdevice.double_as_longlong(x)


@device_function
def float_of(b):
    """Return the float of 64 bits."""
    return cuda.libdevice.longlong_as_double(b)


@device_function
def entry(table, n, slot):
    """Return an entry of a row of a Poisson table; on the device rows follow each other."""
    return table[int64(n) * int64(SLOTS) + slot]


# What the functions below find under the names that they use: GPU's functions before the CPU's.
_OPERATIONS = (times, plus, over, root, to_whole, bits_of, float_of, entry)
_NAMES = (
    vars(variates)
    | {operation.py_func.__name__: operation for operation in _OPERATIONS}
    | {"__name__": __name__}
)


def _on_gpu(function: Any) -> Any:
    """Return a device function of the same code."""
    plain = getattr(function, "py_func", function)  # the same where nothing is compiled
    found = device_function(FunctionType(plain.__code__, _NAMES, plain.__name__))
    _NAMES[plain.__name__] = found
    return found


bits = _on_gpu(variates.bits)
unit = _on_gpu(variates.unit)
open_unit = _on_gpu(variates.open_unit)
below = _on_gpu(variates.below)
four = _on_gpu(variates.four)
eight = _on_gpu(variates.eight)
to_the_eighth = _on_gpu(variates.to_the_eighth)
log_of = _on_gpu(variates.log_of)
quick_log = _on_gpu(variates.quick_log)
exp_of = _on_gpu(variates.exp_of)
normal = _on_gpu(variates.normal)
rounded_gaussian = _on_gpu(variates.rounded_gaussian)
poisson_count = _on_gpu(variates.poisson_count)
poisson_rate = _on_gpu(variates.poisson_rate)
poisson_positive = _on_gpu(variates.poisson_positive)
invert = _on_gpu(variates.invert)
gamma_factor = _on_gpu(variates.gamma_factor)
gamma_draw = _on_gpu(variates.gamma_draw)
log_gamma_draw = _on_gpu(variates.log_gamma_draw)
gamma_count = _on_gpu(variates.gamma_count)
gamma_mass = _on_gpu(variates.gamma_mass)
exponential = _on_gpu(variates.exponential)
exponential_below = _on_gpu(variates.exponential_below)
ball_size = _on_gpu(variates.ball_size)
