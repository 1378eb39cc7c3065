"""The steps of a sweep on the GPU, under the one loop.

Topics and counts stay on the device and are changed in place. What the loop sees as `z` and counts
stand for them: `numpy.asarray(z)` and `counts.on_host()` copy them while they are current.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from polyaurn.backends.backend import DrawPhi, MakeSteps
from polyaurn.backends.cpu.histograms import count_documents
from polyaurn.backends.cpu.start import uniform_topics
from polyaurn.backends.draws import AddressedDraws
from polyaurn.backends.gpu import tokens, toolkit
from polyaurn.backends.gpu.buckets import BLOCK, EDGES, WARPS, Bucket, long_batches, shape_for
from polyaurn.backends.gpu.device_arrays import DeviceCounts, DevicePhi, DeviceTopics
from polyaurn.backends.gpu.failures import guarded
from polyaurn.backends.gpu.layout import Chunk, Layout
from polyaurn.backends.gpu.log_posterior import log_posterior
from polyaurn.backends.gpu.sizes import LONGEST, WARP
from polyaurn.backends.gpu.z_long import z_long
from polyaurn.backends.gpu.z_short import z_short
from polyaurn.base.arrays import I64, U16
from polyaurn.base.rng import Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP, Draws
from polyaurn.chain.priors import Histogram
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.state import Counts, Priors, State, Work
from polyaurn.chain.steps import Address, LDASteps
from polyaurn.corpus.corpus import Corpus

# What kernels of a z step report: the work, how many documents stopped, the most topics by bucket.
FIRST_BUCKET, RESUMED = 2, len(EDGES)
WORK = FIRST_BUCKET + RESUMED + 1


class GPUSteps(LDASteps):
    """Base of the samplers, whose subclasses say which function draws Phi.

    Steps that change topics make all earlier states void when they begin.
    """

    phi_step: ClassVar[DrawPhi[Layout, DeviceCounts, DevicePhi]]
    full_columns = False  # of Phi
    mass_bytes = 8  # of a cell of Phi while it is drawn

    @guarded
    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        workers: Workers | None = None,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
        hdp: HDP | None = None,
    ) -> None:
        super().__init__(corpus, mh_steps=mh_steps, learn_every=learn_every, hdp=hdp)
        self.workers = workers or Workers(1)
        self.layout = make_layout(
            corpus, n_topics, full_columns=self.full_columns, mass_bytes=self.mass_bytes
        )

    @guarded
    def start(self, seed: int, blocks: I64 | None = None) -> DeviceTopics:
        """Draw first topics uniformly; documents of other blocks have none."""
        return start(self.layout, seed, blocks, self.start_topics)

    @guarded
    def count(self, z: Any) -> DeviceCounts:
        """Count topics of words from scratch; topics from the CPU are copied first."""
        return count(self.layout, z)

    def count_blocks(self, z: Any, counts: DeviceCounts, blocks: I64) -> DeviceCounts:
        """Return the counts of all: on the device they follow every change of a topic."""
        return counts

    def replace_counts(
        self, counts: DeviceCounts, old: DeviceCounts, new: DeviceCounts
    ) -> DeviceCounts:
        """Return the counts after a part was drawn, which are current already."""
        return new

    def document_histogram(self, z: U16) -> Histogram:
        """Count documents by topic and number of tokens, on the CPU."""
        return count_documents(self.corpus.doc_ptr, z, self.layout.n_topics, self.workers)

    def draws(self, address: Address) -> Draws:
        """Return the random variates of a sweep, drawn on the CPU."""
        return AddressedDraws(*address)

    @guarded
    def draw_phi(self, counts: DeviceCounts, priors: Priors, address: Address) -> DevicePhi:
        """Draw Phi: given n and beta + n0 it is Phi given n + n0 and beta."""
        if priors.pseudo is not None:
            counts = add_pseudo_counts(self.layout, counts, priors.pseudo)
        return type(self).phi_step(self.layout, counts, priors, *address)

    @guarded
    def enter(self, z: Any, phi: DevicePhi, address: Address, blocks: I64) -> DeviceTopics:
        """Give tokens of these blocks that have no topic one, from the prior's part of Phi."""
        self.layout.version += 1
        return enter(self.layout, phi, address, blocks)

    @guarded
    def draw_z(
        self,
        z: Any,
        phi: DevicePhi,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: Any = None,
    ) -> tuple[DeviceTopics, DeviceCounts, Work]:
        """Draw topics given Phi, in place; documents of other blocks keep theirs."""
        self.layout.version += 1
        return draw_z(self.layout, phi, address, blocks)

    @guarded
    def log_posterior(self, state: State) -> float:
        """Return log p(w, z), Theta and Phi integrated out."""
        return log_posterior(self.layout, state, state.priors)


if TYPE_CHECKING:
    conforms: MakeSteps[DeviceTopics, DeviceCounts, DevicePhi] = GPUSteps


def make_layout(corpus: Corpus, n_topics: int, *, full_columns: bool, mass_bytes: int) -> Layout:
    """Bring a corpus to the device."""
    layout = Layout(corpus, n_topics, full_columns, mass_bytes)
    size = corpus.n_words * n_topics
    layout.n = toolkit.hand(toolkit.array_module().zeros(size, np.uint32))
    return layout


def start(
    layout: Layout, seed: int, blocks: Any = None, n_topics: int | None = None
) -> DeviceTopics:
    """Draw first topics uniformly; documents of other blocks have none."""
    layout.version += 1
    if blocks is not None or n_topics is not None:  # the CPU's way is simple, and seldom needed
        layout.take_topics(uniform_topics(layout, seed, blocks, n_topics))
        return DeviceTopics(layout)
    layout.forget_lists()
    keys = key(seed, 0, Purpose.START)

    def draw(chunk: Chunk, stream: Any) -> None:
        grid = -(-len(chunk.z) // 256)
        tokens.draw_uniform[grid, 256, stream](
            chunk.z, np.int64(chunk.begin), np.int32(layout.n_topics), *keys
        )

    layout.over_chunks(draw, changes_z=True)
    return DeviceTopics(layout)


def count(layout: Layout, z: Any) -> DeviceCounts:
    """Count topics of each word from scratch; topics from the CPU are copied first."""
    if not isinstance(z, DeviceTopics):
        layout.take_topics(z)
    layout.version += 1
    toolkit.array_module().asarray(layout.n)[:] = 0

    def add(chunk: Chunk, stream: Any) -> None:
        grid = -(-len(chunk.z) // 256)
        tokens.count_tokens[grid, 256, stream](
            chunk.word, chunk.z, layout.n, np.int32(layout.n_topics)
        )

    layout.over_chunks(add, changes_z=False)
    toolkit.synchronise()
    if isinstance(z, DeviceTopics):
        z.version = layout.version
    return DeviceCounts(layout)


def add_pseudo_counts(layout: Layout, counts: DeviceCounts, new: Counts) -> DeviceCounts:
    """Return counts with pseudo-counts added: floats where these are fractions, else whole."""
    xp = toolkit.array_module()
    kind = np.float64 if new.number.dtype.kind == "f" else np.uint32
    if layout.constants.get("pseudo", (None,))[0] is not new:
        word = np.repeat(np.arange(layout.n_words), new.last - new.first)
        inside = np.concatenate([np.arange(a, b) for a, b in zip(new.first, new.last, strict=True)])
        cells = word * layout.n_topics + new.topic[inside]
        numbers = new.number[inside].astype(kind)
        layout.constants["pseudo"] = (new, (xp.asarray(cells), xp.asarray(numbers)))
    cells, numbers = layout.constants["pseudo"][1]
    n = xp.asarray(counts.n).astype(kind)
    n[cells] += numbers
    return DeviceCounts(layout, toolkit.hand(n))


def enter(layout: Layout, phi: Any, address: Address, blocks: Any) -> DeviceTopics:
    """Give tokens of these blocks that have no topic one from the prior's part of Phi."""
    keys = key(*address, Purpose.ENTER)

    def join(chunk: Chunk, stream: Any) -> None:
        order, _, _ = layout.visit(chunk, blocks)
        if len(order):
            tokens.enter_documents[-(-len(order) // WARPS), BLOCK, stream](
                order, np.int64(len(order)), chunk.doc_ptr, chunk.word, chunk.z,
                np.int64(chunk.begin), phi.record, phi.guide, phi.prior, layout.n,
                np.int32(layout.n_topics), *keys,
            )  # fmt: skip

    layout.over_chunks(join, changes_z=True)
    layout.version += 1
    layout.forget_lists()
    return DeviceTopics(layout)


def draw_z(
    layout: Layout, phi: Any, address: Address, blocks: Any = None
) -> tuple[DeviceTopics, DeviceCounts, Work]:
    """Draw topics given Phi, in place; documents of other blocks keep theirs."""
    xp = toolkit.array_module()
    work = layout.buffer("work", WORK, np.uint64, zeros=True)
    progress = layout.buffer("progress", layout.most_documents, np.uint32)
    stopped = layout.buffer("stopped", layout.most_documents, np.uint32)
    keys = (*key(*address, Purpose.Z), *key(*address, Purpose.PRIOR))
    name = b"all" if blocks is None else blocks.tobytes()
    lists_are_there = name in layout.listed and not layout.streams
    done = 0
    toolkit.synchronise()

    def draw(chunk: Chunk, stream: Any) -> None:
        nonlocal done
        order, buckets, n_long = layout.visit(chunk, blocks)
        sides = [layout.stream(number) for number in range(len(buckets))]
        if layout.streams:
            toolkit.wait_for(stream)  # the chunk has come; the next one is on its way meanwhile

        def finish() -> None:
            if not layout.streams:
                toolkit.synchronise()
                return
            for side in (*sides, stream):
                toolkit.wait_for(side)

        base, K = np.int64(chunk.begin), np.int32(layout.n_topics)
        columns = (phi.guide, phi.prior)
        for low, high in long_batches(n_long, layout.n_topics):
            toolkit.wait_for(stream)  # which has an order of its own
            counts = layout.buffer("long", (high - low) * layout.n_topics, np.uint32, zeros=True)
            toolkit.wait_for(0)
            z_long(layout.dense)[-(-(high - low) // WARPS), BLOCK, stream](
                order[low:high], np.int64(high - low), chunk.doc_ptr, chunk.word, chunk.z, counts,
                base, phi.record, phi.weight, *columns, phi.topic, layout.n, K, *keys, work,
            )  # fmt: skip
        if not lists_are_there:
            for bucket, side in zip(buckets, sides, strict=True):
                tokens.list_bucket(chunk, order, bucket, side)
        if (chunk.first, name) not in layout.most_listed:
            finish()
            layout.most_listed[chunk.first, name] = _most_listed(chunk, order, buckets)
        most_listed = layout.most_listed[chunk.first, name]
        seen = (chunk.doc_ptr, chunk.word, chunk.z, chunk.lists, chunk.listed, base, phi.record,
                phi.rows, phi.weight, *columns, layout.n, K, np.int32(layout.width))  # fmt: skip

        def launch(here: Any, side: Any, most: int, bucket: Bucket, number: int) -> None:
            resumes = number == RESUMED
            shape = shape_for(most, bucket.longest, bucket.log_lanes, layout.n_topics, layout.dense)
            grid = -(-(len(here) << bucket.log_lanes) // shape.block)
            kernel = z_short(bucket.log_lanes, layout.dense, shape.block, shape.batch, resumes)
            kernel[grid, shape.block, side, shape.shared](
                here, np.int64(len(here)), *seen, np.int32(shape.room),
                *keys, progress, stopped, work, np.int32(FIRST_BUCKET + number),
            )  # fmt: skip

        for number, bucket in enumerate(buckets):
            here = order[bucket.begin : bucket.end]
            launch(here, sides[number], most_listed[number], bucket, number)
        finish()
        report = toolkit.to_host(xp.asarray(work)[:WORK])
        if report[1]:  # lists that did not fit
            launch(stopped[: int(report[1])], stream, LONGEST, Bucket(0, 0, LONGEST, WARP), RESUMED)
            finish()
            report = toolkit.to_host(xp.asarray(work)[:WORK])
        most = np.maximum(report[FIRST_BUCKET:-1], report[-1])
        layout.most_listed[chunk.first, name] = most.tolist()
        done = int(report[0])  # in all chunks so far
        if layout.streams:
            xp.asarray(work)[1:WORK] = 0
            toolkit.wait_for(0)  # the next chunk has a stream of its own

    layout.over_chunks(draw, changes_z=True)
    layout.listed.add(name)
    layout.version += 1
    return DeviceTopics(layout), DeviceCounts(layout), Work(done)


def _most_listed(chunk: Chunk, order: Any, buckets: list[Bucket]) -> list[int]:
    """Return the most topics that a document of each bucket has."""
    xp = toolkit.array_module()
    listed, order = xp.asarray(chunk.listed), xp.asarray(order)
    return [int(listed[order[bucket.begin : bucket.end]].max()) for bucket in buckets]
