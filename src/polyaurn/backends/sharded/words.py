"""Words in ranges, each of which one worker owns: it has their counts, and draws their Phi.

Bounds of these ranges are bounds of the ranges over which floating-point sums are taken in order.
Phi is gathered as weights, from which each worker builds what its z step reads.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from polyaurn.backends.cpu.columns import AllWords, phi_of_weights, weigh_columns
from polyaurn.backends.cpu.counts import no_counts, replace_counts
from polyaurn.backends.cpu.layout import Layout
from polyaurn.backends.sharded.group import Group
from polyaurn.base.arrays import F64, I64, U8, U16
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi


class OwnWords(AllWords):
    """The words of one worker: of Phi it draws their columns, and has the counts of no others."""

    def __init__(self, group: Group, part: Layout, layout: Layout, bounds: I64) -> None:
        self.group, self.part, self.layout, self.bounds = group, part, layout, bounds
        self.lo, self.hi = int(bounds[group.rank]), int(bounds[group.rank + 1])

    def sizes(self, parts: list[Any], n_topics: int) -> F64:
        """Return the sums of topics over the words of all workers, added up in a fixed order."""
        own = np.asarray(parts, np.float64).reshape(-1)
        every = np.concatenate(self.group.gather(own)).reshape(-1, n_topics)
        sizes: F64 = np.sum(every, axis=0)
        return sizes

    def counts_of(self, topics: I64, counts: Counts) -> Counts:
        """Return the counts of these topics, of all words."""
        first, last = counts.first[self.lo : self.hi], counts.last[self.lo : self.hi]
        inside, word = _places(first, last)
        here = np.isin(counts.topic[inside], topics)
        word, inside = word[here] + self.lo, inside[here]
        v, k, n = (
            np.concatenate(self.group.gather(array))
            for array in (word, counts.topic[inside], counts.number[inside])
        )
        ends = np.searchsorted(v, np.arange(len(counts.first) + 1))
        return Counts(ends[:-1], ends[1:], k, n)

    def of_all(self, values: F64) -> F64:
        """Return values of words, each from its owner."""
        return np.concatenate(self.group.gather(values[self.lo : self.hi]))

    def finish(
        self,
        layout: Layout,
        first: I64,
        last: I64,
        topic: U16,
        mass: F64,
        S: F64,
        alpha: F64,
        workers: Workers,
    ) -> Phi:
        """Return Phi of all words, whose columns their owners have drawn."""
        weight, exponent = weigh_columns(layout, first, last, topic, mass, S, workers)
        length = (last - first)[self.lo : self.hi]
        own = _runs(first[self.lo : self.hi], last[self.lo : self.hi])
        sent = _joined(
            length.astype(np.uint16),
            exponent[self.lo : self.hi].astype(np.int16),
            *(topic[piece] for piece in own),
            *(weight[piece] for piece in own),
        )
        pieces = self.group.gather(sent)
        widths = np.diff(self.bounds)
        found = [_split_columns(piece, n) for piece, n in zip(pieces, widths, strict=True)]
        lengths, exponents, topics, weights = zip(*found, strict=True)
        return phi_of_weights(
            self.part, np.concatenate(lengths).astype(np.int64), np.concatenate(topics),
            np.concatenate(weights), np.concatenate(exponents).astype(np.int32), alpha, workers,
        )  # fmt: skip

    def collect(self, counts: Counts, workers: Workers, bounds: I64 | None = None) -> Counts:
        """Add up the counts of all workers, each word's at its owner; `bounds` are other ranges."""
        bounds = self.bounds if bounds is None else bounds
        pieces = [pack_counts(counts, lo, hi) for lo, hi in pairwise(bounds.tolist())]
        came = self.group.exchange(pieces)
        lo, hi = bounds[self.group.rank : self.group.rank + 2].tolist()
        if lo == hi:
            return no_counts(len(counts.first))
        layout = self.layout._replace(word_ranges=ranges_inside(self.part.word_ranges, lo, hi))
        return add_up([unpack_counts(p, lo, hi, len(counts.first)) for p in came], layout, workers)


def add_up(found: list[Counts], layout: Layout, workers: Workers) -> Counts:
    """Return the sum of counts, of the words in the layout's ranges."""
    total, nothing = found[0], no_counts(len(found[0].first))
    for counts in found[1:]:
        total = replace_counts(layout, total, nothing, counts, workers)
    return total


def ranges_inside(ranges: I64, lo: int, hi: int) -> I64:
    """Return ranges of words as far as they are from `lo` to `hi`."""
    return np.unique(np.clip(ranges, lo, hi))


def owners_of_words(fixed_ranges: I64, size: int) -> I64:
    """Give each worker ranges that follow one another, and return the bounds of their words."""
    places = np.linspace(0, len(fixed_ranges) - 1, size + 1).astype(np.int64)
    return fixed_ranges[places]


def pack_counts(counts: Counts, lo: int, hi: int) -> U8:
    """Return the counts of a range of words as bytes: lengths of columns, topics, numbers."""
    first, last = counts.first[lo:hi], counts.last[lo:hi]
    length = last - first
    there = np.flatnonzero(length)
    piece = slice(0, 0)
    if len(there):  # columns follow one another
        piece = slice(int(first[there[0]]), int(last[there[-1]]))
    return _joined(length.astype(np.uint16), counts.topic[piece], counts.number[piece])


def unpack_counts(packed: U8, lo: int, hi: int, n_words: int) -> Counts:
    """Return the counts of a range of words that were packed; other words have none."""
    width = hi - lo
    length = packed[: 2 * width].view(np.uint16).astype(np.int64)
    n = int(length.sum())
    first, last = np.zeros(n_words, np.int64), np.zeros(n_words, np.int64)
    ends = np.cumsum(length)
    first[lo:hi], last[lo:hi] = ends - length, ends
    at = 2 * width
    topic = packed[at : at + 2 * n].view(np.uint16)
    number = packed[at + 2 * n :].copy().view(np.int32)
    return Counts(first, last, topic, number)


def _split_columns(sent: U8, n_words: int) -> tuple[Any, Any, Any, Any]:
    """Return lengths, exponents, topics and weights of columns."""
    length = sent[: 2 * n_words].view(np.uint16)
    exponent = sent[2 * n_words : 4 * n_words].view(np.int16)
    n, at = int(length.sum(dtype=np.int64)), 4 * n_words
    topic = sent[at : at + 2 * n].view(np.uint16)
    return length, exponent, topic, sent[at + 2 * n :].copy().view(np.uint32)


def _places(first: I64, last: I64) -> tuple[I64, I64]:
    """Return where the cells of columns are, and which word each is of."""
    length = last - first
    before = np.cumsum(length) - length
    inside = np.arange(length.sum()) + np.repeat(first - before, length)
    return inside, np.repeat(np.arange(len(first)), length)


def _runs(first: I64, last: I64) -> list[slice]:
    """Return where columns are that follow one another without a gap."""
    if not len(first):
        return []
    begin = np.flatnonzero(np.concatenate(([True], first[1:] != last[:-1])))
    end = np.concatenate((begin[1:], [len(first)])) - 1
    return [slice(first[a], last[b]) for a, b in zip(begin, end, strict=True)]


def _joined(*arrays: Any) -> U8:
    """Return arrays one after another as bytes."""
    return np.concatenate([np.ascontiguousarray(array).view(np.uint8) for array in arrays])
