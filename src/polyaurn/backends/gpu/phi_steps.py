"""The Phi steps on the GPU: from counts to the arrays that the z step reads."""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.columns import scale_alpha
from polyaurn.backends.gpu import phi as phi_kernels
from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.buckets import BLOCK, WARPS
from polyaurn.backends.gpu.held import DevicePhi, sparse_counts
from polyaurn.backends.gpu.layout import MOST_CELLS, Layout
from polyaurn.backends.gpu.sizes import RECORD, SCRATCH_BYTES
from polyaurn.backends.tables import poisson_tables
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.chain.state import Priors

_MOST_WARPS = 8_192


def draw_phi_urn(
    layout: Layout, counts: Any, priors: Priors, seed: int, sweep: Moment, workers: Any = None
) -> DevicePhi:
    """Draw Phi from the Pólya urn."""
    layout.phi_version += 1
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    tables = poisson_tables()
    cut = layout.constant("cut", tables.cut)
    other = layout.constant("other", tables.other)
    warps = max(WARPS, min(_MOST_WARPS, SCRATCH_BYTES // (4 * K), V)) // WARPS * WARPS
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
    from polyaurn.backends.cpu.layout import even_ranges
    from polyaurn.backends.cpu.phi_urn import draw_masses
    from polyaurn.base.threads import Workers

    class Words:  # what the CPU's urn reads of a layout
        n_words, n_topics = layout.n_words, layout.n_topics
        word_tokens = layout.word_tokens
        word_ranges = even_ranges(np.arange(layout.n_words + 1, dtype=np.int64), 1)

    known = sparse_counts(counts.n, layout)
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
    layout.phi_version += 1
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
    from polyaurn.backends.cpu.phi_dirichlet import log_row

    xp, K = toolkit.array_module(), layout.n_topics
    known = sparse_counts(counts.n, layout)
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
