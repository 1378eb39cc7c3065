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
    """Draw first topics uniformly; tokens of blocks that are not given have NO_TOPIC.

    Only sizes and blocks of the layout are read.
    """
    z = np.empty(len(layout.word), np.uint16)
    start_key = key(seed, 0, Purpose.START)
    for lo in range(0, len(z), _PIECE):
        index = np.arange(lo, min(lo + _PIECE, len(z)))
        z[lo : lo + _PIECE] = below(bits(start_key, index), layout.n_topics)
    if blocks is not None:
        clear_other_blocks(layout, z, blocks)
    return z


def enter(
    layout: Any, z: U16, phi: Phi, seed: int, sweep: Moment, workers: Workers, blocks: I64
) -> U16:
    """Give tokens without a topic one drawn from the prior's part of Phi, alpha[k] phi[k, v].

    Phi was drawn for this sweep from the documents that are in. Tokens of the given blocks all have
    a topic afterwards.
    """
    new = z.copy()
    shared = (layout.doc_ptr, new, phi.first, phi.last, phi.topic, phi.prior)
    enter_key = key(seed, sweep, Purpose.ENTER)

    def join(b: int) -> None:
        documents, *runs = block_of(layout, b)
        if len(runs[0]):
            _enter_block(documents, *runs, *shared, *enter_key)
        else:
            _enter_documents(documents, layout.word, *shared, *enter_key)

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
