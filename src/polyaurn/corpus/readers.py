"""`read_corpus`: recognise the format of a file, and read it."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from polyaurn.base.checks import check_one_of, check_path
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.matrix_market import read_matrix_market
from polyaurn.corpus.pairs import read_pairs
from polyaurn.corpus.pruning import check_pruning
from polyaurn.corpus.table_files import read_parquet, read_table
from polyaurn.corpus.text import WORD, check_pattern, stop_list
from polyaurn.corpus.text_files import Texts, check_encoding, read_folder, read_lines, read_mallet
from polyaurn.corpus.uci import read_uci
from polyaurn.corpus.urn_file import is_urn, read_urn
from polyaurn.files.reading import check_proportion, open_bytes

BAG_FORMATS = ("uci", "matrix-market", "svmlight", "ldac")
_PAIRS = re.compile(rb"\s*[-+.\d]+(\s+\d+:\S+)*\s*(#.*)?")
TEXT_OPTIONS = (
    "stop_words",
    "ngram_range",
    "lowercase",
    "token_pattern",
    "tokenizer",
    "strip_accents",
)
TABLE_OPTIONS = ("encoding", "text_column", "name_column", "separator")
TEXT_FORMATS = ("lines", "table", "parquet", "folder", "mallet")


def read_corpus(
    path: str | Path,
    *,
    format: str | None = None,
    vocabulary: Any = None,
    text_column: str | int | None = None,
    name_column: str | int | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    transpose: bool = False,
    min_count: int | None = None,
    max_doc_fraction: float = 1.0,
    max_words: int | None = None,
    **text_options: Any,
) -> Corpus:
    """Read a corpus from a file or a folder, plain or gzipped.

    The format is recognised: UCI bag of words (``docword.NAME.txt`` with ``vocab.NAME.txt`` beside
    it), MatrixMarket, SVMlight, LDA-C, text with one document per line, CSV, TSV or Parquet with a
    text column, a folder of ``.txt`` files, MALLET's three columns, or a file that `import_corpus`
    wrote, which is mapped into memory.

    Parameters
    ----------
    path : str or Path
        The file or folder.
    format : str, optional
        "uci", "matrix-market", "svmlight", "ldac", "lines", "table", "parquet", "folder" or
        "mallet", if the format is not recognised correctly.
    vocabulary : path or sequence of str, optional
        The words of a bag of words, if they are not in a file beside it.
    text_column : str or int, optional
        Column of a table that holds the text; "text" by default. A number, from 0, is for a
        table without a first row of column names.
    name_column : str or int, optional
        Column of a table with document names.
    separator : str, optional
        Separator of the columns of a table; found in the first line if not given.
    encoding : str
        Encoding of text files.
    transpose : bool
        Whether the MatrixMarket file holds words by documents.
    min_count : int, optional
        Drop words seen fewer than this many times. By default no word of a bag of words is dropped.
    max_doc_fraction : float
        Drop words that occur in more than this share of the documents.
    max_words : int, optional
        Keep this many words, those of highest TF-IDF.
    **text_options
        How text becomes counts; see `Corpus.from_texts`.

    Returns
    -------
    Corpus
        Empty documents keep their place.
    """
    path = check_path(path, "path")
    check_text_options(text_options)
    check_pruning(min_count or 0, max_doc_fraction, max_words)
    check_encoding(encoding)
    if format is not None:
        formats = (*BAG_FORMATS, *TEXT_FORMATS, "urn")
        check_one_of(format, "format", formats, remedy="leave it out to have it recognised")
    chosen = format or recognise(path)
    pruning: dict[str, Any] = {
        "min_count": min_count or 0,
        "max_doc_fraction": max_doc_fraction,
        "max_words": max_words,
    }
    if chosen == "urn":
        if text_options or vocabulary is not None:
            raise InputError(
                f"The '{next(iter(text_options), 'vocabulary')}' parameter is for text or counts, "
                f"but '{path}' has already been imported. Leave it out, or import the corpus again."
            )
        return read_urn(path).prune(**pruning)
    if chosen in BAG_FORMATS:
        reject_text_options(path, chosen, text_options)
        corpus = _read_bag(path, chosen, vocabulary, transpose)
    else:
        reject_vocabulary(path, chosen, vocabulary)
        documents = stream_texts(
            path,
            chosen,
            encoding=encoding,
            text_column=text_column,
            name_column=name_column,
            separator=separator,
        )
        corpus = _count_texts(path, chosen, documents, text_options)
    return corpus.prune(**pruning)


def recognise(path: Path) -> str:
    """Return the format of a file or folder, a `format` of `read_corpus`, from its first lines."""
    if not path.exists():
        raise InputError(f"The file '{path}' does not exist. Check the path.")
    if path.is_dir():
        return "folder"
    with open_bytes(path) as file:
        head = file.read(1 << 16)
    if not head:
        raise InputError(f"The file '{path}' is empty. Give a file with documents.")
    name = re.sub(r"\.gz$", "", path.name.lower())
    lines = head.split(b"\n")
    lines = lines[:-1] if len(head) == 1 << 16 else lines
    some = [line for line in lines if line.strip()][:50]
    if is_urn(head):
        return "urn"
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


def _count_texts(path: Path, format: str, documents: Texts, options: dict[str, Any]) -> Corpus:
    """Count the words of texts as they are read, so that texts are not kept in memory."""
    first = next(documents, None)
    if first is None:
        raise InputError(f"The file '{path}' must hold at least one document. Got none.")
    names: list[str] = []

    def texts() -> Iterator[str]:
        for d, (name, text) in enumerate(chain([first], documents)):
            if d % 10_000 == 0:
                check_proportion(path, documents=d)
            if format != "lines":  # whose documents are numbered
                names.append(name)
            yield text

    try:
        return Corpus.from_texts(texts(), doc_names=names, **options)
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"The file '{path}': {error}") from None


def _read_bag(path: Path, format: str, vocabulary: Any, transpose: bool) -> Corpus:
    if format == "uci":
        return read_uci(path, vocabulary)
    if format == "matrix-market":
        return read_matrix_market(path, vocabulary, transpose=transpose)
    return read_pairs(path, vocabulary, ldac=format == "ldac")


def stream_texts(
    path: Path,
    format: str,
    *,
    encoding: str = "utf-8",
    text_column: Any = None,
    name_column: Any = None,
    separator: str | None = None,
) -> Texts:
    """Return an iterator over names and texts of documents; options as those of `read_corpus`."""
    if format == "folder":
        return read_folder(path, encoding)
    if format == "table" or (format == "mallet" and text_column is not None):
        return read_table(path, encoding, text_column, name_column, separator)
    if format == "parquet":
        return read_parquet(path, text_column, name_column)
    if format == "mallet":
        return read_mallet(path, encoding)
    return read_lines(path, encoding)


def reject_text_options(path: Path, format: str, options: dict[str, Any]) -> None:
    """Raise an error if options for text are given for a file of counts."""
    for name in options:
        if name in TEXT_OPTIONS:
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


def check_text_options(options: dict[str, Any]) -> None:
    """Raise an error for unknown or unusable options for text."""
    if isinstance(options.get("stop_words"), str | Path):
        stop_list(options["stop_words"])
    check_pattern(options.get("token_pattern", WORD))
    for name in options:
        if name not in TEXT_OPTIONS:
            raise InputError(
                f"The '{name}' parameter is unknown. Options for text are "
                f"{', '.join(TEXT_OPTIONS)}."
            )
