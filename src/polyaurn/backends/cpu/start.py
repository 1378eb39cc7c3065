"""Topics to begin with: of a chain, and of documents that join a running one."""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.columns import from_prior
from polyaurn.backends.cpu.layout import block_of, clear_other_blocks
from polyaurn.backends.variates import bits as one_bits
from polyaurn.backends.variates import unit as one_unit
from polyaurn.base.arrays import I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, below, bits, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import NO_TOPIC, Phi

_PIECE = 1 << 20  # tokens drawn at a time, to keep memory small


def uniform_topics(layout: Any, seed: int, blocks: I64 | None = None) -> U16:
    """Draw first topics uniformly.

    Parameters
    ----------
    layout : Layout
        The corpus; only its sizes and blocks are read.
    seed : int
        Address of the draws.
    blocks : ndarray of int64, optional
        The blocks of documents to begin with; all when not given.

    Returns
    -------
    ndarray of uint16
        One topic for each token, NO_TOPIC in other blocks.
    """
    z = np.empty(len(layout.word), np.uint16)
    chance = key(seed, 0, Purpose.START)
    for lo in range(0, len(z), _PIECE):
        index = np.arange(lo, min(lo + _PIECE, len(z)))
        z[lo : lo + _PIECE] = below(bits(chance, index), layout.n_topics)
    if blocks is not None:
        clear_other_blocks(layout, z, blocks)
    return z


def enter(
    layout: Any, z: U16, phi: Phi, seed: int, sweep: Moment, workers: Workers, blocks: I64
) -> U16:
    """Give tokens without a topic one drawn from the prior's part of Phi, alpha[k] phi[k, v].

    Parameters
    ----------
    layout : Layout
        The corpus.
    z : ndarray of uint16
        Topics, left as they are.
    phi : Phi
        Drawn for this sweep from the documents that are in.
    seed, sweep : int
        Address of the draws.
    workers : Workers
        Threads.
    blocks : ndarray of int64
        The blocks of documents that should be in.

    Returns
    -------
    ndarray of uint16
        Topics; tokens of these blocks all have one.
    """
    new = z.copy()
    shared = (layout.doc_ptr, new, phi.first, phi.last, phi.topic, phi.prior)
    chance = key(seed, sweep, Purpose.ENTER)

    def join(b: int) -> None:
        documents, *runs = block_of(layout, b)
        if len(runs[0]):
            _enter_block(documents, *runs, *shared, *chance)
        else:
            _enter_documents(documents, layout.word, *shared, *chance)

    workers.run(join, [(b,) for b in blocks])
    return new


@njit(nogil=True, cache=True)
def _enter_block(documents, step, length, place, doc_ptr, z, first, last, topic, prior, a, b):
    token = np.empty(len(documents), np.int64)  # the document's next token
    for d in range(len(documents)):
        token[d] = doc_ptr[documents[d]]
    v, at = 0, 0
    for r in range(len(step)):
        v += step[r]
        for t in range(at, at + length[r]):
            i = token[place[t]]
            token[place[t]] += 1
            if z[i] == NO_TOPIC:
                z[i] = _first_topic(v, i, first, last, topic, prior, a, b)
        at += length[r]


@njit(nogil=True, cache=True)
def _enter_documents(documents, word, doc_ptr, z, first, last, topic, prior, a, b):
    for d in documents:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if z[i] == NO_TOPIC:
                z[i] = _first_topic(word[i], i, first, last, topic, prior, a, b)


@njit(cache=True)
def _first_topic(v, i, first, last, topic, prior, a, b):
    start = np.uint64(first[v])
    u = one_unit(one_bits(a, b, i))
    return topic[start + from_prior(prior, start, last[v] - first[v], u)]
