"""Names of the files in the folder of a model or a run, and which of them are checkpoints."""

import re
from pathlib import Path

from polyaurn.files.atomic import is_temporary

HEADER = "model.json"
ARRAYS, VOCABULARY, NAMES, TRACE = "arrays.npz", "vocab.txt", "doc_names.txt", "trace.jsonl"
SEALED = (ARRAYS, VOCABULARY, NAMES, TRACE)  # whose checksums are in the header
TIMINGS = "timings.jsonl"
CONFIG = "config.toml"  # how to repeat the run
CHECKPOINTS = "checkpoints"
_CHECKPOINT = re.compile(r"sweep-(\d{9,18})\.json")


def checkpoint_headers(folder: Path) -> list[Path]:
    """Return the headers of the checkpoints in a folder of checkpoints, newest first."""
    try:
        names = [entry.name for entry in folder.iterdir() if _CHECKPOINT.fullmatch(entry.name)]
    except OSError:
        return []
    return [folder / name for name in sorted(names, key=sweep_of, reverse=True)]


def sweep_of(name: str) -> int:
    """Return the sweep in the name of a checkpoint's header; -1 for another name."""
    found = _CHECKPOINT.fullmatch(name)
    return int(found[1]) if found else -1


def holds_checkpoint(folder: Path) -> bool:
    """Return whether a model's folder holds a checkpoint, complete or not."""
    return bool(checkpoint_headers(folder / CHECKPOINTS))


def thin_checkpoints(folder: Path, kept: int) -> None:
    """Keep the newest checkpoints; remove others and what an interrupted writer left."""
    if not folder.is_dir():
        return
    headers = checkpoint_headers(folder)
    for header in headers[kept:]:
        header.unlink(missing_ok=True)
    stems = {header.stem for header in headers[:kept]}
    for entry in list(folder.iterdir()):
        stem = entry.name.removesuffix(".npz").removesuffix("-2")
        stray = entry.name.endswith(".npz") and stem.startswith("sweep-") and stem not in stems
        if stray or is_temporary(entry.name):
            entry.unlink(missing_ok=True)


def remove_checkpoints(folder: Path) -> None:
    """Remove all checkpoints in a model's folder, and their folder if nothing else is in it."""
    inside = folder / CHECKPOINTS
    if inside.is_dir():
        thin_checkpoints(inside, 0)
        if not any(inside.iterdir()):
            inside.rmdir()
