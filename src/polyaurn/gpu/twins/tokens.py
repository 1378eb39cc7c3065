"""Twins of kernels over tokens and documents; see `polyaurn.gpu.tokens`."""

import numpy as np

from polyaurn.gpu.sizes import LANES
from polyaurn.gpu.twins.columns import from_prior
from polyaurn.kernels.chance import below, bits, unit
from polyaurn.machine_code import njit
from polyaurn.state import NO_TOPIC

_NOTHING = 0xFFFFFFFF  # sorts behind every topic


@njit(nogil=True, cache=True)
def draw_uniform(z, base, K, a, b):
    """Draw first topics uniformly."""
    for i in range(len(z)):
        z[i] = below(bits(a, b, base + i), K)


@njit(nogil=True, cache=True)
def count_tokens(word, z, n, K):
    """Add tokens that have a topic to the counts."""
    for i in range(len(z)):
        if z[i] != NO_TOPIC:
            n[np.int64(word[i]) * K + np.int64(z[i])] += np.uint32(1)


@njit(nogil=True, cache=True)
def enter_documents(order, doc_ptr, word, z, base, record, guide, prior, n, K, a, b):
    """Give tokens without a topic one from the prior's part of Phi."""
    for d in order:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if z[i] == NO_TOPIC:
                v = np.int64(word[i])
                k, _, _ = from_prior(v, unit(bits(a, b, base + i)), record, guide, prior)
                z[i] = k
                n[v * K + k] += np.uint32(1)


@njit(nogil=True, cache=True)
def list_topics(order, doc_ptr, z, lists, listed, size):
    """List the topics of documents in increasing order, with counts."""
    topics = np.empty(size, np.uint32)
    for d in order:
        begin, N_d = doc_ptr[d], doc_ptr[d + 1] - doc_ptr[d]
        for i in range(size):
            topics[i] = z[begin + i] if i < N_d else _NOTHING
        span = 2
        while span <= size:
            reach = span >> 1
            while reach > 0:
                _compare(topics, span, reach)
                reach >>= 1
            span <<= 1
        K_d = 0
        for i in range(N_d):  # where a topic begins
            if i == 0 or topics[i] != topics[i - 1]:
                lists[begin + K_d] = topics[i] | np.uint32(i << 16)
                K_d += 1
        for j in range(K_d):  # how many there are: up to where the next one begins
            e = np.int64(lists[begin + j])
            until = np.int64(lists[begin + j + 1]) >> 16 if j + 1 < K_d else N_d
            lists[begin + j] = (e & 0xFFFF) | ((until - (e >> 16)) << 16)
        listed[d] = K_d


@njit(cache=True)
def _compare(topics, span, reach):
    """Do one step of the bitonic network, each lane its places."""
    for lane in range(min(LANES, len(topics))):
        for i in range(lane, len(topics), LANES):
            j = i ^ reach
            if j > i and (topics[i] > topics[j]) == (i & span == 0):
                topics[i], topics[j] = topics[j], topics[i]
