"""Files that hold text: one document a line, tables, folders, MALLET's three columns."""

import codecs
import csv
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.files import reading as files

Texts = Iterator[tuple[str, str]]  # the documents' names and texts, one after another


def read_lines(path: Path, encoding: str) -> Texts:
    """Read one document a line; an empty line is an empty document.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Such as "utf-8".

    Returns
    -------
    iterator of (str, str)
        Names and texts. Documents are named by their line.
    """
    for i, text in enumerate(_lines(path, encoding)):
        yield str(i + 1), text


def read_mallet(path: Path, encoding: str) -> Texts:
    """Read MALLET's three columns: a name, a label, and the rest of the line as text.

    Parameters
    ----------
    path : Path
        The file; columns are separated by tabs, or by blanks where a line has no two tabs.
    encoding : str
        Such as "utf-8".

    Returns
    -------
    iterator of (str, str)
        The first and the third column.
    """
    for i, line in enumerate(_lines(path, encoding)):
        fields = line.split("\t", 2) if line.count("\t") >= 2 else line.split(None, 2)
        if len(fields) < 2:
            raise InputError(
                f"The file '{path}', line {i + 1}: expected MALLET's three columns, name, label "
                f"and text. Got {line[:60]!r}; for one document a line use format 'lines'."
            )
        yield fields[0], fields[2] if len(fields) > 2 else ""


def read_table(
    path: Path,
    encoding: str,
    text_column: str | int | None,
    name_column: str | int | None,
    separator: str | None = None,
) -> Texts:
    """Read a CSV or TSV file.

    Parameters
    ----------
    path : Path
        The file. A first row with column names is expected unless `text_column` is a number.
    encoding : str
        Such as "utf-8".
    text_column : str, int or None
        Name of the column with the text ("text" when None), or its number from 0 in a file
        without names; -1 is the last.
    name_column : str, int or None
        The column with document names; rows are numbered when None.
    separator : str, optional
        Between columns. When None, a tab in ``.tsv`` and ``.tab`` files, else a comma, semicolon
        or tab, whichever the first line has most of outside quotation marks.

    Returns
    -------
    iterator of (str, str)
        Names and texts, one for each row.
    """
    rows = enumerate(_rows(path, encoding, separator), start=1)
    if isinstance(text_column, int):
        columns = [text_column] if name_column is None else [text_column, name_column]
    else:
        _, header = next(rows, (0, []))
        columns = [_find(path, header, text_column, "text_column")]
        if name_column is not None:
            columns.append(_find(path, header, name_column, "name_column"))
    number = 0
    for line, row in rows:
        if not row:
            continue
        try:
            picked = [row[c] for c in columns]  # type: ignore[index]
        except (IndexError, TypeError):
            raise InputError(
                f"The file '{path}', row {line}: expected at least {_least(columns)} columns. Got "
                f"{len(row)}; is the separator right, or a quotation mark left open?"
            ) from None
        number += 1
        yield picked[-1] if len(picked) > 1 else str(number), picked[0]


def read_parquet(path: Path, text_column: Any, name_column: Any) -> Texts:
    """Read a Parquet file; columns as in `read_table`.

    Parameters
    ----------
    path : Path
        The file.
    text_column, name_column : str or None
        Names of columns.

    Returns
    -------
    iterator of (str, str)
        Names and texts; missing texts are empty documents.
    """
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
            f"The file '{path}' must be a readable Parquet file. {files.one_line(error)}; write "
            "or copy it again."
        ) from None


def _parquet_rows(path: Path, file: Any, names: list[str]) -> Texts:
    """Yield rows of columns; few at a time, since one text may stand for many that are equal."""
    left = files.most_bytes(path)
    number = 0
    for batch in file.iter_batches(batch_size=32, columns=list(dict.fromkeys(names))):
        columns = [batch[name].to_pylist() for name in names]
        for row in zip(*columns, strict=True):
            number += 1
            text = "" if row[0] is None else str(row[0])
            left -= len(text) + 1
            if left < 0:
                raise InputError(
                    f"The file '{path}' must not unpack to more than {files.RATIO} times its size. "
                    "It does, as files made to fill a memory do; if it is meant, write it as CSV."
                )
            yield str(row[1]) if len(row) > 1 else str(number), text


def read_folder(path: Path, encoding: str) -> Texts:
    """Read every ``.txt`` or ``.txt.gz`` file in a folder and its subfolders, each a document.

    Parameters
    ----------
    path : Path
        The folder.
    encoding : str
        Such as "utf-8".

    Returns
    -------
    iterator of (str, str)
        Names and texts in the order of the names, which are paths below the folder. Hidden files
        are passed over.
    """
    texts = sorted(_texts_below(path))
    if not texts:
        raise InputError(
            f"The folder '{path}' must hold documents as .txt files. It has none; give a file, or "
            "rename the documents."
        )
    for name, file in texts:
        text = _decode(file, files.read_document(file), encoding, 1)
        yield name, text.replace("\r\n", "\n")


def _texts_below(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield names and paths of texts in a folder, however deep; follow no links to folders."""
    folders = [path]
    while folders:
        for file in folders.pop().iterdir():
            if file.name.startswith("."):
                continue
            if file.is_dir() and not file.is_symlink():
                folders.append(file)
            elif file.name.endswith((".txt", ".txt.gz")) and file.is_file():
                name = file.relative_to(path).as_posix()
                yield os.fsencode(name).decode(errors="replace"), file


def documents_in(path: Path) -> dict[str, Path]:
    """Return the documents of a folder by their names, which are paths below it."""
    return dict(_texts_below(path))


def _lines(path: Path, encoding: str) -> Iterator[str]:
    for i, line in enumerate(files.read_lines(path)):
        yield _decode(path, line, encoding, i + 1).rstrip("\r\n")


def check_encoding(encoding: Any) -> None:
    """Refuse an encoding that nobody knows, or in which bytes do not tell where lines end."""
    try:
        known = codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InputError(
            f"The 'encoding' parameter must be one Python knows, such as 'utf-8' or 'latin-1'. Got "
            f"{encoding!r} instead."
        ) from None
    if known.startswith(("utf-16", "utf-32")):
        raise InputError(
            "The 'encoding' parameter must be one that writes line ends as single bytes, such as "
            f"'utf-8'. Got {encoding!r}; convert the file first, for example with: "
            f"iconv -f {known} -t utf-8."
        )


def _decode(path: Path, text: bytes, encoding: str, line: int) -> str:
    """Return bytes that begin at a line of a file as text."""
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        line += text.count(b"\n", 0, error.start)
        raise InputError(
            f"The file '{path}', line {line}: expected {encoding} text. Got byte "
            f"0x{text[error.start]:02x}; name its encoding, such as --encoding "
            "latin-1 (encoding='latin-1')."
        ) from None


def _rows(path: Path, encoding: str, separator: str | None) -> Iterator[list[str]]:
    lines = _lines(path, encoding)
    head = next(lines, "")
    if separator is None:
        tabbed = re.search(r"\.(tsv|tab)(\.gz)?$", path.name.lower())
        bare = re.sub(r'"[^"]*"', "", head)
        separator = "\t" if tabbed else max(",;\t", key=bare.count)
    if len(separator) != 1:
        raise InputError(
            f"The 'separator' parameter must be one character. Got {separator!r} instead."
        )
    csv.field_size_limit(files.longest_line(path))
    together = (line + "\n" for part in ([head], lines) for line in part)
    if separator == "\t":
        for line in together:
            yield [_unquote(field) for field in line.rstrip("\n").split("\t")]
    else:
        reader = csv.reader(together, delimiter=separator, strict=True)
        try:
            yield from reader
        except csv.Error as error:
            raise InputError(
                f"The file '{path}', line {reader.line_num}: expected rows with {separator!r} "
                f"between columns. Got {error}; is a quotation mark left open?"
            ) from None


def _least(columns: list[Any]) -> int:
    """Return how many columns a row must have to hold these."""
    return int(max(c + 1 if c >= 0 else -c for c in columns))


def _unquote(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def _find(path: Path, header: list[str], column: str | int | None, parameter: str) -> int:
    if isinstance(column, int):
        if not -len(header) <= column < len(header):
            raise InputError(
                f"The '{parameter}' parameter must be one of the {len(header)} columns of "
                f"'{path}'. Got number {column} instead."
            )
        return column % len(header)
    wanted = "text" if column is None else column
    plain = [name.strip().lstrip("\ufeff").lower() for name in header]
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
