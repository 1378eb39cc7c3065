"""Plant faults one at a time in a copy of the package, and see whether the tests notice.

    python fuzz/plant.py                # all; some take minutes, since kernels are compiled again
    python fuzz/plant.py model corpus   # those of some packages
    python fuzz/plant.py 3 17           # those of some numbers
    python fuzz/plant.py --kinds        # those of kinds of faults, all or some in the same way

It prints a line for each fault and exits with 1 if one was missed. Nothing in the checkout changes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from planted_faults import FAULTS, KINDS, Fault

ROOT = Path(__file__).resolve().parents[1]
FAILED = 1  # what pytest exits with when a test fails
LONGEST = 900  # seconds for the tests of a fault


def outcome(fault: Fault, package: Path) -> str:
    """Run a fault's tests with the fault in place: "caught", "missed", or what went wrong."""
    file = package / fault.file
    right, times = file.read_text(encoding="utf-8"), file.stat()
    if right.count(fault.right) != 1:
        return "not planted: its text is no longer there once"
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    quiet = ("-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=line")
    try:
        file.write_text(right.replace(fault.right, fault.wrong), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *quiet, *fault.tests],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "caught: its tests do not end"
    finally:
        file.write_text(right, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # compiled code stays valid
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == FAILED:
        return f"caught: {lines[0].split(' - ')[0].split()[-1] if lines else 'a test'}"
    return "missed" if done.returncode == 0 else f"not run: pytest exited with {done.returncode}"


def main() -> int:
    """Plant the faults asked for; return 1 if one was not caught."""
    asked = sys.argv[1:]
    faults = FAULTS
    if "--kinds" in asked:
        asked.remove("--kinds")
        faults = KINDS
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        package = Path(shutil.copytree(ROOT / "src", Path(folder, "src"))) / "polyaurn"
        for number, fault in enumerate(faults, start=1):
            if asked and str(number) not in asked and fault.file.split("/")[0] not in asked:
                continue
            begin = perf_counter()
            found = outcome(fault, package)
            missed += not found.startswith("caught")
            seconds = perf_counter() - begin
            print(f"{number:2} {fault.file}: {fault.what}: {found} ({seconds:.0f} s)", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
