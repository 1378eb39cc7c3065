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
from polyaurn.base.rng import Moment, Purpose, key
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
    """Draw topics given Phi (the second step of both algorithms of the paper).

    Parameters
    ----------
    layout : Layout
        The corpus.
    z : ndarray of uint16
        Current topics, left as they are.
    phi : Phi
        Drawn for this sweep.
    priors : Priors
        alpha, beta; Phi holds what is needed of them.
    seed, sweep : int
        Address of the draws.
    workers : Workers
        Threads.
    blocks : ndarray of int64, optional
        Which blocks of documents to visit; all when not given. Others keep their topics.
    into : ndarray of uint16, optional
        Where to write the new topics, of the documents visited alone; a new array when not given.

    Returns
    -------
    z : ndarray of uint16
        New topics.
    counts : Counts
        n, of the documents visited alone.
    work : Work
        Sum over tokens visited of min(K_d, K_v): topics in the document when the sweep begins,
        topics of the word.
    """
    new = into
    if new is None:
        new = np.empty_like(z) if blocks is None else z.copy()
    todo = np.arange(len(layout.blocks) - 1) if blocks is None else blocks
    address = (*key(seed, sweep, Purpose.Z), *key(seed, sweep, Purpose.PRIOR))

    def draw(b: int, tally: I32) -> int:
        documents, *runs = block_of(layout, b)
        shared = (layout.doc_ptr, z, new, tally, *phi[:4], *phi[5:], layout.n_topics, *address)
        if len(runs[0]):
            return int(_draw_block(documents, *runs, *shared))
        return int(draw_documents(documents, layout.word, *shared))

    work, counts = draw_and_count(layout, phi, _largest_first(layout, todo), draw, workers)
    return new, counts, Work(sum(work))


def _largest_first(layout: Layout, blocks: I64) -> list[tuple[Any]]:
    """Order blocks so that one long document is not what threads wait for at the end."""
    long = layout.first_run[blocks] == layout.last_run[blocks]
    return [(int(b),) for b in blocks[np.argsort(~long, kind="stable")]]


@njit(nogil=True, cache=True)
def _draw_block(
    documents, step, length, place, doc_ptr, z, new, tally,
    first, last, topic, weight, prior, sigma_a, row, dense, rank,
    K, key_a, key_b, prior_a, prior_b,
):  # fmt: skip
    D, width = len(documents), np.uint64(K)
    m = np.zeros(D * K, np.uint16)  # a row of K for each document
    K_d = np.zeros(D, np.uint16)
    z_b = np.empty(len(place), np.uint16)  # topics of the block's tokens
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
    running = np.empty(K + 1, np.uint64)  # running sums of the walk
    n_pieces = width // _PIECE
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
                d = np.uint64(place[t])
                at = token[d]
                i = np.uint64(np.uint32(at + shift[d]))
                token[d] = at + np.uint32(1)
                work += min(np.uint64(K_d[d]), K_v)
                base = d * width
                old = z_b[at]
                s = _NONE
                for q in range(K_v):
                    k = topic[start + q]
                    own = np.uint64(k == old)
                    s += np.uint64(weight[start + q]) * (np.uint64(m[base + np.uint64(k)]) - own)
                    running[q] = s
                sigma_b = np.float64(s)
                u = unit(bits(key_a, key_b, i)) * (sigma_b + sigma_a_v)
                if u < sigma_b:
                    goal = min(np.uint64(u), s - _ONE)
                    j = _NONE
                    for q in range(K_v):
                        j += np.uint64(running[q] <= goal)
                else:
                    j = from_prior(prior, start, K_v, unit(bits(prior_a, prior_b, i)))
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
                d = np.uint64(place[t])
                at = token[d]
                i = np.uint64(np.uint32(at + shift[d]))
                token[d] = at + np.uint32(1)
                work += min(np.uint64(K_d[d]), K_v)
                base = d * width
                m_d = m[base : base + width]
                m_d[z_b[at]] -= np.uint16(1)
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
                sigma_b = np.float64(s)
                u = unit(bits(key_a, key_b, i)) * (sigma_b + sigma_a_v)
                if u < sigma_b:
                    goal = min(np.uint64(u), s - _ONE)
                    before = _NONE  # whole pieces
                    while running[before] <= goal:
                        before += _ONE
                    s = running[before - _ONE] if before > _NONE else _NONE
                    k = before * _PIECE
                    s += np.uint64(w[k]) * np.uint64(m_d[k])
                    while s <= goal:
                        k += _ONE
                        s += np.uint64(w[k]) * np.uint64(m_d[k])
                    j = k if full else np.uint64(rank[h, k])
                else:
                    j = from_prior(prior, start, K_v, unit(bits(prior_a, prior_b, i)))
                    k = np.uint64(topic[start + j])
                tally[start + j] += np.int32(1)
                z_b[at] = k
                m_d[k] += np.uint16(1)
    at = _NONE
    for doc in range(D):
        for g in range(doc_ptr[documents[doc]], doc_ptr[documents[doc] + 1]):
            new[g] = z_b[at]
            at += _ONE
    return work
