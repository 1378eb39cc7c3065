"""Files that already hold counts: UCI bag of words, SVMlight and LDA-C; their vocabularies."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from polyaurn.base.arrays import I32, I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import check_vocabulary
from polyaurn.files.reading import check_proportion, longest_line, open_bytes, too_long

_PIECE = 1 << 24  # bytes read at a time


def read_uci(path: Path, vocabulary: Any = None) -> Corpus:
    """Read ``docword.NAME.txt`` with the ``vocab.NAME.txt`` beside it.

    Parameters
    ----------
    path : Path
        Three header lines D, W and NNZ, then lines 'document word count' with ids from 1.
    vocabulary : path or sequence of str, optional
        In place of the file beside.

    Returns
    -------
    Corpus
        Documents named by their ids.
    """
    parts = list(_uci_entries(path))
    D, W = parts[0].n_documents, parts[0].n_words
    document, word, count = (np.concatenate([p[i] for p in parts]) for i in range(3))
    words = find_vocabulary(path, vocabulary, W, required=True)
    return from_triplets(path, document, word, count, D, words)


class NotInOrder(Exception):  # noqa: N818
    """A document's entries do not lie together, so that a file cannot be read in pieces."""


def stream_uci(path: Path) -> Iterator[tuple[I64, I32]]:
    """Read a UCI bag of words in pieces; raise `NotInOrder` where its documents are not.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    lengths : ndarray of int64
        Of the next documents, empty ones included.
    word : ndarray of int32
        The words of their tokens.
    """
    done = tokens = 0  # documents that were given away; tokens seen
    rest = (np.empty(0, np.int32),) * 3
    D = 0
    for part in _uci_entries(path):
        D = part.n_documents
        tokens += int(part.counts.sum())
        document, word, count = (np.concatenate(pair) for pair in zip(rest, part[:3], strict=True))
        if not len(document):
            continue
        if (document[1:] < document[:-1]).any() or document[0] < done:
            raise NotInOrder
        whole = int(np.searchsorted(document, document[-1]))  # the last document may go on
        rest = (document[whole:], word[whole:], count[whole:])
        if whole:
            upto = int(document[-1])
            check_proportion(path, documents=upto, tokens=tokens)
            yield _pieces(document[:whole] - done, word[:whole], count[:whole], upto - done)
            done = upto
    check_proportion(path, documents=D, tokens=tokens)
    yield _pieces(rest[0] - done, rest[1], rest[2], D - done)


def uci_words(path: Path, vocabulary: Any = None) -> tuple[str, ...]:
    """Return the vocabulary of a UCI bag of words."""
    with open_bytes(path) as file:
        _, W = (_header(file, path, i, what) for i, what in enumerate(_UCI_HEADER[:2]))
    return find_vocabulary(path, vocabulary, W, required=True)


def _pieces(document: Any, word: Any, count: Any, n_documents: int) -> tuple[I64, I32]:
    lengths = np.bincount(document, weights=count, minlength=n_documents).astype(np.int64)
    return lengths, np.repeat(word, count)


class _Entries(NamedTuple):
    document: I32
    word: I32
    counts: I32
    n_documents: int
    n_words: int


def _uci_entries(path: Path) -> Iterator[_Entries]:
    """Yield the entries of a UCI bag of words, ids from 0, at least one piece."""
    from polyaurn.corpus.parsers import parse_triplets

    with open_bytes(path) as file:
        D, W, NNZ = (_header(file, path, i, what) for i, what in enumerate(_UCI_HEADER))
        line, total = 3, 0
        nothing = np.empty(0, np.int32)
        yield _Entries(nothing, nothing, nothing, D, W)
        for piece in whole_lines(file, path, line):
            most = np.count_nonzero(np.frombuffer(piece, np.uint8) == 10)
            document, word, counts = (np.empty(most, np.int32) for _ in range(3))
            text = np.frombuffer(piece, np.uint8)
            n, lines, bad = parse_triplets(text, D, W, document, word, counts)
            if bad >= 0:
                shown = piece[bad : piece.index(b"\n", bad)]
                raise InputError(_uci_complaint(path, line + lines + 1, shown, D, W))
            total += n
            if total > NNZ:
                raise InputError(
                    f"The file '{path}', line {line + lines}: expected the {NNZ:,} entries that "
                    f"its header promises on line 3. Got at least {total:,}; correct the header."
                )
            for array in (document, word, counts):
                array.resize(n, refcheck=False)
            yield _Entries(document, word, counts, D, W)
            line += lines
    if total < NNZ:
        raise InputError(
            f"The file '{path}', line {line}: expected the {NNZ:,} entries that its header "
            f"promises on line 3. Got {total:,}; the file is truncated, copy or download it again."
        )


_UCI_HEADER = ("number of documents", "vocabulary size", "number of entries")


def _header(file: BinaryIO, path: Path, i: int, what: str) -> int:
    text = file.readline(100).strip()
    if not re.fullmatch(rb"\d{1,18}", text) or (i < 2 and not 0 < int(text) < 2**31):
        raise InputError(
            f"The file '{path}', line {i + 1}: expected the {what}, a positive whole number. Got "
            f"{text[:40].decode(errors='replace')!r}; a UCI bag of words starts with three lines "
            "D, W and NNZ."
        )
    return int(text)


def _uci_complaint(path: Path, line: int, text: bytes, D: int, W: int) -> str:
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


def read_pairs(path: Path, vocabulary: Any = None, *, ldac: bool = False) -> Corpus:
    """Read SVMlight or LDA-C: a line for each document, 'label id:count id:count ...'.

    Parameters
    ----------
    path : Path
        The file. In LDA-C the label is the number of pairs, on every line, and ids start at 0;
        in SVMlight ids start at 1, or at 0 where an id 0 occurs.
    vocabulary : path or sequence of str, optional
        The words; a file ``NAME.vocab`` or ``vocab.NAME.txt`` beside is found by itself.
    ldac : bool
        Which of the two it is.

    Returns
    -------
    Corpus
        Documents named by their line.
    """
    from polyaurn.corpus.parsers import parse_pairs

    parts: list[list[Any]] = []
    lines = 0
    with open_bytes(path) as file:
        for piece in whole_lines(file, path):
            text = np.frombuffer(piece, np.uint8)
            label, length = (np.empty(np.count_nonzero(text == 10), np.int64) for _ in range(2))
            word, count = (np.empty(np.count_nonzero(text == 58), np.int32) for _ in range(2))
            n, read, bad = parse_pairs(text, label, length, word, count)
            if bad >= 0:
                shown = piece[bad : piece.index(b"\n", bad)][:60].decode(errors="replace")
                first = "pairs" if ldac else "label"
                raise InputError(
                    f"The file '{path}', line {lines + read + 1}: expected '{first} id:count ...' "
                    f"with whole, non-negative numbers below 2**31. Got {shown!r}; correct the "
                    "line, and give counts, not weights."
                )
            lines += read
            check_proportion(path, documents=lines)
            parts.append([label, length, word[:n], count[:n]])
    if not parts:
        raise InputError(f"The file '{path}' is empty. Give a file with documents.")
    label, length, word, count = (np.concatenate([p[i] for p in parts]) for i in range(4))
    wrong = np.flatnonzero(label != length)
    if ldac and len(wrong):
        d = int(wrong[0])
        raise InputError(
            f"The file '{path}', line {d + 1}: expected LDA-C, where the first number counts the "
            f"pairs that follow. Got {label[d]} before {length[d]} pairs; is it SVMlight?"
        )
    if not ldac and len(word) and word.min() > 0:
        word = word - np.int32(1)
    most = int(word.max()) + 1 if len(word) else 0
    check_proportion(path, words=most)
    words = find_vocabulary(path, vocabulary, most, required=False, at_least=True)
    document = np.repeat(np.arange(len(length), dtype=np.int32), length)
    return from_triplets(path, document, word, count, len(length), words)


def find_vocabulary(
    path: Path, vocabulary: Any, n_words: int, *, required: bool, at_least: bool = False
) -> tuple[str, ...]:
    """Return the words that belong to a file of counts.

    Parameters
    ----------
    path : Path
        The file of counts.
    vocabulary : path, sequence of str or None
        The user's choice; None looks beside the file.
    n_words : int
        How many there must be.
    required : bool
        Refuse to go on without; else words are called 'x0', 'x1', ...
    at_least : bool
        More words than `n_words` are welcome.

    Returns
    -------
    tuple of str
        The vocabulary.
    """
    if vocabulary is None:
        name = re.sub(r"\.gz$", "", path.name)
        stem = re.sub(r"^docword\.|\.(txt|mtx|svm|svmlight|libsvm|ldac|dat)$", "", name)
        stem = re.sub(r"\.(txt|mtx|svm|svmlight|libsvm|ldac|dat)$", "", stem)
        tried = [f"vocab.{stem}.txt", f"{stem}.vocab", f"{stem}.vocab.txt", "vocab.txt"]
        found = [
            path.with_name(n + end)
            for n in tried
            for end in ("", ".gz")
            if path.with_name(n + end).is_file()
        ]
        if not found:
            if required:
                raise InputError(
                    f"The vocabulary of '{path}' must lie beside it as '{tried[0]}'. There is no "
                    "such file; put it there or name it with the vocabulary option."
                )
            return tuple(f"x{v}" for v in range(n_words))
        vocabulary = found[0]
    if isinstance(vocabulary, str | Path):
        source = f"file '{vocabulary}'"
        with open_bytes(Path(vocabulary)) as file:
            try:
                text = file.read().decode("utf-8-sig").rstrip()
            except UnicodeDecodeError as error:
                line = error.object[: error.start].count(b"\n") + 1
                raise InputError(
                    f"The {source}, line {line}: expected UTF-8 text. Got byte "
                    f"0x{error.object[error.start]:02x}; convert the file to UTF-8."
                ) from None
        listed = [line.strip() for line in text.split("\n")]
        if "" in listed:
            raise InputError(
                f"The {source}, line {listed.index('') + 1}: expected a word. Got an empty line; "
                "remove it, or name the word."
            )
        words = check_vocabulary(listed, source)
    else:
        source = "'vocabulary' parameter"
        words = check_vocabulary(vocabulary, source)
    if len(words) < n_words or (len(words) > n_words and not at_least):
        raise InputError(
            f"The {source} must have {n_words:,} words, as '{path}' says. Got {len(words):,}; do "
            "the two files belong together?"
        )
    return words


def from_triplets(
    path: Path,
    document: Any,
    word: Any,
    count: Any,
    n_documents: int,
    vocab: Sequence[str],
) -> Corpus:
    """Make a corpus of a file's entries, in any order."""
    tokens = int(count.sum(dtype=np.int64))
    if not tokens:
        raise InputError(f"The file '{path}' must hold at least one token. Got no counts at all.")
    check_proportion(path, documents=n_documents, tokens=tokens)
    if (document[1:] < document[:-1]).any():
        order = np.lexsort((word, document))
        document, word, count = document[order], word[order], count[order]
    lengths = np.bincount(document, weights=count, minlength=n_documents).astype(np.int64)
    words = np.repeat(word, count)
    words.flags.writeable = False
    return Corpus(np.concatenate(([0], np.cumsum(lengths))), words, tuple(vocab))


def whole_lines(file: BinaryIO, path: Path, line: int = 0) -> Iterator[bytes]:
    """Yield pieces of a file that end with a line end; `line` lines were read before."""
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
