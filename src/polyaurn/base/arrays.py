"""Types of arrays, and arrays whose memory is returned to the operating system at once.

Large arrays that live for one sweep would fragment the heap, and the pages of mapped files would
stay in memory after they have been read.
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
LARGE = 4 << 20  # bytes from which an array has its own memory map


class FileMap(mmap.mmap):
    """A file mapped into memory for reading."""


def empty(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array to be filled; a large one has its own memory map, and starts with zeros."""
    size = int(n) * np.dtype(dtype).itemsize
    return np.empty(n, dtype) if size < LARGE else np.frombuffer(mmap.mmap(-1, size), dtype)


def zeros(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros, with memory as in `empty`."""
    array = empty(n, dtype)
    if array.nbytes < LARGE:
        array.fill(0)
    return array


def release(array: Any) -> None:
    """Free the memory of an array that is mapped from a file; it is read again when needed."""
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    if isinstance(array, FileMap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)
