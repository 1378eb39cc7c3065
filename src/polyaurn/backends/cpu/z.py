"""The z step: every token's topic given Phi, in parallel over blocks of documents.

A token of word v in document d takes topic k with weight phi[k, v] (alpha[k] + m[d, k]), the
token itself left out of m. Sums of the part with alpha are made with Phi, and a topic that comes
from it has a draw of its own, which does not depend on the document. The part with m is
summed over the word's column, or over all topics where the column is long, always in increasing
order of topic. Weights are integers: the sum is exact, whatever its order.

A block is visited word by word, the counts m of its documents held as rows of K. Documents of
very many tokens, and models of very many topics, are visited in document order instead
(`polyaurn.backends.cpu.z_long`): the same draws, the same bytes.
"""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.columns import from_prior
from polyaurn.backends.cpu.counts import draw_and_count
from polyaurn.backends.cpu.layout import Layout, block_of
from polyaurn.backends.cpu.z_long import draw_documents
from polyaurn.backends.variates import bits, unit
from polyaurn.base.arrays import I32, I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key, shifted
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi, Priors, Work

_ONE, _NONE = np.uint64(1), np.uint64(0)
_PIECE = np.uint64(64)  # topics of a long column that are summed at once


def draw_z(
    layout: Layout,
    z: U16,
    phi: Phi,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    blocks: I64 | None = None,
    into: U16 | None = None,
) -> tuple[U16, Counts, Work]:
    """Draw topics given Phi, the second step of both algorithms of the paper.

    Only the given blocks of documents are visited, all if none are given; others keep their
    topics. `z` is left as it is; new topics are written to `into`, or to a new array. Counts are
    those of the documents visited; the work is the sum over their tokens of min(K_d, K_v), the
    number of topics in the document when the sweep begins and that of the word.
    """
    new = into
    if new is None:
        new = np.empty_like(z) if blocks is None else z.copy()
    todo = np.arange(len(layout.blocks) - 1) if blocks is None else blocks
    purposes = (Purpose.Z, Purpose.PRIOR)
    keys = [shifted(key(seed, sweep, purpose), layout.first_token) for purpose in purposes]

    def draw(b: int, tally: I32) -> int:
        documents, *runs = block_of(layout, b)
        shared = (layout.doc_ptr, z, new, tally, phi, layout.n_topics, *keys)
        if len(runs[0]):
            return int(_draw_block(documents, *runs, *shared))
        return int(draw_documents(documents, layout.word, *shared))

    work, counts = draw_and_count(layout, phi, _largest_first(layout, todo), draw, workers)
    return new, counts, Work(sum(work))


def _largest_first(layout: Layout, blocks: I64) -> list[tuple[Any]]:
    """Order blocks so that threads do not wait for one long document at the end."""
    long = layout.first_run[blocks] == layout.last_run[blocks]
    return [(int(b),) for b in blocks[np.argsort(~long, kind="stable")]]


@njit(nogil=True, cache=True)
def _draw_block(
    documents, step, length, place, doc_ptr, z, new, tally, phi, K, z_key, prior_key
):  # fmt: skip
    """Draw topics of a block, word by word; return the work."""
    first, last, topic, weight = phi.first, phi.last, phi.topic, phi.weight
    prior, sigma_a, row, dense, rank = phi.prior, phi.sigma_a, phi.row, phi.dense, phi.rank
    width = np.uint64(K)
    m, K_d, z_b, token, shift = _load_block(documents, doc_ptr, z, len(place), K)
    running = np.empty(K + 1, np.uint64)  # running sums of the walk
    work = _NONE
    v = end = _NONE
    for r in range(len(step)):
        v += np.uint64(step[r])
        begin, end = end, end + np.uint64(length[r])
        if begin == end:
            continue
        start = np.uint64(first[v])
        K_v = np.uint64(last[v]) - start
        sigma_a_v = sigma_a[v]
        if row[v] < 0:  # walk the column
            for t in range(begin, end):
                d, at, i = _next_token(t, place, token, shift)
                work += min(np.uint64(K_d[d]), K_v)
                base = d * width
                old = z_b[at]
                s = _sum_column(topic, weight, start, K_v, m, base, old, running)
                sigma_b = np.float64(s)
                u = unit(bits(z_key.a, z_key.b, i)) * (sigma_b + sigma_a_v)
                if u < sigma_b:
                    goal = min(np.uint64(u), s - _ONE)
                    j = _NONE
                    for q in range(K_v):
                        j += np.uint64(running[q] <= goal)
                else:
                    u = unit(bits(prior_key.a, prior_key.b, i))
                    j = from_prior(prior, start, K_v, u)
                k = topic[start + j]
                tally[start + j] += np.int32(1)
                z_b[at] = k
                m[base + np.uint64(old)] -= np.uint16(1)
                m[base + np.uint64(k)] += np.uint16(1)
        else:  # sum over all topics, a piece at a time
            h = np.uint64(row[v])
            full = K_v == width
            w = dense[h]
            for t in range(begin, end):
                d, at, i = _next_token(t, place, token, shift)
                work += min(np.uint64(K_d[d]), K_v)
                base = d * width
                m_d = m[base : base + width]
                m_d[z_b[at]] -= np.uint16(1)
                s = _sum_row(w, m_d, width, running)
                sigma_b = np.float64(s)
                u = unit(bits(z_key.a, z_key.b, i)) * (sigma_b + sigma_a_v)
                if u < sigma_b:
                    k = _find_in_row(w, m_d, running, min(np.uint64(u), s - _ONE))
                    j = k if full else np.uint64(rank[h, k])
                else:
                    u = unit(bits(prior_key.a, prior_key.b, i))
                    j = from_prior(prior, start, K_v, u)
                    k = np.uint64(topic[start + j])
                tally[start + j] += np.int32(1)
                z_b[at] = k
                m_d[k] += np.uint16(1)
    _store_block(documents, doc_ptr, z_b, new)
    return work


@njit(nogil=True, cache=True)
def _load_block(documents, doc_ptr, z, n_tokens, K):
    """Return counts, topics and where tokens are, of the documents of a block."""
    D, width = len(documents), np.uint64(K)
    m = np.zeros(D * K, np.uint16)  # a row of K for each document
    K_d = np.zeros(D, np.uint16)
    z_b = np.empty(n_tokens, np.uint16)  # topics of the block's tokens
    token = np.empty(D, np.uint32)  # the document's next token in z_b
    shift = np.empty(D, np.uint32)  # from a place in z_b to the token's number, modulo 2**32
    at = _NONE
    for doc in range(D):
        begin = np.uint64(doc_ptr[documents[doc]])
        token[doc], shift[doc] = at, np.uint32(begin - at)
        base = np.uint64(doc) * width
        for g in range(begin, np.uint64(doc_ptr[documents[doc] + 1])):
            k = z[g]
            z_b[at] = k
            at += _ONE
            cell = base + np.uint64(k)
            K_d[doc] += np.uint16(m[cell] == 0)
            m[cell] += np.uint16(1)
    return m, K_d, z_b, token, shift


@njit(nogil=True, cache=True)
def _store_block(documents, doc_ptr, z_b, new):
    """Write a block's topics where the documents are."""
    at = _NONE
    for doc in range(len(documents)):
        for g in range(doc_ptr[documents[doc]], doc_ptr[documents[doc] + 1]):
            new[g] = z_b[at]
            at += _ONE


@njit(inline="always")
def _next_token(t, place, token, shift):
    """Return the document of a visit, and its next token: its place in z_b and its number."""
    d = np.uint64(place[t])
    at = token[d]
    token[d] = at + np.uint32(1)
    return d, at, np.uint64(np.uint32(at + shift[d]))


@njit(inline="always")
def _sum_column(topic, weight, start, K_v, m, base, old, running):
    """Return the sum of a token's weights along its word's column; `running` has what led to it."""
    s = _NONE
    for q in range(K_v):
        k = topic[start + q]
        own = np.uint64(k == old)
        s += np.uint64(weight[start + q]) * (np.uint64(m[base + np.uint64(k)]) - own)
        running[q] = s
    return s


@njit(inline="always")
def _sum_row(w, m_d, width, running):
    """Return the sum of a token's weights over all topics; `running` has that of each piece."""
    n_pieces = width // _PIECE
    s = _NONE
    for q in range(n_pieces):
        w_q = w[q * _PIECE : q * _PIECE + _PIECE]
        m_q = m_d[q * _PIECE : q * _PIECE + _PIECE]
        piece = _NONE
        for c in range(_PIECE):
            piece += np.uint64(w_q[c]) * np.uint64(m_q[c])
        s += piece
        running[q] = s
    for c in range(n_pieces * _PIECE, width):
        s += np.uint64(w[c]) * np.uint64(m_d[c])
    running[n_pieces] = s
    return s


@njit(inline="always")
def _find_in_row(w, m_d, running, goal):
    """Return the topic at which the sum over all topics passes a goal."""
    before = _NONE  # whole pieces
    while running[before] <= goal:
        before += _ONE
    s = running[before - _ONE] if before > _NONE else _NONE
    k = before * _PIECE
    s += np.uint64(w[k]) * np.uint64(m_d[k])
    while s <= goal:
        k += _ONE
        s += np.uint64(w[k]) * np.uint64(m_d[k])
    return k
