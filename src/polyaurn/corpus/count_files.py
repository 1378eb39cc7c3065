"""What files of counts share: their vocabularies, their lines, and entries to a `Corpus`."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.entries import CountMatrix, all_documents, tokens_of
from polyaurn.corpus.names import check_vocabulary
from polyaurn.files.reading import check_proportion, longest_line, open_bytes, too_long

_PIECE = 1 << 24  # bytes read at a time
_EXTENSION = re.compile(r"(\.(txt|mtx|svm|svmlight|libsvm|ldac|dat)){1,2}$")


def find_vocabulary(
    path: Path,
    vocabulary: Any,
    n_words: int,
    *,
    required: bool,
    at_least: bool = False,
    source: str = "'vocabulary' parameter",
) -> tuple[str, ...]:
    """Return the words of a file of counts: those given, or those of a file beside it.

    There must be `n_words` of them, or more with `at_least`. If there is no file beside, raise an
    error if it is `required`, else name the words 'x0', 'x1', ... `source` says where words come
    from that are not given as a file, for the error message.
    """
    if vocabulary is None:
        stem = re.sub(r"^docword\.", "", re.sub(r"\.gz$", "", path.name))
        stem = _EXTENSION.sub("", stem)
        tried = [f"vocab.{stem}.txt", f"{stem}.vocab", f"{stem}.vocab.txt", "vocab.txt"]
        beside = [path.with_name(name + end) for name in tried for end in ("", ".gz")]
        vocabulary = next((file for file in beside if file.is_file()), None)
        if vocabulary is None and required:
            raise InputError(
                f"The vocabulary of '{path}' must be beside it as '{tried[0]}'. There is no such "
                "file; put it there or name it with the vocabulary option."
            )
        if vocabulary is None:
            return tuple(f"x{v}" for v in range(n_words))
    if isinstance(vocabulary, str | Path):
        source = f"file '{vocabulary}'"
        words = check_vocabulary(read_name_lines(Path(vocabulary), source), source)
    else:
        words = check_vocabulary(vocabulary, source)
    if len(words) < n_words or (len(words) > n_words and not at_least):
        raise InputError(
            f"The {source} must have {n_words:,} words, as '{path}' says. Got {len(words):,}; do "
            "the two files belong together?"
        )
    return words


def read_name_lines(path: Path, source: str) -> list[str]:
    """Read a vocabulary or other names, one per line."""
    with open_bytes(path) as file:
        try:
            text = file.read().decode("utf-8-sig").rstrip()
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise InputError(
                f"The {source}, line {line}: expected UTF-8 text. Got byte "
                f"0x{error.object[error.start]:02x}; convert the file to UTF-8."
            ) from None
    words = [line.strip() for line in text.split("\n")]
    if "" in words:
        raise InputError(
            f"The {source}, line {words.index('') + 1}: expected a word. Got an empty line; "
            "remove it, or name the word."
        )
    return words


def corpus_of(matrix: CountMatrix) -> Corpus:
    """Read the whole of a file of counts, in pieces."""
    lengths, word = all_documents(matrix)
    if not len(word):
        raise without_counts(matrix.path, matrix.n_documents)
    word.flags.writeable = False
    return Corpus(np.concatenate(([0], np.cumsum(lengths))), word, matrix.words, matrix.names)


def without_counts(path: Path, n_documents: int) -> InputError:
    """Return the error for a file of counts that are all 0, or not there."""
    return InputError(
        f"The file '{path}' must hold at least one token. Got {n_documents:,} documents without "
        "a count above 0; is it the right file, and complete?"
    )


def from_triplets(
    path: Path,
    document: Any,
    word: Any,
    count: Any,
    n_documents: int,
    vocab: Sequence[str],
) -> Corpus:
    """Make a corpus of the entries of a file, in any order."""
    tokens = int(count.sum(dtype=np.int64))
    if not tokens:
        raise without_counts(path, n_documents)
    check_proportion(path, documents=n_documents, tokens=tokens)
    if (document[1:] < document[:-1]).any():
        order = np.lexsort((word, document))
        document, word, count = document[order], word[order], count[order]
    lengths, words = tokens_of(document, word, count, n_documents)
    words.flags.writeable = False
    return Corpus(np.concatenate(([0], np.cumsum(lengths))), words, tuple(vocab))


def line_at(piece: bytes, start: int) -> bytes:
    """Return the line that starts at a place."""
    return piece[start : piece.index(b"\n", start)]


def whole_lines(file: BinaryIO, path: Path, line: int = 0) -> Iterator[bytes]:
    """Yield pieces of a file that each end with a line; `line` lines were read before."""
    rest: list[bytes] = []
    while piece := file.read(_PIECE):
        end = piece.rfind(b"\n") + 1
        if end:
            whole = b"".join((*rest, piece[:end]))
            line += whole.count(b"\n")
            yield whole
            rest = [piece[end:]]
        else:
            rest.append(piece)
            if sum(map(len, rest)) > longest_line(path):
                raise too_long(path, line + 1)
    if last := b"".join(rest):
        yield last + b"\n"
