"""The corpus on the GPU: whole where it fits, else in chunks of documents, copied in turn.

A token takes 10 bytes: its word, its topic, and its share of the list of its document's topics.
Where not all of it fits, words and topics stay in the computer's own memory, and two
chunks at a time are on the device: one is drawn while the other is copied. Lists are then made
again each time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from polyaurn.backends.cpu.layout import WORD_RANGES, cut_documents, range_words
from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.buckets import LONG_BYTES, make_buckets
from polyaurn.backends.gpu.sizes import LONGEST, SCRATCH_BYTES
from polyaurn.base.arrays import I64, U16, release
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus

TOKEN_BYTES = 10
MOST_CELLS = 2**32 - 1  # of dense rows: places in them have 32 bits
DENSE_TOPICS = 256  # up to so many, columns of the urn are dense rows
_RESERVE = 1 << 28  # bytes left to the driver and to kernels
_DOCUMENT_BYTES = 34  # of a document: where it begins, its place in visits, topics, progress, score
_COUNTED = 1 << 26  # tokens whose words are counted at once
_LEAST_CHUNK = 1 << 12  # tokens


class Chunk:
    """Some documents, one after another: where they are, and what kernels read of them."""

    def __init__(self, first: int, last: int, doc_ptr: I64) -> None:
        self.first, self.last = first, last  # documents
        self.begin, self.end = int(doc_ptr[first]), int(doc_ptr[last])  # tokens
        self.lengths = np.diff(doc_ptr[first : last + 1])
        self.visits: dict[bytes, Any] = {}
        self.doc_ptr: Any = None
        self.word: Any = None
        self.z: Any = None
        self.lists: Any = None
        self.listed: Any = None


class Layout:
    """What the steps of a sweep read; `polyaurn.backends.gpu.steps` makes one."""

    def __init__(self, corpus: Corpus, n_topics: int, full_columns: bool, mass_bytes: int) -> None:
        self.n_words, self.n_topics = corpus.n_words, n_topics
        self.doc_ptr, self.word = corpus.doc_ptr, corpus.word
        self.documents, self.blocks, self.share = cut_documents(corpus, n_topics)
        self.dense = full_columns or n_topics <= DENSE_TOPICS
        self.width = n_topics if self.dense else -(-n_topics // 32)
        self.mass_bytes = mass_bytes
        self.version = 0  # of z and n, which are changed in place
        self.phi_version = 0
        self.n: Any = None
        self.listed: set[bytes] = set()  # visits whose documents have lists
        self.most_listed: dict[tuple[int, bytes], list[int]] = {}  # of topics, by bucket
        self._buffers: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        spare = toolkit.free_bytes() - _RESERVE - self._model_bytes(full_columns)
        self.streams = corpus.n_tokens * TOKEN_BYTES > spare
        self.chunks = self._cut(spare)
        self.most_documents = max(chunk.last - chunk.first for chunk in self.chunks)
        self._host_z: U16 | None = None
        self._slots: list[Any] = []
        self._streams: list[Any] = []
        for chunk in self.chunks:
            chunk.doc_ptr = self.put(corpus.doc_ptr[chunk.first : chunk.last + 1] - chunk.begin)
        if self.streams:
            self._make_slots()
        else:
            only = self.chunks[0]
            only.word = toolkit.hand(toolkit.upload(corpus.word))
            release(corpus.word)
            self._allocate(only, only.end - only.begin, only.last - only.first)
        self.word_tokens = self._count_words()
        self.fixed_ranges = range_words(self.word_tokens, n_topics, WORD_RANGES)

    def _count_words(self) -> I64:
        """Return how often each word occurs."""
        xp = toolkit.array_module()
        total = np.zeros(self.n_words, np.int64)
        if not self.streams:
            word = xp.asarray(self.chunks[0].word)
            for low in range(0, len(word), _COUNTED):  # CuPy takes a byte for each
                part = xp.bincount(word[low : low + _COUNTED], minlength=self.n_words)
                total += toolkit.to_host(part)
            return total
        for chunk in self.chunks:
            total += np.bincount(self.word[chunk.begin : chunk.end], minlength=self.n_words)
            release(self.word)
        return total

    def _model_bytes(self, full_columns: bool) -> int:
        """Return about how much memory counts and Phi take, and reject what cannot be held."""
        V, K = self.n_words, self.n_topics
        N = len(self.word)
        if self.dense and V * K > MOST_CELLS:
            raise InputError(
                f"On a GPU, full columns of Phi may have {MOST_CELLS:,} cells at most. Got {K:,} "
                f"topics and {V:,} words; use device='cpu', sampler='polya-urn', or fewer topics."
            )
        nonzeros = V * K if full_columns else min(V * K, N + V * min(K, 64))
        size = 4 * V * K + nonzeros * (self.mass_bytes + 14) + 40 * V
        size += 4 * V * K if self.dense else 4 * nonzeros + 8 * V * self.width
        size += size // 20  # buffers are made a little larger than needed
        size += _DOCUMENT_BYTES * (len(self.doc_ptr) - 1) + min(
            SCRATCH_BYTES, self.mass_bytes * V * K
        )
        if np.diff(self.doc_ptr).max(initial=0) > LONGEST:
            size += LONG_BYTES
        if size > toolkit.free_bytes() - _RESERVE:
            need = (size + _RESERVE) / 1e9
            raise InputError(
                f"Counts and Phi of {K:,} topics and {V:,} words need about {need:,.1f} GB "
                f"of GPU memory, and {toolkit.free_bytes() / 1e9:,.1f} GB are free. Use "
                "device='cpu', fewer topics, or a larger min_count."
            )
        return size

    def _cut(self, spare: int) -> list[Chunk]:
        """Cut the documents into chunks of which two fit, or take all as one."""
        D = len(self.doc_ptr) - 1
        if not self.streams:
            return [Chunk(0, D, self.doc_ptr)]
        most = max(_LEAST_CHUNK, spare // (2 * TOKEN_BYTES + 2))
        longest = int(np.diff(self.doc_ptr).max())
        if spare < (2 * TOKEN_BYTES + 2) * max(_LEAST_CHUNK, longest):
            raise InputError(
                "A chunk of documents does not fit into the GPU's memory beside the model: "
                f"{max(spare, 0) / 1e6:,.0f} MB are left. Use device='cpu' or fewer topics."
            )
        chunks, first = [], 0
        while first < D:
            goal = self.doc_ptr[first] + most
            last = int(np.searchsorted(self.doc_ptr, goal, side="right")) - 1
            last = min(max(last, first + 1), D)
            chunks.append(Chunk(first, last, self.doc_ptr))
            first = last
        return chunks

    def _allocate(self, chunk: Chunk, n_tokens: int, n_documents: int) -> None:
        xp = toolkit.array_module()
        chunk.z = toolkit.hand(xp.empty(n_tokens, np.uint16))
        chunk.lists = toolkit.hand(xp.empty(n_tokens, np.uint32))
        chunk.listed = toolkit.hand(xp.empty(n_documents, np.uint16))

    def _make_slots(self) -> None:
        """Allocate two chunks on the device, and pinned memory for all words and topics."""
        tokens = max(chunk.end - chunk.begin for chunk in self.chunks)
        self._pinned_word = _pinned(self.word)
        self._host_z = _pinned(np.zeros(len(self.word), np.uint16))
        for _ in range(2):
            slot = Chunk(0, 0, self.doc_ptr)
            self._allocate(slot, tokens, self.most_documents)
            slot.word = toolkit.hand(toolkit.array_module().empty(tokens, np.int32))
            slot.stream = _new_stream()  # type: ignore[attr-defined]
            self._slots.append(slot)

    # Chunks, one after another

    def over_chunks(self, work: Callable[[Chunk, Any], None], *, changes_z: bool) -> None:
        """Call ``work(chunk, stream)`` for every chunk while it is on the device."""
        if not self.streams:
            work(self.chunks[0], 0)
            return
        toolkit.synchronise()
        self._bring(0)
        for number, chunk in enumerate(self.chunks):
            slot, place = self._slots[number % 2], slice(chunk.begin, chunk.end)
            if number + 1 < len(self.chunks):
                self._bring(number + 1)  # while this one is drawn
            work(chunk, _for_numba(slot.stream))
            if changes_z:
                _copy_back(self._host_z[place], chunk.z, slot.stream)  # type: ignore[index]
        toolkit.synchronise()

    def _bring(self, number: int) -> None:
        """Copy a chunk to its slot on the device."""
        chunk, slot = self.chunks[number], self._slots[number % 2]
        size, place = chunk.end - chunk.begin, slice(chunk.begin, chunk.end)
        _copy(slot.word[:size], self._pinned_word[place], slot.stream)
        _copy(slot.z[:size], self._host_z[place], slot.stream)  # type: ignore[index]
        chunk.word, chunk.z = slot.word[:size], slot.z[:size]
        chunk.lists, chunk.listed = slot.lists, slot.listed

    def stream(self, number: int) -> Any:
        """Return a stream for a bucket: small ones are drawn beside large ones."""
        while len(self._streams) <= number:
            stream = _new_stream()
            self._streams.append((stream, _for_numba(stream)))
        return self._streams[number][1]

    def visit(self, chunk: Chunk, blocks: I64 | None) -> Any:
        """Return the documents of some blocks in a chunk, longest first, and their buckets."""
        name = b"all" if blocks is None else blocks.tobytes()
        if name not in chunk.visits:
            if blocks is None:
                documents = np.arange(chunk.last - chunk.first)
            else:
                parts = [self.documents[self.blocks[b] : self.blocks[b + 1]] for b in blocks]
                found = np.concatenate([np.empty(0, np.uint32), *parts]).astype(np.int64)
                inside = (found >= chunk.first) & (found < chunk.last)
                documents = np.sort(found[inside]) - chunk.first
            lengths = chunk.lengths[documents]
            order = np.argsort(-lengths, kind="stable")
            buckets, n_long = make_buckets(lengths[order], self.n_topics)
            chunk.visits[name] = (self.put(documents[order].astype(np.uint32)), buckets, n_long)
            toolkit.wait_for(0)  # kernels of other streams will read it
        return chunk.visits[name]

    # Topics and buffers

    def forget_lists(self) -> None:
        """Have lists made again, since something other than a sweep changed topics."""
        self.listed.clear()
        self.most_listed.clear()

    def take_topics(self, z: Any) -> None:
        """Copy topics from the computer's memory to the device."""
        self.forget_lists()
        if self.streams:
            assert self._host_z is not None
            self._host_z[:] = z
            return
        chunk = self.chunks[0]
        if toolkit.SIMULATED:
            chunk.z[:] = z
        else:
            toolkit.cupy().asarray(chunk.z).set(np.ascontiguousarray(z))

    def give_topics(self) -> U16:
        """Return the topics of all tokens, in the computer's memory."""
        toolkit.synchronise()
        if self.streams:
            return np.array(self._host_z)
        found: U16 = toolkit.to_host(toolkit.array_module().asarray(self.chunks[0].z))
        return found

    def put(self, array: Any) -> Any:
        """Return an array's copy on the device, for kernels."""
        return toolkit.hand(toolkit.array_module().array(np.ascontiguousarray(array)))

    def constant(self, name: str, array: Any) -> Any:
        """Return the copy on the device of an array that rarely changes."""
        kept = self.constants.get(name)
        if kept is None or kept[0] is not array:
            self.constants[name] = kept = (array, self.put(np.ravel(array)))
        return kept[1]

    def buffer(self, name: str, size: int, dtype: Any, *, zeros: bool = False) -> Any:
        """Return an array of the device of at least this size, the same one as last time.

        A new one has zeros; with `zeros`, so has one that was used before.
        """
        kept = self._buffers.get(name)
        if kept is None or kept[0].size < size:
            self._buffers.pop(name, None)
            kept = None
            grown = toolkit.array_module().zeros(max(1, int(size * 1.05)), dtype)
            self._buffers[name] = kept = (grown, toolkit.hand(grown))
        elif zeros:
            kept[0][:size] = 0
        return kept[1]


def _pinned(array: Any) -> Any:
    """Return a copy in memory from which the device can copy by itself."""
    if toolkit.SIMULATED:
        return np.array(array)
    import cupyx

    try:
        found = cupyx.empty_pinned(array.shape, array.dtype)
    except Exception as error:
        raise InputError(
            f"The corpus does not fit into the GPU's memory; to stream it, {array.nbytes:,} bytes "
            "of the computer's memory must be locked, which failed. Use device='cpu'."
        ) from error
    found[:] = array
    return found


def _new_stream() -> Any:
    return 0 if toolkit.SIMULATED else toolkit.cupy().cuda.Stream(non_blocking=True)


def _for_numba(stream: Any) -> Any:
    return 0 if toolkit.SIMULATED else toolkit.cuda.external_stream(stream.ptr)


def _copy(to: Any, source: Any, stream: Any) -> None:
    if toolkit.SIMULATED:
        to[:] = source
    else:
        toolkit.cupy().asarray(to).set(source, stream=stream)


def _copy_back(to: Any, source: Any, stream: Any) -> None:
    if toolkit.SIMULATED:
        to[:] = source
    else:
        toolkit.cupy().asarray(source).get(stream=stream, out=to, blocking=False)
