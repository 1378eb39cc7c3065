"""Tables with a column of text: CSV, TSV and Parquet."""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from polyaurn.base.checks import is_whole, wrong
from polyaurn.base.errors import InputError
from polyaurn.corpus.text_files import Texts, decoded_lines, files_below
from polyaurn.files.reading import RATIO, longest_line, most_bytes, one_line

PARQUET = (".parquet", ".pq")


def read_table(
    path: Path,
    encoding: str,
    text_column: str | int | None,
    name_column: str | int | None,
    separator: str | None = None,
) -> Texts:
    """Yield the name and text of each row of a CSV or TSV file.

    The first row has column names unless `text_column` is a number, from 0, or -1 for the last
    column. By default the text is in the column "text", and rows have no names.
    """
    rows = enumerate(_rows(path, encoding, separator), start=1)
    if is_whole(text_column):
        columns: list[Any] = [text_column]
        if name_column is not None:
            if not is_whole(name_column):
                remedy = "a column name needs a first row of names, and a 'text_column' that is one"
                raise wrong("name_column", "a number, as 'text_column' is", name_column, remedy)
            columns.append(name_column)
    else:
        _, header = next(rows, (0, []))
        columns = [_find(path, header, text_column, "text_column")]
        if name_column is not None:
            columns.append(_find(path, header, name_column, "name_column"))
    for line, row in rows:
        if not row:
            continue
        try:
            picked = [row[c] for c in columns]
        except IndexError:
            least = max(c + 1 if c >= 0 else -c for c in columns)
            raise InputError(
                f"The file '{path}', row {line}: expected at least {least} columns. Got "
                f"{len(row)}; is the separator right, or a quotation mark left open?"
            ) from None
        yield picked[-1] if len(picked) > 1 else None, picked[0]


def row_of(
    path: Path,
    document: int,
    encoding: str,
    text_column: str | int | None,
    separator: str | None,
) -> int:
    """Return in which row of a CSV or TSV file a document is, counted from 1 with the header."""
    rows = enumerate(_rows(path, encoding, separator), start=1)
    if not is_whole(text_column):
        next(rows, None)
    return next(islice((number for number, row in rows if row), document, None))


def read_parquet(path: Path, text_column: Any, name_column: Any) -> Texts:
    """Yield the name and text of each row of a Parquet file, or of all files in a folder.

    Files of a folder and its subfolders follow one another in order of their names, and must all
    have the columns. Only a few rows are in memory at a time. Missing texts are empty documents.
    """
    if path.is_dir():
        for _, file in sorted(files_below(path, PARQUET)):
            yield from read_parquet(file, text_column, name_column)
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"The file '{path}' is a Parquet file, which needs the package pyarrow. Install it "
            "with: pip install 'polyaurn[parquet]'."
        ) from None
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            wanted = [_find(path, schema.names, text_column, "text_column")]
            kind = schema.field(wanted[0]).type
            if not any(word in str(kind) for word in ("string", "utf8")):
                raise InputError(
                    f"The 'text_column' parameter must name a column of text in '{path}'. Got "
                    f"{schema.names[wanted[0]]!r}, which holds {str(kind)[:60]}; choose another "
                    "column."
                )
            if name_column is not None:
                wanted.append(_find(path, schema.names, name_column, "name_column"))
            names = [schema.names[column] for column in wanted]
            if any(schema.names.count(name) > 1 for name in names):
                raise InputError(
                    f"The file '{path}' must have one column of each name. Got several called "
                    f"{names[0][:30]!r}; rename them."
                )
            yield from _parquet_rows(path, file, names)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        raise InputError(
            f"The file '{path}' must be a readable Parquet file. {one_line(error)}; write "
            "or copy it again."
        ) from None


def _parquet_rows(path: Path, file: Any, names: list[str]) -> Texts:
    """Yield names and texts; few rows at a time, since equal texts are stored once in a file."""
    left = most_bytes(path)
    for batch in file.iter_batches(batch_size=32, columns=list(dict.fromkeys(names))):
        columns = [batch[name].to_pylist() for name in names]
        for row in zip(*columns, strict=True):
            text = "" if row[0] is None else str(row[0])
            left -= len(text) + 1
            if left < 0:
                raise InputError(
                    f"The file '{path}' must not unpack to more than {RATIO} times its size. "
                    "It does, as files made to exhaust memory do; if that is intended, write it "
                    "as CSV."
                )
            yield str(row[1]) if len(row) > 1 else None, text


def _rows(path: Path, encoding: str, separator: str | None) -> Iterator[list[str]]:
    """Yield the fields of each row.

    The default separator is a tab in ``.tsv`` and ``.tab`` files, else the comma, semicolon or tab
    that the first line has most of outside quotation marks.
    """
    lines = decoded_lines(path, encoding)
    head = next(lines, "")
    if separator is None:
        tabbed = re.search(r"\.(tsv|tab)(\.gz)?$", path.name.lower())
        bare = re.sub(r'"[^"]*"', "", head)
        separator = "\t" if tabbed else max(",;\t", key=bare.count)
    if not isinstance(separator, str) or len(separator) != 1:
        raise wrong("separator", "one character", separator)
    csv.field_size_limit(longest_line(path))
    together = (line + "\n" for part in ([head], lines) for line in part)
    yield from _split_rows(path, together, separator)


def _split_rows(path: Path, lines: Iterator[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each row; a quoted field may hold separators and line ends.

    In tab-separated files a quotation mark may also be plain text: a field that begins with one,
    and closes it before its end on the same line, is taken as it is.
    """
    line = ""

    def remembered() -> Iterator[str]:
        nonlocal line
        for text in lines:
            line = text
            yield text

    reader = csv.reader(remembered(), delimiter=separator, strict=True)
    tabs = separator == "\t"
    while True:
        before = reader.line_num
        try:
            row = next(reader, None)
        except csv.Error as error:
            if tabs and reader.line_num == before + 1 and "end of data" not in str(error):
                row = line.rstrip("\n").split("\t")
            else:
                raise InputError(
                    f"The file '{path}', line {before + 1}: expected rows with {separator!r} "
                    f"between columns. Got {error} at line {reader.line_num}; is a quotation mark "
                    "left open? Inside a quoted field it is written twice."
                ) from None
        if row is None:
            return
        yield row if row or not tabs else [""]


def _find(path: Path, header: list[str], column: Any, parameter: str) -> int:
    """Return the number of a column of a table with column names."""
    if is_whole(column):
        if not -len(header) <= column < len(header):
            raise InputError(
                f"The '{parameter}' parameter must be one of the {len(header)} columns of "
                f"'{path}'. Got number {column} instead."
            )
        return int(column % len(header))
    wanted = "text" if column is None else column
    if not isinstance(wanted, str):
        raise wrong(parameter, "the name or number of a column", column)
    plain = [name.strip().lower() for name in header]
    if wanted in header:
        return header.index(wanted)
    if wanted.lower() in plain:
        return plain.index(wanted.lower())
    shown = ", ".join(repr(name[:30]) for name in header[:12])
    got = "nothing, and there is no column 'text'" if column is None else repr(column)
    raise InputError(
        f"The '{parameter}' parameter must name a column of '{path}', which has {shown}. Got "
        f"{got}; in a CSV or TSV file without names give the column's number from 0."
    )
