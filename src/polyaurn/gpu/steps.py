"""The steps of a sweep on the GPU: a kernel set like any other, under the one loop.

Topics and counts stay on the device and are changed in place. What the loop hands on as `z` and
counts are tickets for them: `numpy.asarray(z)` and `counts.on_host()` copy them while they are
current.
"""

from functools import partial
from typing import Any

import numpy as np

from polyaurn.errors import InputError
from polyaurn.gpu import phi as phi_kernels
from polyaurn.gpu import tokens, toolkit
from polyaurn.gpu.buckets import BLOCK, EDGES, WARPS, Bucket, long_batches, shape_for, sorting_size
from polyaurn.gpu.layout import MOST_CELLS, Chunk, Layout
from polyaurn.gpu.sizes import LONGEST, RECORD, WARP
from polyaurn.gpu.z_long import z_long
from polyaurn.gpu.z_short import z_short
from polyaurn.kernels.columns import scale_alpha
from polyaurn.kernels.tables import poisson_tables
from polyaurn.rng import Moment, Purpose, key
from polyaurn.state import Counts, Phi, Priors, Work

_SCRATCH_BYTES = 1 << 28
_MOST_WARPS = 8_192

# What kernels of a z step tell: the work, how many documents stopped, the most topics by bucket.
FIRST_BUCKET, RESUMED = 2, len(EDGES)
WORK = FIRST_BUCKET + RESUMED + 1


class Ticket:
    """Something that lies on the device until the next step changes it."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.version = layout, layout.version

    def _check(self) -> None:
        if self.version != self.layout.version:
            raise InputError(
                "This state is no longer on the GPU: a later sweep has changed it. Copy what is to "
                "be kept before the next sweep, with polyaurn.state.on_host(state)."
            )


class DeviceTopics(Ticket):
    """Topics of the tokens, on the device."""

    dtype = np.dtype(np.uint16)

    def __len__(self) -> int:
        return len(self.layout.word)

    def on_host(self) -> Any:
        """Return them as an array of NumPy's."""
        self._check()
        return self.layout.give_topics()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.on_host(), dtype)


class DeviceCounts(Ticket):
    """Counts n, on the device, a row of K for each word."""

    def __init__(self, layout: Layout, n: Any = None) -> None:
        super().__init__(layout)
        self.n = layout.n if n is None else n

    def on_host(self) -> Counts:
        """Return them as the CPU's kernels have them."""
        self._check()
        return _sparse(self.n, self.layout)


def _sparse(n: Any, layout: Layout) -> Counts:
    xp = toolkit.array_module()
    V, K = layout.n_words, layout.n_topics
    n = xp.asarray(n)[: V * K]
    cells = xp.flatnonzero(n)
    length = toolkit.to_host(xp.bincount(cells // K, minlength=V))
    last = np.cumsum(length)
    topic = toolkit.to_host((cells % K).astype(np.uint16))
    return Counts(last - length, last, topic, toolkit.to_host(n[cells]).astype(np.int32))


class DevicePhi:
    """Phi on the device, in the arrays that the z step reads; the next draw takes their place."""

    def __init__(self, layout: Layout, nonzeros: int, arrays: dict[str, Any]) -> None:
        self.layout, self.nonzeros = layout, nonzeros
        for name, array in arrays.items():
            setattr(self, name, array)

    def on_host(self) -> Phi:
        """Return it as the CPU's kernels have it, but for dense rows."""
        layout, V, K = self.layout, self.layout.n_words, self.layout.n_topics
        get = {name: self._get(name) for name in ("col", "topic", "prior", "record", "exponent")}
        col, topic = get["col"][: V + 1], get["topic"][: self.nonzeros]
        weight = self._get("weight")
        if layout.dense:
            word = np.repeat(np.arange(V, dtype=np.int64), np.diff(col))
            weight = weight[word * K + topic]
        sigma_a = get["record"][: V * RECORD].reshape(V, RECORD)[:, 2].view(np.float64)
        return Phi(
            col[:-1], col[1:], topic, weight[: self.nonzeros], get["exponent"][:V],
            get["prior"][: self.nonzeros], np.array(sigma_a), np.full(V, -1, np.int32),
            np.empty((0, K), np.uint32), np.empty((0, K), np.uint16),
        )  # fmt: skip

    def _get(self, name: str) -> Any:
        return toolkit.to_host(toolkit.array_module().asarray(getattr(self, name)))


# Steps


def make_layout(
    corpus: Any, n_topics: int, workers: Any = None, *, full_columns: bool = False
) -> Layout:
    """Bring a corpus to the device."""
    layout = Layout(corpus, n_topics, full_columns)
    size = corpus.n_words * n_topics
    layout.n = toolkit.hand(toolkit.array_module().zeros(size, np.uint32))
    return layout


make_full_layout = partial(make_layout, full_columns=True)


def start(layout: Layout, seed: int, blocks: Any = None) -> DeviceTopics:
    """Draw first topics uniformly; documents of other blocks have none."""
    from polyaurn.kernels.start import uniform_topics

    layout.version += 1
    if blocks is not None:  # a share of the documents: the CPU's way is simple, and seldom needed
        layout.take_topics(uniform_topics(layout, seed, blocks))
        return DeviceTopics(layout)
    layout.listed.clear()
    chance = key(seed, 0, Purpose.START)

    def draw(chunk: Chunk, stream: Any) -> None:
        grid = -(-len(chunk.z) // 256)
        tokens.draw_uniform[grid, 256, stream](
            chunk.z, np.int64(chunk.begin), np.int32(layout.n_topics), *chance
        )

    layout.over_chunks(draw, changes_z=True)
    return DeviceTopics(layout)


def count(layout: Layout, z: Any, workers: Any = None) -> DeviceCounts:
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


def count_blocks(layout: Layout, z: Any, counts: Any, blocks: Any, workers: Any = None) -> Any:
    """Return the counts of all: on the device they follow every change of a topic."""
    return counts


def replace_counts(layout: Layout, counts: Any, old: Any, new: Any, workers: Any = None) -> Any:
    """Return the counts after a part was drawn, or with pseudo-counts added."""
    if not isinstance(new, Counts):
        return new
    xp = toolkit.array_module()
    n = xp.array(xp.asarray(counts.n))
    word = np.repeat(np.arange(layout.n_words), new.last - new.first)
    inside = np.concatenate([np.arange(a, b) for a, b in zip(new.first, new.last, strict=True)])
    cells = word * layout.n_topics + new.topic[inside]
    n[xp.asarray(cells)] += xp.asarray(new.number[inside].astype(np.uint32))
    return DeviceCounts(layout, toolkit.hand(n))


def draw_phi_urn(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment, workers: Any = None
) -> DevicePhi:
    """Draw Phi from the Pólya urn."""
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    tables = poisson_tables()
    cut = layout.constant("cut", tables.cut)
    other = layout.constant("other", tables.other)
    warps = max(WARPS, min(_MOST_WARPS, _SCRATCH_BYTES // (4 * K), V)) // WARPS * WARPS
    scratch = layout.room("scratch", warps * K, np.uint32)
    length = layout.room("length", V, np.int64)
    S = layout.room("S", K, np.uint64, zeros=True)
    col = layout.room("col", V + 1, np.int64)
    rows = layout.room("rows", 1 if layout.dense else V * layout.width, np.uint64)
    width = np.int32(0 if layout.dense else layout.width)
    beta = layout.constant("beta", priors.beta)
    word_tokens = layout.constant("word_tokens", layout.word_tokens)
    purposes = (Purpose.CELL, Purpose.BALLS, Purpose.BALL, Purpose.COLUMN)
    chance = [part for purpose in purposes for part in key(seed, sweep, purpose)]
    topic, mass = layout.room("topic", 1, np.uint16), layout.room("mass", 1, np.uint32)
    for writes in (False, True):
        phi_kernels.urn(writes)[warps // WARPS, BLOCK](
            counts.n, np.int32(V), np.int32(K), beta, word_tokens, cut, other, scratch, length, S,
            col, topic, mass, rows, width, *chance,
        )  # fmt: skip
        if not writes:
            sums = xp.asarray(S)[:K]
            if not bool((sums > 0).all()):
                return _from_host(layout, counts, priors, seed, sweep)
            col_array = xp.asarray(col)
            col_array[0] = 0
            xp.cumsum(xp.asarray(length)[:V], out=col_array[1 : V + 1])
            nonzeros = int(col_array[V])
            if nonzeros > MOST_CELLS:
                raise InputError(
                    f"On a GPU, Phi may have {MOST_CELLS:,} cells that are not zero. Got "
                    f"{nonzeros:,}; use device='cpu', a smaller topic_word_prior or fewer topics."
                )
            topic = layout.room("topic", nonzeros, np.uint16)
            mass = layout.room("mass", nonzeros, np.uint32)
    totals = layout.room("totals", K, np.float64)
    xp.asarray(totals)[:K] = sums
    return _finish(layout, nonzeros, col, topic, mass, totals, priors, rows)


def _from_host(layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment) -> DevicePhi:
    """Draw columns on the CPU: topics came out empty, which is rare and changes whole columns."""
    from polyaurn.kernels.layout import even_ranges
    from polyaurn.kernels.phi_urn import draw_masses
    from polyaurn.workers import Workers

    class Words:  # what the CPU's urn reads of a layout
        n_words, n_topics = layout.n_words, layout.n_topics
        word_tokens = layout.word_tokens
        word_ranges = even_ranges(np.arange(layout.n_words + 1, dtype=np.int64), 1)

    known = _sparse(counts.n, layout)
    first, last, topic, mass, S = draw_masses(Words, known, priors, seed, sweep, Workers(1))  # type: ignore[arg-type]
    length = last - first
    inside = np.repeat(first - np.cumsum(length) + length, length) + np.arange(length.sum())
    xp, V, K = toolkit.array_module(), layout.n_words, layout.n_topics
    nonzeros = len(inside)
    col = np.concatenate(([0], np.cumsum(length)))
    made = {}
    for name, array, dtype in (
        ("col", col, np.int64), ("topic", topic[inside], np.uint16),
        ("mass", mass[inside], np.uint32), ("totals", S, np.float64),
    ):  # fmt: skip
        made[name] = layout.room(name, len(array), dtype)
        xp.asarray(made[name])[: len(array)] = xp.asarray(array.astype(dtype))
    rows = layout.room("rows", 1 if layout.dense else V * layout.width, np.uint64)
    if not layout.dense:
        cell = np.repeat(np.arange(V), length) * layout.width + topic[inside] // 32
        bits = np.zeros(V * layout.width, np.uint64)
        np.bitwise_or.at(bits, cell, np.uint64(1) << (topic[inside] % 32).astype(np.uint64))
        number = np.bincount(cell, minlength=V * layout.width)
        offset = (np.cumsum(number) - number).astype(np.uint64)
        xp.asarray(rows)[: V * layout.width] = xp.asarray(bits | (offset << np.uint64(32)))
    assert len(S) == K
    return _finish(
        layout, nonzeros, made["col"], made["topic"], made["mass"], made["totals"], priors, rows
    )


def draw_phi_dirichlet(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment, workers: Any = None
) -> DevicePhi:
    """Draw Phi from its Dirichlet posterior."""
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    mass = layout.room("mass", V * K, np.float64)
    chance = key(seed, sweep, Purpose.CELL)
    beta = layout.constant("beta", priors.beta)
    phi_kernels.gammas[-(-V * K // 128), 128](
        counts.n, np.int32(V), np.int32(K), beta, mass, *chance
    )
    bounds, n_ranges = layout.fixed_ranges, len(layout.fixed_ranges) - 1
    parts = layout.room("parts", n_ranges * K, np.float64)
    phi_kernels.sum_ranges[-(-n_ranges * K // 128), 128](
        mass, layout.constant("bounds", bounds), np.int32(n_ranges), np.int32(K), parts
    )
    S = np.sum(list(toolkit.to_host(xp.asarray(parts)[: n_ranges * K]).reshape(-1, K)), axis=0)
    empty = np.flatnonzero(S == 0.0)
    if len(empty):  # every draw of the row too small to write down
        S = _fill_rows(layout, counts, priors, chance, mass, S, empty)
    if "columns" not in layout.constants:
        col = np.arange(V + 1, dtype=np.int64) * K
        topic = xp.tile(xp.arange(K, dtype=np.uint16), V)
        layout.constants["columns"] = (None, (layout.put(col), toolkit.hand(topic)))
    col, topic = layout.constants["columns"][1]
    totals = layout.room("totals", K, np.float64)
    xp.asarray(totals)[:K] = xp.asarray(S)
    return _finish(layout, V * K, col, topic, mass, totals, priors, None)


def _fill_rows(
    layout: Layout, counts: Any, priors: Priors, chance: Any, mass: Any, S: Any, empty: Any
) -> Any:
    from polyaurn.kernels.phi_dirichlet import log_row

    xp, K = toolkit.array_module(), layout.n_topics
    known = _sparse(counts.n, layout)
    cells = xp.asarray(mass)[: layout.n_words * K].reshape(-1, K)
    for k in empty:
        logs = log_row(k, *known, priors.beta, *chance)
        row = np.exp(logs - logs.max())
        cells[:, int(k)] = xp.asarray(row)
        S[k] = row.sum()
    return S


def _finish(
    layout: Layout, nonzeros: int, col: Any, topic: Any, mass: Any, totals: Any, priors: Priors,
    rows: Any,
) -> DevicePhi:  # fmt: skip
    V, K = layout.n_words, layout.n_topics
    ratio, unit_of_prior = scale_alpha(priors.alpha)
    if layout.constants.get("alpha", (None,))[0] is not priors.alpha:
        layout.constants["alpha"] = (priors.alpha, layout.put(ratio))
    made = {
        "weight": layout.room("weight", V * K if layout.dense else nonzeros, np.uint32),
        "prior": layout.room("prior", nonzeros, np.uint64),
        "guide": layout.room("guide", nonzeros, np.uint32),
        "record": layout.room("record", V * RECORD, np.uint64),
        "exponent": layout.room("exponent", V, np.int32),
    }
    phi_kernels.finish(layout.dense)[-(-V // WARPS), BLOCK](
        np.int32(V), np.int32(K), col, topic, mass, totals, layout.constants["alpha"][1],
        unit_of_prior, *made.values(),
    )  # fmt: skip
    if rows is None:
        rows = layout.room("rows", 1, np.uint64)
    toolkit.synchronise()
    return DevicePhi(layout, nonzeros, made | {"col": col, "topic": topic, "rows": rows})


def enter(
    layout: Layout, z: Any, phi: Any, seed: int, sweep: Moment, workers: Any, blocks: Any
) -> DeviceTopics:
    """Give tokens of these blocks that have no topic one from the prior's part of Phi."""
    chance = key(seed, sweep, Purpose.ENTER)

    def join(chunk: Chunk, stream: Any) -> None:
        order, _, _ = layout.visit(chunk, blocks)
        if len(order):
            tokens.enter_documents[-(-len(order) // WARPS), BLOCK, stream](
                order, np.int64(len(order)), chunk.doc_ptr, chunk.word, chunk.z,
                np.int64(chunk.begin), phi.record, phi.guide, phi.prior, layout.n,
                np.int32(layout.n_topics), *chance,
            )  # fmt: skip

    layout.over_chunks(join, changes_z=True)
    layout.version += 1
    layout.listed.clear()
    return DeviceTopics(layout)


def draw_z(
    layout: Layout,
    z: Any,
    phi: Any,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Any = None,
    blocks: Any = None,
    into: Any = None,
) -> tuple[DeviceTopics, DeviceCounts, Work]:
    """Draw topics given Phi, in place; documents of other blocks keep theirs."""
    xp = toolkit.array_module()
    work = layout.room("work", WORK, np.uint64, zeros=True)
    progress = layout.room("progress", layout.most_documents, np.uint32)
    stopped = layout.room("stopped", layout.most_documents, np.uint32)
    address = (*key(seed, sweep, Purpose.Z), *key(seed, sweep, Purpose.PRIOR))
    name = b"all" if blocks is None else blocks.tobytes()
    lists_are_there = name in layout.listed and not layout.streams
    toolkit.synchronise()

    def draw(chunk: Chunk, stream: Any) -> None:
        order, buckets, n_long = layout.visit(chunk, blocks)
        base, K = np.int64(chunk.begin), np.int32(layout.n_topics)
        columns = (phi.guide, phi.prior)
        for low, high in long_batches(n_long, layout.n_topics):
            if layout.streams:  # they have an order of their own
                toolkit.synchronise()
            counts = layout.room("long", (high - low) * layout.n_topics, np.uint32, zeros=True)
            if layout.streams:
                toolkit.synchronise()
            z_long(layout.dense)[-(-(high - low) // WARPS), BLOCK, stream](
                order[low:high], np.int64(high - low), chunk.doc_ptr, chunk.word, chunk.z, counts,
                base, phi.record, phi.weight, *columns, phi.topic, layout.n, K, *address, work,
            )  # fmt: skip
        if not lists_are_there:
            for number, bucket in enumerate(buckets):
                size, n = sorting_size(bucket.longest), bucket.end - bucket.begin
                lane = stream if layout.streams else layout.lane(number)
                tokens.list_topics[-(-n // WARPS), BLOCK, lane, 4 * WARPS * size](
                    order[bucket.begin : bucket.end], np.int64(n), chunk.doc_ptr, chunk.z,
                    chunk.lists, chunk.listed, np.int32(size),
                )  # fmt: skip
            toolkit.synchronise()
            layout.most_listed[chunk.first, name] = _most_listed(chunk, order, buckets)
        most_listed = layout.most_listed[chunk.first, name]
        seen = (chunk.doc_ptr, chunk.word, chunk.z, chunk.lists, chunk.listed, base, phi.record,
                phi.rows, phi.weight, *columns, layout.n, K, np.int32(layout.width))  # fmt: skip

        def launch(here: Any, lane: Any, most: int, bucket: Bucket, number: int) -> None:
            resumes = number == RESUMED
            shape = shape_for(most, bucket.longest, bucket.log_lanes, layout.n_topics)
            grid = -(-(len(here) << bucket.log_lanes) // shape.block)
            kernel = z_short(bucket.log_lanes, layout.dense, shape.block, resumes)
            kernel[grid, shape.block, lane, shape.shared](
                here, np.int64(len(here)), *seen, np.int32(shape.room),
                *address, progress, stopped, work, np.int32(FIRST_BUCKET + number),
            )  # fmt: skip

        for number, bucket in enumerate(buckets):
            lane = stream if layout.streams else layout.lane(number)
            here = order[bucket.begin : bucket.end]
            launch(here, lane, most_listed[number], bucket, number)
        toolkit.synchronise()
        told = toolkit.to_host(xp.asarray(work)[:WORK])
        if told[1]:  # lists that found no room
            launch(stopped[: int(told[1])], stream, LONGEST, Bucket(0, 0, LONGEST, WARP), RESUMED)
            toolkit.synchronise()
            told = toolkit.to_host(xp.asarray(work)[:WORK])
        most = np.maximum(told[FIRST_BUCKET:-1], told[-1])
        layout.most_listed[chunk.first, name] = most.tolist()
        xp.asarray(work)[1:WORK] = 0

    layout.over_chunks(draw, changes_z=True)
    layout.listed.add(name)
    layout.version += 1
    done = int(toolkit.to_host(xp.asarray(work)[:1])[0])
    return DeviceTopics(layout), DeviceCounts(layout), Work(done)


def _most_listed(chunk: Chunk, order: Any, buckets: list[Bucket]) -> list[int]:
    """Return the most topics that a document of each bucket has."""
    xp = toolkit.array_module()
    listed, order = xp.asarray(chunk.listed), xp.asarray(order)
    return [int(listed[order[bucket.begin : bucket.end]].max()) for bucket in buckets]
