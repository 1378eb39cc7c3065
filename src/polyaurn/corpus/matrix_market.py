"""MatrixMarket files of counts, documents by words."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from polyaurn.base.arrays import I32
from polyaurn.base.errors import InputError
from polyaurn.corpus.count_files import line_at, whole_lines
from polyaurn.corpus.entries import CountMatrix, Entries
from polyaurn.corpus.matrix_names import find_names, matrix_in
from polyaurn.files.reading import check_proportion, longest_line, open_bytes, too_long

BINARISE = "take only whether an entry is above 0 with binarise=True (--binarise)"
_BANNER = re.compile(
    rb"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+"
    rb"(integer|unsigned-integer|real|double|pattern)\s+(general|symmetric)\s*",
    re.IGNORECASE,
)


class _Header(NamedTuple):
    dense: bool
    values: bool
    symmetric: bool
    rows: int
    columns: int
    entries: int
    lines: int


def market_matrix(
    path: Path,
    vocabulary: Any = None,
    doc_names: Any = None,
    *,
    transpose: bool = False,
    binarise: bool = False,
) -> CountMatrix:
    """Open a file of coordinates or an array, with the names given or those of files beside it.

    With `transpose` the file holds words by documents, as 10x Genomics writes genes by cells.
    """
    path = matrix_in(path)
    with open_bytes(path) as file:
        header = _header(file, path)
    D, V = (header.columns, header.rows) if transpose else (header.rows, header.columns)
    check_proportion(path, documents=D, words=V)
    words, names = find_names(path, vocabulary, doc_names, D, V, transpose=transpose)
    n_entries = header.entries * (1 + header.symmetric)
    pieces = partial(_entries, path, transpose=transpose, binarise=binarise)
    return CountMatrix(path, D, n_entries, words, names, pieces, binarise=binarise)


def _entries(path: Path, *, transpose: bool, binarise: bool) -> Iterator[Entries]:
    """Yield the entries of a file in pieces; the first piece is empty."""
    with open_bytes(path) as file:
        header = _header(file, path)
        for row, column, count in _cells(file, path, header, binarise=binarise):
            document, word = (column, row) if transpose else (row, column)
            yield Entries(document, word, count)
            if header.symmetric:
                other = row != column
                yield Entries(word[other], document[other], count[other])


def _header(file: BinaryIO, path: Path) -> _Header:
    banner = file.readline(200)
    shown = banner[:60].decode(errors="replace").strip()
    if not banner.startswith(b"%%MatrixMarket"):
        raise InputError(
            f"The file '{path}', line 1: expected the banner '%%MatrixMarket matrix ...'. Got "
            f"{shown!r}; is it another format?"
        )
    kind = _BANNER.fullmatch(banner)
    layout, field, symmetry = (part.lower() for part in kind.groups()) if kind else (b"", b"", b"")
    dense, values = layout == b"array", field != b"pattern"
    if not kind or (dense and not values):
        raise InputError(
            f"The file '{path}' must be a MatrixMarket matrix of counts, 'coordinate' or 'array', "
            f"'integer', 'real' or 'pattern', 'general' or 'symmetric'. Got {shown!r}; write it "
            "again as one of these."
        )
    lines = 1
    while line := file.readline(longest_line(path) + 1):
        lines += 1
        if len(line) > longest_line(path):
            raise too_long(path, lines)
        if line.strip() and not line.startswith(b"%"):
            break
    fields = line.split(None, 4)
    most = [2**31] * 2 + [10**18] * (not dense)
    sizes = [int(f) for f in fields if re.fullmatch(rb"\d{1,18}", f)]
    symmetric = symmetry == b"symmetric"
    whole = len(sizes) == len(fields) == len(most)
    if not whole or not all(n < m for n, m in zip(sizes, most, strict=True)) or 0 in sizes[:2]:
        raise InputError(
            f"The file '{path}', line {lines}: expected the numbers of rows and columns"
            f"{'' if dense else ' and entries'}, at least 1 and below 2**31. Got "
            f"{line[:60].decode(errors='replace').strip()!r}; correct the line."
        )
    R, C = sizes[:2]
    if symmetric and R != C:
        raise InputError(
            f"The file '{path}', line {lines}: expected as many rows as columns in a symmetric "
            f"matrix. Got {R:,} and {C:,}; correct the line, or write it as 'general'."
        )
    entries = sizes[2] if not dense else R * (R + 1) // 2 if symmetric else R * C
    return _Header(dense, values, symmetric, R, C, entries, lines)


def _cells(
    file: BinaryIO, path: Path, header: _Header, *, binarise: bool
) -> Iterator[tuple[I32, I32, I32]]:
    """Yield row, column and count of the entries in pieces."""
    from polyaurn.corpus.parsers import parse_cells

    dense, values, _, R, C, entries, line = header
    empty = np.empty(0, np.int32)
    yield empty, empty, empty
    total = 0
    for piece in whole_lines(file, path, line):
        text = np.frombuffer(piece, np.uint8)
        row, column, count = (np.empty(np.count_nonzero(text == 10), np.int32) for _ in range(3))
        n, lines, bad = parse_cells(text, R, C, not dense, values, binarise, row, column, count)
        if bad >= 0:
            shown = line_at(piece, bad)[:60].decode(errors="replace").strip()
            what = "a count" if dense else "row, column and count" if values else "row and column"
            counts = "all numbers" if binarise else "counts whole, not negative and below 2**31"
            remedy = "" if binarise else f", or {BINARISE}"
            raise InputError(
                f"The file '{path}', line {line + lines + 1}: expected {what}, within {R:,} rows "
                f"and {C:,} columns, {counts}. Got {shown!r}; correct the line, and give counts, "
                f"not weights{remedy}."
            )
        for array in (row, column, count):
            array.resize(n, refcheck=False)
        line += lines
        total += n
        if dense and total <= entries:
            row, column = _places(header, total - n, total)
        yield row, column, count
    if total != entries:
        remedy = "the file is truncated, copy it again" if total < entries else "correct the header"
        raise InputError(
            f"The file '{path}', line {line}: expected the {entries:,} entries that its header "
            f"promises. Got {total:,}; {remedy}."
        )


def _places(header: _Header, begin: int, end: int) -> tuple[I32, I32]:
    """Return rows and columns of some of an array's entries, which go down the columns."""
    place = np.arange(begin, end)
    if header.symmetric:  # of the lower triangle
        lengths = np.arange(header.rows, 0, -1)
        ends = np.cumsum(lengths)
        column = np.searchsorted(ends, place, side="right")
        row = place - (ends - lengths)[column] + column
    else:
        column, row = np.divmod(place, header.rows)
    return row.astype(np.int32), column.astype(np.int32)
