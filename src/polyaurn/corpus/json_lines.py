"""JSON Lines: one JSON object per line, one of whose keys holds the text, or a list of tokens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyaurn.base.checks import wrong
from polyaurn.base.errors import InputError
from polyaurn.corpus.text_files import Texts, decoded_lines


def read_json_lines(path: Path, encoding: str, text_column: Any, name_column: Any) -> Texts:
    """Yield the name and text of each object; null is an empty document, tokens are joined."""
    for name, text in _documents(path, encoding, text_column, name_column):
        yield name, " ".join(text) if isinstance(text, list) else text


def read_json_tokens(
    path: Path, encoding: str, text_column: Any, name_column: Any
) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the name and the tokens of each object; null is an empty document."""
    for name, tokens in _documents(path, encoding, text_column, name_column):
        if tokens and not isinstance(tokens, list):
            raise InputError(
                f"The file '{path}': expected lists of tokens, as in its first documents. Got "
                f"{tokens[:40]!r}; give all documents as texts, or all as lists."
            )
        yield name, list(tokens)


def holds_tokens(path: Path, encoding: str, text_column: Any) -> bool:
    """Return whether the first document that is not empty is a list of tokens."""
    first = (found for _, found in _documents(path, encoding, text_column, None) if found)
    return isinstance(next(first, None), list)


def _documents(
    path: Path, encoding: str, text_column: Any, name_column: Any
) -> Iterator[tuple[str | None, str | list[str]]]:
    key = "text" if text_column is None else text_column
    for parameter, value in (("text_column", key), ("name_column", name_column)):
        if value is not None and not isinstance(value, str):
            raise wrong(parameter, "the name of a key in JSON Lines", value)
    for i, line in enumerate(decoded_lines(path, encoding)):
        if not line.strip():
            continue
        place = f"The file '{path}', line {i + 1}: expected"
        record = _object(line)
        if record is None:
            raise InputError(
                f"{place} a JSON object. Got {line[:60]!r}; for one document per line give the "
                "format 'lines'."
            )
        text = _value(place, record, key, "text_column")
        listed = isinstance(text, list) and all(isinstance(token, str) for token in text)
        if not (text is None or listed or isinstance(text, str)):
            raise InputError(
                f"{place} text under {key!r}, or a list of tokens. Got {text!r:.60}; name another "
                "key as 'text_column'."
            )
        name = None
        if name_column is not None:
            name = _valid(str(_value(place, record, name_column, "name_column")))
        yield name, [_valid(token) for token in text] if listed else _valid(text or "")


def are_json_lines(lines: list[bytes]) -> bool:
    """Return whether all lines are JSON objects."""
    return bool(lines) and all(
        line.lstrip().startswith(b"{") and _object(line.decode(errors="replace")) is not None
        for line in lines
    )


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _valid(text: str) -> str:
    """Return text that can be written: halves of surrogate pairs become question marks."""
    return text.encode(errors="replace").decode()


def _value(place: str, record: dict[str, Any], key: str, parameter: str) -> Any:
    outer, dot, inner = key.partition(".")
    if key not in record and dot and isinstance(record.get(outer), dict):
        return _value(place, record[outer], inner, parameter)
    if key not in record:
        shown = ", ".join(repr(name[:30]) for name in list(record)[:12]) or "none"
        raise InputError(
            f"{place} the key {key!r}. Got the keys {shown}; name one as '{parameter}'."
        )
    return record[key]
