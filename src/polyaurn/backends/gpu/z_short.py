"""The z step for documents of up to 2,048 tokens: a few lanes of a warp draw each document.

A document's topics are stored in shared memory as a list of (topic, count), in increasing order of
topic: each lane holds a stretch of it, so that a stretch's sum, then a running sum over the lanes,
then a walk inside one stretch find the same topic that the CPU finds. A topic that enters the
document goes into the stretch where it belongs; one that leaves stays with a count of 0 until its
place is needed. Stretches are made even again when one has grown. Weights of a stretch's first
entries are kept beside it for the walk. Lists are kept in global memory between sweeps.

Shared memory is taken from the cache. Stretches therefore have space for somewhat more topics than
documents of the launch have when it begins; a document that needs more stops there, and another
launch resumes it.

Groups of lanes stay together: every lane of a warp takes part in every vote and exchange, whether
its document has ended or not.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import float64, int32, int64, uint16, uint32, uint64

from polyaurn.backends.gpu.columns import from_prior, packed_weight, row_entry, weight_of
from polyaurn.backends.gpu.sizes import FULL, ONE, TOKEN_WORDS, TOPIC, WARP
from polyaurn.backends.gpu.toolkit import cuda, device_function, kernel
from polyaurn.backends.gpu.variates import bits, unit
from polyaurn.backends.gpu.warp import most_of_warp, running_sum, sum_of_warp, votes

NOWHERE = 0xFFFFFFFF
NOTHING = TOPIC  # an entry of no topic, with a count of 0


class Stretch(NamedTuple):
    """A lane's part of its document's list: where it is in the block's shared memory."""

    memory: Any
    at: Any  # its first entry
    stride: Any  # from an entry to the next one
    kept: Any  # from one of the first entries to its weight
    kept_end: Any  # where those end that have their weights kept


@device_function
def load_list(stretch, lists, begin, K_d, place, lanes, capacity):
    """Give each lane an even stretch of a document's list; return its length.

    Entries up to the capacity that it does not use are of no topic.
    """
    mine, at, stride = stretch.memory, stretch.at, stretch.stride
    size = int32(K_d // lanes)
    more = int32(K_d - size * lanes)
    low = int32(place * size + min(place, more))
    length = size
    if place < more:
        length = int32(size + int32(1))
    for r in range(length):
        mine[uint32(at + uint32(r) * stride)] = lists[uint64(begin + int64(low + int32(r)))]
    for r in range(length, capacity):
        mine[uint32(at + uint32(r) * stride)] = uint32(NOTHING)
    return length


@device_function
def store_list(stretch, lists, begin, length, place, lanes, last):
    """Write a document's list without topics that left; return how many are there."""
    mine, at, stride = stretch.memory, stretch.at, stretch.stride
    kept = int32(0)
    for r in range(length):
        kept = int32(kept + int32(mine[uint32(at + uint32(r) * stride)] >= uint32(ONE)))
    until = running_sum(kept, place, lanes)
    to = int64(begin) + int64(until) - int64(kept)
    for r in range(length):
        e = mine[uint32(at + uint32(r) * stride)]
        if e >= uint32(ONE):
            lists[uint64(to)] = e
            to += int64(1)
    return int32(cuda.shfl_sync(FULL, int32(until), last))


@device_function
def make_even(stretch, lists, begin, length, place, lanes, last, capacity):
    """Share a list out evenly again; return how many topics it has and this lane's length."""
    size = store_list(stretch, lists, begin, length, place, lanes, last)
    cuda.syncwarp(FULL)
    return size, load_list(stretch, lists, begin, size, place, lanes, capacity)


@device_function
def round_up(x, unit):
    """Return the next multiple of a unit."""
    return int32((x + unit - int32(1)) // unit * unit)


@device_function
def product(e, w):
    """Return an entry's count times a weight."""
    return uint64(uint64(uint32(e >> uint32(16))) * uint64(w))


@device_function
def sum_stretch(stretch, length, old, row, dense, rows, weight, scratch, batch, block):
    """Return the sum of a stretch's weights without the token itself, and where its topic is.

    Entries are taken in batches, whose weights are all requested before the first is used; those
    of the first entries are kept for the walk. The topic is NOWHERE when other lanes have it.
    """
    mine, kept = stretch.memory, stretch.kept
    entries, weights, row_entries = scratch
    s = uint64(0)
    own = uint32(NOWHERE)
    p = stretch.at
    end = uint32(stretch.at + uint32(length) * stretch.stride)
    while p < end:
        for j in range(batch):
            e = mine[uint64(uint64(p) + uint64(j * block))]
            if uint32(e & uint32(TOPIC)) == old:
                own = uint32(p + uint32(j * block))
                e = uint32(e - uint32(ONE))
            entries[j] = e
        some = uint64(0)
        for j in range(batch):
            weights[j] = uint32(0)
            row_entries[j] = uint64(0)
            if entries[j] >= uint32(ONE):
                if dense:
                    weights[j] = weight_of(True, row, entries[j], rows, weight)
                else:
                    row_entries[j] = row_entry(row, entries[j], rows)
            some |= uint64(row_entries[j])
        if not dense and some != uint64(0):
            for j in range(batch):
                weights[j] = packed_weight(row_entries[j], entries[j], weight)
        some = uint64(0)
        for j in range(batch):
            some |= uint64(weights[j])
            if p < stretch.kept_end:
                mine[uint64(uint64(uint32(p + kept)) + uint64(j * block))] = weights[j]
        if some != uint64(0):
            for j in range(batch):
                s += product(entries[j], weights[j])
        p = uint32(p + uint32(batch) * stretch.stride)
    return s, own


@device_function
def walk_stretch(stretch, so_far, goal, row, dense, rows, weight):
    """Count a token for the entry at which the sum passes a goal; return its topic."""
    mine, stride = stretch.memory, stretch.stride
    p, q = stretch.at, uint32(stretch.at + stretch.kept)
    e = mine[p]
    so_far = uint64(so_far + product(e, mine[q]))
    while so_far <= goal and uint32(p + stride) < stretch.kept_end:
        p, q = uint32(p + stride), uint32(q + stride)
        e = mine[p]
        so_far += product(e, mine[q])
    while so_far <= goal:
        p = uint32(p + stride)
        e = mine[p]
        so_far += product(e, weight_of(dense, row, e, rows, weight))
    mine[p] = uint32(e + uint32(ONE))
    return uint32(e & uint32(TOPIC))


@device_function
def owner_of(k, stretch, length, leader, us):
    """Return the lane in whose stretch a topic belongs."""
    begins = length > int32(0)
    if begins:
        begins = uint32(stretch.memory[stretch.at] & uint32(TOPIC)) <= k
    below = uint32(votes(begins) & us)
    if below != uint32(0):
        return int32(int32(31) - int32(cuda.clz(int32(below))))
    return leader


@device_function
def enter_topic(stretch, length, k):
    """Count a topic in a stretch, putting it in its place when it is new; return the length."""
    mine, at, stride = stretch.memory, stretch.at, stretch.stride
    p = at
    end = uint32(at + uint32(length) * stride)
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


@device_function
def stop(d, done, K_d, ahead, progress, stopped, work):
    """Leave a document to the launch that resumes it, after so many tokens.

    It had K_d topics when the sweep began, and the work of some tokens ahead is already counted.
    """
    progress[d] = uint32(uint32(done) | (uint32(K_d) << uint32(12)) | (uint32(ahead) << uint32(24)))
    stopped[uint32(cuda.atomic.add(work, 1, uint64(1)))] = d


@cache
def z_short(log_lanes: int, dense: bool, block: int, batch: int, resumes: bool = False) -> Any:
    """Return the kernel for groups of 2**log_lanes lanes in blocks of so many threads.

    Rows of Phi are dense or bitmaps; weights of a batch of entries are requested at once. A kernel
    that resumes continues documents whose lists became too long (they are few), each where it
    stopped; its groups are whole warps.
    """
    assert not resumes or log_lanes == WARP
    lanes = 1 << log_lanes
    group = (1 << lanes) - 1

    @kernel
    def draw(
        order, n_documents, doc_ptr, word, z, lists, listed, base,
        record, rows, weight, guide, prior, n, K, width, room,
        key_a, key_b, prior_a, prior_b, progress, stopped, work, bucket,
    ):  # fmt: skip
        mine = cuda.shared.array(0, uint32)
        draws = cuda.shared.array(0, float64)  # the same memory, its beginning
        tid, stride = uint32(cuda.threadIdx.x), uint32(block)
        lane = int32(tid & uint32(31))
        place = int32(lane & int32(lanes - 1))
        leader = int32(lane - place)
        last = int32(leader + int32(lanes - 1))
        us = uint32(uint32(group) << uint32(leader))  # the lanes of this document
        at = uint32(uint32(TOKEN_WORDS) * stride + tid)  # where this lane's stretch begins
        tokens = uint32(uint32(4) * stride)  # where rows and topics of tokens begin
        groups = uint32(stride >> uint32(log_lanes))
        number = uint32(uint32(cuda.blockIdx.x) * groups + (tid >> uint32(log_lanes)))
        my_slot = uint32(uint32(tid >> uint32(log_lanes)) * uint32(2))
        d, begin, N_d, K_d = uint32(0), int64(0), int32(0), int32(0)
        if number < uint32(n_documents):
            d = order[number]
            begin = doc_ptr[d]
            N_d = int32(doc_ptr[uint32(d + uint32(1))] - begin)
            K_d = int32(listed[d])
        if not resumes and K_d > int32(lanes) * int32(room - int32(1)):  # too many to begin with
            if place == int32(0):
                stop(d, int32(0), K_d, int32(0), progress, stopped, work)
            N_d, K_d = int32(0), int32(0)
        K_d_begun, b, counted = K_d, int32(0), int32(0)  # tokens whose work is counted
        if resumes and N_d > int32(0):
            b = int32(progress[d] & uint32(4095))
            K_d_begun = int32((progress[d] >> uint32(12)) & uint32(4095))
            counted = int32(b + int32(progress[d] >> uint32(24)))
        capacity = round_up(int32(room), int32(batch))  # whole batches of entries
        kept = uint32(uint32(capacity) * stride)  # from an entry to its weight, for the first ones
        kept_end = uint32(at + uint32(batch) * stride)
        stretch = Stretch(mine, at, stride, kept, kept_end)
        longest = most_of_warp(N_d)
        c = load_list(stretch, lists, begin, K_d, place, int32(lanes), capacity)
        even = int32(round_up(most_of_warp(c), int32(batch)))
        entries, weights = cuda.local.array(batch, uint32), cuda.local.array(batch, uint32)
        scratch = (entries, weights, cuda.local.array(batch, uint64))
        steps = uint32(0)
        while b < longest:
            if votes(c > even) != uint32(0):  # longer walks than there need be: make all even
                size, c = make_even(stretch, lists, begin, c, place, int32(lanes), last, capacity)
                even = int32(round_up(most_of_warp(c), int32(batch)))
            # Each lane reads a token, and draws the topic it takes if it takes the prior's.
            i = uint64(begin + int64(b + place))
            my_token = uint32(uint32(place) * groups * uint32(2) + my_slot)
            if int32(b + place) < N_d:
                v, old = uint32(word[i]), uint32(z[i])
                of_prior, K_v, sigma_a = from_prior(
                    v, unit(bits(prior_a, prior_b, uint64(base) + i)), record, guide, prior
                )
                draws[my_token] = unit(bits(key_a, key_b, uint64(base) + i))
                draws[uint32(my_token + uint32(1))] = sigma_a
                mine[uint32(tokens + my_token)] = uint32(v * uint32(width))
                mine[uint32(tokens + my_token + uint32(1))] = uint32(
                    old | uint32(uint32(of_prior) << uint32(16))
                )
                if not resumes or int32(b + place) >= counted:
                    steps = uint32(steps + uint32(min(K_d_begun, K_v)))
            cuda.syncwarp(FULL)
            turns = min(int32(lanes), int32(longest - b))
            turn = int32(0)
            slot = my_slot
            while turn < turns:
                alive = int32(b + turn) < N_d
                row, topics = mine[uint32(tokens + slot)], mine[uint32(tokens + slot + uint32(1))]
                old = uint32(topics & uint32(TOPIC))
                s, own = sum_stretch(
                    stretch, c if alive else int32(0), old, row, dense, rows, weight, scratch,
                    batch, block,
                )  # fmt: skip
                if own != uint32(NOWHERE):
                    mine[own] = uint32(mine[own] - uint32(ONE))
                until = running_sum(s, place, int32(lanes))
                all_ = uint64(int64(cuda.shfl_sync(FULL, int64(until), last)))
                sigma_b = float64(all_)
                x = draws[slot] * (sigma_b + draws[uint32(slot + uint32(1))])
                of_document = x < sigma_b
                goal = min(uint64(x), uint64(all_ - uint64(1)))
                passed = uint32(votes(until > goal) & us)
                chosen = leader
                if of_document:
                    chosen = int32(int32(cuda.ffs(int32(passed))) - int32(1))
                found = uint32(topics >> uint32(16))
                if alive and of_document and lane == chosen:
                    found = walk_stretch(stretch, uint64(until - s), goal, row, dense, rows, weight)
                    mine[uint32(tokens + slot + uint32(1))] = uint32(old | (found << uint32(16)))
                enters = alive and not of_document
                if votes(enters) != uint32(0):
                    owner = owner_of(found, stretch, c, leader, us)
                    if enters and lane == owner:
                        c = enter_topic(stretch, c, found)
                    if votes(c >= room) != uint32(0):  # a stretch is full
                        size, c = make_even(
                            stretch, lists, begin, c, place, int32(lanes), last, capacity
                        )
                        if alive and size > int32(lanes) * int32(room - int32(1)):
                            done_until = int32(b + turn + int32(1))  # all are full
                            ahead = int32(min(N_d, int32(b + int32(lanes))) - done_until)
                            N_d = done_until
                            if place == int32(0):
                                stop(d, N_d, K_d_begun, ahead, progress, stopped, work)
                turn = int32(turn + int32(1))
                slot = uint32(slot + groups * uint32(2))
            cuda.syncwarp(FULL)
            if int32(b + place) < N_d:
                topics = mine[uint32(tokens + my_token + uint32(1))]
                old, new = uint32(topics & uint32(TOPIC)), uint32(topics >> uint32(16))
                if new != old:
                    z[i] = uint16(new)
                    cell = uint64(mine[uint32(tokens + my_token)])
                    if not dense:
                        cell = uint64(uint64(uint32(word[i])) * uint64(uint32(K)))
                    cuda.atomic.sub(n, uint64(cell + uint64(old)), uint32(1))
                    cuda.atomic.add(n, uint64(cell + uint64(new)), uint32(1))
            cuda.syncwarp(FULL)
            b = int32(b + int32(lanes))
        size = store_list(stretch, lists, begin, c, place, int32(lanes), last)
        if N_d > int32(0) and place == int32(0):
            listed[d] = uint16(size)
        total, most = sum_of_warp(steps), most_of_warp(size)
        if lane == int32(0):
            cuda.atomic.add(work, 0, uint64(total))
            cuda.atomic.max(work, int32(bucket), uint64(most))

    return draw
