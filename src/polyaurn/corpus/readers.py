"""`read_corpus`: recognise the format of a file, and read it."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from polyaurn.base.checks import check_one_of, check_path, wrong
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrow import as_table, corpus_of_table, is_arrow_table
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.count_files import corpus_of
from polyaurn.corpus.cutter import filter_of
from polyaurn.corpus.entries import CountMatrix
from polyaurn.corpus.hdf5_files import MARK, hdf5_matrix
from polyaurn.corpus.json_lines import (
    are_json_lines,
    holds_tokens,
    read_json_lines,
    read_json_tokens,
)
from polyaurn.corpus.languages import AUTO
from polyaurn.corpus.matrix_market import market_matrix
from polyaurn.corpus.matrix_names import matrix_in
from polyaurn.corpus.pairs import read_pairs
from polyaurn.corpus.preparation import prepared
from polyaurn.corpus.pruning import WordChoice, checked_choice, choice_for_text
from polyaurn.corpus.selection import check_min_tokens, keep_long, keep_words
from polyaurn.corpus.table_files import PARQUET, read_parquet, read_table
from polyaurn.corpus.text_files import (
    HTML,
    TEXT,
    Texts,
    check_encoding,
    files_below,
    read_folder,
    read_lines,
    read_mallet,
)
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.corpus.uci import uci_matrix
from polyaurn.corpus.urn_file import is_urn, read_urn
from polyaurn.corpus.word_filter import WordFilter
from polyaurn.files.reading import check_proportion, open_bytes

BAG_FORMATS = ("uci", "matrix-market", "hdf5", "svmlight", "ldac")
MATRICES = ("uci", "matrix-market", "hdf5")  # counts that are read in pieces
_PAIRS = re.compile(rb"\s*[-+.\d]+(\s+\d+:\S+)*\s*(#.*)?")
TEXT_OPTIONS = (
    "stop_words",
    "ngram_range",
    "lowercase",
    "token_pattern",
    "tokenizer",
    "strip_accents",
    "language",
    "stem",
    "html",
)
TABLE_OPTIONS = ("encoding", "text_column", "name_column", "separator")
TABLE_FORMATS = ("table", "parquet", "jsonl")  # text in a column, beside others
TEXT_FORMATS = ("lines", *TABLE_FORMATS, "folder", "mallet")
_APPLIES_TO = {  # options that only some formats take
    "text_column": TABLE_FORMATS,
    "name_column": TABLE_FORMATS,
    "separator": ("table",),
    "encoding": ("lines", "table", "jsonl", "folder", "mallet"),
    "transpose": ("matrix-market", "hdf5"),
    "doc_names": ("matrix-market", "hdf5"),
    "layer": ("hdf5",),
    "binarise": MATRICES,
    "min_tokens": (*BAG_FORMATS, "urn"),
}
_DEFAULTS = {"encoding": "utf-8", "transpose": False, "binarise": False}
MATRIX_OPTIONS = ("vocabulary", "doc_names", "transpose", "binarise", "layer")


def read_corpus(
    path: Any,
    *,
    format: str | None = None,
    vocabulary: Any = None,
    text_column: str | int | None = None,
    name_column: str | int | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    transpose: bool = False,
    binarise: bool = False,
    doc_names: Any = None,
    layer: str | None = None,
    min_tokens: int | None = None,
    min_count: int | None = None,
    max_doc_fraction: float = 1.0,
    max_words: int | None = None,
    min_df: int | float | str | None = None,
    max_df: int | float | str | None = None,
    max_features: int | None = None,
    flat_words: str | None = None,
    phrases: bool = False,
    tokenization: Tokenization | None = None,
    **text_options: Any,
) -> Corpus:
    """Read a corpus from a file or a folder, plain or gzipped.

    The format is recognised: UCI bag of words (``docword.NAME.txt`` with ``vocab.NAME.txt`` beside
    it), MatrixMarket (with names of 10x Genomics or pycisTopic beside it), HDF5 of 10x Genomics and
    AnnData, SVMlight, LDA-C, text with one document per line, CSV, TSV, JSON Lines or Parquet with
    a text column (in JSON Lines also lists of tokens, which are counted as they are), a folder of
    ``.txt`` files or of Parquet, MALLET's three columns, or a file that `import_corpus` wrote,
    which is mapped into memory. Tables of other libraries are read through ``__arrow_c_stream__``:
    Polars, DuckDB, Arrow, pandas.

    Parameters
    ----------
    path : str, Path or table
        The file or folder, or an object with ``__arrow_c_stream__``.
    format : str, optional
        "uci", "matrix-market", "hdf5", "svmlight", "ldac", "lines", "table", "parquet", "jsonl",
        "folder" or "mallet", if the format is not recognised correctly.
    vocabulary : path or sequence of str, optional
        The words of a bag of words, if they are not in a file beside it, or in it.
    text_column : str or int, optional
        Column of a table that holds the text, or key of JSON Lines, "body.text" for a key inside
        another; "text" by default. A number,
        from 0, is for a table without a first row of column names.
    name_column : str or int, optional
        Column of a table, or key of JSON Lines, with document names.
    separator : str, optional
        Separator of the columns of a table; found in the first line if not given.
    encoding : str
        Encoding of text files.
    transpose : bool
        Whether the file of MatrixMarket or AnnData holds words by documents. HDF5 of 10x Genomics
        always does, and is read in the same way without it.
    binarise : bool
        For UCI, MatrixMarket and HDF5: count each word of a document once, where its entry is
        above 0; entries of the last two may then be fractional or negative.
    doc_names : path or sequence of str, optional
        Names of the documents of MatrixMarket and HDF5, if they are not in a file beside it, or in
        it; in a file with several columns, the first one.
    layer : str, optional
        For AnnData: the layer that holds the counts; X when not given.
    min_tokens : int, optional
        For counts: drop documents with fewer tokens than this, once words are chosen. By default
        all documents keep their place, even empty ones.
    min_count : int, optional
        Drop words seen fewer than this many times. By default no word of a bag of words is dropped.
    max_doc_fraction : float
        Drop words that occur in more than this share of the documents.
    max_words : int, optional
        Keep this many words, those of highest TF-IDF.
    min_df, max_df, max_features, flat_words : optional
        Which words to keep by the documents they occur in; see `Corpus.from_texts`, whose defaults
        apply to text. For counts, and where a `tokenization` is given, no word is dropped by
        default.
    phrases : bool
        Find phrases of two or three words in text, and count them as words.
    tokenization : Tokenization, optional
        Cut text as another corpus or model did, ``model.tokenization``.
    **text_options
        How text becomes counts; see `Corpus.from_texts`.

    Returns
    -------
    Corpus
        Empty documents keep their place.
    """
    rule = check_text_options(text_options, tokenization)
    pruning = checked_choice(
        min_count, max_doc_fraction, max_words, min_df, max_df, max_features, flat_words
    )
    check_min_tokens(min_tokens)
    check_encoding(encoding)
    path = as_table(path)
    if is_arrow_table(path):
        given = {"format": format, "vocabulary": vocabulary, "separator": separator}
        _reject_for_tables(given)
        choice = word_choice("parquet", tokenization, pruning)
        return corpus_of_table(path, text_column, name_column, rule, choice, phrases=phrases)
    path = check_path(path, "path")
    if format is not None:
        formats = (*BAG_FORMATS, *TEXT_FORMATS, "urn")
        check_one_of(format, "format", formats, remedy="leave it out to have it recognised")
    chosen = format or recognise(path)
    columns: dict[str, Any] = {
        "text_column": text_column,
        "name_column": name_column,
        "separator": separator,
        "encoding": encoding,
    }
    matrix = {
        "vocabulary": vocabulary, "doc_names": doc_names,
        "transpose": transpose, "binarise": binarise, "layer": layer,
    }  # fmt: skip
    chosen = check_options(path, chosen, columns | matrix | {"min_tokens": min_tokens})
    choice = word_choice(chosen, tokenization, pruning)
    text_options |= {"phrases": phrases} if phrases else {}
    if chosen == "urn":
        unwanted = [*text_options, *(["tokenization"] if tokenization else []), "vocabulary"]
        if unwanted[1:] or vocabulary is not None:
            raise InputError(
                f"The '{unwanted[0]}' parameter is for text or counts, "
                f"but '{path}' has already been imported. Leave it out, or import the corpus again."
            )
        return keep_long(keep_words(read_urn(path), choice), min_tokens)
    if chosen in BAG_FORMATS:
        options = text_options | ({"tokenization": tokenization} if tokenization else {})
        reject_text_options(path, chosen, options)
        if chosen in MATRICES:
            corpus = corpus_of(open_matrix(path, chosen, **matrix))
        else:
            corpus = read_pairs(path, vocabulary, ldac=chosen == "ldac")
    elif chosen == "jsonl" and holds_tokens(path, encoding, text_column):
        reject_text_options(path, "lists of tokens", text_options)
        choice = word_choice("", tokenization, pruning)  # as for counts
        corpus = _count_tokens(path, read_json_tokens(path, encoding, text_column, name_column))
    else:
        reject_vocabulary(path, chosen, vocabulary)
        again = partial(stream_texts, path, chosen, html=rule.html, **columns)
        rule = prepared(rule, phrases, lambda: (text for _, text in again()))
        words = filter_of(rule)
        corpus = _count_texts(path, again(), rule, words)
        return keep_words(corpus, choice, words.left_out())
    corpus = keep_words(corpus, choice)  # in place of the whole one, which takes memory
    return keep_long(corpus, min_tokens)


def recognise(path: Path) -> str:
    """Return the format of a file or folder, a `format` of `read_corpus`, from its first lines."""
    if not path.exists():
        raise InputError(f"The file '{path}' does not exist. Check the path.")
    if matrix_in(path) != path:
        return "matrix-market"
    if path.is_dir():
        texts = next(files_below(path, (*TEXT, *HTML)), None)
        return "parquet" if texts is None and next(files_below(path, PARQUET), None) else "folder"
    with open_bytes(path) as file:
        head = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf")
    if not head:
        raise InputError(f"The file '{path}' is empty. Give a file with documents.")
    name = re.sub(r"\.gz$", "", path.name.lower())
    lines = head.split(b"\n")
    lines = lines[:-1] if len(head) == 1 << 16 else lines
    some = [line for line in lines if line.strip()][:50]
    if is_urn(head):
        return "urn"
    if head.startswith(MARK):
        return "hdf5"
    if head.startswith(b"PAR1") or name.endswith((".parquet", ".pq")):
        return "parquet"
    if b"\0" in head:
        raise InputError(
            f"The file '{path}' must be text or counts. It is binary; is it compressed by "
            "something other than gzip, or a document of a word processor?"
        )
    if head.startswith(b"%%MatrixMarket") or name.endswith(".mtx"):
        return "matrix-market"
    if name.startswith("docword.") or (
        len(some) >= 3 and all(re.fullmatch(rb"\s*\d+\s*", line) for line in some[:3])
    ):
        return "uci"
    if name.endswith((".csv", ".tsv", ".tab")):
        return "mallet" if _looks_like_mallet(some, name) else "table"
    if name.endswith((".jsonl", ".ndjson", ".jsonlines")) or are_json_lines(some):
        return "jsonl"
    if any(b":" in line for line in some) and all(map(_PAIRS.fullmatch, some)):
        if name.endswith((".svm", ".svmlight", ".libsvm")):
            return "svmlight"
        counted = all(line.split()[0] == b"%d" % line.count(b":") for line in some)
        return "ldac" if counted or name.endswith(".ldac") else "svmlight"
    if _looks_like_mallet(some, name):
        return "mallet"
    return "lines"


def _looks_like_mallet(lines: list[bytes], name: str) -> bool:
    """Return whether all lines have three tab-separated columns, none of them called text."""
    if name.endswith(".csv") or not lines:
        return False
    first = [field.strip(b'" \r').lower() for field in lines[0].split(b"\t")]
    return all(line.count(b"\t") == 2 for line in lines) and b"text" not in first


def _reject_for_tables(options: dict[str, Any]) -> None:
    """Raise an error if options for files are given for a table in memory."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                f"The '{name}' parameter is for files, but the corpus is a table in memory. Leave "
                "it out."
            )


def word_choice(
    format: str, tokenization: Tokenization | None, pruning: dict[str, Any]
) -> WordChoice:
    """Return which words are kept; for text that is not cut as a model's was, by the defaults."""
    if format in TEXT_FORMATS and tokenization is None:
        return choice_for_text(**pruning)
    return WordChoice(**pruning)


def _count_texts(
    path: Path, documents: Texts, tokenization: Tokenization, words: WordFilter
) -> Corpus:
    """Count the words of texts as they are read, so that texts are not kept in memory."""
    first = next(documents, None)
    if first is None:
        raise InputError(f"The file '{path}' must hold at least one document. Got none.")
    names: list[str] = []

    def texts() -> Iterator[str]:
        for d, (name, text) in enumerate(chain([first], documents)):
            if d % 10_000 == 0:
                check_proportion(path, documents=d)
            if name is not None:
                names.append(name)
            yield text

    try:
        return Corpus.cut(texts(), tokenization, doc_names=names, words=words)
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"The file '{path}': {error}") from None


def _count_tokens(path: Path, documents: Iterator[tuple[str | None, list[str]]]) -> Corpus:
    """Count tokens as they are given."""
    names: list[str] = []

    def lists() -> Iterator[list[str]]:
        for name, tokens in documents:
            if name is not None:
                names.append(name)
            yield tokens

    return Corpus.from_tokens(lists(), doc_names=names)


def open_matrix(
    path: Path,
    format: str,
    *,
    vocabulary: Any = None,
    doc_names: Any = None,
    transpose: bool = False,
    binarise: bool = False,
    layer: str | None = None,
    folder: Path | None = None,
) -> CountMatrix:
    """Open a file of counts that can be read in pieces; options as those of `read_corpus`.

    Temporary files, where one is needed, are in the `folder`.
    """
    if format == "uci":
        return uci_matrix(path, vocabulary, binarise=binarise)
    how: dict[str, Any] = {"transpose": transpose, "binarise": binarise}
    if format == "hdf5":
        return hdf5_matrix(path, vocabulary, doc_names, layer=layer, folder=folder, **how)
    return market_matrix(path, vocabulary, doc_names, **how)


def stream_texts(
    path: Path,
    format: str,
    *,
    encoding: str = "utf-8",
    text_column: Any = None,
    name_column: Any = None,
    separator: str | None = None,
    html: bool = False,
) -> Texts:
    """Return an iterator over names and texts of documents; options as those of `read_corpus`."""
    if format == "folder":
        return read_folder(path, encoding, html=html)
    if format == "table":
        return read_table(path, encoding, text_column, name_column, separator)
    if format == "jsonl":
        return read_json_lines(path, encoding, text_column, name_column)
    if format == "parquet":
        return read_parquet(path, text_column, name_column)
    if format == "mallet":
        return read_mallet(path, encoding)
    return read_lines(path, encoding)


def check_options(path: Path, format: str, options: dict[str, Any]) -> str:
    """Return the format; raise an error for an option that has no effect on it.

    A file that looks like MALLET's three columns is a table where a text column is named.
    """
    if format == "mallet" and options.get("text_column") is not None:
        format = "table"
    for name, formats in _APPLIES_TO.items():
        value = options.get(name)
        if value is not None and value != _DEFAULTS.get(name) and format not in formats:
            table = " give the format 'table' (--format table), or" if name in TABLE_OPTIONS else ""
            raise InputError(
                f"The '{name}' parameter is for {', '.join(formats)}, but '{path}' was read as "
                f"{format}. If that is not right,{table} name its format; else leave it out."
            )
    return format


def reject_text_options(path: Path, format: str, options: dict[str, Any]) -> None:
    """Raise an error if options for text are given for a file of counts."""
    for name in options:
        if name in (*TEXT_OPTIONS, "phrases", "tokenization"):
            raise InputError(
                f"The '{name}' parameter is for text, but '{path}' holds counts ({format}). Leave "
                "it out, or give the text itself."
            )


def reject_vocabulary(path: Path, format: str, vocabulary: Any) -> None:
    """Raise an error if a vocabulary is given for a file of text."""
    if vocabulary is not None:
        raise InputError(
            f"The 'vocabulary' parameter is for bags of words, but '{path}' holds text "
            f"({format}). Leave it out; words are found in the text."
        )


def check_text_options(options: dict[str, Any], tokenization: Any = None) -> Tokenization:
    """Return how text becomes words, given whole or by options; raise an error for bad ones."""
    for name in options:
        if name not in TEXT_OPTIONS:
            raise InputError(
                f"The '{name}' parameter is unknown. Options for text are "
                f"{', '.join(TEXT_OPTIONS)}."
            )
    if tokenization is None:
        return Tokenization(**({"language": AUTO} | options))
    if not isinstance(tokenization, Tokenization):
        raise wrong("tokenization", "a Tokenization, such as model.tokenization", tokenization)
    if options:
        raise InputError(
            f"The 'tokenization' parameter must stand without '{next(iter(options))}', which is "
            "part of it. Got both; give one of them."
        )
    return tokenization
