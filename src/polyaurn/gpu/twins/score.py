"""Twins of the kernels for the log posterior; see `polyaurn.gpu.score`."""

import numpy as np

from polyaurn.gpu.sizes import LANES, TOPIC
from polyaurn.kernels.joint import log_rising
from polyaurn.machine_code import njit


@njit(cache=True)
def add_up(x):
    """Return the sum over lanes, made in pairs."""
    step = LANES // 2
    while step > 0:
        for lane in range(step):
            x[lane] += x[lane + step]
        step //= 2
    return x[0]


@njit(nogil=True, cache=True)
def score_lists(order, doc_ptr, lists, listed, alpha, alpha_sum, out):
    """Write log p(z_d) of documents that have lists."""
    for d in order:
        begin = doc_ptr[d]
        s = np.zeros(LANES)
        for j in range(listed[d]):
            e = np.int64(lists[begin + j])
            s[j % LANES] += log_rising(alpha[e & TOPIC], e >> 16)
        out[d] = add_up(s) - log_rising(alpha_sum, doc_ptr[d + 1] - begin)


@njit(nogil=True, cache=True)
def score_long(order, doc_ptr, z, counts, alpha, alpha_sum, K, out):
    """Write log p(z_d) of documents that have none; `counts` holds zeros."""
    for number in range(len(order)):
        d = order[number]
        m = counts[number * K : number * K + K]
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            m[z[i]] += np.uint32(1)
        s = np.zeros(LANES)
        for k in range(K):
            if m[k] > 0:
                s[k % LANES] += log_rising(alpha[k], np.int64(m[k]))
        out[d] = add_up(s) - log_rising(alpha_sum, doc_ptr[d + 1] - doc_ptr[d])


@njit(nogil=True, cache=True)
def score_words(n, K, beta, out):
    """Write each word's part of log p(w | z)."""
    for v in range(len(beta)):
        s = np.zeros(LANES)
        for k in range(K):
            if n[v * K + k] > 0:
                s[k % LANES] += log_rising(beta[v], np.int64(n[v * K + k]))
        out[v] = add_up(s)
