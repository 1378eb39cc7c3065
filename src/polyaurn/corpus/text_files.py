"""Files of text: one document per line, MALLET's three columns, folders of text files."""

import codecs
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.files.reading import read_document
from polyaurn.files.reading import read_lines as read_byte_lines

Texts = Iterator[tuple[str | None, str]]  # names of documents, or None, and their texts
TEXT, HTML = (".txt", ".txt.gz"), (".html", ".htm", ".html.gz", ".htm.gz")
_BYTE_ORDER_MARK = "\ufeff"


def read_lines(path: Path, encoding: str) -> Texts:
    """Yield a document for each line; an empty line is an empty document."""
    for text in decoded_lines(path, encoding):
        yield None, text


def read_mallet(path: Path, encoding: str) -> Texts:
    """Yield the first and third of MALLET's three columns: name, label, rest of the line.

    Columns are separated by tabs, or by blanks in a line with fewer than two tabs.
    """
    for i, line in enumerate(decoded_lines(path, encoding)):
        fields = line.split("\t", 2) if line.count("\t") >= 2 else line.split(None, 2)
        if len(fields) < 2:
            raise InputError(
                f"The file '{path}', line {i + 1}: expected MALLET's three columns, name, label "
                f"and text. Got {line[:60]!r}; for one document per line use format 'lines'."
            )
        yield fields[0], fields[2] if len(fields) > 2 else ""


def read_folder(path: Path, encoding: str, *, html: bool = False) -> Texts:
    """Yield every ``.txt`` or ``.txt.gz`` file in a folder and its subfolders, in order of names.

    With `html` also ``.html`` and ``.htm`` files. A name is the path below the folder. Hidden files
    are skipped.
    """
    texts = sorted(files_below(path, (*TEXT, *HTML) if html else TEXT))
    if not texts:
        pages = not html and next(files_below(path, HTML), None) is not None
        remedy = "give html=True (--html) for its .html files" if pages else "give a file"
        raise InputError(
            f"The folder '{path}' must hold documents as .txt files. It has none; {remedy}, or "
            "rename the documents."
        )
    for name, file in texts:
        text = _decode(file, read_document(file), encoding, 1)
        yield name, text.replace("\r\n", "\n")


def files_below(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Yield names and paths of files in a folder, at any depth; follow no links to folders."""
    folders = [path]
    while folders:
        for file in folders.pop().iterdir():
            if file.name.startswith("."):
                continue
            if file.is_dir() and not file.is_symlink():
                folders.append(file)
            elif file.name.lower().endswith(suffixes) and file.is_file():
                name = file.relative_to(path).as_posix()
                yield os.fsencode(name).decode(errors="replace"), file


def documents_in(path: Path) -> dict[str, Path]:
    """Return the paths of the documents in a folder by their names, as in `read_folder`."""
    return dict(files_below(path, (*TEXT, *HTML)))


def decoded_lines(path: Path, encoding: str) -> Iterator[str]:
    """Yield the lines of a file as text, without their ends and without a byte-order mark."""
    for i, line in enumerate(read_byte_lines(path)):
        yield _decode(path, line, encoding, i + 1).rstrip("\r\n")


def check_encoding(encoding: Any) -> None:
    """Raise an error if an encoding is unknown, or does not write line ends as single bytes."""
    try:
        known = codecs.lookup(encoding).name
        if not known.startswith(("utf-16", "utf-32")):
            b"a".decode(encoding)  # some codecs are not for text
    except (LookupError, TypeError, UnicodeError):
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
    """Return bytes as text; `line` is the line of the file at which they begin."""
    try:
        decoded = text.decode(encoding)
        return decoded.removeprefix(_BYTE_ORDER_MARK) if line == 1 else decoded
    except UnicodeDecodeError as error:
        line += text.count(b"\n", 0, error.start)
        raise InputError(
            f"The file '{path}', line {line}: expected {encoding} text. Got byte "
            f"0x{text[error.start]:02x}; name its encoding, such as --encoding "
            "latin-1 (encoding='latin-1')."
        ) from None
