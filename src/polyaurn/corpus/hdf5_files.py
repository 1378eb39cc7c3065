"""HDF5 files of cells: matrices of 10x Genomics and AnnData, read in pieces with h5py.

A 10x file has the compressed columns of genes or regions by cells in ``matrix/``. AnnData has its
matrix in ``X`` or a layer, in compressed rows or columns or dense, cells by genes; names are the
indices of ``obs`` and ``var``. A gzipped file is unpacked to a temporary one first, since HDF5 is
not read from beginning to end; it has no name, so that nothing is left of it in any case.
"""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.arrays import I32, I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.count_files import find_vocabulary
from polyaurn.corpus.entries import CountMatrix, Entries
from polyaurn.corpus.matrix_market import BINARISE
from polyaurn.corpus.matrix_names import best_names, names_of_documents
from polyaurn.files.reading import check_proportion, one_line, open_bytes

MARK = b"\x89HDF\r\n\x1a\n"
_AT_ONCE = 1 << 22  # entries read at a time


def hdf5_matrix(
    path: Path,
    vocabulary: Any = None,
    doc_names: Any = None,
    *,
    transpose: bool = False,
    binarise: bool = False,
    layer: str | None = None,
    folder: Path | None = None,
) -> CountMatrix:
    """Open a file of 10x Genomics or AnnData; with `transpose` AnnData holds words by documents.

    Files of 10x Genomics always do, with or without `transpose`. Counts of AnnData are those of a
    `layer`, where one is named. A gzipped file is unpacked in the `folder`, by default where Python
    has temporary files (``TMPDIR``).
    """
    source = _Source(path, folder)
    with source.opened() as file:
        of_10x = "matrix" in file
        if of_10x and layer is not None:
            raise InputError(
                f"The 'layer' parameter is for AnnData. '{path}' is of 10x Genomics and has one "
                "matrix; leave it out."
            )
        needed = {"obs", "var"} if layer is not None else {"X", "obs", "var"}
        if not of_10x and not needed <= set(file):
            raise InputError(
                f"The file '{path}' must be a matrix of 10x Genomics or AnnData. It is HDF5 with "
                f"{', '.join(sorted(file)[:5]) or 'nothing'} inside; write its counts as one of "
                "these, or as MatrixMarket."
            )
        matrix = _matrix(file, layer, path)
        shape, by_column = _shape(matrix, path, of_10x=of_10x)
        if of_10x:
            features = {name: _strings(matrix["features"], name, path) for name in ("name", "id")}
            names = (
                best_names(features["name"], features["id"]),
                _strings(matrix, "barcodes", path),
            )
        else:
            names = (_index(file, "obs", path), _index(file, "var", path))
        n_entries = len(matrix["indices"]) if hasattr(matrix, "keys") else shape[0] * shape[1]
    for number, found in zip(shape, names, strict=True):
        if number != len(found):
            raise InputError(
                f"The file '{path}' must have a name for each row and column of its "
                f"{shape[0]:,} by {shape[1]:,} matrix. Got {len(names[0]):,} and "
                f"{len(names[1]):,}; write it again."
            )
    turned = transpose or of_10x
    (V, words), (D, documents) = zip(shape, names, strict=True)
    if not turned:
        (D, documents), (V, words) = (V, words), (D, documents)
    check_proportion(path, documents=D, words=V)
    given, said = vocabulary, "'vocabulary' parameter"
    if given is None:
        given, said = words, f"matrix in '{path}'"
    return CountMatrix(
        path, D, n_entries, find_vocabulary(path, given, V, required=False, source=said),
        documents if doc_names is None else names_of_documents(path, doc_names, D),
        partial(_entries, source, turned=turned, binarise=binarise, layer=layer),
        in_order=by_column == turned, binarise=binarise,
    )  # fmt: skip


class _Source:
    """A file, unpacked to a temporary one where it is gzipped."""

    def __init__(self, path: Path, folder: Path | None) -> None:
        self.path = path
        self._file: Any = path
        with open_bytes(path) as raw:
            packed = path.open("rb")
            with packed:
                gzipped = packed.read(2) == b"\x1f\x8b"
            if gzipped:
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
                shutil.copyfileobj(raw, self._file, 1 << 20)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open the file; its errors are reported in a sentence."""
        try:
            import h5py
        except ImportError:
            raise InputError(
                f"The file '{self.path}' is HDF5, for which h5py is needed. Install it with: "
                "pip install 'polyaurn[anndata]'"
            ) from None
        try:
            with h5py.File(self._file, "r") as file:
                yield file
        except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"The file '{self.path}' cannot be read as a matrix of 10x Genomics or AnnData: "
                f"{one_line(error)}; copy it again, or write it again."
            ) from None


def _matrix(file: Any, layer: str | None, path: Path) -> Any:
    """Return the matrix of a file: that of 10x Genomics, or X or a layer of AnnData."""
    if "matrix" in file:
        return file["matrix"]
    if layer is None:
        return file["X"]
    layers = _layers(file)
    if layer not in layers:
        there = f"its layers are {', '.join(map(repr, layers))}" if layers else "it has no layers"
        raise InputError(
            f"The 'layer' parameter must name a layer of '{path}'; {there}. Got {layer!r} instead."
        )
    return file["layers"][layer]


def _layers(file: Any) -> list[str]:
    """Return the names of the layers of AnnData."""
    group = file.get("layers")
    return sorted(group) if hasattr(group, "keys") else []


def _shape(matrix: Any, path: Path, *, of_10x: bool) -> tuple[tuple[int, int], bool]:
    """Return the numbers of rows and columns, and whether entries go down the columns."""
    if not hasattr(matrix, "keys"):  # dense
        shape, by_column = matrix.shape, False
    elif of_10x:
        shape, by_column = matrix["shape"][:], True
    else:
        said = matrix.attrs.get("encoding-type", matrix.attrs.get("h5sparse_format", ""))
        said = said.decode() if isinstance(said, bytes) else str(said)
        if said[:3] not in ("csr", "csc"):
            raise InputError(
                f"The file '{path}' must have a matrix in compressed rows or columns, or a "
                f"dense one. Got {said!r:.60}; write it again with anndata."
            )
        by_column = said.startswith("csc")
        shape = matrix.attrs.get("shape", matrix.attrs.get("h5sparse_shape", ()))
    if len(shape) != 2 or not all(0 < int(n) < 2**31 for n in shape):
        raise InputError(
            f"The file '{path}' must have a matrix with rows and columns, fewer than 2**31 of "
            f"each. Got the shape {tuple(map(int, shape))}; write it again."
        )
    return (int(shape[0]), int(shape[1])), by_column


def _index(file: Any, name: str, path: Path) -> list[str]:
    """Return the names of the rows of a data frame of AnnData."""
    frame = file[name]
    if not hasattr(frame, "keys"):
        raise InputError(
            f"The file '{path}' must be of anndata 0.7 or later. Its '{name}' is of an older "
            "one; read it and write it again with anndata."
        )
    key = frame.attrs.get("_index", "_index")
    return _strings(frame, key.decode() if isinstance(key, bytes) else key, path)


def _strings(group: Any, name: str, path: Path) -> list[str]:
    """Return an array of text or numbers as strings."""
    found = group[name]
    values = (found["values"] if hasattr(found, "keys") else found)[:]
    try:
        return [v.decode() if isinstance(v, bytes) else str(v) for v in values.tolist()]
    except UnicodeDecodeError:
        raise InputError(
            f"The file '{path}' must have names in UTF-8. Those of '{name}' are not; write it "
            "again."
        ) from None


def _entries(
    source: _Source, *, turned: bool, binarise: bool, layer: str | None
) -> Iterator[Entries]:
    """Yield entries in pieces, in the order of the file; `turned` says that rows are words."""
    with source.opened() as file:
        matrix = _matrix(file, layer, source.path)
        layers = [] if layer is not None else _layers(file)
        shape, by_column = _shape(matrix, source.path, of_10x="matrix" in file)
        if hasattr(matrix, "keys"):
            pieces = _compressed(matrix, shape[by_column], shape[1 - by_column], source.path)
        else:
            pieces = _dense(matrix)
        for outer, inner, values in pieces:
            row, column = (inner, outer) if by_column else (outer, inner)
            document, word = (column, row) if turned else (row, column)
            counts = _counts(values, document, word, source.path, layers, binarise=binarise)
            yield Entries(document, word, counts)


def _compressed(
    matrix: Any, n_outer: int, n_inner: int, path: Path
) -> Iterator[tuple[I32, I32, Any]]:
    """Yield the entries of compressed rows (or columns): number of the row, column, value."""
    ends, n = matrix["indptr"][:].astype(np.int64), len(matrix["indices"])
    whole = len(ends) == n_outer + 1 and ends[0] == 0 and ends[-1] == n == len(matrix["data"])
    if not whole or (ends[1:] < ends[:-1]).any():
        raise _damaged(path, "its 'indptr' does not fit its entries")
    for begin in range(0, n, _AT_ONCE):
        end = min(begin + _AT_ONCE, n)
        inner = matrix["indices"][begin:end]
        if inner.min() < 0 or inner.max() >= n_inner:
            raise _damaged(path, f"an index is not from 0 to {n_inner - 1:,}")
        yield _outer(ends, begin, end), inner.astype(np.int32), matrix["data"][begin:end]


def _outer(ends: I64, begin: int, end: int) -> I32:
    """Return which row each of some entries is in."""
    first = int(np.searchsorted(ends, begin, side="right")) - 1
    last = int(np.searchsorted(ends, end, side="left"))
    inside = np.clip(ends[first : last + 1], begin, end)
    return np.repeat(np.arange(first, last, dtype=np.int32), inside[1:] - inside[:-1])


def _dense(matrix: Any) -> Iterator[tuple[I32, I32, Any]]:
    """Yield the entries of an array that are not zero, some rows at a time."""
    R, C = matrix.shape
    step = max(1, _AT_ONCE // C)
    for begin in range(0, R, step):
        values = matrix[begin : begin + step]
        row, column = np.nonzero(values)
        yield (begin + row).astype(np.int32), column.astype(np.int32), values[row, column]


def _counts(
    values: Any, document: I32, word: I32, path: Path, layers: list[str], *, binarise: bool
) -> I32:
    """Return values as counts; reject those that are not, and name the layers there are."""
    numbers = values.dtype.kind in "biuf"
    fine: Any = np.isfinite(values) if numbers else np.zeros(len(values), bool)
    if numbers and not binarise:
        fine &= (values >= 0) & (values < 2**31) & (values == np.floor(values))
    if not fine.all():
        bad = int(np.argmin(fine))
        what = "numbers" if binarise else "counts, whole, not negative and below 2**31"
        remedy = "" if binarise else f", or {BINARISE}"
        if layers:
            named = ", ".join(map(repr, layers))
            remedy += f"; layer=... (--layer) takes a layer, of which there are {named}"
        raise InputError(
            f"The file '{path}', document {document[bad] + 1:,}, word {word[bad] + 1:,}: expected "
            f"{what}. Got {values[bad]!s:.30}; give counts, not weights{remedy}."
        )
    counts: I32 = (values > 0 if binarise else values).astype(np.int32)
    return counts


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"The file '{path}' is damaged: {why}. Copy it again, or write it again.")
