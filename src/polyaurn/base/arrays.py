"""Types of arrays; memory that comes from the operating system and goes back to it at once.

Large arrays that live for a sweep would leave holes in the heap, and files that are mapped would
stay in memory after they have been looked at.
"""

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
LARGE = 4 << 20  # bytes from which an array has its own map


class FileMap(mmap.mmap):
    """A file mapped into memory, to be read."""


def empty(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array without holes left behind; a large one begins with zeros, a small one not.

    Parameters
    ----------
    n : int
        Its length.
    dtype : dtype
        Its type.

    Returns
    -------
    ndarray
        To be filled.
    """
    size = int(n) * np.dtype(dtype).itemsize
    return np.empty(n, dtype) if size < LARGE else np.frombuffer(mmap.mmap(-1, size), dtype)


def zeros(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros, as `empty` does."""
    array = empty(n, dtype)
    if array.nbytes < LARGE:
        array.fill(0)
    return array


def release(array: Any) -> None:
    """Give back the memory of an array that is mapped from a file; it is read again when needed.

    Parameters
    ----------
    array : ndarray
        Any array; nothing happens to one that does not lie in a file.
    """
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    if isinstance(array, FileMap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)
