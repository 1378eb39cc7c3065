"""Arrays that lie in a mapped file: give their memory back when they have been looked at."""

import mmap
from typing import Any

import numpy as np


def release(array: Any) -> None:
    """Give back the memory of an array that is mapped from a file; it is read again when needed.

    Parameters
    ----------
    array : ndarray
        Any array; nothing happens to one that is not mapped.
    """
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    if isinstance(array, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)
