"""Fully collapsed Gibbs in parallel, with the same bytes for any number of threads.

Phi and theta are integrated out, and a token of word v takes topic k with weight

    (alpha[k] + m[d, k]) (beta[v] + n[k, v]) / (n[k] + sum of beta),

itself left out of m[d, k] and n[k, v]. Visits that run side by side share no document and no word
(`polyaurn.backends.cpu.partition`), so that m[d, k] and n[k, v] are always current. Only the totals
n[k] are those of the beginning of a step, and in the part with m[d, k] beta[v] of the sweep: sums
of some thousand tokens, which one step moves by a small share. A corpus of a single group is
sampled with current totals, token by token, and its chain converges to the posterior.

In a hierarchical Dirichlet process most topics are empty. For the time of a sweep they are numbered
last, the heaviest of them first, so that sums over topics end soon behind those in use.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from polyaurn.backends.cpu.collapsed_parts import topic_totals
from polyaurn.backends.cpu.counts import remove_pseudo_counts
from polyaurn.backends.cpu.partition import LONGEST_ROW, Block, make_partition
from polyaurn.backends.cpu.partitioned_visit import (
    COARSE,
    Columns,
    Rows,
    Totals,
    load_block,
    pack_columns,
    renumber,
    renumbered,
    spread_columns,
    store_block,
    visit_block,
)
from polyaurn.backends.cpu.steps import CPUSteps
from polyaurn.base.arrays import F64, I64, U16, empty
from polyaurn.base.rng import Key, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Priors, Work
from polyaurn.chain.steps import Address
from polyaurn.corpus.corpus import Corpus

SCALE_BITS = 61  # weights of a token's topics add up to less than 2**63


class Steps(CPUSteps):
    """Steps of the sampler "partitioned"."""

    by_word = False
    in_parts = False
    visit = staticmethod(visit_block)

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        workers: Workers | None = None,
        **options: Any,
    ) -> None:
        super().__init__(corpus, n_topics, workers, **options)
        self.partition = make_partition(corpus, self.layout.word_tokens, n_topics, self.workers)
        longest = self.partition.longest
        self.bits = SCALE_BITS - int(longest).bit_length()
        self.row_type = np.uint16 if longest <= LONGEST_ROW else np.uint32

    def draw_phi(self, counts: Counts, priors: Priors, address: Address) -> Counts:  # type: ignore[override]
        """Return the counts with the pseudo-counts, which stand in Phi's place."""
        return counts if priors.pseudo is None else self.add_pseudo_counts(counts, priors.pseudo)

    def draw_z(
        self,
        z: U16,
        phi: Counts,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: U16 | None = None,
    ) -> tuple[U16, Counts, Work]:
        """Draw every token's topic given all others; `phi` are the counts it starts from."""
        blocks_, P = self.partition.blocks, self.partition.n_groups
        beta_all = float(priors.beta.sum())
        scale = 2.0**self.bits
        n_k = topic_totals(phi, self.layout.n_topics)
        columns = self._spread(phi)
        hot = np.full(P, len(n_k))  # topics from there on are in no visit of a group
        order = None if self.hdp is None else _empty_last(n_k, priors.alpha)
        if order is not None:
            hot[:] = np.count_nonzero(n_k)
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            z, n_k = renumbered(z, place), n_k[order]
            renumber(columns, place)
            priors = priors._replace(alpha=priors.alpha[order])
        first = _totals(n_k, priors.alpha, beta_all, scale)
        draws = key(address.seed, address.moment, Purpose.Z)
        rows = self.workers.run(partial(self._load, z, first.inverse), [(b,) for b in blocks_])
        steps = 0
        for step in range(P):
            totals = first if step == 0 else _totals(n_k, priors.alpha, beta_all, scale)
            hot[:] = hot.max()
            visit = partial(
                self._visit, rows, columns, totals, first.inverse, priors, n_k, hot, scale, draws
            )
            for moved, work in self.workers.run(visit, self._shared_out(step)):
                n_k = n_k + moved
                steps += work
        new = np.empty_like(z)
        self.workers.run(
            lambda block, row: store_block(block.documents, self.layout.doc_ptr, block.place,
                                           row.z, new),
            list(zip(blocks_, rows, strict=True)),
        )  # fmt: skip
        used = np.arange(len(n_k))
        if order is not None:
            new, used = renumbered(new, order), np.sort(order[: hot.max()]).astype(np.int64)
            renumber(columns, order)
        counts = self._pack(columns, used)
        if priors.pseudo is not None:
            counts = remove_pseudo_counts(self.layout, counts, priors.pseudo, self.workers)
        return new, counts, Work(steps)

    def _load(self, z: U16, inverse: I64, block: Block) -> Rows:
        m = np.zeros((len(block.documents), self.layout.n_topics), self.row_type)
        topics, smoothing = load_block(
            block.documents, self.layout.doc_ptr, z, block.place, inverse, m
        )
        return Rows(topics, m, smoothing)

    def _shared_out(self, step: int) -> list[tuple[I64, int]]:
        """Return which groups each thread visits in a step: the largest first, evenly."""
        P = self.partition.n_groups
        groups = np.arange(P)
        tokens = self.partition.tokens[groups, (groups + step) % P]
        of_thread: list[list[int]] = [[] for _ in range(min(P, self.workers.n_threads))]
        load = np.zeros(len(of_thread), np.int64)
        for group in np.argsort(-tokens, kind="stable"):
            thread = int(load.argmin())
            of_thread[thread].append(int(group))
            load[thread] += tokens[group]
        return [(np.array(mine, np.int64), step) for mine in of_thread if mine]

    def _visit(
        self,
        rows: list[Rows],
        columns: Columns,
        totals: Totals,
        first: I64,
        priors: Priors,
        n_k: Any,
        hot: I64,
        scale: float,
        draws: Key,
        groups: I64,
        step: int,
    ) -> tuple[I64, int]:
        """Draw topics in the visits of some groups; return how totals moved, and the work."""
        P = self.partition.n_groups
        moved, work = np.zeros(len(n_k), np.int64), 0
        live = P == 1
        for block, row in zip(self.partition.blocks, rows, strict=True):
            if block.group in groups:
                words = (block.group + step) % P
                work += self.visit(
                    block.word, block.end, block.place, block.begin,
                    block.first_run[words], block.first_run[words + 1],
                    row, columns, totals, first, n_k, moved,
                    hot[block.group : block.group + 1], priors.alpha, priors.beta,
                    scale, live, draws,
                )  # fmt: skip
        return moved, int(work)

    def _spread(self, counts: Counts) -> Columns:
        """Return columns with space for every topic that a word may take in the sweep."""
        used = (counts.last - counts.first).astype(np.int32)
        most = np.minimum(self.layout.word_tokens + used, self.layout.n_topics)
        offset = np.concatenate(([0], np.cumsum(most)))
        columns = Columns(offset, used, empty(offset[-1], np.uint16),
                          empty(offset[-1], counts.number.dtype))  # fmt: skip
        spread_columns(*counts, columns)
        return columns

    def _pack(self, columns: Columns, used: I64) -> Counts:
        """Return the columns without gaps, topics in increasing order."""
        last = np.cumsum(columns.used, dtype=np.int64)
        first = last - columns.used
        topic, number = empty(last[-1], np.uint16), empty(last[-1], columns.number.dtype)
        packed = Counts(first, last, topic, number)
        self.workers.run(
            lambda lo, hi: pack_columns(lo, hi, columns, self.layout.n_topics, used, *packed),
            list(pairwise(self.layout.word_ranges.tolist())),
        )
        return packed


def _empty_last(n_k: Any, alpha: F64) -> U16:
    """Return the topics, those without tokens last and in decreasing order of alpha."""
    order = np.argsort(np.where(n_k > 0, -np.inf, -alpha), kind="stable")
    return order.astype(np.uint16)


def _totals(n_k: Any, alpha: F64, beta_all: float, scale: float) -> Totals:
    """Return what visits read of the totals n[k]."""
    total = n_k + beta_all
    inverse = (scale / np.maximum(total, 1.0)).astype(np.int64)
    prior = alpha * scale / total
    pad = np.zeros(-len(prior) % COARSE)
    coarse = np.concatenate((prior, pad)).reshape(-1, COARSE).sum(axis=1)
    return Totals(inverse, prior, coarse)
