"""Twin of the z step for short documents; see `polyaurn.gpu.z_short`."""

import numpy as np

from polyaurn.gpu.sizes import DENSE_AT_ONCE, ONE, PACKED_AT_ONCE, TOPIC
from polyaurn.gpu.twins.columns import from_prior, weight_of
from polyaurn.kernels.chance import bits, unit
from polyaurn.machine_code import njit

_UNIT = np.uint64(1)


@njit(cache=True)
def load_list(mine, lists, begin, K_d, length):
    """Give each lane an even stretch of a document's list."""
    lanes = len(length)
    low = 0
    for lane in range(lanes):
        length[lane] = K_d // lanes + (lane < K_d % lanes)
        for r in range(length[lane]):
            mine[lane + r * lanes] = lists[begin + low + r]
        low += length[lane]


@njit(cache=True)
def store_list(mine, lists, begin, length):
    """Write a document's list without topics that left; return how many are there."""
    lanes, at = len(length), begin
    for lane in range(lanes):
        for r in range(length[lane]):
            e = mine[lane + r * lanes]
            if e >= ONE:
                lists[at] = e
                at += 1
    return at - begin


@njit(cache=True)
def enter_topic(mine, lanes, lane, length, k):
    """Count a topic in a stretch, putting it in its place when it is new; return the length."""
    end, gap, p = lane + length * lanes, -1, lane
    while p < end and np.int64(mine[p]) & TOPIC < k:
        if mine[p] < ONE:
            gap = p
        p += lanes
    if p < end and np.int64(mine[p]) & TOPIC == k:
        mine[p] += np.uint32(ONE)
        return length
    new = np.uint32(ONE | k)
    if gap >= 0:
        while gap + lanes < p:
            mine[gap] = mine[gap + lanes]
            gap += lanes
        mine[gap] = new
        return length
    while p < end:
        e = mine[p]
        mine[p] = new
        if e < ONE:
            return length
        new = e
        p += lanes
    mine[p] = new
    return length + 1


@njit(cache=True)
def even_length(length, at_once):
    """Return to which length stretches may grow before they are made even again."""
    return (length.max() + at_once - 1) // at_once * at_once


@njit(nogil=True, cache=True)
def z_short(
    lanes, dense, resumes, order, doc_ptr, word, z, lists, listed, base,
    record, rows, weight, guide, prior, n, K, width, room,
    key_a, key_b, prior_a, prior_b, progress, stopped, work, bucket,
):  # fmt: skip
    """Draw topics of documents; return how often stretches were made even.

    A document whose list finds no room stops. One launch that resumes goes on with those.
    """
    at_once = DENSE_AT_ONCE if dense else PACKED_AT_ONCE
    mine, kept = np.empty(room * lanes, np.uint32), np.empty(at_once * lanes, np.uint64)
    c = np.empty(lanes, np.int64)  # lengths of stretches
    s, until = np.empty(lanes, np.uint64), np.empty(lanes, np.uint64)
    v, old = np.empty(lanes, np.int64), np.empty(lanes, np.int64)
    new, of_prior = np.empty(lanes, np.int64), np.empty(lanes, np.int64)
    u, sigma_a = np.empty(lanes, np.float64), np.empty(lanes, np.float64)
    made_even = 0
    for d in order:
        begin, N_d, K_d = doc_ptr[d], doc_ptr[d + 1] - doc_ptr[d], np.int64(listed[d])
        if not resumes and K_d > lanes * (room - 1):  # no room to begin with
            progress[d] = K_d << 12
            stopped[np.int64(work[1])] = d
            work[1] += _UNIT
            continue
        K_d_begun, b, counted = K_d, np.int64(0), np.int64(0)  # tokens whose work is counted
        if resumes:
            b = np.int64(progress[d]) & 4095
            K_d_begun = np.int64(progress[d]) >> 12 & 4095
            counted = b + (np.int64(progress[d]) >> 24)
        load_list(mine, lists, begin, K_d, c)
        even = even_length(c, at_once)
        while b < N_d:
            if c.max() > even:
                size = store_list(mine, lists, begin, c)
                load_list(mine, lists, begin, size, c)
                even = even_length(c, at_once)
                made_even += 1
            turns = min(lanes, N_d - b)
            for lane in range(turns):  # each reads a token
                i = begin + b + lane
                v[lane], old[lane] = word[i], z[i]
                of_prior[lane], K_v, sigma_a[lane] = from_prior(
                    v[lane], unit(bits(prior_a, prior_b, base + i)), record, guide, prior
                )
                u[lane] = unit(bits(key_a, key_b, base + i))
                if b + lane >= counted:
                    work[0] += np.uint64(min(K_d_begun, K_v))
            turn = 0
            while b + turn < N_d and turn < turns:
                row = v[turn] * width
                own, all_ = -1, np.uint64(0)
                for lane in range(lanes):  # each sums over its stretch
                    s[lane] = 0
                    for r in range(c[lane]):
                        p = lane + r * lanes
                        e = np.int64(mine[p])
                        k, m = e & TOPIC, e >> 16
                        if k == old[turn]:
                            own = p
                            m -= 1
                        w = weight_of(dense, row, k, rows, weight) if m > 0 else np.uint64(0)
                        if r < at_once:  # the walk will need it again
                            kept[p] = w
                        s[lane] += np.uint64(m) * w
                    all_ += s[lane]
                    until[lane] = all_
                mine[own] -= np.uint32(ONE)
                sigma_b = np.float64(all_)
                x = u[turn] * (sigma_b + sigma_a[turn])
                if x < sigma_b:
                    goal = min(np.uint64(x), all_ - _UNIT)
                    chosen = 0
                    while until[chosen] <= goal:
                        chosen += 1
                    so_far, p, e = until[chosen] - s[chosen], chosen - lanes, np.int64(0)
                    while so_far <= goal:
                        p += lanes
                        e = np.int64(mine[p])
                        if p < at_once * lanes:
                            w = kept[p]
                        else:
                            w = weight_of(dense, row, e & TOPIC, rows, weight)
                        so_far += np.uint64(e >> 16) * w
                    mine[p] += np.uint32(ONE)
                    new[turn] = e & TOPIC
                else:
                    new[turn] = of_prior[turn]
                    owner = 0  # the last stretch that begins at or before the topic
                    for lane in range(lanes):
                        if c[lane] > 0 and np.int64(mine[lane]) & TOPIC <= new[turn]:
                            owner = lane
                    c[owner] = enter_topic(mine, lanes, owner, c[owner], new[turn])
                    if c[owner] >= room:
                        size = store_list(mine, lists, begin, c)
                        load_list(mine, lists, begin, size, c)
                        made_even += 1
                        if size > lanes * (room - 1):  # all are full
                            ahead = turns - turn - 1
                            N_d = b + turn + 1
                            progress[d] = N_d | K_d_begun << 12 | ahead << 24
                            stopped[np.int64(work[1])] = d
                            work[1] += _UNIT
                turn += 1
            for lane in range(turn):
                if new[lane] != old[lane]:
                    z[begin + b + lane] = new[lane]
                    n[v[lane] * K + old[lane]] -= np.uint32(1)
                    n[v[lane] * K + new[lane]] += np.uint32(1)
            b += lanes
        size = store_list(mine, lists, begin, c)
        listed[d] = size
        work[bucket] = max(work[bucket], np.uint64(size))
    return made_even
