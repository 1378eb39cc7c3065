"""The folder of slices: ``slices.json``, sealed, and a model folder for each slice.

The index is written before the first slice is trained, and says what the training is of; which
slices are finished is what their own folders say.
"""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__
from polyaurn.files.locks import is_harmless
from polyaurn.files.names import CONFIG, HEADER, remove_checkpoints
from polyaurn.files.names import SLICES as INDEX
from polyaurn.files.npz import read_npz, write_npz
from polyaurn.files.sealed import Damaged, both_names, file_of, read_header, seal, unseal
from polyaurn.model.contents import OURS, holds_model
from polyaurn.model.data import ModelData
from polyaurn.model.folder import config_of
from polyaurn.model.model import TopicModel
from polyaurn.model.slices.cutting import Cut
from polyaurn.model.slices.slices import Slices, fact
from polyaurn.model.storage import load

DOCUMENTS = "documents.npz"
UNFINISHED = "unfinished"  # folder of the run of the slice that is being trained
FORMAT, FORMAT_VERSION = "polyaurn-slices", 1
_ARRAYS = {"slice": "i", "steps": "i", "held_out": "u"}


def holds_slices(folder: Path) -> bool:
    """Return whether a folder has an index of ours."""
    try:
        return read_header(folder / INDEX).get("format") == FORMAT
    except Damaged:
        return False


def check_new(folder: Path, *, name: str = "checkpoint") -> None:
    """Reject a folder in which slices cannot be kept without a loss."""
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"The '{name}' parameter must be a folder. '{folder}' is a file; choose another name."
        )
    if not folder.is_dir():
        return
    if holds_slices(folder):
        raise InputError(
            f"The folder '{folder}' holds slices already. Continue them with --resume "
            "(resume=True), or choose another folder."
        )
    others = [entry.name for entry in sorted(folder.iterdir()) if not is_harmless(entry.name)]
    if others:
        raise InputError(
            f"The '{name}' parameter must be a new or empty folder. '{folder}' holds other files "
            f"('{others[0]}'), which are left alone; choose another folder."
        )


def digest_of(setting: dict[str, Any]) -> str:
    """Return what stands for a setting in the models of its slices."""
    text = json.dumps(setting, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_index(folder: Path, slices: Slices) -> None:
    """Write the index of slices that are to be trained, or were."""
    number, held = slices.cut.number, slices.held
    arrays = {
        "slice": number.astype(np.int32),
        "steps": slices.cut.steps.astype(np.int32),
        "held_out": np.asarray(held, np.uint8),
    }
    listed = [
        {"label": label, "folder": name, "documents": int(((number == t) & ~held).sum()),
         "held_out": int(((number == t) & held).sum())}
        for t, (label, name) in enumerate(
            zip(slices.cut.labels, folder_names(slices.cut.labels), strict=True)
        )
    ]  # fmt: skip
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "polyaurn_version": __version__,
        "setting": slices.setting,
        "slices": listed,
    }
    seal(folder, INDEX, header, {DOCUMENTS: lambda file: write_npz(file, arrays)})


def folder_names(labels: tuple[str, ...]) -> list[str]:
    """Return the names of the folders of slices."""
    names: list[str] = []
    for t, label in enumerate(labels):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", label)[:60].strip("-.")
        name = f"slice-{plain}"
        taken = not plain or name.lower() in {other.lower() for other in names}
        names.append(f"slice-{t}-{plain}".rstrip("-") if taken else name)
    return names


def read_slices(path: str | Path) -> Slices:
    """Return the finished slices of a folder; there may be none yet."""
    folder = Path(path)
    if not (folder / INDEX).is_file():
        what = f"has no {INDEX}" if folder.exists() else "does not exist"
        raise InputError(
            f"The folder '{path}' must hold topics over time. It {what}; give a folder written by "
            "'polyaurn train --by', or by TopicsOverTime."
        )
    try:
        return _read(folder)
    except Damaged as reason:
        raise InputError(
            f"The folder '{path}' holds damaged slices ({reason}). Copy it again, or train again."
        ) from None


def _read(folder: Path) -> Slices:
    index = _read_index(folder)
    models = []
    for name in folder_names(index.cut.labels):
        if not (folder / name / HEADER).is_file():
            break
        models.append(_model(folder / name, index.setting))
    return replace(index, models=tuple(models))


def _read_index(folder: Path) -> Slices:
    """Return what the index of a folder says, without models."""
    header = unseal(folder, INDEX, FORMAT, FORMAT_VERSION)
    setting, listed = header.get("setting"), header.get("slices")
    if not isinstance(setting, dict) or not isinstance(listed, list) or not listed:
        raise Damaged(f"{INDEX} has no setting or no slices")
    arrays = read_npz(file_of(folder, header, DOCUMENTS), _ARRAYS)
    number, held = arrays["slice"].astype(np.int64), arrays["held_out"] > 0
    steps = arrays["steps"].astype(np.int64)
    labels = tuple(str(entry.get("label")) for entry in listed if isinstance(entry, dict))
    n = len(listed)
    fits = len(labels) == len(steps) == n and len(number) == len(held)
    if not fits or (number < -1).any() or (number >= n).any() or (steps < 0).any():
        raise Damaged(f"{DOCUMENTS} does not fit {INDEX}")
    return Slices(Cut(labels, number, steps), (), held, setting)


def _model(place: Path, setting: dict[str, Any]) -> TopicModel:
    model = load(place)
    if fact(model, "setting") != digest_of(setting):
        raise Damaged(f"'{place.name}' holds the model of another training")
    return model


class PartOfCorpus(NamedTuple):
    """The documents of a slice, by their numbers in the corpus, and how many the corpus has."""

    numbers: I64
    n_documents: int


def config_for(model: ModelData, folder: Path) -> Path:
    """Return the path of the ``config.toml`` that says how a model's corpus was read.

    That of a slice is in the folder of all slices. The file need not exist.
    """
    own = config_of(model, folder)
    if own.is_file() or _slices_around(model, folder) is None:
        return own
    return folder.resolve().parent / CONFIG


def part_of(model: ModelData, folder: Path) -> PartOfCorpus | None:
    """Return which documents of the corpus a slice was trained on; None for any other model."""
    index = _slices_around(model, folder)
    if index is None:
        return None
    place = folder_names(index.cut.labels).index(folder.resolve().name)
    own = (index.cut.number == place) & ~index.held
    return PartOfCorpus(np.flatnonzero(own), len(index.cut.number))


def _slices_around(model: ModelData, folder: Path) -> Slices | None:
    """Return the index of the folder that a slice is in; None if the model is not a slice."""
    stated, place = fact(model, "setting"), folder.resolve()
    if stated is None or not holds_slices(place.parent):
        return None
    try:
        index = _read_index(place.parent)
    except Damaged as reason:
        raise InputError(
            f"The folder '{place.parent.name}' holds damaged slices ({reason}). Copy it again, or "
            "train again."
        ) from None
    known = place.name in folder_names(index.cut.labels)
    return index if known and stated == digest_of(index.setting) else None


def remove_slices(folder: Path) -> None:
    """Remove the slices that polyaurn wrote into a folder, the index last; other files stay."""
    labels = read_slices_labels(folder)
    for name in (UNFINISHED, *folder_names(labels)):
        place = folder / name
        if not place.is_dir():
            continue
        remove_checkpoints(place)
        if holds_model(place):
            for own in (HEADER, *OURS - {HEADER}):
                (place / own).unlink(missing_ok=True)
        if not any(place.iterdir()):
            place.rmdir()
    for own in (CONFIG, *both_names([DOCUMENTS]), INDEX):
        (folder / own).unlink(missing_ok=True)


def read_slices_labels(folder: Path) -> tuple[str, ...]:
    """Return the labels of the slices of a folder, finished or not, as far as it can be read."""
    try:
        listed = read_header(folder / INDEX).get("slices")
    except Damaged:
        return ()
    found = listed if isinstance(listed, list) else []
    return tuple(str(entry.get("label")) for entry in found if isinstance(entry, dict))
