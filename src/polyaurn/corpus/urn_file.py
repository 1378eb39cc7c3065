"""Corpora in one file on disk that is mapped into memory, not read into it.

A file ``NAME.urn`` begins with a header of 4,096 bytes: a mark, a line of JSON with the sizes, and
zeros. It is followed by the words of the tokens (int32), where documents begin (int64), the
vocabulary and the names of documents (UTF-8, one per line), and in version 2, which files of text
have, how the text was cut (JSON). All numbers are little-endian.
"""

import json
import mmap
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple

import numpy as np

from polyaurn.base.arrays import I32, I64, FileMap
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import check_documents, sort_inside_documents
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered
from polyaurn.corpus.part import Part
from polyaurn.corpus.tokenization import Tokenization, tokenization_of
from polyaurn.files.atomic import flush_file, flush_folder, temporary_name

MARK = b"polyaurn corpus\n"
FORMAT_VERSION = 2
HEADER_BYTES = 4096


class UrnWriter:
    """Write a corpus piece by piece under a temporary name; `finish` renames it."""

    def __init__(self, path: Path) -> None:
        self._target = path.absolute()
        self._part = temporary_name(self._target)
        self._file: BinaryIO = self._part.open("xb")
        self._file.write(bytes(HEADER_BYTES))
        self._ends: list[I64] = [np.zeros(1, np.int64)]
        self.n_tokens = 0

    def add(self, lengths: I64, word: I32) -> None:
        """Append documents of these lengths, with their words."""
        self._file.write(np.ascontiguousarray(word, "<i4").view(np.uint8).data)
        self._ends.append(self.n_tokens + np.cumsum(lengths, dtype=np.int64))
        self.n_tokens += len(word)

    def finish(
        self,
        vocab: Sequence[str],
        doc_names: Sequence[str],
        tokenization: Tokenization | None = None,
    ) -> Path:
        """Write the rest, and give the file its name."""
        doc_ptr = np.concatenate(self._ends)
        self._file.write(doc_ptr.astype("<i8").tobytes())
        words = _join(vocab)
        names = b"" if isinstance(doc_names, Numbered) else _join(doc_names)
        self._file.write(words)
        self._file.write(names)
        rules = b"" if tokenization is None else json.dumps(tokenization.to_json()).encode()
        self._file.write(rules)
        header = {
            "format_version": FORMAT_VERSION if rules else 1,
            "tokens": self.n_tokens,
            "documents": len(doc_ptr) - 1,
            "words": len(vocab),
            "vocabulary_bytes": len(words),
            "name_bytes": len(names),
        } | ({"tokenization_bytes": len(rules)} if rules else {})
        self._file.seek(0)
        self._file.write(MARK + json.dumps(header).encode() + b"\n")
        self._file.flush()
        flush_file(self._file.fileno())
        self._file.close()
        self._part.replace(self._target)
        flush_folder(self._target.parent)
        return self._target

    def __enter__(self) -> "UrnWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)


def write_urn(corpus: Corpus, path: str | Path) -> Path:
    """Write a corpus to a file, which replaces an older one once it is complete."""
    with UrnWriter(Path(path)) as writer:
        writer.add(np.diff(corpus.doc_ptr), corpus.word)
        return writer.finish(corpus.vocab, corpus.doc_names, corpus.tokenization)


class MappedDocuments(NamedTuple):
    """The documents of a file, on the disk until they are used; their names are not read."""

    doc_ptr: I64
    word: I32
    n_words: int

    def part(self, lo: int, hi: int) -> Part:
        """Return the documents from `lo` up to `hi`, their tokens checked."""
        first, last = (int(self.doc_ptr[d]) for d in (lo, hi))
        doc_ptr = self.doc_ptr[lo : hi + 1] - first
        check_documents(doc_ptr, self.word[first:last], self.n_words)
        word = sort_inside_documents(doc_ptr, self.word[first:last])
        doc_ptr.flags.writeable = word.flags.writeable = False
        return Part(doc_ptr, word, self.n_words, lo, first)


def map_documents(path: Path) -> MappedDocuments:
    """Open the documents of a corpus that was imported."""
    header, mapped = _map(path)
    N = header["tokens"]
    word = np.frombuffer(mapped, "<i4", N, HEADER_BYTES)
    doc_ptr = np.frombuffer(mapped, "<i8", header["documents"] + 1, HEADER_BYTES + 4 * N)
    doc_ptr = np.array(doc_ptr, np.int64)
    doc_ptr.flags.writeable = False
    return MappedDocuments(doc_ptr, word, header["words"])


def read_urn(path: Path) -> Corpus:
    """Open a corpus that was imported; its tokens stay on disk until they are used."""
    header, mapped = _map(path)
    N, D = header["tokens"], header["documents"]
    word = np.frombuffer(mapped, "<i4", N, HEADER_BYTES)
    at = HEADER_BYTES + 4 * N
    doc_ptr = np.frombuffer(mapped, "<i8", D + 1, at)
    at += 8 * (D + 1)
    try:
        vocab = _split(mapped[at : at + header["vocabulary_bytes"]])
        at += header["vocabulary_bytes"]
        names = _split(mapped[at : at + header["name_bytes"]])
        at += header["name_bytes"]
        stated = mapped[at : at + header["tokenization_bytes"]]
        tokenization = tokenization_of(json.loads(stated)) if stated else None
        if len(vocab) != header["words"]:
            raise InputError(f"{len(vocab):,} words where {header['words']:,} are promised")
        rules = tokenization and tokenization.with_forms(vocab)
        return Corpus(doc_ptr, word, tuple(vocab), names, rules)
    except (InputError, ValueError, RecursionError) as error:
        raise InputError(
            f"The file '{path}' must be a corpus that 'polyaurn import' wrote. It is damaged "
            f"({str(error).rstrip('.')}); import it again."
        ) from None


def is_urn(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is of this format."""
    return head.startswith(MARK)


def _map(path: Path) -> tuple[dict[str, int], FileMap]:
    """Return a file's header, and the file mapped."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
            header = _header(path, head, size)
            mapped = FileMap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be read: {error.strerror or error}. Check the path and its "
            "permissions."
        ) from None
    mapped.path = path.absolute()
    return header, mapped


def _header(path: Path, head: bytes, size: int) -> dict[str, int]:
    complaint = f"The file '{path}' must be a corpus that 'polyaurn import' wrote."
    try:
        if not is_urn(head):
            raise ValueError
        header = json.loads(head[len(MARK) :].split(b"\n", 1)[0])
        version = header["format_version"]
        names = ("tokens", "documents", "words", "vocabulary_bytes", "name_bytes")
        numbers = {name: header[name] for name in names}
        numbers["tokenization_bytes"] = header["tokenization_bytes"] if version == 2 else 0
        if not all(type(n) is int and 0 <= n < 2**60 for n in (version, *numbers.values())):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{complaint} Its header is damaged; import it again.") from None
    if version > FORMAT_VERSION:
        raise InputError(
            f"{complaint} It has format {version}, and this polyaurn reads up to "
            f"{FORMAT_VERSION}; update polyaurn."
        )
    expected = HEADER_BYTES + 4 * numbers["tokens"] + 8 * (numbers["documents"] + 1)
    expected += sum(numbers[f"{part}_bytes"] for part in ("vocabulary", "name", "tokenization"))
    if size != expected or sys.byteorder != "little":
        raise InputError(
            f"{complaint} Expected {expected:,} bytes, got {size:,}; import or copy it again."
        )
    return numbers


def _join(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _split(text: bytes) -> list[str]:
    return text.decode().split("\n")[:-1]
