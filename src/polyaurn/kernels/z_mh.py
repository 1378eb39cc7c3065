"""The z step by Metropolis-Hastings: a few proposals a token, whatever the number of topics.

The target is the urn's, phi[k, v] (alpha[k] + m[d, k]). A step proposes from the word and then from
the document:

* the word proposes k with weight alpha[k] phi[k, v], from running sums that were made with this
  very Phi, so that it is never stale, and is accepted by how m compares;
* the document proposes k with weight alpha[k] + m[d, k], by looking at another of its tokens, and
  is accepted by how phi compares.

A topic that the new Phi gives the word no weight in is left at the first proposal.
"""

from queue import SimpleQueue
from typing import Any

import numpy as np
from numba import njit

from polyaurn.kernels.columns import from_prior
from polyaurn.kernels.counts import gather_counts
from polyaurn.kernels.layout import Layout, block_of
from polyaurn.kernels.proposals import chance_of, from_document
from polyaurn.mapping import zeros
from polyaurn.rng import Moment, Purpose, key
from polyaurn.state import I32, I64, U16, Counts, Phi, Priors, Work
from polyaurn.workers import Workers


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
    *,
    mh_steps: int,
) -> tuple[U16, Counts, Work]:
    """Move topics given Phi by Metropolis-Hastings.

    Parameters
    ----------
    layout : Layout
        The corpus.
    z : ndarray of uint16
        Current topics, left as they are.
    phi : Phi
        Drawn for this sweep.
    priors : Priors
        alpha, beta.
    seed, sweep : int
        Address of the draws.
    workers : Workers
        Threads.
    blocks : ndarray of int64, optional
        Which blocks of documents to visit; all when not given. Others keep their topics.
    into : ndarray of uint16, optional
        Where to write the new topics, of the documents visited alone; a new array when not given.
    mh_steps : int
        Pairs of proposals a token.

    Returns
    -------
    z : ndarray of uint16
        New topics.
    counts : Counts
        n, of the documents visited alone.
    work : Work
        Proposals, and how many were accepted.
    """
    new = into if into is not None else z.copy()
    todo = np.arange(len(layout.blocks) - 1) if blocks is None else blocks
    address = key(seed, sweep, Purpose.Z)
    alpha_sums = np.cumsum(priors.alpha)
    n_threads = max(1, min(workers.n_threads, len(todo)))
    tallies = zeros(n_threads * len(phi.topic), np.int32).reshape(n_threads, -1)
    free: SimpleQueue[I32] = SimpleQueue()
    for tally in tallies:
        free.put(tally)

    def draw(b: int) -> Any:
        tally = free.get()
        try:
            return _draw_documents(
                block_of(layout, b)[0], layout.word, layout.doc_ptr, z, new, tally,
                phi.first, phi.last, phi.topic, phi.weight, phi.prior, phi.sigma_a,
                priors.alpha, alpha_sums, mh_steps, *address,
            )  # fmt: skip
        finally:
            free.put(tally)

    found = workers.run(draw, [(int(b),) for b in todo])
    proposed, accepted = (
        (int(sum(column)) for column in zip(*found, strict=True)) if found else (0, 0)
    )
    counts = gather_counts(layout, phi.first, phi.last, phi.topic, tallies, workers)
    return new, counts, Work(proposed, proposed, accepted)


@njit(nogil=True, cache=True)
def _draw_documents(
    documents, word, doc_ptr, z, new, tally, first, last, topic, weight, prior, sigma_a,
    alpha, alpha_sums, steps, key_a, key_b,
):  # fmt: skip
    m = np.zeros(len(alpha), np.int64)
    proposed = accepted = 0
    for d in documents:
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        for i in range(begin, end):
            new[i] = z[i]
            m[z[i]] += 1
        for i in range(begin, end):
            v, k = word[i], np.int64(z[i])
            m[k] -= 1
            start, K_v = np.uint64(first[v]), last[v] - first[v]
            j = _find(topic, first[v], last[v], k)  # the topic's place in the column
            w = weight[j] if j >= 0 else np.uint32(0)
            for step in range(steps):
                u = chance_of(key_a, key_b, i, 4 * step) * sigma_a[v]
                other = first[v] + np.int64(from_prior(prior, start, K_v, u))
                c = np.int64(topic[other])
                ratio = (alpha[c] + m[c]) * alpha[k] / ((alpha[k] + m[k]) * alpha[c])
                if w == 0 or c == k or chance_of(key_a, key_b, i, 4 * step + 1) < ratio:
                    k, j, w = c, other, weight[other]
                    accepted += 1
                c = from_document(
                    chance_of(key_a, key_b, i, 4 * step + 2), i, begin, end, new, alpha_sums
                )
                if c == k:
                    accepted += 1
                    continue
                other = _find(topic, first[v], last[v], c)
                if other >= 0 and chance_of(key_a, key_b, i, 4 * step + 3) * w < weight[other]:
                    k, j, w = c, other, weight[other]
                    accepted += 1
            proposed += 2 * steps
            new[i] = k
            tally[j] += np.int32(1)
            m[k] += 1
        for i in range(begin, end):
            m[new[i]] = 0
    return proposed, accepted


@njit(cache=True)
def _find(topic, lo, hi, k):
    """Return the place of a topic in a column, -1 when it is not there."""
    end = hi
    while lo < hi:
        middle = (lo + hi) >> 1
        if topic[middle] < k:
            lo = middle + 1
        else:
            hi = middle
    return lo if lo < end and topic[lo] == k else -1
