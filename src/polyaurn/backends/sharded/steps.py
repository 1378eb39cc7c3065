"""Steps of a chain on shards: another backend's steps, and what workers have to exchange.

Given Phi, documents are independent, and draws are addressed by token of the whole corpus; so each
worker draws the topics of its own. Counts are sums of whole numbers, which have no order. They are
added up at the owner of each word, who draws the word's column of Phi; all workers then have all
of Phi. A state has the topics of the worker's documents, and the counts of its words.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from polyaurn.backends.cpu import counts as counting
from polyaurn.backends.cpu import log_posterior as scores
from polyaurn.backends.cpu.layout import WORD_RANGES, clear_other_blocks, range_words
from polyaurn.backends.cpu.steps import CPUSteps
from polyaurn.backends.sharded.group import Array, Group
from polyaurn.backends.sharded.shards import Piece, check_words, layout_of_piece
from polyaurn.backends.sharded.words import OwnWords, owners_of_words, ranges_inside
from polyaurn.base.arrays import I64, U16
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP, Draws
from polyaurn.chain.priors import Cells, Histogram, pseudo_at, unique_numbers, with_seeded
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.state import Counts, Phi, Priors, State, Work, topic_word_matrix
from polyaurn.chain.steps import Address, LDASteps, Steps


class ShardedSteps(LDASteps):
    """Steps of one worker; all workers of the group take them together."""

    def __init__(
        self,
        made: type[CPUSteps],
        piece: Piece,
        n_topics: int,
        workers: Workers,
        group: Group,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
        hdp: HDP | None = None,
    ) -> None:
        super().__init__(piece.part, mh_steps=mh_steps, learn_every=learn_every, hdp=hdp)
        self.layout, self.workers, self.group = piece.whole, workers, group
        self._scored = piece.scored
        self._made = made
        self._there = np.flatnonzero(np.diff(piece.cut[1]))  # blocks with documents here
        part = layout_of_piece(piece, n_topics, workers, by_word=made.by_word)
        self.inner = made(
            piece.part, n_topics, workers, mh_steps=mh_steps, learn_every=learn_every, hdp=hdp,
            layout=part,
        )  # fmt: skip
        word_tokens = group.total(part.word_tokens)
        check_words(word_tokens)
        fixed = range_words(word_tokens, n_topics, WORD_RANGES)
        bounds = owners_of_words(fixed, group.size)
        lo, hi = bounds[group.rank : group.rank + 2].tolist()
        own = part._replace(
            word_tokens=word_tokens,
            word_ranges=ranges_inside(part.word_ranges, lo, hi),
            fixed_ranges=ranges_inside(fixed, lo, hi),
        )
        self.words = OwnWords(group, part, own, bounds)

    def start(self, seed: int, blocks: I64 | None = None) -> U16:
        """Draw first topics uniformly; documents of other blocks have none."""
        return self.inner.start(seed, blocks)

    def count(self, z: U16) -> Counts:
        """Count topics of the worker's words from scratch."""
        return self.words.collect(self.inner.count(z), self.workers)

    def count_blocks(self, z: U16, counts: Counts, blocks: I64) -> Counts:
        """Count some blocks of all workers."""
        some = z.copy()
        clear_other_blocks(self.inner.layout, some, blocks)
        return self.count(some)

    def replace_counts(self, counts: Counts, old: Counts, new: Counts) -> Counts:
        """Put some documents' new counts in place of their old ones."""
        if self.words.lo == self.words.hi:
            return counts
        return counting.replace_counts(self.words.layout, counts, old, new, self.workers)

    def document_histogram(self, z: U16) -> Histogram:
        """Count documents of all workers by topic and number of tokens."""
        found = self.inner.document_histogram(z)
        return Histogram(*self._added_up(*found[:3]), *self._added_up(*found[3:]))

    def draws(self, address: Address) -> Draws:
        """Return the random variates of a sweep, the same for all workers."""
        return self.inner.draws(address)

    def cells(self, counts: Counts, priors: Priors) -> Cells:
        """Return the counts of all words as learning beta needs them."""
        K = len(priors.alpha)
        sizes = self._sizes(counts, K).astype(np.float64)
        if priors.pseudo is None:
            number, times = self._added_up(*unique_numbers(counts.number))
            return Cells(number, times, 0, sizes)
        n = topic_word_matrix(counts, K)
        pseudo = pseudo_at(n, priors)
        seeded = pseudo > 0
        number, times = self._added_up(*unique_numbers(n.data[~seeded]))
        topic = np.repeat(np.arange(K), np.diff(n.indptr))[seeded]
        k, v, many, before = (
            np.concatenate(self.group.gather(np.asarray(array, dtype)))
            for array, dtype in (
                (topic, np.int64),
                (n.indices[seeded], np.int64),
                (n.data[seeded], np.int64),
                (pseudo[seeded], np.float64),
            )
        )
        order = np.lexsort((v, k))  # as on one machine, where the sum has this order
        return with_seeded(number, times, many[order], before[order], sizes)

    def draw_phi(self, counts: Counts, priors: Priors, address: Address) -> Phi:
        """Draw Phi of the worker's words, and gather that of the others."""
        words = self.words
        if priors.pseudo is not None:
            counts = self._with_pseudo_counts(counts, priors.pseudo)
        return self._made.phi_step(words.layout, counts, priors, *address, self.workers, words)

    def enter(self, z: U16, phi: Phi, address: Address, blocks: I64) -> U16:
        """Give tokens of these blocks that have no topic one."""
        return self.inner.enter(z, phi, address, blocks)

    def draw_z(
        self,
        z: U16,
        phi: Phi,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: U16 | None = None,
    ) -> tuple[U16, Counts, Work]:
        """Draw topics of the worker's documents in these blocks, and add up the counts of all."""
        there = self._there if blocks is None else blocks[np.isin(blocks, self._there)]
        if into is None:
            into = np.empty_like(z) if blocks is None else z.copy()
        z, counts, work = self.inner.draw_z(z, phi, priors, address, there, into)
        done = self.group.total(np.array(work, np.int64)).tolist()
        return z, self.words.collect(counts, self.workers), Work(*done)

    def topic_sizes(self, state: State) -> I64:
        """Return the tokens of each topic, in the words of all workers."""
        return self._sizes(state.counts, len(state.priors.alpha))

    def log_posterior(self, state: State) -> float:
        """Return log p(w, z), Theta and Phi integrated out."""
        priors, workers, V = state.priors, self.workers, self.corpus.n_words
        documents = scores.scores_of_documents(
            self.corpus.doc_ptr, self._scored, state.z, priors.alpha, workers
        )
        ranges = scores.word_ranges(V)
        bounds = ranges[np.searchsorted(ranges, self.words.bounds)]
        lo, hi = bounds[self.group.rank : self.group.rank + 2].tolist()
        counts = self.words.collect(state.counts, workers, bounds)
        own = ranges[(ranges >= lo) & (ranges <= hi)]
        words = scores.scores_of_words(own, counts, priors.beta, workers) if hi > lo else []
        if priors.pseudo is not None:
            words = [*words, *scores.gain_of_pseudo_counts(state, priors)]
        sizes = self._sizes(state.counts, len(priors.alpha))
        return scores.total_score(self._of_all(documents), self._of_all(words), sizes, priors)

    def _of_all(self, scores: list[float]) -> list[float]:
        """Return the scores of all workers."""
        found: list[float] = np.concatenate(
            self.group.gather(np.array(scores, np.float64))
        ).tolist()
        return found

    def _with_pseudo_counts(self, counts: Counts, pseudo: Counts) -> Counts:
        """Return the counts of the worker's words with their pseudo-counts."""
        lo, hi = self.words.lo, self.words.hi
        if lo == hi:
            nothing: Any = counts.number.astype(pseudo.number.dtype)
            return counts._replace(number=nothing)
        before = _of_words(pseudo, lo, hi)
        return counting.add_pseudo_counts(self.words.layout, counts, before, self.workers)

    def _sizes(self, counts: Counts, n_topics: int) -> I64:
        """Return the tokens of each topic."""
        own = np.bincount(counts.topic, counts.number, minlength=n_topics)
        return self.group.total(own.astype(np.int64))

    def _added_up(self, *rows: I64) -> tuple[I64, ...]:
        """Return the different columns of all workers in increasing order; the last row is added.

        Columns are shared out by their first number and added up there, so that what each worker
        receives does not grow with their number.
        """
        own, size, n = np.array(rows, np.int64), self.group.size, len(rows)

        def beside(pieces: list[Array]) -> I64:
            return np.concatenate([piece.reshape(n, -1) for piece in pieces], axis=1)

        owners = own[0] % size
        came = self.group.exchange([own[:, owners == i].reshape(-1) for i in range(size)])
        here = np.array(_merged(beside(came)))
        return _merged(beside(self.group.gather(here.reshape(-1))))


if TYPE_CHECKING:

    def conforms(steps: ShardedSteps) -> Steps[U16, Counts, Phi]:
        """Let the steps be checked against their protocol."""
        return steps


def _merged(rows: I64) -> tuple[I64, ...]:
    """Return the different columns of all rows but the last in increasing order, that added up."""
    if not rows.shape[1]:
        return tuple(rows)
    rows = rows[:, np.lexsort(rows[-2::-1])]
    new = np.concatenate(([True], (np.diff(rows[:-1]) != 0).any(axis=0)))
    begin = np.flatnonzero(new)
    return (*rows[:-1, begin], np.add.reduceat(rows[-1], begin))


def _of_words(counts: Counts, lo: int, hi: int) -> Counts:
    """Return counts with those of some words only."""
    first, last = np.zeros_like(counts.first), np.zeros_like(counts.last)
    first[lo:hi], last[lo:hi] = counts.first[lo:hi], counts.last[lo:hi]
    return counts._replace(first=first, last=last)
