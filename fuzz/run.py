"""Try many hostile files: `python fuzz/run.py --target all --inputs 100000 --seed 1`.

Inputs run in a forked worker with little memory to spare; one that dies or hangs is replaced, and
the input at fault is kept. Exit code 1 when an input broke the promise.
"""

import argparse
import contextlib
import ctypes
import hashlib
import json
import mmap
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutations import good_files, hostile
from targets import ACCEPTED, TARGETS, forget_places, remove_places

from polyaurn.files import reading as files

MEMORY = 1 << 30  # bytes that inputs may take beyond what the worker has at its start
PATIENCE = 20  # seconds of processor time for one input; five times that by the clock
TURN = 20_000  # inputs after which a worker is replaced by a fresh one
M_MMAP_THRESHOLD = -3  # of glibc; with it freed arrays leave the address space, which is limited
KEPT = 40  # failing inputs kept of each target


class Progress:
    """Numbers that worker and supervisor share: next index, accepted, rejected, failed."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, 32)).cast("q")

    def __getitem__(self, name: str) -> int:
        return self._numbers[("next", "accepted", "rejected", "failed").index(name)]

    def __setitem__(self, name: str, value: int) -> None:
        self._numbers[("next", "accepted", "rejected", "failed").index(name)] = value


class TooSlow(BaseException):
    """An input took longer than it may."""


def work(target: str, seed: int, end: int, progress: Progress, notes: Path) -> None:
    """Try inputs until `end`; the body of a worker."""
    forget_places()
    files.SMALL = 1 << 25  # less than readers grant, so that no input takes seconds
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def too_slow(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, too_slow)
    while (index := progress["next"]) < end:
        data = hostile(target, seed, index)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        try:
            verdict = TARGETS[target](data)
            progress["accepted" if verdict == ACCEPTED else "rejected"] += 1
        except (Exception, TooSlow) as error:
            progress["failed"] += 1
            note(notes, target, index, data, _where(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        progress["next"] = index + 1


def _where(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "polyaurn" in f.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "targets"
    return f"{type(error).__name__} at {place}: {str(error)[:300]}"


def note(notes: Path, target: str, index: int, data: bytes, what: str) -> None:
    """Keep a failing input and what happened."""
    name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    if len(list(notes.glob(f"{target}-*"))) < KEPT:
        (notes / name).write_bytes(data)
    with (notes / "failures.jsonl").open("a") as file:
        file.write(
            json.dumps({"target": target, "index": index, "file": name, "what": what}) + "\n"
        )


def try_target(
    target: str, seed: int, start: int, end: int, until: float, notes: Path
) -> dict[str, Any]:
    """Supervise workers over inputs `start` to `end` of one target."""
    good_files(target)
    for data in good_files(target)[:1]:
        TARGETS[target](data)  # compiles what is compiled, once for all workers
    progress, began = Progress(), time.monotonic()
    progress["next"] = start
    while progress["next"] < end and time.monotonic() < until:
        turn = min(end, progress["next"] + TURN)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(target, seed, turn, progress, notes)
                code = 0
            except KeyboardInterrupt:
                pass
            finally:
                remove_places()
                os._exit(code)
        status = _wait(child, progress, until)
        if status != 0 and time.monotonic() < until:
            index = progress["next"]
            progress["failed"] += 1
            note(
                notes, target, index, hostile(target, seed, index), f"worker died: status {status}"
            )
            progress["next"] = index + 1
    tried = progress["accepted"] + progress["rejected"] + progress["failed"]
    return {
        "target": target,
        "seed": seed,
        "first": start,
        "inputs": tried,
        "accepted": progress["accepted"],
        "rejected": progress["rejected"],
        "failed": progress["failed"],
        "seconds": round(time.monotonic() - began, 1),
    }


def _wait(child: int, progress: Progress, until: float) -> int:
    """Wait for a worker; end it when it stands still or the time is over."""
    last, since = progress["next"], time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        now = time.monotonic()
        if progress["next"] != last:
            last, since = progress["next"], now
        if now > until or now - since > 5 * PATIENCE:
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]
        time.sleep(0.05)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="all", help=f"all, or some of: {', '.join(TARGETS)}")
    parser.add_argument("--inputs", type=int, default=10_000, help="of each target")
    parser.add_argument("--first", type=int, default=0, help="index of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="for all targets together")
    parser.add_argument("--failures", type=Path, default=Path("fuzz/failures"))
    parser.add_argument("--out", type=Path, help="file for the report, JSON")
    options = parser.parse_args()
    names = list(TARGETS) if options.target == "all" else options.target.split(",")
    if unknown := set(names) - set(TARGETS):
        parser.error(f"unknown target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    options.failures.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + options.seconds
    results = []
    for name in names:
        end = options.first + options.inputs
        one = try_target(name, options.seed, options.first, end, until, options.failures)
        print(json.dumps(one), flush=True)
        results.append(one)
    total = {
        k: round(sum(one[k] for one in results), 1)
        for k in ("inputs", "accepted", "rejected", "failed", "seconds")
    }
    print(json.dumps({"total": total}))
    if options.out:
        options.out.write_text(json.dumps({"total": total, "targets": results}, indent=1) + "\n")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
