"""LightLDA (Yuan et al.): the collapsed sampler's topics by Metropolis-Hastings, O(1) per proposal.

The target is that of `cpu.collapsed`. A step proposes from the document, with weight
alpha[k] + m[d, k], by looking at another of its tokens, and then from the word, with weight
(n[k, v] + beta[v]) / (n[k] + sum of beta), from an alias table.

Alias tables are older than the counts. Tables that had been made with the very tokens they are used
for would change the stationary distribution: what is proposed for a token would depend on where it
is. So the documents are visited in parts, and the tables for one part are made from the counts of
the others. Nothing they depend on changes while they are used, and on one thread the posterior is
stationary, however old they are. On several threads it is approximate, as there.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from polyaurn.backends.cpu.collapsed_parts import topic_totals
from polyaurn.backends.cpu.counts import (
    count_words,
    no_counts,
    remove_pseudo_counts,
    replace_counts,
)
from polyaurn.backends.cpu.layout import Layout, even_ranges
from polyaurn.backends.cpu.proposals import (
    fill_alias,
    find_topic,
    from_alias,
    from_document,
    uniform_of,
)
from polyaurn.backends.cpu.steps import CollapsedSteps
from polyaurn.base.arrays import F64, I64, U16, empty
from polyaurn.base.compilation import njit
from polyaurn.base.rng import Moment, Purpose, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import NO_TOPIC, Counts, Priors, Work

PARTS = 4  # of the documents: every PARTS-th belongs to the same one


def draw_z(
    layout: Layout,
    z: U16,
    counts: Counts,
    priors: Priors,
    seed: int,
    sweep: Moment,
    workers: Workers,
    blocks: I64 | None = None,
    into: U16 | None = None,
    *,
    mh_steps: int,
) -> tuple[U16, Counts, Work]:
    """Move topics one after another given all others, `mh_steps` pairs of proposals per token."""
    new = z.copy()
    K, address = layout.n_topics, key(seed, sweep, Purpose.Z)
    alpha_sums = np.cumsum(priors.alpha)
    own = layout.word_tokens
    if priors.pseudo is not None:  # topics without tokens have a place, too
        own = own + (counts.last - counts.first + 1) // 2
    where, size = _tables(own, K)
    nothing = no_counts(layout.n_words)
    work = Work(0)
    for part in range(min(PARTS, len(layout.doc_ptr) - 1)):
        documents = np.arange(part, len(layout.doc_ptr) - 1, PARTS)
        before = _count_documents(layout, new, documents)
        others = replace_counts(layout, counts, before, nothing, workers)
        tables = _alias_tables(others, priors.beta, K)
        n_k = topic_totals(counts, K)

        def draw(lo: int, hi: int) -> Any:
            topic = empty(where[-1], np.uint16)
            number = empty(where[-1], counts.number.dtype)  # noqa: B023
            _fill(*counts, where, size, topic, number, K)  # noqa: B023
            return _draw_documents(
                documents[lo:hi], layout.doc_ptr, layout.word, new,  # noqa: B023
                where, size, topic, number, n_k.copy(), *others, *tables,  # noqa: B023
                priors.alpha, priors.beta, alpha_sums, mh_steps, *address,
            )  # fmt: skip

        ends = np.concatenate(([0], np.cumsum(np.diff(layout.doc_ptr)[documents])))
        ranges = list(pairwise(even_ranges(ends, workers.n_threads)))
        for proposed, accepted in workers.run(draw, ranges):
            work = work.plus(Work(proposed, proposed, accepted))
        after = _count_documents(layout, new, documents)
        counts = replace_counts(layout, counts, before, after, workers)
    if priors.pseudo is not None:
        counts = remove_pseudo_counts(layout, counts, priors.pseudo, workers)
    return new, counts, work


def _tables(word_tokens: I64, K: int) -> tuple[I64, I64]:
    """Return where each word's table of counts begins, and its size.

    A table has a place for each topic, or is smaller and hashed: a power of two of places, more
    than the topics a word may have had in the course of a sweep, twice its tokens.
    """
    size = np.left_shift(1, np.ceil(np.log2(2.0 * word_tokens + 1)).astype(np.int64))
    size = np.minimum(size, K)
    return np.concatenate(([0], np.cumsum(size))), size


def _count_documents(layout: Layout, z: U16, documents: I64) -> Counts:
    """Count topics of the words of some documents."""
    V, K = layout.n_words, layout.n_topics
    start = np.zeros(V + 1, np.int64)
    _count_tokens(documents, layout.doc_ptr, layout.word, start[1:])
    np.cumsum(start, out=start)
    place, topics = start[:-1].copy(), np.empty(start[-1], np.uint16)
    _sort_topics(documents, layout.doc_ptr, layout.word, z, place, topics)
    made = Counts(
        np.empty(V, np.int64),
        np.empty(V, np.int64),
        np.empty(len(topics), np.uint16),
        np.empty(len(topics), np.int32),
    )
    count_words(0, V, 0, start, place, topics, K, *made)
    return made


def _alias_tables(counts: Counts, beta: F64, K: int) -> tuple[F64, F64, U16, F64, F64, U16]:
    """Return what word proposals are drawn from.

    It is a table for each word's n[k, v] / (n[k] + sum of beta), whose totals come first, and one
    for the part with beta, 1 / (n[k] + sum of beta), which comes first in the second half.
    """
    share = 1.0 / (topic_totals(counts, K) + beta.sum())
    total, size = np.empty(len(beta)), len(counts.topic)
    cut, other = np.empty(size), np.empty(size, np.uint16)
    _fill_aliases(*counts, share, total, cut, other)
    all_cut, all_other = np.empty(K), np.empty(K, np.uint16)
    fill_alias(share, share.sum(), all_cut, all_other, np.empty(K, np.int64))
    return total, cut, other, share, all_cut, all_other


@njit(nogil=True, cache=True)
def _count_tokens(documents, doc_ptr, word, tokens):
    for d in documents:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            tokens[word[i]] += 1


@njit(nogil=True, cache=True)
def _sort_topics(documents, doc_ptr, word, z, place, topics):
    for d in documents:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            topics[place[word[i]]] = z[i]
            place[word[i]] += 1


@njit(nogil=True, cache=True)
def _fill_aliases(first, last, topic, number, share, total, cut, other):
    K = len(share)
    weight, todo = np.empty(K), np.empty(K, np.int64)
    for v in range(len(first)):
        lo, hi = first[v], last[v]
        total[v] = 0.0
        for j in range(lo, hi):
            weight[j - lo] = number[j] * share[topic[j]]
            total[v] += weight[j - lo]
        fill_alias(weight[: hi - lo], total[v], cut[lo:hi], other[lo:hi], todo[: hi - lo])


@njit(nogil=True, cache=True)
def _fill(first, last, topic, number, where, size, table_topic, table_number, K):
    table_topic[:] = NO_TOPIC
    table_number[:] = 0
    for v in range(len(first)):
        for j in range(first[v], last[v]):
            slot = _slot(where[v], size[v], table_topic, np.int64(topic[j]), K)
            table_topic[slot] = topic[j]
            table_number[slot] = number[j]


@njit(cache=True)
def _slot(where, size, table_topic, k, K):
    """Return the place of a topic in a word's table, or the free place where it would be."""
    if size == K:
        return where + k
    at = (k * 40503) & (size - 1)
    while table_topic[where + at] != k and table_topic[where + at] != NO_TOPIC:
        at = (at + 1) & (size - 1)
    return where + at


@njit(cache=True)
def _number(lo, hi, topic, number, k):
    """Return the count of a topic in a column."""
    j = find_topic(topic, lo, hi, k)
    return number[j] if j >= 0 else number.dtype.type(0)


@njit(nogil=True, cache=True)
def _draw_documents(
    documents, doc_ptr, word, z, where, size, table_topic, table_number, n_k,
    first, last, topic, number, total, cut, other, share, all_cut, all_other,
    alpha, beta, alpha_sums, steps, key_a, key_b,
):  # fmt: skip
    K = len(alpha)
    beta_all, share_all = beta.sum(), share.sum()
    m = np.zeros(K, np.int64)
    proposed = accepted = 0
    for d in documents:
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        for i in range(begin, end):
            m[z[i]] += 1
        for i in range(begin, end):
            v, k = word[i], np.int64(z[i])
            beta_v = beta[v]
            m[k] -= 1
            n_k[k] -= 1
            slot = _slot(where[v], size[v], table_topic, k, K)
            table_number[slot] -= 1
            f = (table_number[slot] + beta_v) / (n_k[k] + beta_all)  # the word's part of the target
            q = -1.0  # what the word's proposal gives the topic, when it is needed
            lo, hi = first[v], last[v]
            for step in range(steps):
                c = from_document(
                    uniform_of(key_a, key_b, i, 4 * step), i, begin, end, z, alpha_sums
                )
                if c != k:
                    slot = _slot(where[v], size[v], table_topic, c, K)
                    f_c = (table_number[slot] + beta_v) / (n_k[c] + beta_all)
                    if uniform_of(key_a, key_b, i, 4 * step + 1) * f < f_c:
                        k, f, q = c, f_c, -1.0
                        accepted += 1
                else:
                    accepted += 1
                u = uniform_of(key_a, key_b, i, 4 * step + 2) * (total[v] + beta_v * share_all)
                if u < total[v]:
                    j = lo + from_alias(u / total[v], cut[lo:hi], other[lo:hi])
                    c, n_c = np.int64(topic[j]), number[j]
                else:
                    c = from_alias((u - total[v]) / (beta_v * share_all), all_cut, all_other)
                    n_c = _number(lo, hi, topic, number, c)
                if c == k:
                    accepted += 1
                    continue
                if q < 0.0:
                    q = (_number(lo, hi, topic, number, k) + beta_v) * share[k]
                q_c = (n_c + beta_v) * share[c]
                slot = _slot(where[v], size[v], table_topic, c, K)
                f_c = (table_number[slot] + beta_v) / (n_k[c] + beta_all)
                now, then = (alpha[k] + m[k]) * f * q_c, (alpha[c] + m[c]) * f_c * q
                if uniform_of(key_a, key_b, i, 4 * step + 3) * now < then:
                    k, f, q = c, f_c, q_c
                    accepted += 1
            proposed += 2 * steps
            z[i] = k
            m[k] += 1
            n_k[k] += 1
            slot = _slot(where[v], size[v], table_topic, k, K)
            table_topic[slot] = k
            table_number[slot] += 1
        for i in range(begin, end):
            m[z[i]] = 0
    return proposed, accepted


class Steps(CollapsedSteps):
    """Steps of the sampler "light"."""

    proposes = True
    z_step = staticmethod(draw_z)
