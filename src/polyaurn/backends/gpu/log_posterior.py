"""The log posterior on the GPU: each document and each word by a warp, scores summed in pairs.

The sums are made in a fixed order, so that they come out the same each time; the CPU's order is
another, and the two agree to about 12 digits.
"""

import math
from typing import Any

import numpy as np
from numba import float64, int32, int64, uint32

from polyaurn.backends.cpu.log_posterior import gain_of_pseudo_counts
from polyaurn.backends.gpu import tokens, toolkit
from polyaurn.backends.gpu.buckets import BLOCK, WARPS, long_batches
from polyaurn.backends.gpu.layout import Chunk, Layout
from polyaurn.backends.gpu.sizes import FULL, TOPIC
from polyaurn.backends.gpu.toolkit import cuda, device_function, kernel
from polyaurn.chain.priors import pseudo_sizes
from polyaurn.chain.state import Priors, State, on_host


@device_function
def _log_rising(x, n):
    """Return log(x (x + 1) ... (x + n - 1))."""
    if n > int32(12):
        return math.lgamma(x + float64(n)) - math.lgamma(x)
    product = 1.0
    for j in range(n):
        product *= x + float64(j)
    return math.log(product)


@device_function
def _add_up(x):
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_xor_sync(FULL, x, step)
    return x


@kernel
def score_lists(order, n_documents, doc_ptr, lists, listed, alpha, alpha_sum, out):
    """Write log p(z_d) of documents that have lists."""
    lane = int64(cuda.threadIdx.x & 31)
    number = int64(cuda.grid(1)) >> int64(5)
    if number >= int64(n_documents):
        return
    d = int64(order[number])
    begin = doc_ptr[d]
    s = 0.0
    j = lane
    while j < int64(listed[d]):
        e = lists[begin + j]
        s += _log_rising(alpha[e & uint32(TOPIC)], int32(e >> uint32(16)))
        j += int64(32)
    s = _add_up(s)
    if lane == int64(0):
        out[d] = s - _log_rising(alpha_sum, int32(doc_ptr[d + 1] - begin))


@kernel
def score_long(order, n_documents, doc_ptr, z, counts, alpha, alpha_sum, K, out):
    """Write log p(z_d) of documents that have none; `counts` holds zeros."""
    lane = int64(cuda.threadIdx.x & 31)
    number = int64(cuda.grid(1)) >> int64(5)
    if number >= int64(n_documents):
        return
    d = int64(order[number])
    begin, end = doc_ptr[d], doc_ptr[d + 1]
    i = begin + lane
    while i < end:
        cuda.atomic.add(counts, number * int64(K) + int64(z[i]), uint32(1))
        i += int64(32)
    cuda.syncwarp(FULL)
    s = 0.0
    k = lane
    while k < int64(K):
        m = int32(counts[number * int64(K) + k])
        if m > int32(0):
            s += _log_rising(alpha[k], m)
        k += int64(32)
    s = _add_up(s)
    if lane == int64(0):
        out[d] = s - _log_rising(alpha_sum, int32(end - begin))


@kernel
def score_words(n, n_words, K, beta, out):
    """Write each word's part of log p(w | z)."""
    lane = int64(cuda.threadIdx.x & 31)
    v = int64(cuda.grid(1)) >> int64(5)
    if v >= int64(n_words):
        return
    s = 0.0
    k = lane
    while k < int64(K):
        number = int32(n[v * int64(K) + k])
        if number > int32(0):
            s += _log_rising(beta[v], number)
        k += int64(32)
    s = _add_up(s)
    if lane == int64(0):
        out[v] = s


def log_posterior(layout: Layout, state: State, priors: Priors) -> float:
    """Return log p(w, z) of the whole corpus in nats, Theta and Phi integrated out."""
    xp, (V, K) = toolkit.array_module(), (layout.n_words, layout.n_topics)
    alpha = layout.put(priors.alpha)
    beta = layout.constant("beta", priors.beta)
    alpha_sum = float(priors.alpha.sum())
    parts: list[float] = []

    def score(chunk: Chunk, stream: Any) -> None:
        order, buckets, n_long = layout.visit(chunk, None)
        out = layout.buffer(f"score {chunk.first}", len(chunk.lengths), np.float64, zeros=True)
        toolkit.synchronise()
        for low, high in long_batches(n_long, K):
            counts = layout.buffer("long", (high - low) * K, np.uint32, zeros=True)
            toolkit.synchronise()
            score_long[-(-(high - low) // WARPS), BLOCK, stream](
                order[low:high], np.int64(high - low), chunk.doc_ptr, chunk.z, counts, alpha,
                alpha_sum, np.int32(K), out,
            )  # fmt: skip
        for bucket in buckets:
            tokens.list_bucket(chunk, order, bucket, stream)
            n = bucket.end - bucket.begin
            score_lists[-(-n // WARPS), BLOCK, stream](
                order[bucket.begin : bucket.end], np.int64(n), chunk.doc_ptr, chunk.lists,
                chunk.listed, alpha, alpha_sum, out,
            )  # fmt: skip
        toolkit.synchronise()
        parts.append(float(xp.asarray(out)[: len(chunk.lengths)].sum()))

    layout.over_chunks(score, changes_z=False)
    words = layout.buffer("score words", V, np.float64)
    score_words[-(-V // WARPS), BLOCK](layout.n, np.int32(V), np.int32(K), beta, words)
    sizes = toolkit.to_host(xp.asarray(layout.n)[: V * K].reshape(V, K).sum(axis=0, dtype=np.int64))
    sums = float(priors.beta.sum()) + pseudo_sizes(priors)
    parts.append(float(xp.asarray(words)[:V].sum()))
    parts += [math.lgamma(b) - math.lgamma(b + n) for b, n in zip(sums, sizes, strict=True)]
    if priors.pseudo is not None:
        parts += gain_of_pseudo_counts(on_host(state), priors)
    return math.fsum(parts)
