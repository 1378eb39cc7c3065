"""Several cells of the race side by side, each in a process of its own, within a time limit."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError

REQUIRED = ("corpus", "topics", "peer", "peer_sweeps")
KINDS = {
    "corpus": str,
    "peer": str,
    "samplers": str,
    "shares": str,
    "learn": bool,
}  # others are whole numbers
PAUSE = 0.2  # seconds between looks at the processes
GRACE = 5.0  # seconds that a process has to end
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def read_cells(
    path: Path, defaults: dict[str, Any], name_of: Callable[[dict[str, Any]], str]
) -> dict[str, dict[str, Any]]:
    """Return the cells of a file by the names of their results."""
    try:
        entries = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InputError(
            f"The '--cells' option must name a JSON file. Got {path}: {error}; write a list of "
            f"objects with {', '.join(REQUIRED)}."
        ) from error
    if not isinstance(entries, list):
        raise InputError(f"{path} must have a list of cells. Got {type(entries).__name__} instead.")
    cells: dict[str, dict[str, Any]] = {}
    for place, entry in enumerate(entries):
        _check_cell(path, place, entry, defaults)
        cell = defaults | entry
        name = name_of(cell)
        if name in cells:
            raise InputError(
                f"{path}: cell {place} must have a result of its own. Got {name!r} twice; leave "
                "one out."
            )
        cells[name] = cell
    return cells


def _check_cell(path: Path, place: int, entry: Any, defaults: dict[str, Any]) -> None:
    where = f"{path}: cell {place}"
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be an object. Got {entry!r} instead.")
    missing = [name for name in REQUIRED if name not in entry]
    unknown = [name for name in entry if name not in defaults]
    if missing or unknown:
        raise InputError(
            f"{where} must have {', '.join(REQUIRED)} and may have "
            f"{', '.join(name for name in defaults if name not in REQUIRED)}. "
            f"Got {', '.join(entry)}; missing: {', '.join(missing) or 'none'}, "
            f"unknown: {', '.join(unknown) or 'none'}."
        )
    for name, value in entry.items():
        kind = KINDS.get(name, int)
        if type(value) is not kind or (kind is int and value < 1):
            expected = {str: "a string", bool: "true or false", int: "a positive whole number"}
            raise InputError(f"{where}: '{name}' must be {expected[kind]}. Got {value!r} instead.")


def run_cells(
    program: Path,
    cells: dict[str, dict[str, Any]],
    out: Path,
    corpora: Path,
    *,
    parallel: int,
    limit: float | None,
    pin: bool,
    resume: bool,
) -> int:
    """Run the cells, in their order; return the exit status, 1 if a cell failed."""
    end = time.monotonic() + (float("inf") if limit is None else limit)
    cores = sorted(os.sched_getaffinity(0))
    waiting = list(cells)
    running: dict[int, tuple[str, subprocess.Popen[bytes]]] = {}  # by slot
    ended: dict[str, int] = {}
    try:
        while (waiting or running) and time.monotonic() < end:
            for slot, (name, process) in list(running.items()):
                if process.poll() is not None:
                    ended[name] = process.returncode
                    del running[slot]
            for slot in range(parallel):
                if slot not in running and waiting:
                    name = waiting.pop(0)
                    command = _command(program, cells[name], out / f"{name}.json", corpora)
                    threads = cells[name]["threads"]
                    mine = cores[slot * threads : (slot + 1) * threads]
                    with _on_cores(mine if pin and len(mine) == threads else cores):
                        process = subprocess.Popen(
                            [*command, *["--resume"] * resume],
                            env=os.environ | dict.fromkeys(LIBRARIES, str(threads)),
                        )
                    running[slot] = (name, process)
            time.sleep(PAUSE)
    finally:
        _end([process for _, process in running.values()])
    abandoned = [name for name, _ in running.values()] + waiting
    failed = [name for name, status in ended.items() if status]
    print(f"{len(ended) - len(failed)} of {len(cells)} cells are complete")
    for name in failed:
        print(f"failed: {name}")
    for name in abandoned:
        print(f"abandoned: {name}")
    return int(bool(failed))


def _command(program: Path, cell: dict[str, Any], out: Path, corpora: Path) -> list[str]:
    options = [sys.executable, str(program), cell["corpus"], "--corpora", str(corpora)]
    for name in ("topics", "peer", "peer_sweeps", "threads", "seeds", "samplers", "shares"):
        options += ["--" + name.replace("_", "-"), str(cell[name])]
    return [*options, *["--learn"] * cell["learn"], "--out", str(out)]


@contextmanager
def _on_cores(cores: list[int]) -> Iterator[None]:
    """Let processes that are started inside have only these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End processes; what they have written is whole, since files are replaced in one step."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
