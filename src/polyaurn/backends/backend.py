"""What a backend is: the facts about a device, and the code that computes on it."""

from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from polyaurn.backends.documents import OnDone, Part, Topics
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.rng import Key, Moment
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.state import Priors
from polyaurn.chain.steps import N, P, Steps, Z
from polyaurn.corpus.corpus import Corpus

L = TypeVar("L", contravariant=True)  # a layout
M = TypeVar("M", contravariant=True)  # counts
Q = TypeVar("Q", covariant=True)  # Phi


class MakeSteps(Protocol[Z, N, P]):
    """A class of steps, or a function that makes them: what a sampler is on a backend."""

    def __call__(
        self,
        corpus: Corpus,
        n_topics: int,
        workers: Workers | None = None,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
        hdp: HDP | None = None,
    ) -> Steps[Z, N, P]:
        """Return the steps of one chain."""


class DrawPhi(Protocol[L, M, Q]):
    """A function that draws Phi given counts, as a backend stores all three."""

    def __call__(self, layout: L, counts: M, priors: Priors, seed: int, sweep: Moment, /) -> Q:
        """Return Phi."""


class NewDocuments(Protocol):
    """What is asked about new documents, given fixed topics."""

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
        """Return mean counts of new documents; `sweeps` are those left out and those averaged."""

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
    in_shards : bool
        Whether the workers of a cluster can run its steps, each on its own documents.
    """

    name: str
    in_place: bool
    on_threads: bool
    holds_phi: bool
    in_shards: bool

    def missing(self) -> str | None:
        """Return what is missing for work on the device, as a clause; None when nothing is."""

    def describe(self) -> dict[str, str]:
        """Return what a report of measurements should say about the device."""

    def failures(self, remedy: str = "") -> AbstractContextManager[None]:
        """Turn failures of the device inside a with block into `DeviceError`."""

    def new_documents(self) -> NewDocuments:
        """Return the module for documents that are not part of a chain."""
