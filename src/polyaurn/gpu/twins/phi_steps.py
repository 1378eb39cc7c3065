"""The Phi steps of twins: what `polyaurn.gpu.steps` does to draw Phi, on the CPU."""

from typing import Any, NamedTuple

import numpy as np

from polyaurn.gpu.sizes import LANES, LONGEST, RECORD
from polyaurn.kernels.columns import scale_alpha
from polyaurn.kernels.layout import Layout
from polyaurn.kernels.phi_dirichlet import log_row
from polyaurn.kernels.phi_urn import draw_masses
from polyaurn.kernels.tables import poisson_tables
from polyaurn.rng import Moment, Purpose, key
from polyaurn.state import I32, I64, U16, U32, U64, Counts, Phi, Priors
from polyaurn.workers import Workers


class Shape(NamedTuple):
    """How the work is cut: what a launch decides."""

    lanes: int = 8  # that draw a document
    spare: int = 4  # topics that a document may have more than the one that has most
    longest: int = LONGEST  # tokens of a document that has a list
    dense: bool = True  # rows of Phi by topic; else bitmaps
    warps: int = 4  # that draw the urn


class TwinPhi(NamedTuple):
    """Phi in the arrays that the z step reads."""

    col: I64
    topic: U16
    weight: U32
    prior: U64
    guide: U32
    record: U64
    exponent: I32
    rows: U64

    @property
    def nonzeros(self) -> int:
        """How many cells are not zero."""
        return int(self.col[-1])

    def on_host(self) -> Phi:
        """Return it as the CPU's kernels have it, but for dense rows."""
        V, weight = len(self.col) - 1, self.weight
        if len(weight) != self.nonzeros:
            word = np.repeat(np.arange(V), np.diff(self.col))
            weight = weight[word * (len(weight) // V) + self.topic]
        sigma_a = self.record.reshape(V, RECORD)[:, 2].copy().view(np.float64)
        return Phi(
            self.col[:-1], self.col[1:], self.topic, weight, self.exponent, self.prior, sigma_a,
            np.full(V, -1, np.int32), np.empty((0, 0), np.uint32), np.empty((0, 0), np.uint16),
        )  # fmt: skip


def dense_counts(counts: Counts, layout: Layout) -> U32:
    """Return counts as the GPU's kernels have them: a row of K for each word."""
    n = np.zeros((layout.n_words, layout.n_topics), np.uint32)
    for v, (a, b) in enumerate(zip(counts.first, counts.last, strict=True)):
        n[v, counts.topic[a:b]] = counts.number[a:b]
    return n.ravel()


def draw_phi_urn(
    twins: Any, shape: Shape, layout: Layout, counts: Counts, priors: Priors, seed: int,
    sweep: Moment, workers: Workers,
) -> TwinPhi:  # fmt: skip
    """Draw Phi from the Pólya urn."""
    col, topic, mass, S, rows = draw_urn(twins, shape, layout, counts, priors, seed, sweep)
    if (S == 0).any():  # topics came out empty, which changes whole columns
        masses = draw_masses(layout, counts, priors, seed, sweep, workers)
        return _from_masses(twins, shape, layout, priors, *masses)
    totals = S.astype(np.float64)
    return _finish(twins, shape, layout, col, topic, mass, totals, priors, rows)


def draw_urn(
    twins: Any, shape: Shape, layout: Layout, counts: Counts, priors: Priors, seed: int,
    sweep: Moment,
) -> tuple[I64, U16, U32, U64, U64]:  # fmt: skip
    """Draw the urn's columns, their totals over words, and rows of bitmaps."""
    V, K = layout.n_words, layout.n_topics
    width = 0 if shape.dense else -(-K // LANES)
    rows = np.zeros(max(1, V * width), np.uint64)
    scratch, length = np.empty(shape.warps * K, np.uint32), np.empty(V, np.int64)
    S, col = np.zeros(K, np.uint64), np.zeros(V + 1, np.int64)
    topic, mass = np.empty(0, np.uint16), np.empty(0, np.uint32)
    purposes = (Purpose.CELL, Purpose.BALLS, Purpose.BALL, Purpose.COLUMN)
    chance = [part for purpose in purposes for part in key(seed, sweep, purpose)]
    n = dense_counts(counts, layout)
    for writes in (False, True):
        twins.urn(
            writes, shape.warps, n, K, priors.beta, layout.word_tokens, *poisson_tables(), scratch,
            length, S, col, topic, mass, rows, width, *chance,
        )  # fmt: skip
        if not writes:
            np.cumsum(length, out=col[1:])
            topic, mass = np.empty(col[-1], np.uint16), np.empty(col[-1], np.uint32)
    return col, topic, mass, S, rows


def _from_masses(
    twins: Any, shape: Shape, layout: Layout, priors: Priors, first: I64, last: I64, topic: U16,
    mass: Any, S: Any,
) -> TwinPhi:  # fmt: skip
    """Take columns that were drawn by the CPU's kernels."""
    length = last - first
    col = np.concatenate(([0], np.cumsum(length)))
    inside = np.repeat(first - col[:-1], length) + np.arange(col[-1])
    topic, mass = topic[inside], mass[inside].astype(np.uint32)
    V, width = layout.n_words, -(-layout.n_topics // LANES)
    cell = np.repeat(np.arange(V), length) * width + topic // LANES
    rows = np.searchsorted(cell, np.arange(V * width)).astype(np.uint64) << np.uint64(32)
    np.bitwise_or.at(rows, cell, np.uint64(1) << (topic % LANES).astype(np.uint64))
    return _finish(twins, shape, layout, col, topic, mass, S, priors, rows)


def draw_phi_dirichlet(
    twins: Any, shape: Shape, layout: Layout, counts: Counts, priors: Priors, seed: int,
    sweep: Moment, workers: Any = None,
) -> TwinPhi:  # fmt: skip
    """Draw Phi from its Dirichlet posterior."""
    V, K = layout.n_words, layout.n_topics
    chance = key(seed, sweep, Purpose.CELL)
    mass, bounds = np.empty(V * K), layout.fixed_ranges
    parts = np.empty((len(bounds) - 1) * K)
    twins.gammas(dense_counts(counts, layout), K, priors.beta, mass, *chance)
    twins.sum_ranges(mass, bounds, K, parts)
    S = np.sum(list(parts.reshape(-1, K)), axis=0)
    for k in np.flatnonzero(S == 0.0):
        logs = log_row(k, *counts, priors.beta, *chance)
        mass[k::K] = np.exp(logs - logs.max())
        S[k] = mass[k::K].sum()
    col = np.arange(V + 1, dtype=np.int64) * K
    topic = np.tile(np.arange(K, dtype=np.uint16), V)
    return _finish(twins, shape, layout, col, topic, mass, S, priors, np.zeros(1, np.uint64))


def _finish(
    twins: Any, shape: Shape, layout: Layout, col: I64, topic: U16, mass: Any, S: Any,
    priors: Priors, rows: U64,
) -> TwinPhi:  # fmt: skip
    V, K, size = layout.n_words, layout.n_topics, int(col[-1])
    made = (
        np.empty(V * K if shape.dense else size, np.uint32), np.empty(size, np.uint64),
        np.empty(size, np.uint32), np.empty(V * RECORD, np.uint64), np.empty(V, np.int32),
    )  # fmt: skip
    twins.finish(shape.dense, V, K, col, topic, mass, S, *scale_alpha(priors.alpha), *made)
    return TwinPhi(col, topic, *made, rows)
