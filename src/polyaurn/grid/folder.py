"""The folder of a sweep over numbers of topics: its setting, finished cells and their models.

``setting.json`` says what all cells share; ``cells/`` has a JSON file for each number of topics and
seed, written last, and ``models/`` the model of each.
"""

import json
from pathlib import Path
from typing import Any

from polyaurn.errors import InputError
from polyaurn.store import HEADER, check_target
from polyaurn.store.locking import LOCK
from polyaurn.wholefiles import write_text

FORMAT = "polyaurn-sweep"
SETTING = "setting.json"
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
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"The 'out' parameter must be a folder. '{path}' is a file; choose another name."
            )
        if (self.path / SETTING).exists():
            check_target(self.path / "models" / "new", name="out")
            return
        if self.path.is_dir() and any(entry.name != LOCK for entry in self.path.iterdir()):
            raise InputError(
                f"The 'out' parameter must be a new or empty folder, or one of an earlier sweep. "
                f"'{path}' holds other files, which are left alone; choose another folder."
            )
        check_target(self.path, name="out")

    def agree(self, setting: dict[str, Any]) -> None:
        """Keep the setting in a new folder; refuse a folder whose setting is another."""
        file = self.path / SETTING
        header = {"format": FORMAT, "format_version": 1, "setting": setting}
        for folder in (self.path / "cells", self.path / "models"):
            folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            write_text(file, json.dumps(header, indent=1) + "\n")
            return
        found = _read(file)
        there = found.get("setting")
        if [found.get(name) for name in ("format", "format_version")] != [FORMAT, 1] or not (
            isinstance(there, dict)
        ):
            raise InputError(
                f"The file '{file}' must be the setting of a sweep. It is damaged, or of another "
                "program; choose another folder."
            )
        differing = [
            f"{name.replace('_', ' ')} {_brief(there.get(name))} there, {_brief(value)} now"
            for name, value in setting.items()
            if there.get(name) != value
        ]
        if differing:
            raise InputError(
                f"The folder '{self.path}' must hold a sweep of the same setting. It differs: "
                f"{'; '.join(differing)}. Choose another folder, or repeat the setting."
            )

    def model(self, topics: int, seed: int) -> Path:
        """Return the model folder of a cell."""
        return self.path / "models" / _name(topics, seed)

    def cell(self, topics: int, seed: int) -> dict[str, Any] | None:
        """Return a finished cell; None where it, or its model, is missing or damaged."""
        found = _read(self._file(topics, seed))
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


def _read(file: Path) -> dict[str, Any]:
    """Return what a JSON file holds; nothing where it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _brief(value: Any) -> str:
    return f"{value[:8]}..." if isinstance(value, str) and len(value) > 40 else str(value)
