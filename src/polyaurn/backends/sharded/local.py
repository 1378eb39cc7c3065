"""Workers as processes of this machine, joined by sockets."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from polyaurn.backends.sharded.group import Program, Record, Task, name_of
from polyaurn.base.errors import InputError, WorkerLostError
from polyaurn.base.threads import count_cores

LOOK = 0.2  # seconds between looks at whether the caller wants to stop
WORKER = "import sys; from polyaurn.backends.sharded.worker import main; main(sys.argv[1])"


class Local:
    """Starts workers on this machine, and all of them again when one is lost."""

    name = "local"
    restarts = True

    def __init__(self, address: str | None = None) -> None:
        if address is not None:
            raise InputError(
                "The 'cluster_address' parameter must be left out with cluster='local', whose "
                f"workers are on this machine. Got {address!r} instead."
            )

    def missing(self) -> str | None:
        """Return why processes cannot be joined here; None where they can."""
        if os.name == "nt":
            return "processes that are joined by sockets need Linux or macOS"
        return None

    def serve(self) -> bool:
        """Return False: workers are processes that this one starts."""
        return False

    def check(self, size: int | None) -> int:
        """Return how many workers to start, one per core where that is not said."""
        return count_cores() if size is None else size

    def run(
        self,
        size: int,
        program: Program,
        task: Task,
        *,
        restarts: int = 0,
        on_record: Callable[[Record], None] = lambda record: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> Record:
        """Run a program on `size` workers; see `polyaurn.backends.sharded.group.Engine`."""
        for lost in range(1, restarts + 2):
            workers = _Workers(size, program, task)
            try:
                return workers.follow(on_record, stopping)
            except WorkerLostError:
                if lost > restarts:
                    raise
                on_record({"lost": lost})
            finally:
                workers.end()
        raise AssertionError("a run neither ended nor failed")


class _Workers:
    """Processes that run one program once."""

    def __init__(self, size: int, program: Program, task: Task) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._controls: list[Connection] = []
        ends: dict[tuple[int, int], socket.socket] = {}
        for i, j in combinations(range(size), 2):
            ends[i, j], ends[j, i] = socket.socketpair()
        path = os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)
        try:
            for rank in range(size):
                ours, theirs = Pipe()
                self._controls.append(ours)
                peers = [ends[rank, j].fileno() if j != rank else -1 for j in range(size)]
                own = json.dumps({"rank": rank, "control": theirs.fileno(), "peers": peers})
                process = subprocess.Popen(
                    [sys.executable, "-c", WORKER, own],
                    pass_fds=[theirs.fileno(), *(fd for fd in peers if fd >= 0)],
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is the caller's to answer
                    env=os.environ | {"PYTHONPATH": path},
                )
                theirs.close()
                self._processes.append(process)
                ours.send_bytes(json.dumps({"program": name_of(program), "task": task}).encode())
        except BaseException:
            self.end()
            raise
        finally:
            for end in ends.values():
                end.close()

    def follow(self, on_record: Callable[[Record], None], stopping: Callable[[], bool]) -> Record:
        """Pass on what workers say until all have ended; return what worker 0 returned."""
        open_ones: dict[Any, int] = {control: r for r, control in enumerate(self._controls)}
        result: Record | None = None
        asked = False
        while open_ones:
            for control in wait(list(open_ones), LOOK):
                rank = open_ones[control]
                try:
                    said = json.loads(control.recv_bytes())  # type: ignore[union-attr]
                except (EOFError, OSError):
                    raise _lost(rank, self._processes[rank]) from None
                if "record" in said:
                    on_record(said["record"])
                    continue
                if "result" not in said:
                    _raise(*_cause(rank, said, open_ones))
                result = said["result"] if rank == 0 else result
                del open_ones[control]
            if not asked and stopping():
                asked = True
                with suppress(ConnectionError):  # the worker has ended already
                    self._controls[0].send_bytes(b"stop")
        assert result is not None
        return result

    def end(self) -> None:
        """End the processes that still run."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        for control in self._controls:
            control.close()


def _cause(rank: int, said: Record, others: dict[Any, int]) -> tuple[int, Record]:
    """Return the worker that failed first, and what it says.

    That another worker is gone may be heard before the words with which that one went.
    """
    for control, other in others.items():
        with suppress(EOFError, OSError):
            while "gone" in said and control.poll():
                heard = json.loads(control.recv_bytes())
                if "sentence" in heard or "traceback" in heard:
                    return other, heard
    return rank, said


def _raise(rank: int, said: Record) -> None:
    """Raise the error that a worker reports."""
    if "sentence" in said:
        raise InputError(said["sentence"])
    if "gone" in said:
        raise WorkerLostError(said["gone"])
    raise RuntimeError(f"Worker {rank} failed:\n{said['traceback']}")


def _lost(rank: int, process: subprocess.Popen[bytes]) -> WorkerLostError:
    code = process.wait()
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return WorkerLostError(f"Worker {rank} of the cluster ended {how}.")
