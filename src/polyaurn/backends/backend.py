"""What a backend is: the facts about a device, and who does the arithmetic there."""

from contextlib import AbstractContextManager
from typing import Protocol

from polyaurn.backends.documents import OnDone, Part, Topics
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.rng import Key
from polyaurn.base.threads import Workers


class NewDocuments(Protocol):
    """What is asked about documents against topics that stay as they are."""

    def mean_counts(
        self,
        doc_ptr: I64,
        word: I32,
        topics: Topics,
        sweeps: tuple[int, int],
        address: Key,
        workers: Workers,
        on_done: OnDone = None,
    ) -> list[Part]:
        """Average topics of new documents over sweeps: those left out, and those averaged."""

    def left_to_right(
        self,
        doc_ptr: I64,
        word: I32,
        topics: Topics,
        particles: int,
        address: Key,
        workers: Workers,
        on_done: OnDone = None,
    ) -> tuple[F64, F64]:
        """Return log p(w) of new documents, left to right, and their errors."""


class Backend(Protocol):
    """A device, or a way to spread work over several.

    Attributes
    ----------
    name : str
        As users write it, and the folder of its samplers in this package.
    in_place : bool
        Whether a sweep changes the state before it: an interrupted sweep then leaves nothing
        behind, so that Ctrl-C waits for its end, and an early checkpoint is worth having.
    on_threads : bool
        Whether sweeps run on the threads that were requested.
    holds_phi : bool
        Whether Phi and the counts beside it are stored in the computer's own memory.
    """

    name: str
    in_place: bool
    on_threads: bool
    holds_phi: bool

    def missing(self) -> str | None:
        """Return what is missing for work on the device, as a clause; None when nothing is."""

    def describe(self) -> dict[str, str]:
        """Return what a report of measurements should say about the device."""

    def failures(self, remedy: str = "") -> AbstractContextManager[None]:
        """Turn failures of the device inside a with block into `DeviceError`."""

    def new_documents(self) -> NewDocuments:
        """Return the module for documents that are not part of a chain."""
