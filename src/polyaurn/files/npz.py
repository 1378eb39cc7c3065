"""Arrays in npz files, read so that a damaged file cannot take more memory than it has bytes."""

import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from polyaurn.files.sealed import Damaged

MOST_GROWTH = 100  # of a compressed array, which files of version 1 have
SMALL = 1 << 26  # bytes that any file may claim


def write_npz(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write arrays without compression, the same bytes for the same arrays."""
    named: dict[str, Any] = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    np.savez(file, **named)


def read_npz(
    path: Path, names: Mapping[str, str], windows: Mapping[str, tuple[int, int]] | None = None
) -> dict[str, Any]:
    """Read one-dimensional arrays; `names` maps each to the kinds ("u", "i", "f") it may have.

    Of an array with a window only the numbers from the first bound up to the second are read.
    """
    inside = windows or {}
    try:
        with zipfile.ZipFile(path) as archive:
            size = path.stat().st_size
            return {
                name: _read(archive, name, kinds, size, inside.get(name))
                for name, kinds in names.items()
            }
    except (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise Damaged(f"{path.name}: {error}") from None


def _read(
    archive: zipfile.ZipFile, name: str, kinds: str, size: int, window: tuple[int, int] | None
) -> Any:
    """Read an array, or a window of it, of an archive of `size` bytes."""
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise Damaged(f"array '{name}' is missing") from None
    stored = info.compress_type == zipfile.ZIP_STORED
    most = size if stored else max(SMALL, MOST_GROWTH * info.compress_size)
    if info.file_size > most:
        raise Damaged(f"array '{name}' claims {info.file_size:,} bytes of a file of {size:,}")
    with archive.open(info) as file:
        shape, dtype = _shape(file, name)
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.kind not in kinds or dtype.hasobject or len(shape) != 1:
            raise Damaged(f"array '{name}' has type {dtype} and shape {shape}")
        if n_bytes > info.file_size:
            raise Damaged(f"array '{name}' claims {n_bytes:,} bytes and has {info.file_size:,}")
        if window is not None:
            lo, hi = window
            if not 0 <= lo <= hi <= shape[0]:
                raise Damaged(f"array '{name}' has {shape[0]:,} numbers, not {hi:,}")
            file.seek(file.tell() + lo * dtype.itemsize)
            shape, n_bytes = (hi - lo,), (hi - lo) * dtype.itemsize
        array = np.empty(shape, dtype)
        view, done = array.view(np.uint8).data, 0
        while done < n_bytes:
            got = file.readinto(view[done : done + (1 << 24)])  # type: ignore[attr-defined]
            if not got:
                raise Damaged(f"array '{name}' is cut off")
            done += got
        if window is None and file.read(1):  # the archive's own checksum is compared
            raise Damaged(f"array '{name}' has more bytes than it needs")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _shape(file: Any, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the header of an array; return its shape and type."""
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("a version that is never written")
        shape, _, dtype = npy.read_array_header_1_0(file)
    except OSError:
        raise
    except Exception as error:  # NumPy lets its tokenizer's errors through
        raise Damaged(f"the header of array '{name}': {error}") from None
    if any(n < 0 for n in shape):
        raise Damaged(f"array '{name}' has shape {shape}")
    return shape, dtype
