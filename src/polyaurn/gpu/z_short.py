"""The z step for documents of up to 2,048 tokens: a few lanes of a warp draw each document.

A document's topics lie in shared memory as a list of (topic, count), in increasing order of topic:
each lane holds a stretch of it, so that a stretch's sum, then a running sum over the lanes, then a
walk inside one stretch find the same topic that the CPU finds. A topic that enters the document
goes into the stretch where it belongs; one that leaves stays with a count of 0 until its place is
needed. When a stretch is full, all are made even again. Lists are kept in global memory between
sweeps.

Groups of lanes stay together: every lane of a warp takes part in every vote and exchange, whether
its document has ended or not.
"""

from functools import cache
from typing import Any

from numba import float64, int32, int64, uint16, uint32, uint64

from polyaurn.gpu.chance import FULL, bits, unit
from polyaurn.gpu.columns import from_prior, weight_of
from polyaurn.gpu.toolkit import cuda, device_function
from polyaurn.gpu.warp import most_of_warp, running_sum, sum_of_warp, votes

LONGEST = 2_048  # tokens of a document whose list is kept in shared memory
ONE = 1 << 16  # a count, above the 16 bits of its topic
TOPIC = ONE - 1
NOWHERE = 0xFFFFFFFF


@device_function
def load_list(mine, stride, tid, lists, begin, K_d, place, lanes):
    """Give each lane an even stretch of a document's list; return its length."""
    size = int32((K_d + lanes - int32(1)) // lanes)
    low = int32(place * size)
    length = int32(max(int32(0), min(size, int32(K_d - low))))
    for r in range(length):
        mine[uint32(tid + uint32(r) * stride)] = lists[uint64(begin + int64(low + int32(r)))]
    return length


@device_function
def store_list(mine, stride, tid, lists, begin, length, place, lanes, last):
    """Write a document's list without topics that left; return how many are there."""
    kept = int32(0)
    for r in range(length):
        kept = int32(kept + int32(mine[uint32(tid + uint32(r) * stride)] >= uint32(ONE)))
    until = running_sum(kept, place, lanes)
    at = int64(begin) + int64(until) - int64(kept)
    for r in range(length):
        e = mine[uint32(tid + uint32(r) * stride)]
        if e >= uint32(ONE):
            lists[uint64(at)] = e
            at += int64(1)
    return int32(cuda.shfl_sync(FULL, int32(until), last))


@device_function
def enter_topic(mine, stride, tid, length, k):
    """Count a topic in a stretch, putting it in its place when it is new; return the length."""
    p = tid
    end = uint32(tid + uint32(length) * stride)
    gap = uint32(NOWHERE)  # the last place before with a count of 0
    e = uint32(TOPIC)
    while p < end:
        e = mine[p]
        if uint32(e & uint32(TOPIC)) >= k:
            break
        if e < uint32(ONE):
            gap = p
        p = uint32(p + stride)
    if p < end and uint32(e & uint32(TOPIC)) == k:
        mine[p] = uint32(e + uint32(ONE))
        return length
    new = uint32(uint32(ONE) | k)
    if gap != uint32(NOWHERE):
        while uint32(gap + stride) < p:
            mine[gap] = mine[uint32(gap + stride)]
            gap = uint32(gap + stride)
        mine[gap] = new
        return length
    while p < end:
        e = mine[p]
        mine[p] = new
        if e < uint32(ONE):
            return length
        new = e
        p = uint32(p + stride)
    mine[p] = new
    return int32(length + int32(1))


@cache
def z_short(log_lanes: int, dense: bool) -> Any:
    """Return the kernel for groups of 2**log_lanes lanes, with dense rows of Phi or bitmaps."""
    lanes = 1 << log_lanes
    group = (1 << lanes) - 1

    @cuda.jit
    def draw(
        order, n_documents, doc_ptr, word, z, lists, listed, base,
        record, rows, weight, guide, prior, topic, n, K, width, room,
        key_a, key_b, prior_a, prior_b, work,
    ):  # fmt: skip
        mine = cuda.shared.array(0, uint32)
        tid, stride = uint32(cuda.threadIdx.x), uint32(cuda.blockDim.x)
        lane = int32(tid & uint32(31))
        place = int32(lane & int32(lanes - 1))
        leader = int32(lane - place)
        last = int32(leader + int32(lanes - 1))
        us = uint32(uint32(group) << uint32(leader))  # the lanes of this document
        number = int64((int64(cuda.blockIdx.x) * int64(stride) + int64(tid)) >> int64(log_lanes))
        d, begin, L, K_d = int64(0), int64(0), int32(0), int32(0)
        if number < int64(n_documents):
            d = int64(order[number])
            begin = doc_ptr[d]
            L = int32(doc_ptr[d + 1] - begin)
            K_d = int32(listed[d])
        longest = most_of_warp(L)
        c = load_list(mine, stride, tid, lists, begin, K_d, place, int32(lanes))
        steps = int64(0)
        b = int32(0)
        while b < longest:
            # Each lane reads a token, and draws the topic it takes if it takes the prior's.
            on = int32(b + place) < L
            i = uint64(begin + int64(b + place))
            v, old, of_prior, sigma_a, u = int32(0), int32(TOPIC), int32(0), 0.0, 0.0
            if on:
                v, old = int32(word[i]), int32(z[i])
                of_prior, K_v, sigma_a = from_prior(
                    v, unit(bits(prior_a, prior_b, uint64(base) + i)), record, guide, prior, topic
                )
                u = unit(bits(key_a, key_b, uint64(base) + i))
                steps += int64(min(K_d, K_v))
            new = old
            turns = min(int32(lanes), int32(longest - b))
            turn = int32(0)
            while turn < turns:
                teller = int32(leader + turn)
                v_t = int32(cuda.shfl_sync(FULL, v, teller))
                old_t = uint32(cuda.shfl_sync(FULL, old, teller))
                u_t = cuda.shfl_sync(FULL, u, teller)
                sigma_a_t = cuda.shfl_sync(FULL, sigma_a, teller)
                alive = int32(b + turn) < L
                row = uint64(uint64(uint32(v_t)) * uint64(uint32(width)))
                s = uint64(0)
                own = uint32(NOWHERE)
                p = tid
                end = tid
                if alive:
                    end = uint32(tid + uint32(c) * stride)
                while p < end:
                    e = mine[p]
                    k = uint32(e & uint32(TOPIC))
                    m = uint32(e >> uint32(16))
                    if k == old_t:
                        own = p
                        m = uint32(m - uint32(1))
                    s += uint64(m) * uint64(weight_of(dense, row, k, rows, weight))
                    p = uint32(p + stride)
                if own != uint32(NOWHERE):
                    mine[own] = uint32(mine[own] - uint32(ONE))
                until = running_sum(s, place, int32(lanes))
                all_ = uint64(int64(cuda.shfl_sync(FULL, int64(until), last)))
                sigma_b = float64(all_)
                x = u_t * (sigma_b + sigma_a_t)
                of_document = x < sigma_b
                goal = min(uint64(x), uint64(all_ - uint64(1)))
                passed = uint32(votes(until > goal) & us)
                chosen = leader
                if of_document:
                    chosen = int32(int32(cuda.ffs(int32(passed))) - int32(1))
                found = int32(0)
                if alive and of_document and lane == chosen:
                    so_far = uint64(until - s)
                    p = tid
                    e = mine[p]
                    so_far += uint64(e >> uint32(16)) * uint64(
                        weight_of(dense, row, uint32(e & uint32(TOPIC)), rows, weight)
                    )
                    while so_far <= goal:
                        p = uint32(p + stride)
                        e = mine[p]
                        so_far += uint64(e >> uint32(16)) * uint64(
                            weight_of(dense, row, uint32(e & uint32(TOPIC)), rows, weight)
                        )
                    mine[p] = uint32(e + uint32(ONE))
                    found = int32(e & uint32(TOPIC))
                found = int32(cuda.shfl_sync(FULL, found, chosen))
                enters = alive and not of_document
                if votes(enters) != uint32(0):
                    of_prior_t = int32(cuda.shfl_sync(FULL, of_prior, teller))
                    if not of_document:
                        found = of_prior_t
                    begins = c > int32(0)
                    if begins:
                        begins = int32(mine[tid] & uint32(TOPIC)) <= of_prior_t
                    below = uint32(votes(begins) & us)
                    owner = leader
                    if below != uint32(0):
                        owner = int32(int32(31) - int32(cuda.clz(int32(below))))
                    if enters and lane == owner:
                        c = enter_topic(mine, stride, tid, c, uint32(of_prior_t))
                    if votes(c >= room) != uint32(0):  # a stretch is full: make all even
                        size = store_list(
                            mine, stride, tid, lists, begin, c, place, int32(lanes), last
                        )
                        cuda.syncwarp(FULL)
                        c = load_list(mine, stride, tid, lists, begin, size, place, int32(lanes))
                if place == turn:
                    new = found
                turn = int32(turn + int32(1))
            if on and new != old:
                z[i] = uint16(new)
                row = uint64(uint64(uint32(v)) * uint64(uint32(K)))
                cuda.atomic.sub(n, uint64(row + uint64(uint32(old))), uint32(1))
                cuda.atomic.add(n, uint64(row + uint64(uint32(new))), uint32(1))
            b = int32(b + int32(lanes))
        size = store_list(mine, stride, tid, lists, begin, c, place, int32(lanes), last)
        if number < int64(n_documents) and place == int32(0):
            listed[d] = uint16(size)
        steps = sum_of_warp(steps)
        if lane == int32(0):
            cuda.atomic.add(work, 0, uint64(steps))

    return draw
