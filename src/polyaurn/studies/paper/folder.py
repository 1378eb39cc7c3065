"""The folder of a reproduction: its setting, and a JSON file for each finished cell."""

import json
from pathlib import Path
from typing import Any

from polyaurn.files.atomic import write_text
from polyaurn.studies.folders import agree, check_folder, read_json
from polyaurn.studies.paper.plan import Cell

FORMAT = "polyaurn-reproduction"
CELLS, CORPORA = "cells", "corpora"
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
        check_folder(path, "reproduction")

    @property
    def corpora(self) -> Path:
        """Where corpora lie as cells read them."""
        return self.path / CORPORA

    def agree(self, setting: dict[str, Any], *, write: bool = True) -> None:
        """Keep the setting in a new folder; refuse a folder whose setting is another."""
        agree(self.path, FORMAT, setting, "reproduction", write=write)

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """Return a finished cell; None where it is missing or damaged."""
        found = read_json(self._file(cell))
        measured = found.get("measured")
        return found if found.get("cell") == cell.name and isinstance(measured, dict) else None

    def keep(self, cell: Cell, record: dict[str, Any]) -> None:
        """Write a finished cell."""
        (self.path / CELLS).mkdir(parents=True, exist_ok=True)
        write_text(self._file(cell), json.dumps({"cell": cell.name} | record) + "\n")

    def _file(self, cell: Cell) -> Path:
        return self.path / CELLS / f"{cell.name}.json"
