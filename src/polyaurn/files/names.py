"""Names of the files in the folder of a model or a run, and which of them are ours.

Only files that polyaurn wrote are ever deleted or replaced: those with a name that it gives, and
with contents that say so. Whatever else has such a name stays, and is no obstacle if possible.
"""

import re
import zipfile
from contextlib import suppress
from pathlib import Path

from polyaurn.files.atomic import file_of_temporary
from polyaurn.files.locks import is_harmless
from polyaurn.files.sealed import Damaged, read_header

HEADER = "model.json"
ARRAYS, VOCABULARY, NAMES, TRACE = "arrays.npz", "vocab.txt", "doc_names.txt", "trace.jsonl"
SEALED = (ARRAYS, VOCABULARY, NAMES, TRACE)  # whose checksums are in the header
TIMINGS = "timings.jsonl"
SLICES = "slices.json"  # of topics over time: the index of the models of slices
CONFIG = "config.toml"  # how to repeat the run
WORKING = ("corpus.urn", "priors.npz")  # what workers are given
PART = re.compile(r"part-[0-9a-f]{8}-\d{5,}\.npz")  # of a model that workers wrote
WORK = ".polyaurn.cluster-"  # begins the name of a folder in which workers leave such parts
CHECKPOINTS = "checkpoints"
CHECKPOINT_FORMAT = "polyaurn-checkpoint"
_STEM = r"sweep-(\d{9,18})"
_CHECKPOINT = re.compile(rf"{_STEM}\.json")
_SHARDS = r"-shards-\d{5,}-\d{5,}"
_FILE = re.compile(rf"({_STEM})(\.json|({_SHARDS}|-2)?\.npz)")


def sweep_of(name: str) -> int:
    """Return the sweep in the name of a checkpoint's header; -1 for another name."""
    found = _CHECKPOINT.fullmatch(name)
    return int(found[1]) if found else -1


def checkpoint_headers(folder: Path) -> list[Path]:
    """Return the headers of our checkpoints in a folder of checkpoints, newest first."""
    found = [
        folder / name
        for name in _names(folder)
        if _CHECKPOINT.fullmatch(name) and is_checkpoint(folder, Path(name).stem)
    ]
    return sorted(found, key=lambda header: sweep_of(header.name), reverse=True)


def is_checkpoint(folder: Path, stem: str) -> bool:
    """Return whether files of this stem are a checkpoint of ours, by the header or the arrays."""
    try:
        if read_header(folder / f"{stem}.json").get("format") == CHECKPOINT_FORMAT:
            return True
    except Damaged:
        pass
    if any(holds_arrays(folder / f"{stem}{end}", {"z", "trace"}) for end in (".npz", "-2.npz")):
        return True
    ours = re.compile(rf"{re.escape(stem)}{_SHARDS}\.npz")  # whose manifest was never written
    return any(
        ours.fullmatch(name) and holds_arrays(folder / name, {"z", "words"})
        for name in _names(folder)
    )


def holds_arrays(path: Path, names: set[str]) -> bool:
    """Return whether a file is an archive that has arrays of these names."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {f"{name}.npy" for name in names} <= set(archive.namelist())
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile):
        return False


def in_the_way(folder: Path, stem: str) -> str:
    """Return the name of a file that is not ours where a checkpoint would be written, or ""."""
    ends = (".json", ".npz", "-2.npz")
    there = [stem + end for end in ends if (folder / f"{stem}{end}").exists()]
    return there[0] if there and not is_checkpoint(folder, stem) else ""


def holds_checkpoint(folder: Path) -> bool:
    """Return whether a model's folder holds a checkpoint, complete or not."""
    return bool(checkpoint_headers(folder / CHECKPOINTS))


def holds_remains(folder: Path) -> bool:
    """Return whether all files in a folder of checkpoints are what a killed writer left, if any."""
    if not folder.is_dir():
        return not folder.exists()
    names = [entry.name for entry in folder.iterdir()]
    return all(_is_remains(folder, name) or is_harmless(name) for name in names)


def _is_remains(folder: Path, name: str) -> bool:
    found = _FILE.fullmatch(name)
    whole = found is not None and is_checkpoint(folder, found[1])
    return whole or _FILE.fullmatch(file_of_temporary(name)) is not None


def thin_checkpoints(folder: Path, kept: int) -> None:
    """Keep the newest checkpoints; remove others of ours, and what an interrupted writer left."""
    headers = checkpoint_headers(folder)
    for header in headers[kept:]:
        remove_checkpoint(folder, header.stem)
    stems = {header.stem for header in headers[:kept]}
    for name in _names(folder):
        found = _FILE.fullmatch(name)
        if not (found and found[1] in stems) and _is_remains(folder, name):
            (folder / name).unlink(missing_ok=True)


def shards_file(stem: str, first: int, last: int) -> str:
    """Return the name of the file of some shards of a checkpoint."""
    return f"{stem}-shards-{first:05d}-{last:05d}.npz"


def remove_checkpoint(folder: Path, stem: str) -> None:
    """Remove one checkpoint of ours, its header first."""
    for end in (".json", "-2.npz", ".npz"):
        (folder / f"{stem}{end}").unlink(missing_ok=True)
    for name in _names(folder):
        if re.fullmatch(rf"{re.escape(stem)}{_SHARDS}\.npz", name):
            (folder / name).unlink(missing_ok=True)


def remove_checkpoints(folder: Path) -> None:
    """Remove all checkpoints in a model's folder, and their folder if nothing else is in it."""
    inside = folder / CHECKPOINTS
    if inside.is_dir():
        thin_checkpoints(inside, 0)
        if not any(inside.iterdir()):
            inside.rmdir()


def remove_work(folder: Path) -> None:
    """Remove the folders of workers that were killed; the caller has locked the folder."""
    for work in folder.glob(f"{WORK}*"):
        for name in _names(work):
            meant = file_of_temporary(name) or name
            if PART.fullmatch(meant) or meant in WORKING:
                (work / name).unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's files are in it
            work.rmdir()


def _names(folder: Path) -> list[str]:
    """Return the names in a folder; none where it cannot be read."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.is_dir())
    except OSError:
        return []
