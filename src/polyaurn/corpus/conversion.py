"""`import_corpus`: convert a corpus to a mapped file, piece by piece.

Memory holds the vocabulary and one piece. Tokens are written to a temporary file as they are read,
with words numbered in the order in which they are first seen. When the counts of all words are
known, words are pruned and sorted, and the tokens are written again.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from polyaurn.base.arrays import I32, I64
from polyaurn.base.checks import wrong
from polyaurn.base.errors import InputError
from polyaurn.base.events import report
from polyaurn.corpus.anndata import is_anndata
from polyaurn.corpus.arrays import sort_inside_documents
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.count_files import without_counts
from polyaurn.corpus.cutter import filter_of
from polyaurn.corpus.entries import NotInOrder, documents_in_order, documents_sorted
from polyaurn.corpus.json_lines import holds_tokens
from polyaurn.corpus.names import Numbered
from polyaurn.corpus.preparation import prepared
from polyaurn.corpus.pruning import WordChoice, checked_choice, document_frequency, words_to_keep
from polyaurn.corpus.readers import (
    MATRICES,
    MATRIX_OPTIONS,
    TABLE_OPTIONS,
    TEXT_FORMATS,
    check_options,
    check_text_options,
    open_matrix,
    read_corpus,
    recognise,
    reject_text_options,
    reject_vocabulary,
    stream_texts,
    word_choice,
)
from polyaurn.corpus.selection import check_min_tokens, check_some_long, report_of
from polyaurn.corpus.stems import Tally, shown_forms
from polyaurn.corpus.text import count_words
from polyaurn.corpus.text_files import Texts
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.corpus.urn_file import UrnWriter, read_urn, write_urn
from polyaurn.corpus.word_filter import WordFilter
from polyaurn.files.atomic import check_new_file
from polyaurn.files.reading import check_proportion

DOCUMENTS_PER_PIECE = 5_000
TOKENS_PER_PIECE = 1 << 22


class Piece(NamedTuple):
    """Some documents: their lengths, the words of their tokens, and their names."""

    lengths: I64
    word: I32
    names: list[str]  # empty where documents are numbered


Source = tuple[Iterator[Piece], Callable[[], Sequence[str]]]  # documents, and then their words


def import_corpus(
    path: str | Path,
    out: str | Path,
    *,
    min_count: int | None = None,
    max_doc_fraction: float = 1.0,
    max_words: int | None = None,
    min_df: int | float | str | None = None,
    max_df: int | float | str | None = None,
    max_features: int | None = None,
    flat_words: str | None = None,
    min_tokens: int | None = None,
    phrases: bool = False,
    on_piece: Callable[[int], None] | None = None,
    **reading: Any,
) -> Corpus:
    """Convert a corpus into a file that is mapped into memory when it is used.

    The documents are those that `read_corpus` gives with the same options. Text, UCI files,
    MatrixMarket and HDF5 are read piece by piece, and sorted in temporary files beside `out` where
    their documents are not in order, as where words are in rows. Other files of counts are read
    into memory.

    Parameters
    ----------
    path : str or Path
        A file or folder that `read_corpus` reads.
    out : str or Path
        The file to write, ``NAME.urn``; an older one is replaced once the new one is complete.
    min_count, max_doc_fraction, max_words, min_df, max_df, max_features, flat_words
        Which words to keep; see `read_corpus`.
    min_tokens : int, optional
        Which documents of counts to keep; see `read_corpus`.
    phrases : bool
        Find phrases in text, which is then read three times.
    on_piece : callable, optional
        Called with the number of documents read so far.
    **reading
        Other options of `read_corpus`.

    Returns
    -------
    Corpus
        The file, opened.
    """
    path, target = _check_source(path), check_out(out)
    known = ("format", "tokenization", *MATRIX_OPTIONS, *TABLE_OPTIONS)
    options = {name: value for name, value in reading.items() if name not in known}
    rule = check_text_options(options, reading.get("tokenization"))
    pruning = checked_choice(
        min_count, max_doc_fraction, max_words, min_df, max_df, max_features, flat_words
    )
    check_min_tokens(min_tokens)
    format = reading.get("format") or recognise(path)
    format = check_options(path, format, reading | {"min_tokens": min_tokens})
    choice = word_choice(format, reading.get("tokenization"), pruning)
    if phrases and format not in TEXT_FORMATS:
        reject_text_options(path, format, {"phrases": phrases})
    columns = {name: reading[name] for name in TABLE_OPTIONS if name in reading}
    where = columns.get("encoding", "utf-8"), columns.get("text_column")
    if format in TEXT_FORMATS and not (format == "jsonl" and holds_tokens(path, *where)):
        again = partial(stream_texts, path, format, html=rule.html, **columns)
        tokenization = prepared(rule, phrases, lambda: (text for _, text in again()))
        filtered = filter_of(tokenization)
        source = _stream(path, format, reading, tokenization, filtered)
        return _import_in_pieces(
            path, target, source, choice, on_piece, tokenization=tokenization, filtered=filtered
        )
    if format in MATRICES:
        reject_text_options(path, format, reading)
        options = {name: reading[name] for name in MATRIX_OPTIONS if name in reading}
        matrix = open_matrix(path, format, folder=target.parent, **options)
        for documents in (documents_in_order(matrix), documents_sorted(matrix, target.parent)):
            try:
                source = (Piece(*part, []) for part in documents), lambda: matrix.words
                return _import_in_pieces(
                    path, target, source, choice, on_piece,
                    doc_names=matrix.names, min_tokens=min_tokens,
                )  # fmt: skip
            except NotInOrder:
                continue
    corpus = read_corpus(path, **reading, **pruning, min_tokens=min_tokens, phrases=phrases)
    return read_urn(write_urn(corpus, target))


def _check_source(path: Any) -> Path:
    """Return the path of what is imported; of an object of AnnData, say where its file is."""
    if isinstance(path, str | Path):
        return Path(path)
    remedy = "what is in memory needs no import, and LDA.fit takes it as it is"
    if is_anndata(path) and getattr(path, "filename", None) is not None:
        remedy = f"name its file, '{path.filename}', or write what was changed to another one"
    raise wrong("path", "the path of a file or folder", type(path).__name__, remedy)


def _import_in_pieces(
    path: Path,
    target: Path,
    source: Source,
    choice: WordChoice,
    on_piece: Callable[[int], None] | None,
    *,
    doc_names: Sequence[str] = (),
    min_tokens: int | None = None,
    tokenization: Tokenization | None = None,
    filtered: WordFilter | None = None,
) -> Corpus:
    """Convert documents that come in pieces; of text, with how it was cut and filtered."""
    pieces, vocabulary = source
    with tempfile.TemporaryFile(dir=target.parent) as tokens, UrnWriter(target) as writer:
        lengths, names, counts, frequency = _collect(path, pieces, tokens, on_piece)
        words = vocabulary()
        if not len(lengths):
            raise InputError(f"The file '{path}' must hold at least one document. Got none.")
        if not counts.any():
            if tokenization is None:
                raise without_counts(path, len(lengths))
            raise InputError(
                f"The file '{path}' must hold at least one token. Got {len(lengths):,} documents "
                "without any word; check the text column, the tokenisation and the stop words."
            )
        counts, frequency = (_add(np.zeros(len(words), np.int64), n) for n in (counts, frequency))
        used = np.flatnonzero(lengths)
        keep, dropped = words_to_keep(
            choice, words, counts, lambda: frequency, len(used),
            lambda places: _sample(tokens, lengths, used[places], len(words)),
        )  # fmt: skip
        if not keep.any():
            raise InputError(
                f"The pruning must leave at least one word. Got none of {len(words):,} words from "
                f"'{path}'; lower min_count and min_df, or raise max_df and max_doc_fraction."
            )
        order = np.flatnonzero(keep)
        if tokenization is not None:  # words in alphabetical order, as scikit-learn has them
            order = np.array(sorted(order.tolist(), key=words.__getitem__), np.int64)
        number = np.full(len(words), -1, np.int32)
        number[order] = np.arange(len(order))
        long = _rewrite(tokens, lengths, number, writer, min_tokens or 0)
        check_some_long(int(long.sum()), len(long), min_tokens or 0)
        documents: Sequence[str] = names or doc_names or Numbered(len(lengths))
        if not long.all():
            documents = [documents[d] for d in np.flatnonzero(long).tolist()]
        elif doc_names:
            documents = [" ".join(name.split()) for name in doc_names]
        writer.finish([words[v] for v in order.tolist()], documents, tokenization)
    imported = read_urn(target)
    if tokenization is None or filtered is None:
        return imported
    report = report_of(filtered.left_out(), len(keep), int(keep.sum()), dropped)
    rules = tokenization.with_forms(imported.vocab)  # and with its tokenizer
    return replace(imported, tokenization=rules, word_report=report)


def check_out(out: str | Path, *, force: bool = True) -> Path:
    """Return the absolute path of a file to write, or raise an error before any long work."""
    return check_new_file(out, force=force, what="'out' parameter", suffixes=(".urn",)).absolute()


def _stream(
    path: Path, format: str, reading: dict[str, Any], rule: Tokenization, filtered: WordFilter
) -> Source:
    """Return the documents of text in pieces, and a function for their words, once all are read."""
    reject_vocabulary(path, format, reading.get("vocabulary"))
    columns = {name: reading[name] for name in TABLE_OPTIONS if name in reading}
    seen: dict[str, int] = {}
    stems: Tally = {}
    documents = stream_texts(path, format, html=rule.html, **columns)

    def vocabulary() -> Sequence[str]:
        found = list(seen)
        return shown_forms(found, stems, {}) if rule.stem else found

    return _count_pieces(documents, seen, stems, rule, filtered), vocabulary


def _count_pieces(
    documents: Texts,
    seen: dict[str, int],
    stems: Tally,
    rule: Tokenization,
    filtered: WordFilter,
) -> Iterator[Piece]:
    """Count the words of texts; words not seen before get the next numbers."""
    while batch := list(islice(documents, DOCUMENTS_PER_PIECE)):
        names = [" ".join(name.split()) for name, _ in batch if name is not None]
        texts = (text for _, text in batch)
        matrix, words = count_words(texts, rule, empty=True, words=filtered, stems=stems)
        new = np.array([seen.setdefault(w, len(seen)) for w in words], np.int32)
        word = np.repeat(new[matrix.indices] if len(new) else matrix.indices, matrix.data)
        lengths = np.asarray(matrix.sum(axis=1)).ravel().astype(np.int64)
        yield Piece(lengths, word.astype(np.int32), names)


def _collect(
    path: Path, pieces: Iterator[Piece], tokens: Any, on_piece: Callable[[int], None] | None
) -> tuple[I64, list[str], I64, I64]:
    """Write tokens as they are read; return lengths, names, counts and document frequencies."""
    lengths: list[I64] = []
    names: list[str] = []
    counts, frequency = np.zeros(0, np.int64), np.zeros(0, np.int64)
    done = 0
    for piece in pieces:
        ends = np.concatenate(([0], np.cumsum(piece.lengths)))
        word = sort_inside_documents(ends, piece.word)
        tokens.write(word.view(np.uint8).data)
        lengths.append(piece.lengths)
        names.extend(piece.names)
        counts = _add(counts, np.bincount(word))
        frequency = _add(frequency, document_frequency(ends, word, 0))
        done += len(piece.lengths)
        check_proportion(path, documents=done)
        if on_piece is not None:
            on_piece(done)
    return np.concatenate([np.zeros(0, np.int64), *lengths]), names, counts, frequency


def _sample(tokens: Any, lengths: I64, documents: I64, n_words: int) -> sp.csr_matrix:
    """Return the counts of some documents from the temporary file."""
    ends = np.cumsum(lengths)
    found = []
    for d in documents.tolist():
        tokens.seek(4 * int(ends[d] - lengths[d]))
        found.append(np.frombuffer(tokens.read(4 * int(lengths[d])), np.int32))
    ptr = np.concatenate(([0], np.cumsum(lengths[documents])))
    word = np.concatenate(found)
    shape = (len(documents), n_words)
    counts = sp.csr_matrix((np.ones(len(word), np.int32), word, ptr), shape=shape)
    counts.sum_duplicates()
    return counts


def _rewrite(
    tokens: Any, lengths: I64, number: I32, writer: UrnWriter, min_tokens: int
) -> npt.NDArray[np.bool_]:
    """Write tokens with their final numbers, without the words and documents that are dropped.

    Return a mask of the documents that are kept.
    """
    tokens.seek(0)
    masks = []
    ends = np.cumsum(lengths)
    lo, at = 0, 0
    while lo < len(lengths):
        hi = max(lo + 1, int(np.searchsorted(ends, at + TOKENS_PER_PIECE, side="right")))
        n = int(ends[hi - 1]) - at
        word = number[np.frombuffer(tokens.read(4 * n), np.int32)]
        document = np.repeat(np.arange(hi - lo), lengths[lo:hi])
        stays = word >= 0
        kept = np.bincount(document[stays], minlength=hi - lo)
        long = kept >= min_tokens
        masks.append(long)
        stays &= long[document]
        ptr = np.concatenate(([0], np.cumsum(kept[long])))
        writer.add(kept[long], sort_inside_documents(ptr, word[stays]))
        report("writing tokens", n, int(ends[-1]))
        lo, at = hi, at + n
    return np.concatenate(masks)


def _add(total: I64, more: npt.NDArray[Any]) -> I64:
    """Return the sum of two vectors, the shorter of which is continued with zeros."""
    if len(more) > len(total):
        total = np.concatenate((total, np.zeros(len(more) - len(total), np.int64)))
    total[: len(more)] += more
    return total
