"""The folder of a topic grid: its setting, finished cells, and in ``models/`` their models."""

import re
from pathlib import Path
from typing import Any

from polyaurn.base.checks import check_path
from polyaurn.base.errors import InputError
from polyaurn.files.names import HEADER
from polyaurn.model.folder import check_target
from polyaurn.model.model import TopicModel
from polyaurn.studies.folders import SETTING, StudyFolder
from polyaurn.studies.topic_grid.summary import LITERATURE

FORMAT = "polyaurn-sweep"
NUMBERS = ("held_out", "held_out_error", "completion", "coherence_npmi", "coherence_npmi_error",
           "diversity", *LITERATURE, "train_seconds", "seconds")  # fmt: skip
BY_DOCUMENT = "held_out_by_document"


class GridFolder(StudyFolder):
    """A new or empty folder, or that of an earlier topic grid; others are rejected at once.

    A cell is a number of topics with a seed. Its file is written last, after its model. One that
    was scored in another way, or by an earlier version, counts as missing; its model is there.
    """

    def __init__(self, path: Any, scoring: dict[str, Any]) -> None:
        super().__init__(check_path(path, "out", remedy="name a folder"), FORMAT, "topic grid")
        inside = self.path / "models" / "new" if (self.path / SETTING).exists() else self.path
        check_target(inside, name="out")
        self._scoring = scoring

    def agree(self, setting: dict[str, Any], *, write: bool = True) -> None:
        """Store the setting in a new folder; reject a folder that has another one."""
        super().agree(setting, write=write)
        (self.path / "models").mkdir(exist_ok=True)

    def model(self, topics: int, seed: int) -> Path:
        """Return the model folder of a cell."""
        return self.path / "models" / _name(topics, seed)

    def load(self, topics: int, seed: int) -> TopicModel:
        """Return the model of a finished cell."""
        from polyaurn.model.storage import load

        place = self.model(topics, seed)
        try:
            return load(place)
        except InputError as error:
            raise InputError(
                f"{error} Or delete the folder '{place}' and repeat the call, which then trains "
                "this model again."
            ) from None

    def cell(self, topics: int, seed: int) -> dict[str, Any] | None:
        """Return a finished cell; None where it, or its model, is missing or damaged."""
        found = self.read_cell(_name(topics, seed))
        scores = found.get(BY_DOCUMENT)
        whole = (
            (found.get("topics"), found.get("seed")) == (topics, seed)
            and found.get("scoring") == self._scoring
            and {"model", "version"} <= set(found)
            and all(isinstance(found.get(name, ""), float | None) for name in NUMBERS)
            and isinstance(scores, list)
            and all(isinstance(score, float) for score in scores)
        )
        return found if whole and (self.model(topics, seed) / HEADER).is_file() else None

    def keep(self, cell: dict[str, Any]) -> None:
        """Write a finished cell."""
        self.write_cell(_name(cell["topics"], cell["seed"]), cell)


def models_in(folder: Path) -> dict[int, Path] | None:
    """Return for each number of topics the finished model of its first seed, in rising order.

    None where the folder is not that of a topic grid.
    """
    if not (folder / SETTING).is_file() or not (folder / "models").is_dir():
        return None
    found: dict[int, tuple[int, Path]] = {}
    for file in (folder / "cells").glob("*.json"):
        name = re.fullmatch(r"k(\d+)-seed(\d+)", file.stem)
        place = folder / "models" / file.stem
        if name and (place / HEADER).is_file():
            first = (int(name[2]), place)
            found[int(name[1])] = min(first, found.get(int(name[1]), first))
    return {topics: place for topics, (_, place) in sorted(found.items())}


def grid_around(folder: Path) -> Path | None:
    """Return the folder of the topic grid that a model is in; None where it is in none."""
    place = folder.resolve()
    grid = place.parent.parent
    inside = place.parent.name == "models" and (grid / SETTING).is_file()
    return grid if inside and (grid / "cells" / f"{place.name}.json").is_file() else None


def _name(topics: int, seed: int) -> str:
    return f"k{topics:04d}-seed{seed}"
