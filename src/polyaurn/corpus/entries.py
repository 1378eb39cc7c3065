"""Entries of files of counts, in pieces: in the order of documents, or brought into that order.

Files whose documents follow one another are read in one pass. In others, such as those with words
in rows, entries are written to temporary files by ranges of documents, and each range is read back
and sorted: memory holds one range, however large the matrix. Where tokens are wanted in memory, the
file is read twice instead, to count the tokens of each document and to put them into their places.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from polyaurn.base.arrays import I32, I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import document_pieces, first_in_documents, sort_inside_documents
from polyaurn.files.reading import check_proportion

_AT_ONCE = 1 << 22  # entries sorted in memory at a time
_RANGES = 64  # temporary files at a time
_FIELDS = 3  # int32 numbers of an entry


class Entries(NamedTuple):
    """Some entries of a matrix, with numbers from 0, in any order."""

    document: I32
    word: I32
    number: I32


@dataclass(frozen=True)
class CountMatrix:
    """A file of counts that can be read in pieces.

    Parameters
    ----------
    path : Path
        The file, for messages.
    n_documents : int
        D.
    n_entries : int
        How many entries the file has.
    words : sequence of str
        The vocabulary.
    names : sequence of str
        Names of the documents; empty where they are numbered.
    pieces : callable
        Returns an iterator over all entries, from the beginning.
    in_order : bool
        False where documents do not follow one another; they may also turn out not to.
    binarise : bool
        Whether every word of a document counts once.
    """

    path: Path
    n_documents: int
    n_entries: int
    words: tuple[str, ...]
    names: Sequence[str]
    pieces: Callable[[], Iterator[Entries]]
    in_order: bool = True
    binarise: bool = False

    def entries(self) -> Iterator[Entries]:
        """Yield all entries; raise an error if they claim far more tokens than the file can have.

        With `binarise` counts are at most 1.
        """
        check_proportion(self.path, documents=self.n_documents)
        tokens = 0
        for piece in self.pieces():
            if self.binarise:
                np.minimum(piece.number, 1, out=piece.number)
            tokens += int(piece.number.sum(dtype=np.int64))
            check_proportion(self.path, documents=self.n_documents, tokens=tokens)
            yield piece


class NotInOrder(Exception):  # noqa: N818
    """The entries of a document are not consecutive, so that they have to be sorted."""


def documents_in_order(matrix: CountMatrix) -> Iterator[tuple[I64, I32]]:
    """Yield lengths of the next documents, empty ones included, and the words of their tokens.

    Raise `NotInOrder` if documents are not in increasing order.
    """
    if not matrix.in_order:
        raise NotInOrder
    done = 0  # documents that were yielded
    rest = Entries(*(np.empty(0, np.int32),) * _FIELDS)
    for piece in matrix.entries():
        document, word, count = (np.concatenate(pair) for pair in zip(rest, piece, strict=True))
        if not len(document):
            continue
        if (document[1:] < document[:-1]).any() or document[0] < done:
            raise NotInOrder
        whole = int(np.searchsorted(document, document[-1]))  # the last document may continue
        rest = Entries(document[whole:], word[whole:], count[whole:])
        if whole:
            upto = int(document[-1])
            yield _tokens(matrix, document[:whole] - done, word[:whole], count[:whole], upto - done)
            done = upto
    yield _tokens(matrix, rest[0] - done, rest[1], rest[2], matrix.n_documents - done)


def all_documents(matrix: CountMatrix) -> tuple[I64, I32]:
    """Return lengths of all documents, and the words of their tokens, in order or not."""
    try:
        parts = list(documents_in_order(matrix))
    except NotInOrder:
        lengths, word = _placed(matrix)
        return _distinct_in_place(lengths, word) if matrix.binarise else (lengths, word)
    lengths = np.concatenate([part[0] for part in parts])
    return lengths, np.concatenate([part[1] for part in parts])


def _placed(matrix: CountMatrix) -> tuple[I64, I32]:
    """Return lengths of documents, and their words, from two passes over entries in any order."""
    D = matrix.n_documents
    lengths = np.zeros(D, np.int64)
    for piece in matrix.entries():
        lengths += _lengths(piece.document, piece.number, D)
    ends = np.cumsum(lengths)
    word = np.empty(int(ends[-1]), np.int32)
    place = ends - lengths  # of the next token of each document
    for piece in matrix.entries():
        order = np.argsort(piece.document, kind="stable")
        document, number = piece.document[order], piece.number[order]
        more = _lengths(document, number, D)
        if (place + more > ends).any():
            raise _changed(matrix)
        shift = place - (np.cumsum(more) - more)
        at = np.repeat(shift[document], number)
        at += np.arange(len(at))
        word[at] = np.repeat(piece.word[order], number)
        place += more
    if (place != ends).any():
        raise _changed(matrix)
    return lengths, word


def _changed(matrix: CountMatrix) -> InputError:
    return InputError(
        f"The file '{matrix.path}' must stay as it is while it is read. It has changed; read it "
        "again."
    )


def _distinct_in_place(lengths: I64, word: I32) -> tuple[I64, I32]:
    """Return documents with each of their words once, a range of documents at a time."""
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    at = 0
    for lo, hi in document_pieces(ptr):
        lengths[lo:hi], kept = distinct(lengths[lo:hi], word[ptr[lo] : ptr[hi]])
        word[at : at + len(kept)] = kept
        at += len(kept)
    return lengths, word if at == len(word) else word[:at].copy()


def documents_sorted(matrix: CountMatrix, folder: Path) -> Iterator[tuple[I64, I32]]:
    """Yield what `documents_in_order` does, of entries in any order.

    Temporary files in the folder hold 12 bytes for each entry.
    """
    yield from _sorted(matrix, matrix.entries(), matrix.n_entries, 0, matrix.n_documents, folder)


def _sorted(
    matrix: CountMatrix, pieces: Iterator[Entries], n_entries: int, lo: int, hi: int, folder: Path
) -> Iterator[tuple[I64, I32]]:
    """Sort the entries of documents lo to hi: at once, or by ranges where they are too many."""
    if n_entries <= _AT_ONCE or hi - lo == 1:
        parts = list(pieces) or [Entries(*(np.empty(0, np.int32),) * _FIELDS)]
        document, word, count = (np.concatenate([part[i] for part in parts]) for i in range(3))
        order = np.lexsort((word, document))
        yield _tokens(matrix, document[order] - lo, word[order], count[order], hi - lo)
        return
    n = min(_RANGES, hi - lo, 2 * (n_entries // _AT_ONCE + 1))
    edges = lo + np.arange(n + 1) * (hi - lo) // n
    with ExitStack() as stack:
        files: list[Any] = [
            stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in range(n)
        ]
        for piece in pieces:
            place = np.searchsorted(edges, piece.document, side="right") - 1
            order = np.argsort(place, kind="stable")
            rows = np.stack(piece, axis=1)[order]
            ends = np.searchsorted(place[order], np.arange(n + 1))
            for file, (begin, end) in zip(files, pairwise(ends.tolist()), strict=True):
                file.write(rows[begin:end].tobytes())
        for file, (begin, end) in zip(files, pairwise(edges.tolist()), strict=True):
            size = file.tell() // (4 * _FIELDS)
            file.seek(0)
            yield from _sorted(matrix, _read(file), size, begin, end, folder)
            file.close()


def _read(file: BinaryIO) -> Iterator[Entries]:
    """Yield the entries of a temporary file."""
    while text := file.read(4 * _FIELDS * _AT_ONCE):
        rows = np.frombuffer(text, np.int32).reshape(-1, _FIELDS)
        yield Entries(*(np.ascontiguousarray(rows[:, i]) for i in range(_FIELDS)))


def _tokens(
    matrix: CountMatrix, document: Any, word: Any, count: Any, n_documents: int
) -> tuple[I64, I32]:
    found = tokens_of(document, word, count, n_documents)
    return distinct(*found) if matrix.binarise else found


def tokens_of(document: Any, word: Any, count: Any, n_documents: int) -> tuple[I64, I32]:
    """Return lengths of documents, and the words of their tokens, from entries in order."""
    return _lengths(document, count, n_documents), np.repeat(word, count)


def _lengths(document: Any, count: Any, n_documents: int) -> I64:
    return np.bincount(document, weights=count, minlength=n_documents).astype(np.int64)


def distinct(lengths: I64, word: I32) -> tuple[I64, I32]:
    """Return documents with each of their words once."""
    ends = np.concatenate(([0], np.cumsum(lengths)))
    word = sort_inside_documents(ends, word)
    first = first_in_documents(ends, word)
    document = np.repeat(np.arange(len(lengths)), lengths)
    return np.bincount(document[first], minlength=len(lengths)), word[first]
