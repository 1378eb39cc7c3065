"""Kernels of the partitioned sampler: a visit draws the topics of some words in some documents.

A visit takes its words one after another. The column of a word, its topics and their counts, is
held in scratch while its tokens are drawn, and written back afterwards. Where the column is short
it is walked; where it is long, the weights of all topics are summed at once. Weights are whole
numbers, counts times ``scale / (n[k] + sum of beta)``, so that sums are exact in any order.

For a token of word v in document d, the weight of topic k is cut into

    m[d, k] n[k, v] / n[k]  +  alpha[k] n[k, v] / n[k]  +  beta[v] m[d, k] / n[k]
                                                      +  beta[v] alpha[k] / n[k]

(n[k] with the sum of beta; pseudo-counts are in n[k, v] and n[k]). The first is summed for each
token; of the second and third, sums are kept up to date, for the word and for each document; the
last is the same for all tokens. In a long column the first and third are summed together.

Topics from number `hot` on are in no document of the group and in no word that it meets: sums end
there. Where many topics are empty, they are numbered last, and a sweep costs what topics in use do.
"""

from typing import NamedTuple

import numpy as np

from polyaurn.backends.variates import bits, unit
from polyaurn.base.arrays import F64, I32, I64, U16
from polyaurn.base.compilation import njit

COARSE = 64  # topics whose prior parts are summed beforehand
DRIFT = 8  # a total that a visit moved by this part of it is taken again
LONG = np.uint64(2)  # a column of more than 1 / LONG of the topics is summed over all of them
SPARE = np.uint64(8)  # topics that are summed as well once an empty one is drawn
_ZERO, _ONE, _PIECE = np.uint64(0), np.uint64(1), np.uint64(64)
_ABSENT = np.uint16(65_535)


class Columns(NamedTuple):
    """Counts n by word, the column of word v beginning at offset[v], topics in any order."""

    offset: I64
    used: I32
    topic: U16
    number: I32 | F64


class Rows(NamedTuple):
    """A block during a sweep: topics by token, counts m, and each document's sum of m / n[k]."""

    z: U16
    m: U16
    smoothing: I64


class Totals(NamedTuple):
    """What is read of n[k]: ``scale / (n[k] + sum of beta)``, that times alpha, and its sums.

    The first is at most `scale`: only a topic without tokens exceeds it, which it is never read of.
    """

    inverse: I64
    prior: F64
    coarse: F64


@njit(nogil=True, cache=True)
def load_block(documents, doc_ptr, z, place, inverse, m):
    """Return topics of a block's tokens in the order of visits, and sums of m / n[k]; fill m."""
    token = np.empty(len(documents), np.int64)  # the document's next one
    for j in range(len(documents)):
        token[j] = doc_ptr[documents[j]]
    topics = np.empty(len(place), np.uint16)
    smoothing = np.zeros(len(documents), np.int64)
    for t in range(len(place)):
        d = np.uint64(place[t])
        k = z[token[d]]
        token[d] += 1
        topics[t] = k
        m[d, np.uint64(k)] += m.dtype.type(1)
        smoothing[d] += inverse[k]
    return topics, smoothing


@njit(nogil=True, cache=True)
def store_block(documents, doc_ptr, place, topics, z):
    """Write a block's topics where the documents are."""
    token = np.empty(len(documents), np.int64)
    for j in range(len(documents)):
        token[j] = doc_ptr[documents[j]]
    for t in range(len(place)):
        d = np.uint64(place[t])
        z[token[d]] = topics[t]
        token[d] += 1


@njit(nogil=True, cache=True)
def visit_block(
    word, end, place, begin, first_run, last_run, rows, columns, totals, first_inverse, n_k, moved,
    hot, alpha, beta, scale, live, draws,
):  # fmt: skip
    """Draw the topics of some runs of a block; return the work.

    `moved` receives the changes of n[k], and hot[0] is raised when an empty topic is drawn. A visit
    that is `live` takes totals again for every token, without the token itself. Others do so for a
    topic whose total they moved by a `DRIFT`th: an empty topic would otherwise draw in token after
    token of a word.
    """
    K, H = np.uint64(len(n_k)), np.uint64(hot[0])
    z, m, smoothing = rows.z, rows.m.ravel(), rows.smoothing
    offset, used = columns.offset, columns.used
    inverse, prior, coarse = totals.inverse.copy(), totals.prior.copy(), totals.coarse.copy()
    old_inverse = inverse if live else first_inverse
    elsewhere = np.zeros_like(moved) if live else moved.copy()  # by earlier visits of the thread
    taken = elsewhere.copy()  # `moved` when a total was taken
    beta_all = beta.sum()
    prior_all = prior.sum()
    column = np.empty(K, np.uint16)  # topics of the word
    where = np.full(K, _ABSENT, np.uint16)  # the place of a topic there
    number = np.zeros(K, n_k.dtype)  # counts by place there, or by topic where the column is long
    weight = np.zeros(K, np.int64)  # the same, over n[k]
    running = np.empty(K + _ONE, np.int64)
    one = m.dtype.type(1)
    work = _ZERO
    stop = _ZERO if first_run == 0 else np.uint64(end[first_run - 1])
    for r in range(np.uint64(first_run), np.uint64(last_run)):
        v = np.uint64(word[r])
        start, stop = stop, np.uint64(end[r])
        beta_v = beta[v]
        at, K_v = np.uint64(offset[v]), np.uint64(used[v])
        long = LONG * K_v >= H
        _open_column(columns, at, K_v, long, column, where, number, weight, inverse, prior, alpha,
                     old_inverse, beta_v, H)  # fmt: skip
        W = _prior_of_word(number, column, prior, K_v, long, H)
        for t in range(start, stop):
            d = np.uint64(place[t])
            old = np.uint64(z[t])
            row = d * K  # of the document's counts in m
            m[row + old] -= one
            moved[old] -= 1
            j = old if long else np.uint64(where[old])
            number[j] -= 1
            weight[j] -= inverse[old]
            W -= prior[old]
            R = smoothing[d] - old_inverse[old]
            if live:
                prior_all = _renew(n_k, moved, alpha, beta_all, scale, inverse, prior, coarse, H)
                R = _weigh(number, column, inverse, prior, alpha, m, row, beta_v, K_v, long, H,
                           weight)  # fmt: skip
                W = _prior_of_word(number, column, prior, K_v, long, H)
            u = unit(bits(draws.a, draws.b, np.uint64(begin) + t))
            if long:
                s = _sum_row(weight, m, row, H, running)
                u *= np.float64(s) + W + beta_v * prior_all
                if u < np.float64(s):
                    k = _find_in_row(weight, m, row, running, min(np.int64(u), s - 1))
                elif u < np.float64(s) + W:
                    k = _find_in_word(number, column, prior, H, True, u - np.float64(s))
                else:
                    k = _find_in_prior(prior, coarse, (u - np.float64(s) - W) / beta_v)
                j = k
                work += H
            else:
                s = np.int64(0)
                for i in range(K_v):
                    s += weight[i] * np.int64(m[row + np.uint64(column[i])])
                    running[i] = s
                work += K_v
                S, B = np.float64(s), beta_v * np.float64(R)
                u *= S + W + B + beta_v * prior_all
                if u < S:
                    goal = min(np.int64(u), s - 1)
                    j = _ZERO
                    while running[j] <= goal:  # a vector of sums would wait for their stores
                        j += _ONE
                    k = np.uint64(column[j])
                else:
                    if u < S + W:
                        k = _find_in_word(number, column, prior, K_v, False, u - S)
                    elif u < S + W + B:
                        goal = min(np.int64((u - S - W) / beta_v), R - 1)
                        s = _sum_row(old_inverse, m, row, H, running)
                        k = _find_in_row(old_inverse, m, row, running, min(goal, s - 1))
                    else:
                        k = _find_in_prior(prior, coarse, (u - S - W - B) / beta_v)
                    j = np.uint64(where[k])
                    if where[k] == _ABSENT:
                        j = K_v
                        K_v += _ONE
                        column[j], where[k] = k, j
                        number[j] = weight[j] = 0
            if k >= H:  # an empty topic
                before, H = H, np.uint64(min(k + _ONE + SPARE, K))
                if long:
                    number[before:H] = 0
                    for topic in range(before, H):
                        weight[topic] = np.int64(beta_v * np.float64(old_inverse[topic]))
            z[t] = k
            m[row + k] += one
            moved[k] += 1
            number[j] += 1
            weight[j] += inverse[k]
            W += prior[k]
            if k == old:
                continue
            smoothing[d] += old_inverse[k] - old_inverse[old]
            if live:
                continue
            for c in (old, k):
                if DRIFT * abs(moved[c] - taken[c]) > n_k[c] + taken[c] - elsewhere[c] + beta_all:
                    taken[c] = moved[c]
                    total = n_k[c] + moved[c] - elsewhere[c] + beta_all
                    before = prior[c]
                    more, gain = _take_again(c, total, alpha, scale, inverse, prior, coarse)
                    prior_all += gain
                    if long or where[c] != _ABSENT:
                        j = c if long else np.uint64(where[c])
                        weight[j] += np.int64(number[j]) * more
                        weight[j] += _part(number[j], prior[c], alpha[c])
                        weight[j] -= _part(number[j], before, alpha[c])
                        W += np.float64(number[j]) * gain
        used[v] = _close_column(columns, at, K_v, long, column, where, number, H)
    hot[0] = H
    return work


@njit(inline="always")
def _open_column(
    columns, at, K_v, long, column, where, number, weight, inverse, prior, alpha, old_inverse,
    beta_v, H,
):  # fmt: skip
    """Copy the column of a word to where its tokens are drawn."""
    if long:
        number[:H] = 0
        for topic in range(H):
            weight[topic] = np.int64(beta_v * np.float64(old_inverse[topic]))
    for i in range(K_v):
        k16 = columns.topic[at + i]
        k = np.uint64(k16)
        n = number.dtype.type(columns.number[at + i])
        w = np.int64(n) * inverse[k] + _part(n, prior[k], alpha[k])
        if long:
            number[k] = n
            weight[k] += w
        else:
            column[i], where[k] = k16, i
            number[i] = n
            weight[i] = w


@njit(inline="always")
def _part(n, prior, alpha):
    """Return the weight of a count's fraction, the same whatever its whole part is.

    ``scale / (n[k] + sum of beta)`` is taken from `prior`: a topic may have fractions only, and the
    inverse of a sum below 1 is not the stored one.
    """
    part = n - np.int64(n)
    return np.int64(part * (prior / alpha)) if part > 0 else np.int64(0)


@njit(inline="always")
def _close_column(columns, at, K_v, long, column, where, number, H):
    """Write the column of a word back, without topics that it has left; return its length."""
    left = np.uint64(0)
    for i in range(H if long else K_v):
        k16 = np.uint16(i) if long else column[i]
        if not long:
            where[np.uint64(k16)] = _ABSENT
        if number[i] > 0:
            columns.topic[at + left] = k16
            columns.number[at + left] = number[i]
            left += _ONE
    return left


@njit(inline="always")
def _prior_of_word(number, column, prior, K_v, long, H):
    """Return the sum of alpha n / n[k] over the column of a word."""
    W = 0.0
    for i in range(H if long else K_v):
        W += np.float64(number[i]) * prior[i if long else np.uint64(column[i])]
    return W


@njit(nogil=True, cache=True)
def _renew(n_k, moved, alpha, beta_all, scale, inverse, prior, coarse, H):
    """Compute what is read of the totals from their values now; return the sum of alpha / n[k]."""
    pieces = (int(H) + COARSE - 1) // COARSE
    coarse[:pieces] = 0.0
    total = 0.0
    for k in range(min(pieces * COARSE, len(n_k))):
        tokens = n_k[k] + moved[k] + beta_all
        inverse[k] = np.int64(scale / max(tokens, 1.0))
        prior[k] = alpha[k] * scale / tokens
        coarse[k // COARSE] += prior[k]
        total += prior[k]
    for c in range(pieces, len(coarse)):  # of topics that are empty
        total += coarse[c]
    return total


@njit(nogil=True, cache=True)
def _take_again(k, total, alpha, scale, inverse, prior, coarse):
    """Compute what is read of one total from its value now; return what that adds to both."""
    old_inverse, old_prior = inverse[k], prior[k]
    inverse[k] = np.int64(scale / max(total, 1.0))
    prior[k] = alpha[k] * scale / total
    gain = prior[k] - old_prior
    coarse[k // np.uint64(COARSE)] += gain
    return inverse[k] - old_inverse, gain


@njit(nogil=True, cache=True)
def _weigh(number, column, inverse, prior, alpha, m, row, beta_v, K_v, long, H, weight):
    """Weigh the column of a word by present totals; return a document's sum of m / n[k]."""
    R = np.int64(0)
    for k in range(H):
        R += np.int64(m[row + k]) * inverse[k]
        if long:
            weight[k] = np.int64(number[k]) * inverse[k]
            weight[k] += _part(number[k], prior[k], alpha[k])
            weight[k] += np.int64(beta_v * np.float64(inverse[k]))
    if not long:
        for i in range(K_v):
            topic = np.uint64(column[i])
            weight[i] = np.int64(number[i]) * inverse[topic]
            weight[i] += _part(number[i], prior[topic], alpha[topic])
    return R


@njit(inline="always")
def _sum_row(w, m, row, H, running):
    """Return the sum of weights times counts over topics; `running` has that of each piece."""
    n_pieces = H // _PIECE
    s = np.int64(0)
    for p in range(n_pieces):
        piece = np.int64(0)
        for c in range(p * _PIECE, p * _PIECE + _PIECE):
            piece += w[c] * np.int64(m[row + c])
        s += piece
        running[p] = s
    for c in range(n_pieces * _PIECE, H):
        s += w[c] * np.int64(m[row + c])
    running[n_pieces] = s
    return s


@njit(inline="always")
def _find_in_row(w, m, row, running, goal):
    """Return the topic at which the sum of weights times counts passes a goal."""
    p = _ZERO
    while running[p] <= goal:
        p += _ONE
    s = running[p - _ONE] if p > _ZERO else np.int64(0)
    k = p * _PIECE
    s += w[k] * np.int64(m[row + k])
    while s <= goal:
        k += _ONE
        s += w[k] * np.int64(m[row + k])
    return k


@njit(inline="always")
def _find_in_word(number, column, prior, K_v, long, u):
    """Return the topic of a word at which the sum of alpha n / n[k] passes u."""
    s = 0.0
    chosen = np.uint64(0)
    for i in range(K_v):
        if number[i] > 0:
            chosen = np.uint64(i)
            s += np.float64(number[i]) * prior[i if long else np.uint64(column[i])]
            if s > u:
                break
    return chosen if long else np.uint64(column[chosen])


@njit(inline="always")
def _find_in_prior(prior, coarse, u):
    """Return the topic at which the sum of alpha / n[k] passes u."""
    s = 0.0
    c = 0
    while c < len(coarse) - 1 and s + coarse[c] <= u:
        s += coarse[c]
        c += 1
    k = np.uint64(c * COARSE)
    last = np.uint64(min((c + 1) * COARSE, len(prior)) - 1)
    s += prior[k]
    while k < last and s <= u:
        k += _ONE
        s += prior[k]
    return k


@njit(nogil=True, cache=True)
def spread_columns(first, last, topic, number, columns):
    """Copy counts to columns that have space for more topics."""
    for v in range(len(first)):
        at = columns.offset[v] - first[v]
        for j in range(first[v], last[v]):
            columns.topic[at + j] = topic[j]
            columns.number[at + j] = number[j]


@njit(nogil=True, cache=True)
def renumbered(z, topics):
    """Return topics[k] in place of each topic k."""
    found = np.empty(len(z), topics.dtype)
    for i in range(len(z)):
        found[i] = topics[z[i]]
    return found


@njit(nogil=True, cache=True)
def renumber(columns, topics):
    """Put topics[k] in place of each topic k."""
    for v in range(len(columns.used)):
        for j in range(columns.offset[v], columns.offset[v] + columns.used[v]):
            columns.topic[j] = topics[columns.topic[j]]


@njit(nogil=True, cache=True)
def pack_columns(lo, hi, columns, K, used, first, last, topic, number):
    """Copy the columns of some words to where there are no gaps, in increasing order of topic.

    `used` are the topics that may be in them, in that order.
    """
    n = np.zeros(K, number.dtype)
    for v in range(lo, hi):
        start, length, at = columns.offset[v], columns.used[v], first[v]
        if 8 * length > len(used):  # walking all topics is cheaper than sorting
            for j in range(start, start + length):
                n[columns.topic[j]] = columns.number[j]
            for k in used:
                if n[k] > 0:
                    topic[at], number[at] = k, n[k]
                    n[k] = 0
                    at += 1
        else:
            pairs = np.empty(length, np.int64)
            for j in range(length):
                pairs[j] = (np.int64(columns.topic[start + j]) << 32) | j
            pairs.sort()
            for j in range(length):
                topic[at + j] = pairs[j] >> 32
                number[at + j] = columns.number[start + (pairs[j] & 0xFFFFFFFF)]
