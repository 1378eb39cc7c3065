"""Guarded reading: limits on what gzip files unpack to, on lines, and on the memory of a corpus.

A damaged or hostile file must not exhaust memory. Up to `SMALL` bytes there is no limit; beyond,
a file may unpack to, and its corpus may need, `RATIO` times its size on disk.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from polyaurn.base.errors import InputError
from polyaurn.base.events import open_tracked

SMALL = 1 << 28
RATIO = 100
LONGEST_LINE = 1 << 26  # bytes, in a large file; a quarter of them in any file
BYTES_PER_DOCUMENT, BYTES_PER_TOKEN, BYTES_PER_WORD = 48, 8, 200  # while a corpus is being made


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, gzipped or not; raise an InputError if it cannot be read or is truncated."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(
                f"The path '{path}' must be a file. It is a folder, a pipe or a device."
            )
        with open_tracked(path) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if not packed:
                yield raw
                return
            with io.BufferedReader(_Unpacked(raw, path), 1 << 17) as unpacked:
                yield unpacked
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(
            f"The file '{path}' must be a whole gzip file. It is cut off or damaged; copy or "
            "download it again."
        ) from None
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be read: {error.strerror or error}. Check the path and its "
            "permissions."
        ) from None


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a gzip file; an error is raised if there are too many."""

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        self._stream = gzip.GzipFile(fileobj=raw, mode="rb")
        self._path = path
        self._left = most_bytes(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._stream.readinto(memoryview(buffer)[: 1 << 20])
        self._left -= n
        if self._left < 0:
            raise InputError(
                f"The file '{self._path}' must not unpack to more than {RATIO} times its size. It "
                "does, as files made to fill a disk do; if that is intended, run gunzip first."
            )
        return n


def most_bytes(path: Path) -> int:
    """Return how many bytes a file may unpack to, and its corpus may need."""
    return max(SMALL, RATIO * path.stat().st_size)


def longest_line(path: Path) -> int:
    """Return how many bytes a line or a document of a file may have."""
    return min(LONGEST_LINE, max(LONGEST_LINE // 4, RATIO * path.stat().st_size))


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, with their ends; raise an error for one that is too long."""
    with open_bytes(path) as file:
        number, most = 0, longest_line(path)
        while line := file.readline(most + 1):
            number += 1
            if len(line) > most:
                raise too_long(path, number)
            yield line


def read_document(path: Path) -> bytes:
    """Return a file that is one document."""
    with open_bytes(path) as file:
        most = longest_line(path)
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(
            f"The file '{path}' must be a document of at most {most:,} bytes. It is longer; cut it "
            "into several documents."
        )
    return content


def too_long(path: Path, line: int) -> InputError:
    """Return the error for a line that is too long."""
    return InputError(
        f"The file '{path}', line {line}: expected at most {longest_line(path):,} bytes in a line. "
        "Got more; is it another format, or are the line ends lost?"
    )


def check_proportion(path: Path, *, documents: int = 0, words: int = 0, tokens: int = 0) -> None:
    """Raise an error if a corpus would need far more memory than its file has bytes."""
    needed = BYTES_PER_DOCUMENT * documents + BYTES_PER_WORD * words + BYTES_PER_TOKEN * tokens
    if path.is_dir() or needed <= most_bytes(path):  # documents in a folder are files themselves
        return
    claims = {"documents": documents, "words": words, "tokens": tokens}
    said = " and ".join(f"{n:,} {what}" for what, n in claims.items() if n)
    raise InputError(
        f"The file '{path}' must not need more than {RATIO} times its size in memory. It has "
        f"{path.stat().st_size:,} bytes and claims {said}, which need {needed / 2**30:,.1f} GiB; "
        "correct it, unpack it if it is packed, or make such a corpus with Corpus.from_matrix."
    )


def one_line(error: BaseException, most: int = 200) -> str:
    """Return the message of another library's error as part of a sentence."""
    said = " ".join(str(error).split()).rstrip(".")
    return said if len(said) <= most else f"{said[:most]}..."
