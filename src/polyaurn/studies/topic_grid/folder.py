"""The folder of a sweep over numbers of topics: its setting, finished cells and their models.

``setting.json`` says what all cells share; ``cells/`` has a JSON file for each number of topics and
seed, written last, and ``models/`` the model of each.
"""

import json
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.files.atomic import write_text
from polyaurn.files.names import HEADER
from polyaurn.model.folder import check_target
from polyaurn.studies.folders import SETTING, agree, check_folder, read_json

FORMAT = "polyaurn-sweep"
NUMBERS = ("held_out", "held_out_error", "completion", "coherence", "diversity",
           "train_seconds", "seconds")  # fmt: skip


class GridFolder:
    """The folder, refused at once where it is not for us.

    Parameters
    ----------
    path : str or Path
        A new or empty folder, or that of an earlier sweep.
    """

    def __init__(self, path: Any) -> None:
        if not isinstance(path, str | Path):
            raise InputError(
                f"The 'out' parameter must be a path. Got {path!r} instead; name a folder."
            )
        self.path = Path(path)
        check_folder(self.path, "sweep")
        inside = self.path / "models" / "new" if (self.path / SETTING).exists() else self.path
        check_target(inside, name="out")

    def agree(self, setting: dict[str, Any]) -> None:
        """Keep the setting in a new folder; refuse a folder whose setting is another."""
        agree(self.path, FORMAT, setting, "sweep")
        for folder in (self.path / "cells", self.path / "models"):
            folder.mkdir(exist_ok=True)

    def model(self, topics: int, seed: int) -> Path:
        """Return the model folder of a cell."""
        return self.path / "models" / _name(topics, seed)

    def cell(self, topics: int, seed: int) -> dict[str, Any] | None:
        """Return a finished cell; None where it, or its model, is missing or damaged."""
        found = read_json(self._file(topics, seed))
        whole = (
            (found.get("topics"), found.get("seed")) == (topics, seed)
            and {"model", "version"} <= set(found)
            and all(isinstance(found.get(name, ""), float | None) for name in NUMBERS)
        )
        return found if whole and (self.model(topics, seed) / HEADER).is_file() else None

    def keep(self, cell: dict[str, Any]) -> None:
        """Write a finished cell."""
        write_text(self._file(cell["topics"], cell["seed"]), json.dumps(cell, indent=1) + "\n")

    def _file(self, topics: int, seed: int) -> Path:
        return self.path / "cells" / f"{_name(topics, seed)}.json"


def _name(topics: int, seed: int) -> str:
    return f"k{topics:04d}-seed{seed}"
