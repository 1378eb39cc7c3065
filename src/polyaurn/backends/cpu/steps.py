"""Steps of a chain in compiled code, on threads; each sampler adds how it draws Phi and topics."""

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from polyaurn.backends.backend import MakeSteps
from polyaurn.backends.cpu import counts as counting
from polyaurn.backends.cpu.columns import ALL_WORDS, AllWords
from polyaurn.backends.cpu.histograms import count_documents
from polyaurn.backends.cpu.layout import Layout, make_layout
from polyaurn.backends.cpu.log_posterior import log_posterior
from polyaurn.backends.cpu.start import enter, uniform_topics
from polyaurn.backends.draws import AddressedDraws
from polyaurn.base.arrays import I64, U16
from polyaurn.base.rng import Moment
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP, Draws
from polyaurn.chain.priors import Histogram
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.state import Counts, Phi, Priors, State, Work
from polyaurn.chain.steps import Address, LDASteps
from polyaurn.corpus.part import Documents


class PhiStep(Protocol):
    """A function that draws Phi given its counts."""

    def __call__(
        self,
        layout: Layout,
        counts: Counts,
        priors: Priors,
        seed: int,
        sweep: Moment,
        workers: Workers,
        words: AllWords = ALL_WORDS,
    ) -> Phi:
        """Return Phi; `words` says who draws which."""


class ZStep(Protocol):
    """A function that draws topics given Phi, or what takes its place."""

    def __call__(
        self,
        layout: Layout,
        z: U16,
        phi: Any,
        priors: Priors,
        seed: int,
        sweep: Moment,
        workers: Workers,
        blocks: I64 | None = None,
        into: U16 | None = None,
        /,
    ) -> tuple[U16, Counts, Work]:
        """Return all topics, the counts of these blocks, and the work."""


class ProposingZStep(Protocol):
    """A `ZStep` that proposes topics, `mh_steps` times per token."""

    def __call__(
        self,
        layout: Layout,
        z: U16,
        phi: Any,
        priors: Priors,
        seed: int,
        sweep: Moment,
        workers: Workers,
        blocks: I64 | None = None,
        into: U16 | None = None,
        /,
        *,
        mh_steps: int,
    ) -> tuple[U16, Counts, Work]:
        """Return all topics, the counts of these blocks, and the work."""


class CPUSteps(LDASteps):
    """Base of the samplers, whose subclasses say which functions draw Phi and topics.

    `by_word` says whether blocks of documents are visited word by word, `proposes` whether topics
    are proposed and accepted.
    """

    phi_step: ClassVar[PhiStep]
    z_step: ClassVar[ZStep | ProposingZStep]
    by_word = True
    proposes = False

    def __init__(
        self,
        corpus: Documents,
        n_topics: int,
        workers: Workers | None = None,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
        hdp: HDP | None = None,
        layout: Layout | None = None,
    ) -> None:
        super().__init__(corpus, mh_steps=mh_steps, learn_every=learn_every, hdp=hdp)
        self.workers = workers or Workers(1)
        if layout is None:
            layout = make_layout(corpus, n_topics, self.workers, by_word=self.by_word)
        self.layout = layout

    def start(self, seed: int, blocks: I64 | None = None) -> U16:
        """Draw first topics uniformly; documents of other blocks have none."""
        return uniform_topics(self.layout, seed, blocks, self.start_topics, self.layout.first_token)

    def count(self, z: U16) -> Counts:
        """Count topics of words from scratch, in tokens that have a topic."""
        return counting.count(self.layout, z, self.workers)

    def count_blocks(self, z: U16, counts: Counts, blocks: I64) -> Counts:
        """Count some blocks, given the counts of all."""
        return counting.count_blocks(self.layout, z, counts, blocks, self.workers)

    def replace_counts(self, counts: Counts, old: Counts, new: Counts) -> Counts:
        """Put some documents' new counts in place of their old ones."""
        return counting.replace_counts(self.layout, counts, old, new, self.workers)

    def add_pseudo_counts(self, counts: Counts, pseudo: Counts) -> Counts:
        """Return counts with pseudo-counts."""
        return counting.add_pseudo_counts(self.layout, counts, pseudo, self.workers)

    def document_histogram(self, z: U16) -> Histogram:
        """Count documents by topic and number of tokens."""
        return count_documents(self.layout.doc_ptr, z, self.layout.n_topics, self.workers)

    def draws(self, address: Address) -> Draws:
        """Return the random variates of a sweep."""
        return AddressedDraws(*address)

    def draw_phi(self, counts: Counts, priors: Priors, address: Address) -> Phi:
        """Draw Phi: given n and beta + n0 it is Phi given n + n0 and beta."""
        if priors.pseudo is not None:
            counts = self.add_pseudo_counts(counts, priors.pseudo)
        return type(self).phi_step(self.layout, counts, priors, *address, self.workers)

    def draw_z(
        self,
        z: U16,
        phi: Any,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: U16 | None = None,
    ) -> tuple[U16, Counts, Work]:
        """Draw topics of these blocks; return all topics, the blocks' counts, and the work."""
        own = {"mh_steps": self.mh_steps} if self.proposes else {}
        return type(self).z_step(
            self.layout, z, phi, priors, *address, self.workers, blocks, into, **own
        )

    def enter(self, z: U16, phi: Phi, address: Address, blocks: I64) -> U16:
        """Give tokens of these blocks that have no topic one, from the prior's part of Phi."""
        return enter(self.layout, z, phi, *address, self.workers, blocks)

    def log_posterior(self, state: State) -> float:
        """Return log p(w, z), Theta and Phi integrated out."""
        return log_posterior(self.corpus, state, state.priors, self.workers)


class CollapsedSteps(CPUSteps):
    """Base of samplers in which Phi is integrated out: topics are drawn given the counts."""

    by_word = False
    in_parts = False

    def draw_phi(self, counts: Counts, priors: Priors, address: Address) -> Counts:  # type: ignore[override]
        """Return the counts with the pseudo-counts, which take Phi's place."""
        return counts if priors.pseudo is None else self.add_pseudo_counts(counts, priors.pseudo)


if TYPE_CHECKING:
    conforms: MakeSteps[U16, Counts, Phi] = CPUSteps
