"""How kernels read Phi: weights by topic, and the prior's part of a word.

Of each word, a record of four 64-bit numbers says where its column begins and how long it is, the
total of its prior part, sigma_a, and how places of the guide go with the total. The guide says for
each of as many equal parts of the total as the column is long where the walk along the running sums
begins, so that the walk takes a step or two whatever the length. The number that says it has the
topic of its own place in its upper half, which is near and wanted next.

Weights lie in dense rows of K, or packed in the order of columns, in which case each word has for
every 32 topics a 64-bit number: which of them it has, and where the first of those lies.
"""

from numba import float64, int32, int64, uint32, uint64

from polyaurn.gpu.sizes import LENGTH_SHIFT, ONE, RECORD, TOPIC
from polyaurn.gpu.toolkit import cuda, device_function


@device_function
def five_weights(dense, row, e0, e1, e2, e3, e4, rows, weight):
    """Return a word's weights of the topics of five entries, 0 for those with a count of 0.

    `row` is where the word's row begins, in 32 bits as all places are. All five are asked for
    before the first is used.
    """
    w0, w1, w2, w3, w4 = uint32(0), uint32(0), uint32(0), uint32(0), uint32(0)
    if dense:
        if e0 >= uint32(ONE):
            w0 = weight[uint32(row + uint32(e0 & uint32(TOPIC)))]
        if e1 >= uint32(ONE):
            w1 = weight[uint32(row + uint32(e1 & uint32(TOPIC)))]
        if e2 >= uint32(ONE):
            w2 = weight[uint32(row + uint32(e2 & uint32(TOPIC)))]
        if e3 >= uint32(ONE):
            w3 = weight[uint32(row + uint32(e3 & uint32(TOPIC)))]
        if e4 >= uint32(ONE):
            w4 = weight[uint32(row + uint32(e4 & uint32(TOPIC)))]
        return w0, w1, w2, w3, w4
    n0, n1, n2, n3, n4 = uint64(0), uint64(0), uint64(0), uint64(0), uint64(0)
    if e0 >= uint32(ONE):
        n0 = rows[uint32(row + uint32((e0 & uint32(TOPIC)) >> uint32(5)))]
    if e1 >= uint32(ONE):
        n1 = rows[uint32(row + uint32((e1 & uint32(TOPIC)) >> uint32(5)))]
    if e2 >= uint32(ONE):
        n2 = rows[uint32(row + uint32((e2 & uint32(TOPIC)) >> uint32(5)))]
    if e3 >= uint32(ONE):
        n3 = rows[uint32(row + uint32((e3 & uint32(TOPIC)) >> uint32(5)))]
    if e4 >= uint32(ONE):
        n4 = rows[uint32(row + uint32((e4 & uint32(TOPIC)) >> uint32(5)))]
    if uint64(n0 | n1 | n2 | n3 | n4) != uint64(0):  # so that all are asked for first
        if _has(n0, e0):
            w0 = weight[_packed_place(n0, e0)]
        if _has(n1, e1):
            w1 = weight[_packed_place(n1, e1)]
        if _has(n2, e2):
            w2 = weight[_packed_place(n2, e2)]
        if _has(n3, e3):
            w3 = weight[_packed_place(n3, e3)]
        if _has(n4, e4):
            w4 = weight[_packed_place(n4, e4)]
    return w0, w1, w2, w3, w4


@device_function
def _has(entry, e):
    return uint32(uint32(entry) & uint32(uint32(1) << uint32(e & uint32(31)))) != uint32(0)


@device_function
def _packed_place(entry, e):
    below = uint32(uint32(uint32(1) << uint32(e & uint32(31))) - uint32(1))
    rank = uint32(cuda.popc(uint32(uint32(entry) & below)))
    return uint32(uint32(entry >> uint64(32)) + rank)


@device_function
def guide_place(goal, factor, length):
    """Return which part of the total a goal lies in: the same where guides are made and read."""
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
