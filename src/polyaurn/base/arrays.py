"""Types of arrays, and arrays whose memory is returned to the operating system at once.

Large arrays that live for one sweep would fragment the heap, and the pages of mapped files would
stay in memory after they have been read.
"""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyaurn.base.checks import wrong
from polyaurn.base.errors import InputError

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
LARGE = 4 << 20  # bytes from which an array has its own memory map


class FileMap(mmap.mmap):
    """A file mapped into memory for reading; `path` says which, where that is known."""

    path: Path | None = None


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
    mapped = _map_of(array)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def file_of_array(array: Any) -> Path | None:
    """Return the file that an array is mapped from; None for one in memory."""
    mapped = _map_of(array)
    return None if mapped is None else mapped.path


def _map_of(array: Any) -> FileMap | None:
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return array if isinstance(array, FileMap) else None


def positive_vector(value: Any, length: int | None, name: str, what: str) -> F64:
    """Return a parameter that is a positive number, or one for each thing, as a read-only vector.

    Without a `length` a vector may have any.
    """
    several = f"one for each of the {what}"
    if length is not None:
        several = f"{length:,} of them ({several})"
    expected = f"a positive number, or {several}"
    try:
        if value is None:
            raise TypeError
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong(name, expected, value, "give a number such as 0.1") from None
    length = vector.size if length is None else length
    if vector.ndim > 1 or (vector.ndim == 1 and len(vector) != length):
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got an array of shape {vector.shape} "
            "instead; give one number, or a vector of the right length."
        )
    bad = ~(np.isfinite(vector) & (vector > 0))
    if bad.any():
        where = "" if vector.ndim == 0 else f" at position {int(np.argmax(bad))}"
        worst = float(np.atleast_1d(vector)[np.argmax(bad)])
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got {worst!r}{where} instead; "
            "priors are concentrations: finite, and above zero."
        )
    full = np.ascontiguousarray(np.broadcast_to(vector, (length,)))
    full.flags.writeable = False
    return full
