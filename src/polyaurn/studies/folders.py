"""The folder of a study: what all its cells share, and a file for each finished cell."""

import json
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.files.atomic import write_text
from polyaurn.files.locks import is_harmless

SETTING = "setting.json"


class StudyFolder:
    """A folder with ``setting.json`` and a JSON file in ``cells/`` for each finished cell.

    It must be new, empty, or one of an earlier study of the same kind. `format_name` is stored in
    the setting; `what` is the study in messages, such as "reproduction".
    """

    def __init__(self, path: Path, format_name: str, what: str) -> None:
        self.path, self._format, self._what = path, format_name, what
        if path.exists() and not path.is_dir():
            raise InputError(
                f"The 'out' parameter must be a folder. '{path}' is a file; choose another name."
            )
        if not path.is_dir() or (path / SETTING).exists():
            return
        if not all(is_harmless(entry.name) for entry in path.iterdir()):
            raise InputError(
                f"The 'out' parameter must be a new or empty folder, or one of an earlier {what}. "
                f"'{path}' holds other files, which are left alone; choose another folder."
            )

    def agree(self, setting: dict[str, Any], *, write: bool = True) -> None:
        """Store the setting in a new folder; reject a folder that has another one."""
        file = self.path / SETTING
        if file.exists():
            self._compare(file, setting)
        elif write:
            self.path.mkdir(parents=True, exist_ok=True)
            header = {"format": self._format, "format_version": 1, "setting": setting}
            write_text(file, json.dumps(header, indent=1) + "\n")

    def _compare(self, file: Path, setting: dict[str, Any]) -> None:
        found = read_json(file)
        there = found.get("setting")
        known = (found.get("format"), found.get("format_version")) == (self._format, 1)
        if not known or not isinstance(there, dict):
            raise InputError(
                f"The file '{file}' must be the setting of a {self._what}. It is damaged, or of "
                "another program; choose another folder."
            )
        differing = [
            f"{name.replace('_', ' ')} {_brief(there.get(name))} there, {_brief(value)} now"
            for name, value in setting.items()
            if there.get(name) != value
        ]
        if differing:
            raise InputError(
                f"The folder '{self.path}' must hold a {self._what} of the same setting. It "
                f"differs: {'; '.join(differing)}. Choose another folder, or repeat the setting."
            )

    def read_cell(self, name: str) -> dict[str, Any]:
        """Return what the file of a cell holds; nothing where it is missing or damaged."""
        return read_json(self._file(name))

    def write_cell(self, name: str, record: dict[str, Any], indent: int | None = None) -> None:
        """Write the file of a finished cell."""
        file = self._file(name)
        file.parent.mkdir(exist_ok=True)
        write_text(file, json.dumps(record, indent=indent) + "\n")

    def _file(self, name: str) -> Path:
        return self.path / "cells" / f"{name}.json"


def read_json(file: Path) -> dict[str, Any]:
    """Return what a JSON file holds; nothing where it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else "none" if value is None else json.dumps(value)
    return f"{text[:8]}..." if isinstance(value, str) and len(value) > 40 else text
