"""New documents on the GPU, a batch at a time: their mean counts, and left-to-right scores."""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.fold_in import average_documents
from polyaurn.backends.cpu.new_documents import document_ranges
from polyaurn.backends.documents import OnDone, Part, Topics, raised_alpha
from polyaurn.backends.gpu import fold_in, toolkit
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Key
from polyaurn.base.threads import Workers

_WARPS_PER_BLOCK = 4
_BLOCK = 32 * _WARPS_PER_BLOCK  # threads
_MOST_WARPS = 8_192
_RESERVE = 1 << 28  # bytes left to the driver and to kernels
_BATCH_BYTES = 1 << 30  # a larger one is not faster, and takes as much of the computer's memory
_STATE = (np.uint32, np.uint16, np.uint16, np.float64)  # of a topic: m, topics, where, running


def mean_counts(
    doc_ptr: I64,
    word: I32,
    topics: Topics,
    sweeps: tuple[int, int],
    address: Key,
    workers: Workers,
    on_done: OnDone = None,
) -> list[Part]:
    """Return mean counts of new documents; `sweeps` are those left out and those averaged."""
    parts = []
    burn_in, kept = sweeps
    tokens, K = np.diff(doc_ptr), len(topics.alpha)
    most_topics = np.minimum(tokens * kept, K)
    device = _Device(topics, len(tokens), 6 * tokens + 10 * most_topics + 28, (*_STATE, np.int64))
    raised = _put(raised_alpha(topics.alpha, burn_in))
    for lo, hi in device.batches:
        order, n, ptr, words = device.bring(doc_ptr, word, lo, hi)
        size = int(most_topics[lo:hi].sum())
        queue = device.empty(2, np.uint64, zeros=True)
        begins, lengths = device.empty(n, np.int64), device.empty(n, np.int64)
        found, sums = device.empty(size, np.uint16), device.empty(size, np.int64)
        z = device.empty(len(words), np.uint16)
        fold_in.fold_documents[device.blocks(n), _BLOCK](
            order, np.int64(n), ptr, words, z, np.int64(burn_in), np.int64(kept), raised,
            np.int64(K), *device.topics, *address, *device.state, queue, begins, lengths, found,
            sums,
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
    doc_ptr: I64,
    word: I32,
    topics: Topics,
    particles: int,
    address: Key,
    workers: Workers,
    on_done: OnDone = None,
) -> tuple[F64, F64]:
    """Return log p(w) of new documents, left to right, and their errors."""
    tokens = np.diff(doc_ptr)
    level, error = np.empty(len(tokens)), np.empty(len(tokens))
    alpha_all = np.cumsum(topics.alpha)[-1]  # added one after another, as in the CPU's kernel
    K = len(topics.alpha)
    sizes = (4 + 10 * particles) * tokens + 12
    device = _Device(topics, len(tokens) * particles, sizes, _STATE)
    for lo, hi in device.batches:
        order, n, at, words = device.bring(doc_ptr, word, lo, hi)
        queue = device.empty(1, np.uint64, zeros=True)
        z = device.empty(len(words) * particles, np.uint16)
        p = device.empty(len(words) * particles, np.float64)
        fold_in.score_left_to_right[device.blocks(n * particles), _BLOCK](
            order, np.int64(n), at, words, z, np.int64(particles), np.int64(K),
            *device.topics, alpha_all, *address, *device.state, queue, p,
        )  # fmt: skip
        ptr = doc_ptr[lo : hi + 1] - doc_ptr[lo]
        by_token = device.fetch(p, int(ptr[-1]) * particles).reshape(-1, particles)
        here = (ptr, by_token, level[lo:hi], error[lo:hi])
        workers.run(average_documents, [(*ends, *here) for ends in document_ranges(ptr)])
        if on_done is not None:
            on_done((lo, hi))
    return level, error


class _Device:
    """A model on the device, rows for warps to work in, and batches of documents that fit beside.

    `sizes` are the bytes that documents take, `state` the types of what a warp has for each topic.
    """

    def __init__(self, topics: Topics, items: int, sizes: I64, state: tuple[Any, ...]) -> None:
        model = sum(array.nbytes for array in topics)
        row = len(topics.alpha) * sum(np.dtype(kind).itemsize for kind in state)
        spare = toolkit.free_bytes() - _RESERVE - model
        self.warps = max(1, int(min(_MOST_WARPS, items, spare // 2 // row)))
        in_blocks = _WARPS_PER_BLOCK * self.blocks(self.warps)
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
        return -(-min(self.warps, items) // _WARPS_PER_BLOCK)

    @staticmethod
    def bring(doc_ptr: I64, word: I32, lo: int, hi: int) -> tuple[Any, int, Any, Any]:
        """Copy documents to the device; return them longest first, their number, and arrays."""
        ptr = doc_ptr[lo : hi + 1]
        order = np.argsort(-np.diff(ptr), kind="stable").astype(np.uint32)
        return _put(order), hi - lo, _put(ptr - ptr[0]), _put(word[ptr[0] : ptr[-1]])

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
