"""Which files in a folder belong to a model or a run of ours, and which are somebody else's."""

import re
from pathlib import Path

from polyaurn.base.errors import InputError
from polyaurn.files.atomic import file_of_temporary
from polyaurn.files.locks import is_harmless
from polyaurn.files.names import (
    ARRAYS,
    CHECKPOINTS,
    CONFIG,
    HEADER,
    PART,
    SEALED,
    TIMINGS,
    WORK,
    holds_arrays,
    holds_checkpoint,
    holds_remains,
)
from polyaurn.files.sealed import Damaged, both_names, names_in, read_header

FORMAT = "polyaurn-model"
WRITING = ".polyaurn.writing"  # there while a model is written: its files are ours already
CHAIN = re.compile(r"chain-\d{4,}")  # folder of a chain of posterior draws
OURS = both_names(SEALED) | {HEADER, TIMINGS, CONFIG}


def check_contents(target: Path, path: str | Path, name: str, *, force: bool) -> None:
    """Raise an error unless a model can be written into a folder without a loss.

    A folder without a model or a run of ours must be empty, but for files that systems leave. In
    others, files of somebody else stay where they are.
    """
    if not target.is_dir():
        raise InputError(
            f"The '{name}' parameter must be a folder. '{path}' is a file; choose another name."
        )
    check_foreign(target)
    model, run = holds_model(target), holds_checkpoint(target)
    others = [entry.name for entry in sorted(target.iterdir()) if _is_other(entry)]
    if others and not (model or run or (target / WRITING).exists()):
        raise InputError(
            f"The folder '{path}' must be empty or hold a model. It holds other files "
            f"('{others[0]}'), which are left alone; choose another folder."
        )
    if run and not force:
        raise InputError(
            f"The folder '{path}' holds a run that was not finished. Continue it with --resume "
            "(resume=True), or replace it with --force (force=True)."
        )
    if model and not force:
        raise InputError(
            f"The folder '{path}' already holds a model. Choose another folder, or replace the "
            "model with --force (force=True)."
        )


def check_foreign(folder: Path) -> None:
    """Raise an error if a file that a model would replace was not written by polyaurn."""
    foreign = [name for name in sorted(OURS) if (folder / name).exists()]
    if (folder / WRITING).exists():
        return
    if holds_model(folder):
        listed = names_in(folder / HEADER, FORMAT) or both_names(SEALED)
        foreign = [name for name in foreign if name not in {HEADER, TIMINGS, CONFIG, *listed}]
    if foreign:
        raise InputError(
            f"The file '{folder / foreign[0]}' is not part of a model, and a model would replace "
            "it. It is left alone; move it, or choose another folder."
        )


def holds_model(folder: Path) -> bool:
    """Return whether a folder holds a model of ours, by its header or, if damaged, its arrays."""
    try:
        if read_header(folder / HEADER).get("format") == FORMAT:
            return True
    except Damaged:
        pass
    arrays = {"assignments", "alpha", "beta"}
    return any(holds_arrays(folder / name, arrays) for name in both_names([ARRAYS]))


def holds_run(folder: Path) -> bool:
    """Return whether a folder holds checkpoints or chains, of ours or named as ours are."""
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return any(name == CHECKPOINTS or CHAIN.fullmatch(name) for name in names)


def remove_strays(folder: Path) -> None:
    """Remove what writers left that were killed: incomplete files, and those of no header."""
    used = names_in(folder / HEADER, FORMAT)
    for entry in list(folder.iterdir()):
        ours = entry.name in both_names(SEALED) or PART.fullmatch(entry.name)
        unused = ours and entry.name not in used
        if unused or file_of_temporary(entry.name) in OURS:
            entry.unlink(missing_ok=True)


def _is_other(entry: Path) -> bool:
    """Return whether an entry is neither ours nor one that systems leave in any folder."""
    if entry.name == CHECKPOINTS or CHAIN.fullmatch(entry.name):
        inside = entry / CHECKPOINTS if entry.name != CHECKPOINTS else entry
        others = [] if inside == entry or not entry.is_dir() else list(entry.iterdir())
        alone = all(other == inside or is_harmless(other.name) for other in others)
        begun = entry.is_dir() and alone and holds_remains(inside)
        return not (begun or holds_checkpoint(inside.parent))
    named = entry.name in OURS or file_of_temporary(entry.name) in OURS
    of_workers = PART.fullmatch(entry.name) or entry.name.startswith(WORK)
    return not (named or of_workers or entry.name == WRITING or is_harmless(entry.name))
