"""The folder of a reproduction: its setting, and a JSON file for each finished cell."""

import json
from pathlib import Path
from typing import Any

from polyaurn.errors import InputError
from polyaurn.reproduce.plan import Cell
from polyaurn.store.locking import LOCK
from polyaurn.wholefiles import write_text

FORMAT = "polyaurn-reproduction"
SETTING, CELLS, CORPORA = "setting.json", "cells", "corpora"
PAGE, RESULTS, SUMMARY, PICTURES = "reproduction.html", "results.json", "summary.md", "figures"


class ReproductionFolder:
    """The folder, refused at once where it is not for us.

    Parameters
    ----------
    path : Path
        A new or empty folder, or that of an earlier reproduction.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise InputError(
                f"The 'out' parameter must be a folder. '{path}' is a file; choose another name."
            )
        if not (path / SETTING).exists() and path.is_dir():
            others = [entry.name for entry in path.iterdir() if entry.name != LOCK]
            if others:
                raise InputError(
                    "The 'out' parameter must be a new or empty folder, or one of an earlier "
                    f"reproduction. '{path}' holds other files, which are left alone; choose "
                    "another folder."
                )

    @property
    def corpora(self) -> Path:
        """Where corpora lie as cells read them."""
        return self.path / CORPORA

    def agree(self, setting: dict[str, Any], *, write: bool = True) -> None:
        """Keep the setting in a new folder; refuse a folder whose setting is another."""
        file = self.path / SETTING
        if not file.exists():
            if write:
                (self.path / CELLS).mkdir(parents=True, exist_ok=True)
                header = {"format": FORMAT, "format_version": 1, "setting": setting}
                write_text(file, json.dumps(header, indent=1) + "\n")
            return
        found = _read(file)
        there = found.get("setting")
        if [found.get(name) for name in ("format", "format_version")] != [FORMAT, 1] or not (
            isinstance(there, dict)
        ):
            raise InputError(
                f"The file '{file}' must be the setting of a reproduction. It is damaged, or of "
                "another program; choose another folder."
            )
        differing = [
            f"{name} {json.dumps(there.get(name))} there, {json.dumps(value)} now"
            for name, value in setting.items()
            if there.get(name) != value
        ]
        if differing:
            raise InputError(
                f"The folder '{self.path}' must hold a reproduction of the same setting. It "
                f"differs: {'; '.join(differing)}. Choose another folder, or repeat the setting."
            )

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """Return a finished cell; None where it is missing or damaged."""
        found = _read(self._file(cell))
        measured = found.get("measured")
        return found if found.get("cell") == cell.name and isinstance(measured, dict) else None

    def keep(self, cell: Cell, record: dict[str, Any]) -> None:
        """Write a finished cell."""
        (self.path / CELLS).mkdir(parents=True, exist_ok=True)
        write_text(self._file(cell), json.dumps({"cell": cell.name} | record) + "\n")

    def _file(self, cell: Cell) -> Path:
        return self.path / CELLS / f"{cell.name}.json"


def _read(file: Path) -> dict[str, Any]:
    """Return what a JSON file holds; nothing where it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
