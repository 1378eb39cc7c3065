"""New documents on the GPU, a batch at a time: their mean counts, and left-to-right scores."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from polyaurn.backends.cpu.fold_in import Topics, average_documents
from polyaurn.backends.cpu.layout import even_ranges
from polyaurn.backends.gpu import fold_in, toolkit
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Key
from polyaurn.base.threads import Workers

_WARPS_A_BLOCK = 4
_BLOCK = 32 * _WARPS_A_BLOCK  # threads
_MOST_WARPS = 8_192
_TOKENS_PER_TASK = 20_000
_RESERVE = 1 << 28  # bytes left to the driver and to kernels
_BATCH_BYTES = 1 << 30  # a larger one is not faster, and takes as much of the computer's memory
OnDone = Callable[[tuple[int, int]], None] | None  # called with a range of documents that are done
_STATE = (np.uint32, np.uint16, np.uint16, np.float64)  # of a topic: m, topics, where, running


class Documents(Protocol):
    """New documents in the model's words."""

    @property
    def doc_ptr(self) -> I64:
        """Where each document begins in `word`."""

    @property
    def word(self) -> I32:
        """Words of the tokens."""

    @property
    def tokens(self) -> I64:
        """Tokens of each document."""


def fold(
    known: Documents, topics: Topics, burn_in: int, kept: int, address: Key, on_done: OnDone = None
) -> list[tuple[I64, Any, F64]]:
    """Find mean counts of documents over `kept` sweeps after `burn_in`.

    Each batch gives how many topics its documents have, those topics in increasing order, and the
    mean counts. `on_done` is called with the range of documents of each batch.
    """
    parts = []
    tokens, K = known.tokens, len(topics.alpha)
    most_topics = np.minimum(tokens * kept, K)
    device = _Device(topics, len(tokens), 6 * tokens + 10 * most_topics + 28, (*_STATE, np.int64))
    for lo, hi in device.batches:
        order, n, doc_ptr, word = device.bring(known, lo, hi)
        size = int(most_topics[lo:hi].sum())
        queue = device.empty(2, np.uint64, zeros=True)
        begins, lengths = device.empty(n, np.int64), device.empty(n, np.int64)
        found, sums = device.empty(size, np.uint16), device.empty(size, np.int64)
        z = device.empty(len(word), np.uint16)
        fold_in.fold_documents[device.blocks(n), _BLOCK](
            order, np.int64(n), doc_ptr, word, z, np.int64(burn_in), np.int64(kept), np.int64(K),
            *device.topics, *address, *device.state, queue, begins, lengths, found, sums,
        )  # fmt: skip
        used = int(device.fetch(queue)[1])
        length = device.fetch(lengths)[:n]
        place = np.repeat(device.fetch(begins)[:n] - np.cumsum(length) + length, length)
        place += np.arange(used)  # in the order of documents, not of the warps that came first
        mean = device.fetch(sums, used)[place] / kept
        parts.append((length, device.fetch(found, used)[place], mean))
        if on_done is not None:
            on_done((lo, hi))
    return parts


def left_to_right(
    known: Documents,
    particles: int,
    topics: Topics,
    address: Key,
    level: F64,
    error: F64,
    workers: Workers,
    on_done: OnDone = None,
) -> None:
    """Score documents left to right; write log p(w) of each and its error to `level` and `error`.

    Threads average over particles, as on the CPU. `on_done` is called as in `fold`.
    """
    alpha_all = np.cumsum(topics.alpha)[-1]  # added one after another, as in the CPU's kernel
    K = len(topics.alpha)
    sizes = (4 + 10 * particles) * known.tokens + 12
    device = _Device(topics, len(known.tokens) * particles, sizes, _STATE)
    for lo, hi in device.batches:
        order, n, doc_ptr, word = device.bring(known, lo, hi)
        queue = device.empty(1, np.uint64, zeros=True)
        z = device.empty(len(word) * particles, np.uint16)
        p = device.empty(len(word) * particles, np.float64)
        fold_in.score_left_to_right[device.blocks(n * particles), _BLOCK](
            order, np.int64(n), doc_ptr, word, z, np.int64(particles), np.int64(K),
            *device.topics, alpha_all, *address, *device.state, queue, p,
        )  # fmt: skip
        ptr = known.doc_ptr[lo : hi + 1] - known.doc_ptr[lo]
        by_token = device.fetch(p, int(ptr[-1]) * particles).reshape(-1, particles)
        here = (ptr, by_token, level[lo:hi], error[lo:hi])
        ends = even_ranges(ptr + np.arange(hi - lo + 1), int(ptr[-1]) // _TOKENS_PER_TASK + 1)
        workers.run(average_documents, [(*pair, *here) for pair in pairwise(ends.tolist())])
        if on_done is not None:
            on_done((lo, hi))


class _Device:
    """A model on the device, rows for warps to work in, and batches of documents that fit beside.

    `sizes` are the bytes that documents take, `state` the types of what a warp has for each topic.
    """

    def __init__(self, topics: Topics, items: int, sizes: I64, state: tuple[Any, ...]) -> None:
        model = sum(array.nbytes for array in topics)
        row = len(topics.alpha) * sum(np.dtype(kind).itemsize for kind in state)
        spare = toolkit.free_bytes() - _RESERVE - model
        self.warps = max(1, int(min(_MOST_WARPS, items, spare // 2 // row)))
        in_blocks = _WARPS_A_BLOCK * self.blocks(self.warps)
        spare = (spare - in_blocks * row) // 2  # a batch is still there when the next one comes
        most = int(sizes.max(initial=0))
        if spare < most:
            need = _RESERVE + model + in_blocks * row + 2 * most
            raise InputError(
                f"The model and the longest document need about {need / 1e6:,.0f} MB of GPU "
                f"memory, and {toolkit.free_bytes() / 1e6:,.0f} MB are free. Use device='cpu'."
            )
        self.batches = _cut(sizes, max(most, min(spare, _BATCH_BYTES)))
        self.topics = [_put(array) for array in topics]
        self.state = [self.empty(in_blocks * len(topics.alpha), kind, zeros=True) for kind in state]

    def blocks(self, items: int) -> int:
        """Return how many blocks of threads have a warp for each item, or all there are."""
        return -(-min(self.warps, items) // _WARPS_A_BLOCK)

    @staticmethod
    def bring(known: Documents, lo: int, hi: int) -> tuple[Any, int, Any, Any]:
        """Copy documents to the device; return them longest first, their number, and arrays."""
        ptr = known.doc_ptr[lo : hi + 1]
        order = np.argsort(-np.diff(ptr), kind="stable").astype(np.uint32)
        return _put(order), hi - lo, _put(ptr - ptr[0]), _put(known.word[ptr[0] : ptr[-1]])

    @staticmethod
    def empty(size: int, kind: Any, *, zeros: bool = False) -> Any:
        """Return a new array of the device, of one number at least."""
        xp = toolkit.array_module()
        return toolkit.hand((xp.zeros if zeros else xp.empty)(max(1, size), kind))

    @staticmethod
    def fetch(array: Any, size: int | None = None) -> Any:
        """Return the beginning of an array of the device, in the computer's memory."""
        return toolkit.to_host(toolkit.array_module().asarray(array)[:size])


def _put(array: Any) -> Any:
    """Return an array's copy on the device, of one number at least."""
    host = np.ascontiguousarray(array) if array.size else np.zeros(1, array.dtype)
    return toolkit.hand(toolkit.array_module().array(host))


def _cut(sizes: I64, most: int) -> list[tuple[int, int]]:
    """Cut documents into ranges of so many bytes."""
    until = np.cumsum(sizes)
    ranges, lo = [], 0
    while lo < len(sizes):
        before = int(until[lo] - sizes[lo])
        hi = int(np.searchsorted(until, before + most, side="right"))
        ranges.append((lo, hi))
        lo = hi
    return ranges
