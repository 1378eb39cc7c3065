"""What workers exchange with each other, and what an engine that starts them provides.

Every worker runs the same program (SPMD). What it knows of the others is a `Group`: sums of whole
numbers, pieces exchanged between all, arrays gathered. An `Engine` starts the workers, passes on
what the first one says, and starts all of them again when one is lost; the program then continues
from the last checkpoint it finds. Nothing here knows a sampler, and programs know no engine.

Tasks and records are plain values (what JSON can write), and another process is given a program
as "package.module:function", so that nothing has to be pickled.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Task = dict[str, Any]  # plain values: numbers, text, lists of them; paths for all else
Record = dict[str, Any]


class Group(Protocol):
    """The workers of one program, as one of them sees them.

    All workers call the same methods in the same order. A method raises `WorkerLostError` when a
    worker that it waits for is gone.

    Attributes
    ----------
    rank : int
        The worker's number, from 0. It must never be part of what is drawn.
    size : int
        How many workers there are.
    moved : int
        Bytes that this worker has sent to others so far.
    """

    rank: int
    size: int
    moved: int

    def total(self, array: Array) -> Array:
        """Return the elementwise sum over workers, of whole numbers of 64 bits, on each of them."""

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Send piece j to worker j; item i of the answer came from worker i.

        Pieces are arrays of one dimension, of any length and of one dtype, the same on all workers.
        """

    def gather(self, array: Array) -> list[Array]:
        """Return the array of each worker, in the order of ranks; lengths may differ."""

    def barrier(self) -> None:
        """Wait until all workers are here."""


class Caller(Protocol):
    """The process that started the workers, as their program sees it."""

    def report(self, record: Record) -> None:
        """Pass a record on to the caller; only those of worker 0 arrive."""

    def stopping(self) -> bool:
        """Return whether the caller wants the program to end early; only worker 0 may ask."""


Program = Callable[[Group, Task, Caller], Record]


class Engine(Protocol):
    """Starts workers; made with an address, which is None where the engine needs none.

    Attributes
    ----------
    name : str
        As users write it.
    restarts : bool
        Whether lost workers are started again; if not, a lost worker ends the run, and resuming
        it continues from the last checkpoint.
    """

    name: str
    restarts: bool

    def missing(self) -> str | None:
        """Return what has to be installed, as a clause with its remedy; None when nothing is."""

    def serve(self) -> bool:
        """If this process is a worker, serve until the caller is done; return whether it was one.

        Only with engines whose workers are started beside the caller, such as MPI's ranks.
        """

    def check(self, size: int | None) -> int:
        """Return how many workers to start; None takes as many as there is room for.

        Raises `InputError` where there is no cluster at the address, or where it has less room.
        """

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
        """Run the program on `size` workers and return what worker 0 returned.

        The program is a function of a module, which workers import.
        `on_record` is called in this thread with what worker 0 reports, and with ``{"lost": n}``
        before workers are started again, for the n-th time. `stopping` is asked now and then, and
        what it says is passed on. An `InputError` of a worker is raised here with its sentence.
        When workers are lost more than `restarts` times, `WorkerLostError` is raised.
        """


def name_of(program: Program) -> str:
    """Return where a program is, as "package.module:function", for another process."""
    return f"{program.__module__}:{program.__qualname__}"


def load_program(name: str) -> Program:
    """Return the function that `name_of` named, in the process that is to run it."""
    module, function = name.split(":")
    program: Program = getattr(import_module(module), function)
    return program


class ExchangingGroup:
    """Base of groups that have `exchange` and nothing better for the rest."""

    rank: int
    size: int
    moved: int = 0

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Send piece j to worker j; item i of the answer came from worker i."""
        raise NotImplementedError

    def total(self, array: Array) -> Array:
        """Return the elementwise sum over workers; each worker adds up one part of the array."""
        flat = np.ascontiguousarray(array).reshape(-1)
        parts = self.exchange(np.array_split(flat, self.size))
        own = np.sum(parts, axis=0, dtype=flat.dtype)
        return np.concatenate(self.gather(own)).reshape(array.shape)

    def gather(self, array: Array) -> list[Array]:
        """Return the array of each worker, in the order of ranks."""
        return self.exchange([array] * self.size)

    def barrier(self) -> None:
        """Wait until all workers are here."""
        self.gather(np.zeros(0, np.uint8))
