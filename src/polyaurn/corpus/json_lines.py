"""JSON Lines: one JSON object per line, one of whose keys holds the text."""

import json
from pathlib import Path
from typing import Any

from polyaurn.base.checks import wrong
from polyaurn.base.errors import InputError
from polyaurn.corpus.text_files import Texts, decoded_lines


def read_json_lines(path: Path, encoding: str, text_column: Any, name_column: Any) -> Texts:
    """Yield the name and text of each object; a text of null is an empty document."""
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
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"{place} text under {key!r}. Got {text!r:.60}; name another key as 'text_column'."
            )
        name = None
        if name_column is not None:
            name = _valid(str(_value(place, record, name_column, "name_column")))
        yield name, _valid(text or "")


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
