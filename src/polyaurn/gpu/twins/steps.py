"""Kernel sets made of twins: the steps of `polyaurn.gpu.steps`, on the CPU.

They take the layout, topics and counts of the CPU's kernels and leave them as they are, so that
whatever tests a sampler of the CPU tests the GPU's kernels through them.
"""

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from polyaurn.gpu.sizes import LANES
from polyaurn.gpu.twins import phi as phi_twins
from polyaurn.gpu.twins import score, tokens
from polyaurn.gpu.twins.phi_steps import (
    Shape,
    TwinPhi,
    dense_counts,
    draw_phi_dirichlet,
    draw_phi_urn,
)
from polyaurn.gpu.twins.z_long import z_long
from polyaurn.gpu.twins.z_short import z_short
from polyaurn.kernels import KernelSet
from polyaurn.kernels.counts import count_blocks, replace_counts
from polyaurn.kernels.layout import Layout, make_layout
from polyaurn.kernels.start import uniform_topics
from polyaurn.rng import Moment, Purpose, key
from polyaurn.state import I64, U16, U32, Counts, Priors, State, Work, pseudo_sizes

TWINS: dict[str, Any] = {
    "draw_uniform": tokens.draw_uniform,
    "count_tokens": tokens.count_tokens,
    "enter_documents": tokens.enter_documents,
    "list_topics": tokens.list_topics,
    "urn": phi_twins.urn,
    "gammas": phi_twins.gammas,
    "sum_ranges": phi_twins.sum_ranges,
    "finish": phi_twins.finish,
    "z_short": z_short,
    "z_long": z_long,
    "score_lists": score.score_lists,
    "score_long": score.score_long,
    "score_words": score.score_words,
}


def twin_kernels(sampler: str, shape: Shape | None = None, **others: Any) -> KernelSet:
    """Return the steps of a sampler as twins.

    Parameters
    ----------
    sampler : {"polya-urn", "partially-collapsed"}
        Which Phi is drawn.
    shape : Shape, optional
        How the work is cut.
    **others : callable
        What takes the place of a twin of that name: of a broken one, in tests.

    Returns
    -------
    KernelSet
        For the loop of `polyaurn.sampler`.
    """
    shape = shape or Shape()
    twins = SimpleNamespace(**TWINS | others)
    draw_phi = {"polya-urn": draw_phi_urn, "partially-collapsed": draw_phi_dirichlet}[sampler]
    if sampler == "partially-collapsed":
        shape = shape._replace(dense=True)
    return KernelSet(
        make_layout=make_layout,
        start=partial(start, twins),
        count=partial(count, twins),
        count_blocks=count_blocks,
        replace_counts=replace_counts,
        draw_phi=partial(draw_phi, twins, shape),
        enter=partial(enter, twins),
        draw_z=partial(draw_z, twins, shape),
        log_posterior=partial(log_posterior, twins, shape),
    )


# Topics and counts


def start(twins: Any, layout: Layout, seed: int, blocks: Any = None) -> U16:
    """Draw first topics uniformly; documents of other blocks have none."""
    if blocks is not None:
        return uniform_topics(layout, seed, blocks)
    z = np.empty(len(layout.word), np.uint16)
    twins.draw_uniform(z, 0, layout.n_topics, *key(seed, 0, Purpose.START))
    return z


def count(twins: Any, layout: Layout, z: U16, workers: Any = None) -> Counts:
    """Count topics of each word."""
    n = np.zeros(layout.n_words * layout.n_topics, np.uint32)
    twins.count_tokens(layout.word, z, n, layout.n_topics)
    return sparse_counts(n, layout)


def sparse_counts(n: U32, layout: Layout) -> Counts:
    """Return counts as the CPU's kernels have them."""
    K = layout.n_topics
    cells = np.flatnonzero(n)
    last = np.cumsum(np.bincount(cells // K, minlength=layout.n_words))
    first = np.concatenate(([0], last[:-1]))
    return Counts(first, last, (cells % K).astype(np.uint16), n[cells].astype(np.int32))


# Topics given Phi


def enter(
    twins: Any, layout: Layout, z: U16, phi: TwinPhi, seed: int, sweep: Moment, workers: Any,
    blocks: I64,
) -> U16:  # fmt: skip
    """Give tokens of these blocks that have no topic one from the prior's part of Phi."""
    new, n = z.copy(), np.zeros(layout.n_words * layout.n_topics, np.uint32)
    twins.enter_documents(
        _documents(layout, blocks), layout.doc_ptr, layout.word, new, 0, phi.record, phi.guide,
        phi.prior, n, layout.n_topics, *key(seed, sweep, Purpose.ENTER),
    )  # fmt: skip
    return new


def draw_z(
    twins: Any, shape: Shape, layout: Layout, z: U16, phi: TwinPhi, priors: Priors, seed: int,
    sweep: Moment, workers: Any = None, blocks: Any = None, into: Any = None,
) -> tuple[U16, Counts, Work]:  # fmt: skip
    """Draw topics given Phi; documents of other blocks keep theirs."""
    K, new = layout.n_topics, z.copy() if into is None else into
    short, long = _by_length(layout, _documents(layout, blocks), shape.longest)
    n, work = np.zeros(layout.n_words * K, np.uint32), np.zeros(3, np.uint64)
    for d in (*short, *long):
        place = slice(layout.doc_ptr[d], layout.doc_ptr[d + 1])
        twins.count_tokens(layout.word[place], new[place], n, K)
    address = (*key(seed, sweep, Purpose.Z), *key(seed, sweep, Purpose.PRIOR))
    read = (phi.guide, phi.prior)
    corpus = (layout.doc_ptr, layout.word, new)
    if len(long):
        counts = np.zeros(len(long) * K, np.uint32)
        twins.z_long(
            shape.dense,
            long,
            *corpus,
            counts,
            0,
            phi.record,
            phi.weight,
            *read,
            phi.topic,
            n,
            K,
            *address,
            work,
        )
    if len(short):
        longest = int(np.diff(layout.doc_ptr)[short].max())
        lists, listed = list_documents(twins, layout, short, longest, new)
        width = K if shape.dense else -(-K // LANES)
        seen = (*corpus, lists, listed, 0, phi.record, phi.rows, phi.weight, *read, n, K, width)
        progress, stopped = np.zeros(len(listed), np.uint32), np.zeros(len(listed), np.uint32)

        def launch(lanes: int, documents: U32, n_listed: int, resumes: bool) -> None:
            room = -(-min(n_listed, longest, K) // lanes) + 1
            twins.z_short(
                lanes, shape.dense, resumes, documents, *seen, room, *address, progress, stopped,
                work, 2,
            )  # fmt: skip

        launch(shape.lanes, short, max(1, int(listed[short].max()) + shape.spare), False)
        launch(LANES, stopped[: int(work[1])], longest, True)
    return new, sparse_counts(n, layout), Work(int(work[0]))


def list_documents(twins: Any, layout: Layout, order: U32, longest: int, z: U16) -> tuple[U32, U16]:
    """Return lists of the topics of documents, and their lengths."""
    lists = np.zeros(len(z), np.uint32)
    listed = np.zeros(len(layout.doc_ptr) - 1, np.uint16)
    twins.list_topics(
        order, layout.doc_ptr, z, lists, listed, 1 << max(0, longest - 1).bit_length()
    )
    return lists, listed


def _documents(layout: Layout, blocks: Any) -> U32:
    """Return the documents of some blocks."""
    if blocks is None:
        return layout.documents
    parts = [layout.documents[layout.blocks[b] : layout.blocks[b + 1]] for b in blocks]
    return np.concatenate([np.empty(0, np.uint32), *parts])


def _by_length(layout: Layout, documents: U32, longest: int) -> tuple[U32, U32]:
    """Return the documents that have lists, and those that are too long."""
    length = np.diff(layout.doc_ptr)[documents]
    return documents[(length > 0) & (length <= longest)], documents[length > longest]


def log_posterior(twins: Any, shape: Shape, layout: Layout, state: State, priors: Priors) -> float:
    """Return log p(w, z), Theta and Phi integrated out."""
    K, alpha_sum = layout.n_topics, float(priors.alpha.sum())
    short, long = _by_length(layout, layout.documents, shape.longest)
    out, words = np.zeros(len(layout.documents)), np.empty(layout.n_words)
    if len(short):
        longest = int(np.diff(layout.doc_ptr)[short].max())
        lists = list_documents(twins, layout, short, longest, state.z)
        twins.score_lists(short, layout.doc_ptr, *lists, priors.alpha, alpha_sum, out)
    counts = np.zeros(len(long) * K, np.uint32)
    twins.score_long(long, layout.doc_ptr, state.z, counts, priors.alpha, alpha_sum, K, out)
    n = dense_counts(state.counts, layout)
    twins.score_words(n, K, priors.beta, words)
    sizes = n.reshape(-1, K).sum(axis=0, dtype=np.int64)
    sums = float(priors.beta.sum()) + pseudo_sizes(priors)
    ends = [math.lgamma(b) - math.lgamma(b + m) for b, m in zip(sums, sizes, strict=True)]
    return math.fsum((out.sum(), words.sum(), *ends))
