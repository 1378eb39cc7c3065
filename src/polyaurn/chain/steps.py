"""The steps of a sweep, as every backend offers them.

Steps belong to one chain: they are made for a corpus, a number of topics, and threads or a device.
The loop in `polyaurn.chain.loop` knows nothing else about a sampler or a backend.
"""

from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from polyaurn.base.arrays import I64, U8, U32
from polyaurn.base.rng import Moment
from polyaurn.chain.hdp import HDP, Draws, draw_top
from polyaurn.chain.priors import Cells, Histogram, cells_of, learn_priors, with_beta_learned
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.schedule import Plan
from polyaurn.chain.state import WHOLE, Counts, Priors, State, Work, to_host
from polyaurn.corpus.part import Documents

Z = TypeVar("Z")  # topics of the tokens: an array, or what a device holds in its place
N = TypeVar("N")  # counts n
P = TypeVar("P")  # Phi, or whatever else topics are drawn given


class Address(NamedTuple):
    """Where draws of a sweep come from: the seed, and the sweep or a part of one."""

    seed: int
    moment: Moment


class Layout(Protocol):
    """How the documents of a corpus are cut into blocks."""

    @property
    def doc_ptr(self) -> I64:
        """Where the tokens of each document begin and end."""

    @property
    def documents(self) -> U32:
        """All documents, in the order of visits."""

    @property
    def blocks(self) -> I64:
        """Block b is documents[blocks[b]:blocks[b + 1]]."""

    @property
    def share(self) -> U8:
        """The smallest share of the corpus, in 64ths, that each block belongs to."""


class Steps(Protocol[Z, N, P]):
    """What one chain asks of its sampler on its backend."""

    @property
    def layout(self) -> Layout:
        """The corpus as the backend reads it."""

    @property
    def in_parts(self) -> bool:
        """Whether a sweep may visit some blocks only; if not, `blocks` is always None."""

    def start(self, seed: int, blocks: I64 | None = None) -> Z:
        """Draw first topics uniformly; documents of other blocks have none."""

    def count(self, z: Z) -> N:
        """Count topics of words from scratch, in tokens that have a topic."""

    def count_blocks(self, z: Z, counts: N, blocks: I64) -> N:
        """Count some blocks, given the counts of all."""

    def replace_counts(self, counts: N, old: N, new: N) -> N:
        """Put some documents' new counts in place of their old ones."""

    def draw_priors(self, state: State, plan: Plan, address: Address) -> Priors:
        """Return the priors that belong to topics just drawn: given, learned, or drawn."""

    def draw_phi(self, counts: N, priors: Priors, address: Address) -> P:
        """Draw what topics are drawn given: Phi from its counts and pseudo-counts."""

    def enter(self, z: Z, phi: P, address: Address, blocks: I64) -> Z:
        """Give tokens of these blocks that have no topic one."""

    def draw_z(
        self,
        z: Z,
        phi: P,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: Z | None = None,
    ) -> tuple[Z, N, Work]:
        """Draw topics of these blocks; return all topics, the blocks' counts, and the work."""

    def topic_sizes(self, state: State) -> I64:
        """Return the tokens of each topic."""

    def log_posterior(self, state: State) -> float:
        """Return log p(w, z), Theta and Phi integrated out."""


class LDASteps:
    """What steps share on every backend: priors given, learned, or drawn.

    Priors are learned from the topics every `learn_every` sweeps, 0 for never, once all documents
    are in: alpha from the beginning, beta once annealing has lowered it to the one that is learned.
    Those of a hierarchical Dirichlet process (`hdp`) are drawn in every sweep, and only beta is
    learned, after annealing.
    """

    in_parts = True

    def __init__(
        self,
        corpus: Documents,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
        hdp: HDP | None = None,
    ) -> None:
        self.corpus, self.mh_steps, self.learn_every = corpus, mh_steps, learn_every
        self.hdp = hdp
        self.start_topics = None if hdp is None else hdp.start_topics

    def document_histogram(self, z: Any) -> Histogram:
        """Count documents by topic and number of tokens; topics are NumPy's."""
        raise NotImplementedError

    def topic_sizes(self, state: State) -> I64:
        """Return the tokens of each topic."""
        counts = to_host(state.counts)
        sizes = np.bincount(counts.topic, counts.number, minlength=len(state.priors.alpha))
        return sizes.astype(np.int64)

    def cells(self, counts: Counts, priors: Priors) -> Cells:
        """Return the counts as learning beta needs them."""
        return cells_of(counts, priors)

    def draws(self, address: Address) -> Draws:
        """Return the random variates of a sweep that priors are drawn from."""
        raise NotImplementedError

    def draw_priors(self, state: State, plan: Plan, address: Address) -> Priors:
        """Return the priors that belong to topics just drawn."""
        ready = plan.share == WHOLE and not plan.smooth
        due = bool(self.learn_every) and ready and state.sweep % self.learn_every == 0
        if self.hdp is None and not due:
            return state.priors
        found = self.document_histogram(to_host(state.z))
        if self.hdp is None:
            learned = learn_priors(found, to_host(state.counts), state.priors, self.cells)
            below = plan.heat_of(learned) > 1.0  # annealing has not come down to it
            return learned._replace(beta=state.priors.beta) if below else learned
        priors = draw_top(found, state.priors, self.hdp, self.draws(address))
        if not due or plan.heat != 1.0:
            return priors
        return with_beta_learned(to_host(state.counts), priors, self.cells)


def tokens_of_blocks(layout: Layout) -> I64:
    """Return the number of tokens of each block."""
    lengths = np.diff(layout.doc_ptr)[layout.documents]
    tokens: I64 = np.add.reduceat(lengths, layout.blocks[:-1], dtype=np.int64)
    return tokens


AnySteps = Steps[Any, Any, Any]
