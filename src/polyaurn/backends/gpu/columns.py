"""How kernels read Phi: weights by topic, and the prior's part of a word.

For each word, a record of four 64-bit numbers says where its column begins and how long it is, the
total of its prior part, sigma_a, and how places of the guide go with the total. The guide says for
each of as many equal parts of the total as the column is long where the walk along the running sums
begins, so that the walk takes a step or two whatever the length. The number that says it has the
topic of its own place in its upper half, which is near and wanted next.

Weights are stored in dense rows of K, or packed in the order of columns, in which case each word
has for every 32 topics a 64-bit number: which of them it has, and where the first of those is.
"""

from numba import float64, int32, int64, uint32, uint64

from polyaurn.backends.gpu.sizes import LENGTH_SHIFT, RECORD, TOPIC
from polyaurn.backends.gpu.toolkit import cuda, device_function


@device_function
def weight_of(dense, row, e, rows, weight):
    """Return a word's weight of an entry's topic; `row` is where the word's row begins."""
    if dense:
        return weight[uint32(row + uint32(e & uint32(TOPIC)))]
    return packed_weight(row_entry(row, e, rows), e, weight)


@device_function
def row_entry(row, e, rows):
    """Return which topics a word has of the 32 about an entry's, and where their weights begin."""
    return rows[uint32(row + uint32((e & uint32(TOPIC)) >> uint32(5)))]


@device_function
def packed_weight(entry, e, weight):
    """Return the weight of an entry's topic, 0 where the word does not have it."""
    until = uint32(uint32(entry) << uint32(~e & uint32(31)))  # topics up to this one, itself on top
    if int32(until) >= int32(0):
        return uint32(0)
    rank = uint32(cuda.popc(until))
    return weight[uint64(uint64(uint32(uint32(entry >> uint64(32)) + rank)) - uint64(1))]


@device_function
def guide_place(goal, factor, length):
    """Return which part of the total a goal is in: the same where guides are made and read."""
    return min(int32(float64(goal) * factor), int32(length - int32(1)))


@device_function
def from_prior(v, u, record, guide, prior):
    """Return the topic where word v's prior part passes a share u of all, K_v and sigma_a."""
    at = uint64(uint64(uint32(v)) * uint64(RECORD))
    head = record[at]
    total = record[uint64(at + uint64(1))]
    sigma_a = cuda.libdevice.longlong_as_double(int64(record[uint64(at + uint64(2))]))
    factor = cuda.libdevice.longlong_as_double(int64(record[uint64(at + uint64(3))]))
    first = uint64(head & uint64((1 << LENGTH_SHIFT) - 1))
    length = int32(head >> uint64(LENGTH_SHIFT))
    goal = min(uint64(u * float64(total)), uint64(total - uint64(1)))
    part = guide_place(goal, factor, length)
    begin = uint32(guide[uint64(first + uint64(uint32(part)))] & uint32(TOPIC))
    p = uint64(first + uint64(begin))
    while prior[p] <= goal:
        p = uint64(p + uint64(1))
    return int32(guide[p] >> uint32(16)), length, sigma_a
