"""Topics to begin with: of a chain, and of documents that join a running one."""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.columns import from_prior
from polyaurn.backends.cpu.counts import no_counts
from polyaurn.backends.cpu.layout import block_of, clear_other_blocks
from polyaurn.backends.variates import bits as one_bits
from polyaurn.backends.variates import unit as one_unit
from polyaurn.base.arrays import I32, I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, below, bits, key, shifted
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import pseudo_sizes
from polyaurn.chain.state import NO_TOPIC, Phi, Priors

_PIECE = 1 << 20  # tokens drawn at a time, to keep memory small


def uniform_topics(
    layout: Any,
    seed: int,
    blocks: I64 | None = None,
    n_topics: int | None = None,
    first_token: int = 0,
) -> U16:
    """Draw first topics uniformly; tokens of blocks that are not given have NO_TOPIC.

    Only sizes and blocks of the layout are read. Topics are the first `n_topics` where not all.
    `first_token` is the number of the layout's first token, where that is of a part of a corpus.
    """
    z = np.empty(len(layout.word), np.uint16)
    start_key = shifted(key(seed, 0, Purpose.START), first_token)
    for lo in range(0, len(z), _PIECE):
        index = np.arange(lo, min(lo + _PIECE, len(z)))
        z[lo : lo + _PIECE] = below(bits(start_key, index), n_topics or layout.n_topics)
    if blocks is not None:
        clear_other_blocks(layout, z, blocks)
    return z


def topics_of_words(word: I32, priors: Priors, seed: int) -> U16:
    """Draw first topics from what the priors say about each word: alpha times the mean of Phi.

    With the pseudo-counts of an earlier model these are its topics of the word.
    """
    K, beta = len(priors.alpha), priors.beta
    columns = no_counts(len(beta)) if priors.pseudo is None else priors.pseudo
    share = priors.alpha / (pseudo_sizes(priors) + beta.sum())
    tokens = np.argsort(word, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(beta)))))
    z = np.empty(len(word), np.uint16)
    _draw_by_word(tokens, first, *columns, beta, share, K, z, *key(seed, 0, Purpose.START))
    return z


@njit(nogil=True, cache=True)
def _draw_by_word(tokens, ptr, first, last, topic, number, beta, share, K, z, a, b):
    weight, running = np.empty(K), np.empty(K)
    for v in range(len(ptr) - 1):
        if ptr[v] == ptr[v + 1]:
            continue
        weight[:] = beta[v]
        for j in range(first[v], last[v]):
            weight[topic[j]] += number[j]
        total = 0.0
        for k in range(K):
            total += weight[k] * share[k]
            running[k] = total
        for t in range(ptr[v], ptr[v + 1]):
            i = tokens[t]
            u = one_unit(one_bits(a, b, i)) * total
            z[i] = min(np.searchsorted(running, u, side="right"), K - 1)


def enter(
    layout: Any, z: U16, phi: Phi, seed: int, sweep: Moment, workers: Workers, blocks: I64
) -> U16:
    """Give tokens without a topic one drawn from the prior's part of Phi, alpha[k] phi[k, v].

    Phi was drawn for this sweep from the documents that are in. Tokens of the given blocks all have
    a topic afterwards.
    """
    new = z.copy()
    shared = (layout.doc_ptr, new, phi.first, phi.last, phi.topic, phi.prior)
    enter_key = shifted(key(seed, sweep, Purpose.ENTER), layout.first_token)

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
