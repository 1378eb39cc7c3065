"""UCI bags of words: ``docword.NAME.txt`` with ``vocab.NAME.txt`` beside it.

Three header lines D, W and NNZ are followed by lines 'document word count', with ids from 1.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.count_files import find_vocabulary, line_at, whole_lines
from polyaurn.corpus.entries import CountMatrix, Entries
from polyaurn.files.reading import open_bytes

_HEADER = ("number of documents", "vocabulary size", "number of entries")


def uci_matrix(path: Path, vocabulary: Any = None, *, binarise: bool = False) -> CountMatrix:
    """Open a file, with the vocabulary given or the one beside it."""
    with open_bytes(path) as file:
        D, W, NNZ = (_header(file, path, i) for i in range(3))
    words = find_vocabulary(path, vocabulary, W, required=True)
    return CountMatrix(path, D, NNZ, words, (), partial(_entries, path), binarise=binarise)


def _entries(path: Path) -> Iterator[Entries]:
    """Yield the entries of a file in pieces, with ids from 0; the first piece is empty."""
    from polyaurn.corpus.parsers import parse_triplets

    with open_bytes(path) as file:
        D, W, NNZ = (_header(file, path, i) for i in range(3))
        line, total = 3, 0
        nothing = np.empty(0, np.int32)
        yield Entries(nothing, nothing, nothing)
        for piece in whole_lines(file, path, line):
            text = np.frombuffer(piece, np.uint8)
            most = np.count_nonzero(text == 10)
            document, word, counts = (np.empty(most, np.int32) for _ in range(3))
            n, lines, bad = parse_triplets(text, D, W, document, word, counts)
            if bad >= 0:
                raise InputError(_complaint(path, line + lines + 1, line_at(piece, bad), D, W))
            total += n
            if total > NNZ:
                raise InputError(
                    f"The file '{path}', line {line + lines}: expected the {NNZ:,} entries that "
                    f"its header promises on line 3. Got at least {total:,}; correct the header."
                )
            for array in (document, word, counts):
                array.resize(n, refcheck=False)
            yield Entries(document, word, counts)
            line += lines
    if total < NNZ:
        raise InputError(
            f"The file '{path}', line {line}: expected the {NNZ:,} entries that its header "
            f"promises on line 3. Got {total:,}; the file is truncated, copy or download it again."
        )


def _header(file: BinaryIO, path: Path, i: int) -> int:
    """Return the number on the next line, which is line `i` from 0."""
    text = file.readline(100).strip()
    if not re.fullmatch(rb"\d{1,18}", text) or (i < 2 and not 0 < int(text) < 2**31):
        raise InputError(
            f"The file '{path}', line {i + 1}: expected the {_HEADER[i]}, a positive whole number. "
            f"Got {text[:40].decode(errors='replace')!r}; a UCI bag of words starts with three "
            "lines D, W and NNZ."
        )
    return int(text)


def _complaint(path: Path, line: int, text: bytes, D: int, W: int) -> str:
    """Return a sentence that says what is wrong with a line."""
    place = f"The file '{path}', line {line}: expected"
    shown = text[:60].decode(errors="replace").strip()
    fields = text.split()
    if len(fields) != 3:
        return (
            f"{place} three numbers, document, word and count. Got {shown!r}; correct the line, or "
            "copy the file again if it ends there."
        )
    for field, name, most in zip(fields[:2], ("document", "word"), (D, W), strict=True):
        if not re.fullmatch(rb"0*\d{1,18}", field) or not 1 <= int(field[-18:]) <= most:
            return (
                f"{place} a {name} id from 1 to {most:,}, as the header says. Got "
                f"{field[:30].decode(errors='replace')!r} in {shown!r}; correct the header or the "
                "line."
            )
    return (
        f"{place} a count that is whole, not negative and below 2**31. Got "
        f"{fields[2][:30].decode(errors='replace')!r} in {shown!r}; correct the line, and give "
        "counts, not weights."
    )
