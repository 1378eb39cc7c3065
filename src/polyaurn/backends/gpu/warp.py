"""What the lanes of a warp do together; all 32 lanes must call these at the same time."""

from numba import int32, int64, uint32, uint64

from polyaurn.backends.gpu.sizes import FULL
from polyaurn.backends.gpu.toolkit import cuda, device_function


@device_function
def most_of_warp(x):
    """Return the largest of the lanes' whole numbers."""
    x = int32(x)
    for step in (16, 8, 4, 2, 1):
        x = max(x, int32(cuda.shfl_xor_sync(FULL, x, step)))
    return x


@device_function
def sum_of_warp(x):
    """Return the sum of the lanes' whole numbers, 64 bits."""
    x = int64(x)
    for step in (16, 8, 4, 2, 1):
        x = int64(x + int64(cuda.shfl_xor_sync(FULL, x, step)))
    return x


@device_function
def largest_of_warp(x):
    """Return the largest of the lanes' floats."""
    for step in (16, 8, 4, 2, 1):
        x = max(x, cuda.shfl_xor_sync(FULL, x, step))
    return x


@device_function
def running_sum(x, place, lanes):
    """Return the sum over this lane and those before it in its group of `lanes`."""
    x = uint64(x)
    step = int32(1)
    while step < lanes:
        y = uint64(int64(cuda.shfl_up_sync(FULL, int64(x), step)))
        if place >= step:
            x = uint64(x + y)
        step = int32(step + step)
    return x


@device_function
def votes(yes):
    """Return a bit for each lane."""
    return uint32(cuda.ballot_sync(FULL, yes))


@device_function
def before(lane):
    """Return the bits of the lanes before this one."""
    return uint32((uint32(1) << uint32(lane)) - uint32(1))
