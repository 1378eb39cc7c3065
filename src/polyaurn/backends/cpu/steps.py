"""Steps of a chain in compiled code, on threads; each sampler adds how it draws Phi and topics."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from polyaurn.backends.cpu import counts as counting
from polyaurn.backends.cpu.collapsed_parts import no_counts
from polyaurn.backends.cpu.histograms import count_documents
from polyaurn.backends.cpu.layout import Layout, make_layout
from polyaurn.backends.cpu.log_posterior import log_posterior
from polyaurn.backends.cpu.start import enter, uniform_topics
from polyaurn.base.arrays import I64, U16
from polyaurn.base.rng import Moment
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import Histogram
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.state import Counts, Phi, Priors, State, Work
from polyaurn.chain.steps import Address, LDASteps
from polyaurn.corpus.corpus import Corpus


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
    ) -> Phi:
        """Return Phi."""


class CPUSteps(LDASteps):
    """Base of the samplers, whose subclasses say which functions draw Phi and topics.

    `by_word` says whether blocks of documents are visited word by word, `proposes` whether topics
    are proposed and accepted.
    """

    phi_step: ClassVar[PhiStep]
    z_step: ClassVar[Callable[..., tuple[U16, Counts, Work]]]
    by_word = True
    proposes = False

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        workers: Workers | None = None,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
    ) -> None:
        super().__init__(corpus, mh_steps=mh_steps, learn_every=learn_every)
        self.workers = workers or Workers(1)
        self.layout = make_layout(corpus, n_topics, self.workers, by_word=self.by_word)

    def start(self, seed: int, blocks: I64 | None = None) -> U16:
        """Draw first topics uniformly; documents of other blocks have none."""
        return uniform_topics(self.layout, seed, blocks)

    def count(self, z: U16) -> Counts:
        """Count topics of words from scratch, in tokens that have a topic."""
        return counting.count(self.layout, z, self.workers)

    def count_blocks(self, z: U16, counts: Counts, blocks: I64) -> Counts:
        """Count some blocks, given the counts of all."""
        return counting.count_blocks(self.layout, z, counts, blocks, self.workers)

    def replace_counts(self, counts: Counts, old: Counts, new: Counts) -> Counts:
        """Put some documents' new counts in place of their old ones."""
        return counting.replace_counts(self.layout, counts, old, new, self.workers)

    def document_histogram(self, z: U16) -> Histogram:
        """Count documents by topic and number of tokens."""
        return count_documents(self.layout.doc_ptr, z, self.layout.n_topics, self.workers)

    def draw_phi(self, counts: Counts, priors: Priors, address: Address) -> Phi:
        """Draw Phi: given n and beta + n0 it is Phi given n + n0 and beta."""
        if priors.pseudo is not None:
            nothing = no_counts(self.layout.n_words)
            counts = self.replace_counts(counts, nothing, priors.pseudo)
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
        """Return the counts, which take Phi's place."""
        return counts
