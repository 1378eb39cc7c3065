"""The Phi steps on the GPU: from counts to the arrays that the z step reads."""

from typing import Any

import numpy as np

from polyaurn.backends.cpu import phi_sparse, phi_urn
from polyaurn.backends.cpu.columns import scale_alpha
from polyaurn.backends.cpu.layout import even_ranges
from polyaurn.backends.gpu import phi as phi_kernels
from polyaurn.backends.gpu import phi_sparse as sparse_kernels
from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.buckets import BLOCK, WARPS
from polyaurn.backends.gpu.device_arrays import DevicePhi, sparse_counts
from polyaurn.backends.gpu.layout import MOST_CELLS, Layout
from polyaurn.backends.gpu.sizes import LANES, RECORD, SCRATCH_BYTES
from polyaurn.backends.tables import ball_sizes, default_cut, logs, poisson_tables
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Priors

_MOST_WARPS = 8_192


def draw_phi_urn(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment
) -> DevicePhi:
    """Draw Phi from the Pólya urn."""
    layout.phi_version += 1
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    tables = poisson_tables()
    cut = layout.constant("cut", tables.cut)
    other = layout.constant("other", tables.other)
    warps, scratch = _scratch(layout, np.uint32)
    length = layout.buffer("length", V, np.int64)
    S = layout.buffer("S", K, np.uint64, zeros=True)
    rows = layout.buffer("rows", 1 if layout.dense else V * layout.width, np.uint64)
    width = np.int32(0 if layout.dense else layout.width)
    beta = layout.constant("beta", priors.beta)
    word_tokens = layout.constant("word_tokens", layout.word_tokens)
    purposes = (Purpose.CELL, Purpose.FRACTION, Purpose.BALLS, Purpose.BALL, Purpose.COLUMN)
    keys = [part for purpose in purposes for part in key(seed, sweep, purpose)]
    cells = _nothing_yet(layout, np.uint32)
    for writes in (False, True):
        phi_kernels.urn(writes)[warps // WARPS, BLOCK](
            counts.n, np.int32(V), np.int32(K), beta, word_tokens, cut, other, scratch, length, S,
            *cells[1:], rows, width, *keys,
        )  # fmt: skip
        if not writes:
            sums = xp.asarray(S)[:K]
            if not toolkit.to_host(sums).all():
                return _from_host(layout, counts, priors, seed, sweep, phi_urn.draw_masses)
            del cells  # of a smaller Phi, perhaps: its memory is needed
            cells = _place_columns(layout, length, np.uint32)
    totals = layout.buffer("totals", K, np.float64)
    xp.asarray(totals)[:K] = sums
    return _finish(layout, *cells, totals, priors, rows)


def draw_phi_sparse(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment
) -> DevicePhi:
    """Draw Phi from its Dirichlet posterior and keep it sparse: gammas of counts, and balls."""
    layout.phi_version += 1
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    balls = ball_sizes(default_cut(K))
    tables = (layout.constant("quantile", balls.quantile), layout.constant("logs", logs()))
    warps, scratch = _scratch(layout, np.float64)
    length = layout.buffer("length", V, np.int64)
    width = -(-K // LANES)  # dense rows have which topics there are, too: for the totals
    rows = layout.buffer("rows", V * width, np.uint64)
    beta = layout.constant("beta", priors.beta)
    word_tokens = layout.constant("word_tokens", layout.word_tokens)
    keys = (*key(seed, sweep, Purpose.CELL), *key(seed, sweep, Purpose.BALL))
    cells = _nothing_yet(layout, np.float64)
    for writes in (False, True):
        sparse_kernels.columns(writes)[warps // WARPS, BLOCK](
            counts.n, np.int32(V), np.int32(K), beta, word_tokens, balls.rate, balls.scale, *tables,
            scratch, length, *cells[1:], rows, np.int32(width), *keys,
        )  # fmt: skip
        if not writes:
            del cells
            cells = _place_columns(layout, length, np.float64)
    bounds, n_ranges = layout.fixed_ranges, len(layout.fixed_ranges) - 1
    parts = layout.buffer("parts", n_ranges * K, np.float64)
    sparse_kernels.sum_columns[-(-n_ranges * width // WARPS), BLOCK](
        rows, cells[-1], layout.constant("bounds", bounds), np.int32(n_ranges), np.int32(K),
        np.int32(width), parts,
    )  # fmt: skip
    S = _sum_parts(parts, n_ranges, K)
    if (S == 0.0).any():
        return _from_host(layout, counts, priors, seed, sweep, phi_sparse.draw_masses)
    totals = layout.buffer("totals", K, np.float64)
    xp.asarray(totals)[:K] = xp.asarray(S)
    return _finish(layout, *cells, totals, priors, rows)


def _scratch(layout: Layout, dtype: Any) -> tuple[int, Any]:
    """Return how many warps draw columns, and a row of K numbers for each."""
    V, K = layout.n_words, layout.n_topics
    most = SCRATCH_BYTES // (np.dtype(dtype).itemsize * K)
    warps = max(WARPS, min(_MOST_WARPS, most, V)) // WARPS * WARPS
    return warps, layout.buffer("scratch", warps * K, dtype)


def _nothing_yet(layout: Layout, dtype: Any) -> tuple[int, Any, Any, Any]:
    """Return no cells, and columns that a kernel which counts takes but leaves as they are."""
    col = layout.buffer("col", layout.n_words + 1, np.int64)
    return 0, col, layout.buffer("topic", 1, np.uint16), layout.buffer("mass", 1, dtype)


def _place_columns(layout: Layout, length: Any, dtype: Any) -> tuple[int, Any, Any, Any]:
    """Return how many cells there are, where columns begin, and their topics and masses, empty."""
    xp, V = toolkit.array_module(), layout.n_words
    col = layout.buffer("col", V + 1, np.int64)
    col_array = xp.asarray(col)  # begins with 0, as all buffers do
    xp.cumsum(xp.asarray(length)[:V], out=col_array[1 : V + 1])
    nonzeros = int(col_array[V])
    if nonzeros > MOST_CELLS:
        raise InputError(
            f"On a GPU, Phi may have {MOST_CELLS:,} cells that are not zero. Got "
            f"{nonzeros:,}; use device='cpu', a smaller topic_word_prior or fewer topics."
        )
    topic = layout.buffer("topic", nonzeros, np.uint16)
    return nonzeros, col, topic, layout.buffer("mass", nonzeros, dtype)


def _from_host(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment, draw: Any
) -> DevicePhi:
    """Draw columns on the CPU: topics came out empty, which is rare and changes whole columns."""

    class Words:  # what the CPU reads of a layout to draw Phi
        n_words, n_topics = layout.n_words, layout.n_topics
        word_tokens, fixed_ranges = layout.word_tokens, layout.fixed_ranges
        word_ranges = even_ranges(np.arange(layout.n_words + 1, dtype=np.int64), 1)

    known = sparse_counts(counts.n, layout)
    first, last, topic, mass, S = draw(Words, known, priors, seed, sweep, Workers(1))
    length = last - first
    inside = np.repeat(first - np.cumsum(length) + length, length) + np.arange(length.sum())
    xp, V, K = toolkit.array_module(), layout.n_words, layout.n_topics
    kind = np.uint32 if layout.mass_bytes == 4 else np.float64
    made = {}
    for name, array, dtype in (
        ("col", np.concatenate(([0], np.cumsum(length))), np.int64),
        ("topic", topic[inside], np.uint16),
        ("mass", mass[inside], kind),
        ("totals", S, np.float64),
    ):  # fmt: skip
        made[name] = layout.buffer(name, len(array), dtype)
        xp.asarray(made[name])[: len(array)] = xp.asarray(array.astype(dtype))
    rows = layout.buffer("rows", 1 if layout.dense else V * layout.width, np.uint64)
    if not layout.dense:
        cell = np.repeat(np.arange(V), length) * layout.width + topic[inside] // 32
        bits = np.zeros(V * layout.width, np.uint64)
        np.bitwise_or.at(bits, cell, np.uint64(1) << (topic[inside] % 32).astype(np.uint64))
        number = np.bincount(cell, minlength=V * layout.width)
        offset = (np.cumsum(number) - number).astype(np.uint64)
        xp.asarray(rows)[: V * layout.width] = xp.asarray(bits | (offset << np.uint64(32)))
    assert len(S) == K
    return _finish(
        layout, len(inside), made["col"], made["topic"], made["mass"], made["totals"], priors, rows
    )


def draw_phi_dirichlet(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment
) -> DevicePhi:
    """Draw Phi from its Dirichlet posterior."""
    layout.phi_version += 1
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    mass = layout.buffer("mass", V * K, np.float64)
    keys = key(seed, sweep, Purpose.CELL)
    beta = layout.constant("beta", priors.beta)
    phi_kernels.gammas[-(-V * K // 128), 128](counts.n, np.int32(V), np.int32(K), beta, mass, *keys)
    bounds, n_ranges = layout.fixed_ranges, len(layout.fixed_ranges) - 1
    parts = layout.buffer("parts", n_ranges * K, np.float64)
    phi_kernels.sum_ranges[-(-n_ranges * K // 128), 128](
        mass, layout.constant("bounds", bounds), np.int32(n_ranges), np.int32(K), parts
    )
    S = _sum_parts(parts, n_ranges, K)
    empty = np.flatnonzero(S == 0.0)
    if len(empty):  # every draw of the row too small to write down
        S = _fill_rows(layout, counts, priors, keys, mass, S, empty)
    if "columns" not in layout.constants:
        col = np.arange(V + 1, dtype=np.int64) * K
        topic = xp.tile(xp.arange(K, dtype=np.uint16), V)
        layout.constants["columns"] = (None, (layout.put(col), toolkit.hand(topic)))
    col, topic = layout.constants["columns"][1]
    totals = layout.buffer("totals", K, np.float64)
    xp.asarray(totals)[:K] = xp.asarray(S)
    return _finish(layout, V * K, col, topic, mass, totals, priors, None)


def _sum_parts(parts: Any, n_ranges: int, K: int) -> Any:
    """Add up what ranges of words gave each topic, as the CPU does."""
    found = toolkit.to_host(toolkit.array_module().asarray(parts)[: n_ranges * K])
    return np.sum(list(found.reshape(-1, K)), axis=0)


def _fill_rows(
    layout: Layout, counts: Any, priors: Priors, keys: Any, mass: Any, S: Any, empty: Any
) -> Any:
    from polyaurn.backends.cpu.phi_dirichlet import log_row

    xp, K = toolkit.array_module(), layout.n_topics
    known = sparse_counts(counts.n, layout)
    cells = xp.asarray(mass)[: layout.n_words * K].reshape(-1, K)
    for k in empty:
        logs = log_row(k, *known, priors.beta, *keys)
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
        "weight": layout.buffer("weight", V * K if layout.dense else nonzeros, np.uint32),
        "prior": layout.buffer("prior", nonzeros, np.uint64),
        "guide": layout.buffer("guide", nonzeros, np.uint32),
        "record": layout.buffer("record", V * RECORD, np.uint64),
        "exponent": layout.buffer("exponent", V, np.int32),
    }
    phi_kernels.finish(layout.dense)[-(-V // WARPS), BLOCK](
        np.int32(V), np.int32(K), col, topic, mass, totals, layout.constants["alpha"][1],
        unit_of_prior, *made.values(),
    )  # fmt: skip
    if rows is None:
        rows = layout.buffer("rows", 1, np.uint64)
    toolkit.synchronise()
    return DevicePhi(layout, nonzeros, made | {"col": col, "topic": topic, "rows": rows})
