"""The log of the tests on a GPU, which run where there is one: ``make test-gpu``.

``python tests/support/gpu_log.py`` runs them all, shows and writes the log, with the versions and a
digest of the GPU's sources. ``--check`` runs nothing: it fails if the sources have changed since.
"""

import argparse
import hashlib
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from polyaurn.backends.registry import BACKENDS

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "benchmarks" / "results" / "gpu-tests.txt"
SOURCES = ROOT / "src" / "polyaurn" / "backends" / "gpu"
PACKAGES = ("polyaurn", "numpy", "numba", "numba-cuda", "pytest")
AGAIN = "run `make test-gpu` on a machine with an NVIDIA GPU, and commit the log"


def digest(folder: Path = SOURCES) -> str:
    """Return a digest of the sources in a folder and of their names."""
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def complaint(log: Path = LOG, folder: Path = SOURCES) -> str | None:
    """Return why a log does not speak for the sources, None where it does."""
    text = log.read_text("utf-8") if log.exists() else ""
    said = re.search(r"^sources: (\w+)$", text, re.MULTILINE)
    if said is None or said[1] != digest(folder):
        return f"The GPU's sources have changed since the tests on a GPU last ran: {AGAIN}."
    if not re.search(r"^passed: yes$", text, re.MULTILINE):
        return f"The tests on a GPU failed when they last ran: {AGAIN}."
    return None


def write() -> int:
    """Run the tests on a GPU and write their log; return pytest's exit code."""
    lacking = BACKENDS["gpu"].missing()
    if lacking is not None:
        print(f"The tests on a GPU cannot run: {lacking}.", file=sys.stderr)
        return 2
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    about = [*BACKENDS["gpu"].describe().values(), f"Python {platform.python_version()}", *versions]
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-m", "gpu", "-v", "-p", "no:cacheprovider", "--no-cov"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    lines = []
    assert run.stdout is not None
    for line in run.stdout:
        print(line, end="", flush=True)
        if not line.startswith("rootdir"):  # a path of this machine
            lines.append(line)
    code = run.wait()
    head = [
        "`make test-gpu`: the tests on a GPU", ", ".join(about), f"date: {datetime.now(UTC):%F}",
        f"sources: {digest()}", f"passed: {'no' if code else 'yes'}", "",
    ]  # fmt: skip
    LOG.write_text("\n".join(head) + "\n" + "".join(lines), "utf-8")
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="run nothing, look at the log")
    if not parser.parse_args().check:
        return write()
    said = complaint()
    if said is not None:
        print(said, file=sys.stderr)
    return 0 if said is None else 1


if __name__ == "__main__":
    sys.exit(main())
