"""What the benchmark programs share: the machine's description, corpora, results on disk."""

import argparse
import gzip
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from polyaurn import Corpus, __version__, datasets, read_corpus

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
SHARED = HERE.parent / ".." / "shared" / "corpora"


def commit() -> str | None:
    """Return the commit of the code, with "-dirty" if files differ from it; None if unknown."""
    call = ("git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40")
    try:
        done = subprocess.run(call, cwd=HERE, capture_output=True, text=True, check=False)
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() or None


def machine() -> dict[str, Any]:
    """Describe the processor, the cores this process may use, and the versions at work."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].split(":", 1)[1].strip() if models else cpu
    versions = {"python": platform.python_version(), "polyaurn": __version__}
    packages = (
        "numpy",
        "numba",
        "numba-cuda",
        "cupy-cuda13x",
        "tomotopy",
        "topica",
        "gensim",
        "scikit-learn",
    )
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.system(),
        "versions": versions,
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def open_corpus(name: str, folder: Path = SHARED) -> Corpus:
    """Return a corpus by name: 'tiny', 'generated:D:V:length', a file of the folder, a path."""
    if name == "tiny":
        return datasets.generate(200, 300, 5, 40.0)
    if name.startswith("generated:"):
        D, V, length = (float(part) for part in name.split(":")[1:])
        return datasets.generate(int(D), int(V), 100, length, topic_concentration=1000.0)
    file = folder / f"docword.{name}.txt.gz"
    if not file.exists():
        return read_corpus(name)
    if (folder / f"vocab.{name}.txt").exists():
        return read_corpus(file)
    with gzip.open(file, "rt") as lines:  # words need no names here
        V = [int(next(lines)) for _ in range(3)][1]
    return read_corpus(file, vocabulary=[f"w{v}" for v in range(V)])


def parse_options(parser: argparse.ArgumentParser, child: Callable[[dict[str, Any]], None]) -> Any:
    """Return the options, or run the child that `in_own_process` asked for, and end."""
    parser.add_argument("--no-save", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads(options.child))
        raise SystemExit
    return options


def in_own_process(program: str, arguments: dict[str, Any], *, one_thread: bool = False) -> Any:
    """Run a benchmark program's child in a process of its own; return what it prints as JSON.

    With `one_thread` the libraries that NumPy calls have one thread: they read so when they load.
    """
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM") if one_thread else ()
    done = subprocess.run(
        [sys.executable, program, "--child", json.dumps(arguments)],
        env=os.environ | {f"{name}_NUM_THREADS": "1" for name in libraries},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def machine_with_gpu() -> dict[str, Any]:
    """Describe the machine and its GPU."""
    from polyaurn.backends.gpu.toolkit import cupy

    runtime = cupy().cuda.runtime
    name = runtime.getDeviceProperties(0)["name"].decode()
    return machine() | {"gpu": name, "driver": runtime.driverGetVersion()}


def write_result(
    name: str, result: dict[str, Any], path: Path | None = None, *, on_gpu: bool = False
) -> Path:
    """Keep a raw result, here or at a path; the newest of a name replaces the older one."""
    if path is None:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{name}.json"
    part = path.with_suffix(".part")
    where = machine_with_gpu() if on_gpu else machine()
    part.write_text(json.dumps({"machine": where} | result, indent=1) + "\n")
    part.replace(path)
    return path
