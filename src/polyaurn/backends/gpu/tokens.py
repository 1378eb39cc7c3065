"""Kernels over tokens and documents: first topics, counts, lists of a document's topics."""

from typing import Any

import numpy as np
from numba import int32, int64, uint16, uint32

from polyaurn.backends.gpu.buckets import BLOCK, WARPS, Bucket, sorting_size
from polyaurn.backends.gpu.columns import from_prior
from polyaurn.backends.gpu.sizes import FULL
from polyaurn.backends.gpu.toolkit import cuda, kernel
from polyaurn.backends.gpu.variates import below, bits, unit
from polyaurn.backends.gpu.warp import before, votes
from polyaurn.chain.state import NO_TOPIC


@kernel
def draw_uniform(z, base, K, a, b):
    """Draw first topics uniformly."""
    i = int64(cuda.grid(1))
    if i < int64(len(z)):
        z[i] = uint16(below(bits(a, b, base + i), K))


@kernel
def count_tokens(word, z, n, K):
    """Add tokens that have a topic to the counts."""
    i = int64(cuda.grid(1))
    if i < int64(len(z)) and z[i] != uint16(NO_TOPIC):
        cuda.atomic.add(n, int64(word[i]) * int64(K) + int64(z[i]), uint32(1))


@kernel
def enter_documents(order, n_documents, doc_ptr, word, z, base, record, guide, prior, n, K, a, b):
    """Give tokens without a topic one from the prior's part of Phi; a warp for each document."""
    lane = int64(cuda.threadIdx.x & 31)
    number = int64(cuda.grid(1)) >> int64(5)
    if number >= int64(n_documents):
        return
    d = int64(order[number])
    i = doc_ptr[d] + lane
    while i < doc_ptr[d + 1]:
        if z[i] == uint16(NO_TOPIC):
            v = int64(word[i])
            k, _, _ = from_prior(v, unit(bits(a, b, base + i)), record, guide, prior)
            z[i] = uint16(k)
            cuda.atomic.add(n, v * int64(K) + int64(k), uint32(1))
        i += int64(32)


@kernel
def list_topics(order, n_documents, doc_ptr, z, lists, listed, size):
    """List the topics of documents in increasing order, with counts; a warp for each.

    Topics are sorted in shared memory by a bitonic network over `size` places, a power of two.
    """
    topics = cuda.shared.array(0, uint32)
    lane = int32(cuda.threadIdx.x & 31)
    at = int32((int32(cuda.threadIdx.x) >> int32(5)) * int32(size))
    number = int64(cuda.grid(1)) >> int64(5)
    if number >= int64(n_documents):
        return
    d = int64(order[number])
    begin = doc_ptr[d]
    N_d = int32(doc_ptr[d + 1] - begin)
    i = lane
    while i < size:
        topics[at + i] = uint32(z[begin + int64(i)]) if i < N_d else uint32(FULL)
        i = int32(i + int32(32))
    cuda.syncwarp(FULL)
    span = int32(2)
    while span <= size:
        reach = int32(span >> int32(1))
        while reach > int32(0):
            i = lane
            while i < size:
                j = int32(i ^ reach)
                if j > i:
                    x, y = topics[at + i], topics[at + j]
                    if (x > y) == (int32(i & span) == int32(0)):
                        topics[at + i], topics[at + j] = y, x
                i = int32(i + int32(32))
            cuda.syncwarp(FULL)
            reach = int32(reach >> int32(1))
        span = int32(span << int32(1))
    K_d = int32(0)
    low = int32(0)
    while low < N_d:  # where a topic begins
        i = int32(low + lane)
        head = i < N_d and (i == int32(0) or topics[at + i] != topics[at + i - int32(1)])
        heads = votes(head)
        if head:
            rank = int32(cuda.popc(uint32(heads & before(lane))))
            lists[begin + int64(K_d + rank)] = uint32(topics[at + i] | (uint32(i) << uint32(16)))
        K_d = int32(K_d + int32(cuda.popc(heads)))
        low = int32(low + int32(32))
    cuda.syncwarp(FULL)
    low = int32(0)
    while low < K_d:  # how many there are: up to where the next one begins
        j = int32(low + lane)
        e, until = uint32(0), N_d
        if j < K_d:
            e = lists[begin + int64(j)]
            if j + int32(1) < K_d:
                until = int32(lists[begin + int64(j) + int64(1)] >> uint32(16))
        cuda.syncwarp(FULL)
        if j < K_d:
            m = uint32(until - int32(e >> uint32(16)))
            lists[begin + int64(j)] = uint32((e & uint32(0xFFFF)) | (m << uint32(16)))
        cuda.syncwarp(FULL)
        low = int32(low + int32(32))
    if lane == int32(0):
        listed[d] = uint16(K_d)


def list_bucket(chunk: Any, order: Any, bucket: Bucket, stream: Any) -> None:
    """Launch `list_topics` for the documents of a bucket."""
    size, n = sorting_size(bucket.longest), bucket.end - bucket.begin
    list_topics[-(-n // WARPS), BLOCK, stream, 4 * WARPS * size](
        order[bucket.begin : bucket.end], np.int64(n), chunk.doc_ptr, chunk.z, chunk.lists,
        chunk.listed, np.int32(size),
    )  # fmt: skip
