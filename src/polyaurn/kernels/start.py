"""Topics to begin with: of a chain, and of documents that join a running one."""

from typing import Any

import numpy as np
from numba import njit

from polyaurn.kernels.chance import bits as one_bits
from polyaurn.kernels.chance import unit as one_unit
from polyaurn.kernels.columns import from_prior
from polyaurn.kernels.layout import clear_other_blocks
from polyaurn.rng import Moment, Purpose, below, bits, key
from polyaurn.state import I64, NO_TOPIC, U16, Phi
from polyaurn.workers import Workers

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
    chance = key(seed, sweep, Purpose.ENTER)
    table = (phi.first, phi.last, phi.topic, phi.prior, phi.sigma_a)
    workers.run(
        _enter_block,
        [
            (
                layout.documents[layout.blocks[b] : layout.blocks[b + 1]],
                layout.doc_ptr,
                layout.word,
                new,
                *table,
                *chance,
            )
            for b in blocks
        ],
    )
    return new


@njit(nogil=True, cache=True)
def _enter_block(documents, doc_ptr, word, z, first, last, topic, prior, sigma_a, a, b):
    for d in documents:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if z[i] == NO_TOPIC:
                v = word[i]
                start = np.uint64(first[v])
                u = one_unit(one_bits(a, b, i)) * sigma_a[v]
                z[i] = topic[start + from_prior(prior, start, last[v] - first[v], u)]
