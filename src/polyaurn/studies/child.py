"""Work in a process of its own, which reads a task and prints records, both as JSON.

A process of its own has its own peak of memory, and its time is not shared with earlier work.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError


class ChildError(Exception):
    """A child process that ended early; the message is the last line it wrote."""


def records_of(module: str, task: Any) -> Generator[Any]:
    """Run a module that calls `answer` in a new process, and yield its records as they come."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(BrokenPipeError), process.stdin:  # broken where it has ended already
                process.stdin.write(json.dumps(task))
            for line in process.stdout:
                yield json.loads(line)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
            process.stdout.close()
        if process.returncode:
            errors.seek(0)
            raise ChildError((errors.read().strip().splitlines() or ["no reason given"])[-1])


def answer(work: Callable[[Any], Iterable[Any]]) -> None:
    """Print the records of the task on standard input; errors of input are one sentence."""
    try:
        for record in work(json.load(sys.stdin)):
            print(json.dumps(record), flush=True)
    except InputError as error:
        sys.exit(str(error))
    except MemoryError:
        sys.exit("not enough memory")


def peak_bytes() -> int:
    """Return the most memory this process has had."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):  # no such file outside Linux
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return int(most if sys.platform == "darwin" else most * 1024)
