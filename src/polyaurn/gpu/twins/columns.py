"""Twins of how kernels read Phi; see `polyaurn.gpu.columns`."""

import numpy as np

from polyaurn.gpu.sizes import LENGTH_SHIFT, RECORD, TOPIC
from polyaurn.machine_code import njit

_ONE, _NONE = np.uint64(1), np.uint64(0)
_LOW_32, _S32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_BEGINNING, _LENGTH_SHIFT = np.uint64((1 << LENGTH_SHIFT) - 1), np.uint64(LENGTH_SHIFT)


@njit(cache=True)
def ones(x):
    """Return how many of a number's 64 bits are set."""
    number = 0
    while x != _NONE:
        x &= x - _ONE
        number += 1
    return number


@njit(cache=True)
def weight_of(dense, row, k, rows, weight):
    """Return a word's weight of topic k; `row` is where its row begins."""
    if dense:
        return np.uint64(weight[row + k])
    entry = rows[row + (k >> 5)]
    bit = _ONE << np.uint64(k & 31)
    has = entry & _LOW_32
    if has & bit == _NONE:
        return _NONE
    return np.uint64(weight[np.int64(entry >> _S32) + ones(has & (bit - _ONE))])


@njit(cache=True)
def column_of(v, record):
    """Return where a word's column begins, its length, and sigma_a."""
    head = record[v * RECORD]
    sigma_a = np.uint64(record[v * RECORD + 2]).view(np.float64)
    return np.int64(head & _BEGINNING), np.int64(head >> _LENGTH_SHIFT), sigma_a


@njit(cache=True)
def guide_place(goal, factor, length):
    """Return which part of the total a goal lies in."""
    return min(np.int64(np.float64(goal) * factor), length - 1)


@njit(cache=True)
def from_prior(v, u, record, guide, prior):
    """Return the topic where word v's prior part passes a share u of all, K_v and sigma_a."""
    first, length, sigma_a = column_of(v, record)
    total = record[v * RECORD + 1]
    factor = np.uint64(record[v * RECORD + 3]).view(np.float64)
    goal = min(np.uint64(u * np.float64(total)), total - _ONE)
    p = first + np.int64(guide[first + guide_place(goal, factor, length)] & TOPIC)
    while prior[p] <= goal:
        p += 1
    return np.int64(guide[p] >> 16), length, sigma_a
