"""Any readable corpus to a mapped file, piece by piece: memory holds the vocabulary and one piece.

Tokens go to a temporary file as they are read, with numbers in the order in which words are
first seen. When the counts of all words are known, words are pruned and put in order, and the
tokens are written anew.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polyaurn.base.arrays import I32, I64
from polyaurn.base.errors import InputError
from polyaurn.base.events import report
from polyaurn.corpus import count_files as bagfiles
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered
from polyaurn.corpus.readers import (
    TABLE_OPTIONS,
    TEXT_FORMATS,
    TEXT_OPTIONS,
    check_text_options,
    read_corpus,
    recognise,
    refuse_text_options,
    refuse_vocabulary,
    stream_texts,
)
from polyaurn.corpus.text import check_pruning, count_words, keep_words
from polyaurn.corpus.urn_file import UrnWriter, read_urn, write_urn
from polyaurn.files.reading import check_proportion

DOCUMENTS_A_PIECE = 5_000
TOKENS_A_PIECE = 1 << 22


class Piece(NamedTuple):
    """Some documents: their lengths, the words of their tokens, and their names."""

    lengths: I64
    word: I32
    names: list[str]


def import_corpus(
    path: str | Path,
    out: str | Path,
    *,
    min_count: int | None = None,
    max_doc_fraction: float = 1.0,
    max_words: int | None = None,
    on_piece: Callable[[int], None] | None = None,
    **reading: Any,
) -> Corpus:
    """Convert a corpus into a file that is used where it lies.

    The documents are those that `read_corpus` gives with the same options. Text and UCI files
    are read piece by piece; other counts, and UCI files whose documents are not in order, pass
    through memory.

    Parameters
    ----------
    path : str or Path
        A file or folder that `read_corpus` reads.
    out : str or Path
        The file to write, ``NAME.urn``; one that is there is replaced when the new one is whole.
    min_count, max_doc_fraction, max_words
        Which words to keep; see `read_corpus`.
    on_piece : callable, optional
        Called with the number of documents read so far.
    **reading
        Other options of `read_corpus`.

    Returns
    -------
    Corpus
        The file, opened.
    """
    path, target = Path(path), check_out(out)
    known = ("format", "vocabulary", "transpose", *TABLE_OPTIONS)
    check_text_options({name: value for name, value in reading.items() if name not in known})
    check_pruning(min_count or 0, max_doc_fraction, max_words)
    format = reading.get("format") or recognise(path)
    pruning: dict[str, Any] = {
        "min_count": min_count,
        "max_doc_fraction": max_doc_fraction,
        "max_words": max_words,
    }
    if format in TEXT_FORMATS or format == "uci":
        try:
            return _import_in_pieces(path, target, format, reading, pruning, on_piece)
        except bagfiles.NotInOrder:
            pass
    return read_urn(write_urn(read_corpus(path, **reading, **pruning), target))


def _import_in_pieces(
    path: Path,
    target: Path,
    format: str,
    reading: dict[str, Any],
    pruning: dict[str, Any],
    on_piece: Callable[[int], None] | None,
) -> Corpus:
    pieces, vocabulary = _stream(path, format, reading)
    with tempfile.TemporaryFile(dir=target.parent) as tokens, UrnWriter(target) as writer:
        lengths, names, counts, frequency = _collect(path, pieces, tokens, on_piece)
        words = vocabulary()
        if not len(lengths):
            raise InputError(f"The file '{path}' must hold at least one document. Got none.")
        if not counts.any():
            raise InputError(
                f"The file '{path}' must hold at least one token. Got {len(lengths):,} documents "
                "without any word; check the text column, the tokenisation and the stop words."
            )
        counts, frequency = (_add(np.zeros(len(words), np.int64), n) for n in (counts, frequency))
        used = int((lengths > 0).sum())
        pruning = pruning | {"min_count": pruning["min_count"] or 0}
        keep = keep_words(counts, lambda: frequency, used, **pruning)
        if not keep.any():
            raise InputError(
                f"The pruning must leave at least one word. Got none of {len(words):,} words from "
                f"'{path}'; lower min_count or raise max_doc_fraction."
            )
        order = np.flatnonzero(keep)
        if format in TEXT_FORMATS:  # words in alphabetical order, as scikit-learn has them
            order = np.array(sorted(order.tolist(), key=words.__getitem__), np.int64)
        number = np.full(len(words), -1, np.int32)
        number[order] = np.arange(len(order))
        _rewrite(tokens, lengths, number, writer)
        numbered = not names or format == "lines"
        writer.finish(
            [words[v] for v in order.tolist()], Numbered(len(lengths)) if numbered else names
        )
    return read_urn(target)


def check_out(out: str | Path, *, force: bool = True) -> Path:
    """Refuse a file that a corpus could not be written to; called before long work."""
    target = Path(out).absolute()
    if target.suffix != ".urn":
        raise InputError(
            f"The 'out' parameter must name a file that ends in .urn. Got '{out}' instead; such "
            f"as '{Path(out).stem or 'corpus'}.urn'."
        )
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(
            f"The 'out' parameter must name a file in a folder that exists. Got '{out}'; create "
            "the folder or choose another name."
        )
    if target.exists() and not force:
        raise InputError(
            f"The file '{out}' is there already. Choose another name, or replace it with --force."
        )
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InputError(
            f"The file '{out}' cannot be written: {error.strerror} in '{target.parent}'. Choose a "
            "folder of your own."
        ) from None
    return target


def _stream(
    path: Path, format: str, reading: dict[str, Any]
) -> tuple[Iterator[Piece], Callable[[], Sequence[str]]]:
    """Return the documents in pieces and, for when they are read, the words."""
    if format == "uci":
        refuse_text_options(path, format, reading)
        words = bagfiles.uci_words(path, reading.get("vocabulary"))
        return (Piece(*part, []) for part in bagfiles.stream_uci(path)), lambda: words
    options = {name: value for name, value in reading.items() if name in TEXT_OPTIONS}
    refuse_vocabulary(path, format, reading.get("vocabulary"))
    columns = {name: reading[name] for name in TABLE_OPTIONS if name in reading}
    seen: dict[str, int] = {}
    documents = stream_texts(path, format, **columns)
    return _count_pieces(documents, seen, options), lambda: list(seen)


def _count_pieces(
    documents: Iterator[tuple[str, str]], seen: dict[str, int], options: dict[str, Any]
) -> Iterator[Piece]:
    """Count the words of texts; words not seen before get the next numbers."""
    while batch := list(islice(documents, DOCUMENTS_A_PIECE)):
        names = [" ".join(name.split()) for name, _ in batch]
        matrix, words = count_words((text for _, text in batch), empty=True, **options)
        new = np.array([seen.setdefault(w, len(seen)) for w in words], np.int32)
        word = np.repeat(new[matrix.indices] if len(new) else matrix.indices, matrix.data)
        lengths = np.asarray(matrix.sum(axis=1)).ravel().astype(np.int64)
        yield Piece(lengths, word.astype(np.int32), names)


def _collect(
    path: Path, pieces: Iterator[Piece], tokens: Any, on_piece: Callable[[int], None] | None
) -> tuple[I64, list[str], I64, I64]:
    """Write tokens as they come; return lengths, names, counts and document frequencies."""
    lengths: list[I64] = []
    names: list[str] = []
    counts, frequency = np.zeros(0, np.int64), np.zeros(0, np.int64)
    done = 0
    for piece in pieces:
        word = _sorted_inside(piece.lengths, piece.word)
        tokens.write(word.view(np.uint8).data)
        lengths.append(piece.lengths)
        names.extend(piece.names)
        document = np.repeat(np.arange(len(piece.lengths)), piece.lengths)
        first = np.ones(len(word), bool)
        first[1:] = (word[1:] != word[:-1]) | (document[1:] != document[:-1])
        counts = _add(counts, np.bincount(word))
        frequency = _add(frequency, np.bincount(word[first]))
        done += len(piece.lengths)
        check_proportion(path, documents=done)
        if on_piece is not None:
            on_piece(done)
    return np.concatenate([np.zeros(0, np.int64), *lengths]), names, counts, frequency


def _rewrite(tokens: Any, lengths: I64, number: I32, writer: UrnWriter) -> None:
    """Write tokens with their final numbers, without the words that were dropped."""
    tokens.seek(0)
    ends = np.cumsum(lengths)
    lo, at = 0, 0
    while lo < len(lengths):
        hi = max(lo + 1, int(np.searchsorted(ends, at + TOKENS_A_PIECE, side="right")))
        n = int(ends[hi - 1]) - at
        word = number[np.frombuffer(tokens.read(4 * n), np.int32)]
        document = np.repeat(np.arange(hi - lo), lengths[lo:hi])
        stays = word >= 0
        kept = np.bincount(document[stays], minlength=hi - lo)
        writer.add(kept, _sorted_inside(kept, word[stays]))
        report("writing tokens", n, int(ends[-1]))
        lo, at = hi, at + n


def _sorted_inside(lengths: I64, word: I32) -> I32:
    document = np.repeat(np.arange(len(lengths)), lengths)
    falls = word[1:] < word[:-1]
    if (falls & (document[1:] == document[:-1])).any():
        word = word[np.lexsort((word, document))]
    return np.ascontiguousarray(word, np.int32)


def _add(total: I64, more: npt.NDArray[Any]) -> I64:
    if len(more) > len(total):
        total = np.concatenate((total, np.zeros(len(more) - len(total), np.int64)))
    total[: len(more)] += more
    return total
