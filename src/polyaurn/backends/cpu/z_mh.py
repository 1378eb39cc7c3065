"""The z step by Metropolis-Hastings: a few proposals per token, whatever the number of topics.

The target is the urn's, phi[k, v] (alpha[k] + m[d, k]). A step proposes from the word and then from
the document:

* the word proposes k with weight alpha[k] phi[k, v], from running sums that were made with this
  very Phi, so that it is never stale, and is accepted by how m compares;
* the document proposes k with weight alpha[k] + m[d, k], by looking at another of its tokens, and
  is accepted by how phi compares.

A topic that the new Phi gives the word no weight in is left at the first proposal.
"""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.columns import from_prior
from polyaurn.backends.cpu.counts import draw_and_count
from polyaurn.backends.cpu.layout import Layout, block_of
from polyaurn.backends.cpu.proposals import find_topic, from_document, uniform_of
from polyaurn.base.arrays import I32, I64, U16
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key, shifted
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Counts, Phi, Priors, Work


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
    """Move topics given Phi by Metropolis-Hastings, `mh_steps` pairs of proposals per token."""
    new = into if into is not None else z.copy()
    todo = np.arange(len(layout.blocks) - 1) if blocks is None else blocks
    address = shifted(key(seed, sweep, Purpose.Z), layout.first_token)
    alpha_sums = np.cumsum(priors.alpha)

    def draw(b: int, tally: I32) -> Any:
        return _draw_documents(
            block_of(layout, b)[0], layout.word, layout.doc_ptr, z, new, tally,
            phi.first, phi.last, phi.topic, phi.weight, phi.prior,
            priors.alpha, alpha_sums, mh_steps, *address,
        )  # fmt: skip

    found, counts = draw_and_count(layout, phi, [(int(b),) for b in todo], draw, workers)
    work = Work(0)
    for proposed, accepted in found:
        work = work.plus(Work(proposed, proposed, accepted))
    return new, counts, work


@njit(nogil=True, cache=True)
def _draw_documents(
    documents, word, doc_ptr, z, new, tally, first, last, topic, weight, prior,
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
            j = find_topic(topic, first[v], last[v], k)  # the topic's place in the column
            w = weight[j] if j >= 0 else np.uint32(0)
            for step in range(steps):
                u = uniform_of(key_a, key_b, i, 4 * step)
                other = first[v] + np.int64(from_prior(prior, start, K_v, u))
                c = np.int64(topic[other])
                ratio = (alpha[c] + m[c]) * alpha[k] / ((alpha[k] + m[k]) * alpha[c])
                if w == 0 or c == k or uniform_of(key_a, key_b, i, 4 * step + 1) < ratio:
                    k, j, w = c, other, weight[other]
                    accepted += 1
                c = from_document(
                    uniform_of(key_a, key_b, i, 4 * step + 2), i, begin, end, new, alpha_sums
                )
                if c == k:
                    accepted += 1
                    continue
                other = find_topic(topic, first[v], last[v], c)
                if other >= 0 and uniform_of(key_a, key_b, i, 4 * step + 3) * w < weight[other]:
                    k, j, w = c, other, weight[other]
                    accepted += 1
            proposed += 2 * steps
            new[i] = k
            tally[j] += np.int32(1)
            m[k] += 1
        for i in range(begin, end):
            m[new[i]] = 0
    return proposed, accepted
