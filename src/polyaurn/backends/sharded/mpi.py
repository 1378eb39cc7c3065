"""MPI: the ranks that mpiexec has started are the workers, and rank 0 is the caller as well.

Arrays pass between ranks as buffers, in messages that every MPI can count with 32 bits. Other ranks
wait for the caller's orders in `MPI.serve`, print nothing, and end when it ends.
"""

import atexit
import json
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from polyaurn.backends.sharded.group import (
    Array,
    Caller,
    Program,
    Record,
    Task,
    load_program,
    name_of,
)
from polyaurn.backends.sharded.versions import check_versions
from polyaurn.base.errors import InputError, first_line

EXTRA = "pip install 'polyaurn[mpi]'"
MESSAGE = 1 << 30  # bytes that a rank sends or receives in one call at most
ORDER = 1  # the tag of the caller's orders
GRACE = 3.0  # seconds that a rank which has failed waits for the others to fail alike
FLUSH = 0.5  # seconds for mpiexec to pass on the last sentence, before all is ended
NAP = 0.005  # seconds between two looks of a rank that waits for orders, or for others to end
_UNKNOWN, _INPUT, _STOPPED = 1, 2, 130  # exit codes


class MPIGroup:
    """The ranks of a communicator, as one of them sees them."""

    def __init__(self, communicator: Any) -> None:
        self._comm = communicator
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self.moved = 0

    def total(self, array: Array) -> Array:
        """Return the elementwise sum over ranks."""
        mpi = _mpi()
        total = np.array(array, order="C")
        flat = total.reshape(-1)
        step = max(1, MESSAGE // flat.itemsize)
        for lo in range(0, len(flat), step):
            self._comm.Allreduce(mpi.IN_PLACE, flat[lo : lo + step], mpi.SUM)
        # What sending parts to who adds them up, and their sums to all, takes at least
        self.moved += 2 * (flat.nbytes - flat.nbytes // self.size)
        return total

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Send piece j to rank j; item i of the answer came from rank i."""
        mpi = _mpi()
        sent = np.array([len(piece) for piece in pieces], np.int64)
        coming = np.empty_like(sent)
        self._comm.Alltoall(sent, coming)
        longest = np.array([sent.max()])
        self._comm.Allreduce(mpi.IN_PLACE, longest, mpi.MAX)
        self.moved += sum(piece.nbytes for piece in pieces) - pieces[self.rank].nbytes

        def send(lo: int, hi: int, into: list[Any]) -> None:
            parts = [piece[lo:hi] for piece in pieces]
            out = _buffer(np.concatenate(parts), np.array([len(part) for part in parts]))
            self._comm.Alltoallv(out, into)

        return self._received(pieces[0].dtype, coming, int(longest[0]), send)

    def gather(self, array: Array) -> list[Array]:
        """Return the array of each rank, in their order."""
        flat = np.ascontiguousarray(array).reshape(-1)
        coming = np.empty(self.size, np.int64)
        self._comm.Allgather(np.array([len(flat)], np.int64), coming)
        self.moved += flat.nbytes * (self.size - 1)

        def send(lo: int, hi: int, into: list[Any]) -> None:
            out = flat[lo:hi]
            self._comm.Allgatherv([out, out.nbytes, _mpi().BYTE], into)

        return self._received(array.dtype, coming, int(coming.max()), send)

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        self._comm.Barrier()

    def _received(
        self,
        dtype: np.dtype[Any],
        coming: NDArray[np.int64],
        longest: int,
        send: Callable[[int, int, list[Any]], None],
    ) -> list[Array]:
        """Return one array from each rank; the longest anywhere says how many messages it takes."""
        most = max(1, MESSAGE // (dtype.itemsize * self.size))
        parts: list[list[Array]] = [[] for _ in range(self.size)]
        for lo in range(0, max(1, longest), most):
            lengths = np.clip(coming - lo, 0, most)
            into = np.empty(lengths.sum(), dtype)
            send(lo, lo + most, _buffer(into, lengths))
            for part, piece in zip(parts, np.split(into, np.cumsum(lengths)[:-1]), strict=True):
                part.append(piece)
        return [part[0] if len(part) == 1 else np.concatenate(part) for part in parts]


class MPI:
    """The engine for Slurm and similar schedulers; a lost rank ends the job."""

    name = "mpi"
    restarts = False

    def __init__(self, address: str | None = None) -> None:
        if address is not None:
            raise InputError(
                "The 'cluster_address' parameter must be left out with cluster='mpi', whose ranks "
                f"mpiexec starts. Got {address!r} instead."
            )

    def missing(self) -> str | None:
        """Return what has to be installed, as a clause with its remedy; None when nothing is."""
        if find_spec("mpi4py") is None:
            return f"the package mpi4py is not installed ({EXTRA} brings it)"
        try:
            _mpi()
        except (ImportError, RuntimeError) as error:
            return (
                f"mpi4py finds no MPI library ({first_line(error)}; load the site's module, or "
                "take the one of: pip install mpich)"
            )
        return None

    def serve(self) -> bool:
        """In ranks other than 0, serve as a worker until the caller is done."""
        world = _mpi().COMM_WORLD
        if world.Get_rank() == 0:
            atexit.unregister(_send_order)  # of an engine before this one
            atexit.register(_send_order, None)
            return False
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)  # mpiexec signals all ranks; rank 0 answers
        while (order := _wait_for_order()) is not None:
            _work(order, _Nobody())
        return True

    def check(self, size: int | None) -> int:
        """Return the number of ranks, which is that of workers; reject another."""
        ranks: int = _mpi().COMM_WORLD.Get_size()
        if size not in (None, ranks):
            raise InputError(
                f"The 'n_workers' parameter must be the number of MPI ranks, {ranks} here. Got "
                f"{size} instead; start with 'mpiexec -n {size} polyaurn ...'."
            )
        return ranks

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
        """Run the program on all ranks and return what rank 0 returned."""
        self.check(size)
        order = {"program": name_of(program), "task": task}
        _send_order(order)
        return _work(order, _Here(on_record, stopping))


class _Here:
    """The caller, in whose process rank 0 runs."""

    def __init__(self, on_record: Callable[[Record], None], stopping: Callable[[], bool]) -> None:
        self.report, self.stopping = on_record, stopping


class _Nobody:
    """Stands for the caller on other ranks."""

    def report(self, record: Record) -> None:
        """Say nothing."""

    def stopping(self) -> bool:
        """Rank 0 asks."""
        return False


def _mpi() -> Any:
    from mpi4py import MPI

    return MPI


def _buffer(array: Array, lengths: NDArray[np.int64]) -> list[Any]:
    """Return an array of several pieces as MPI takes it, in bytes: counts stay below 2**31."""
    return [array, (lengths * array.itemsize).tolist(), _mpi().BYTE]


def _send_order(order: Record | None) -> None:
    """Send all other ranks what to run; None ends them."""
    world, mpi = _mpi().COMM_WORLD, _mpi()
    if not mpi.Is_finalized():
        text = json.dumps(order).encode()
        for rank in range(1, world.Get_size()):
            world.Send([text, len(text), mpi.BYTE], dest=rank, tag=ORDER)


def _wait_for_order() -> Any:
    world, mpi = _mpi().COMM_WORLD, _mpi()
    status = mpi.Status()
    while not world.Iprobe(source=0, tag=ORDER, status=status):
        time.sleep(NAP)
    text = bytearray(status.Get_count(mpi.BYTE))
    world.Recv([text, len(text), mpi.BYTE], source=0, tag=ORDER)
    return json.loads(text)


def _work(order: Record, caller: Caller) -> Record:
    """Run an order's program; where all ranks end, raise an error on rank 0, else end them all."""
    mpi = _mpi()
    world = mpi.COMM_WORLD
    own = world.Dup()  # so that orders and sentences pass beside the program's messages
    group = MPIGroup(own)
    error: InputError | None = None
    result: Record = {}
    try:
        check_versions(group)
        result = load_program(order["program"])(group, order["task"], caller)
    except InputError as found:
        error = found
    except mpi.Exception as lost:
        _abort(f"Worker {group.rank} cannot reach the others ({first_line(lost)}).", _INPUT)
    except KeyboardInterrupt:
        _abort("Stopped at once; the last checkpoint is kept.", _STOPPED)
    except Exception as found:
        traceback.print_exc()
        _abort(f"Worker {group.rank} failed: {first_line(found)}", _UNKNOWN)
    sentence = _first_sentence(MPIGroup(world), error)
    own.Free()
    if sentence and group.rank == 0:
        raise error or InputError(sentence)
    return result


def _first_sentence(group: MPIGroup, error: InputError | None) -> str:
    """Return the error of the first rank that has one; the others may wait for this one forever."""
    sentence = np.frombuffer(str(error or "").encode(), np.uint8)
    lengths = np.empty(group.size, np.int64)
    ended = _mpi().COMM_WORLD.Iallgather(np.array([len(sentence)], np.int64), lengths)
    until = time.monotonic() + GRACE
    while not ended.Test():
        if error and time.monotonic() > until:
            _abort(str(error), _INPUT)
        time.sleep(NAP)
    said = group.gather(sentence) if lengths.any() else []
    return next((text.tobytes().decode() for text in said if len(text)), "")


def _abort(sentence: str, code: int) -> NoReturn:
    """Say why, and end all ranks."""
    print(f"polyaurn: {sentence}", file=sys.stderr, flush=True)
    time.sleep(FLUSH)
    _mpi().COMM_WORLD.Abort(code)
    raise SystemExit(code)
