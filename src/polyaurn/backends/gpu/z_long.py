"""The z step for documents of more tokens: a warp each, counts by topic, along the word's column.

A long document has many topics, so that a word's column is the shorter list. Counts m of all topics
are stored in global memory, a row of K for each such document.
"""

from functools import cache
from typing import Any

from numba import float64, int32, int64, uint16, uint32, uint64

from polyaurn.backends.gpu.columns import from_prior
from polyaurn.backends.gpu.sizes import FULL, LENGTH_SHIFT, RECORD
from polyaurn.backends.gpu.toolkit import cuda, kernel
from polyaurn.backends.gpu.variates import bits, unit
from polyaurn.backends.gpu.warp import running_sum, sum_of_warp, votes


@cache
def z_long(dense: bool) -> Any:
    """Return the kernel, for dense rows of Phi or packed weights."""

    @kernel
    def draw(
        order, n_documents, doc_ptr, word, z, counts, base,
        record, weight, guide, prior, topic, n, K, key_a, key_b, prior_a, prior_b, work,
    ):  # fmt: skip
        lane = int32(cuda.threadIdx.x & 31)
        number = int64(cuda.grid(1)) >> int64(5)
        if number >= int64(n_documents):
            return  # the whole warp
        d = int64(order[number])
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        m = number * int64(K)
        i = begin + int64(lane)
        while i < end:
            cuda.atomic.add(counts, m + int64(z[i]), uint32(1))
            i += int64(32)
        cuda.syncwarp(FULL)
        K_d = int64(0)
        k = int64(lane)
        while k < int64(K):
            if counts[m + k] != uint32(0):
                K_d += int64(1)
            k += int64(32)
        K_d = sum_of_warp(K_d)
        steps = int64(0)
        i = begin
        while i < end:  # every lane does the same token
            v, old = int64(word[i]), int64(z[i])
            head = record[v * int64(RECORD)]
            sigma_a = cuda.libdevice.longlong_as_double(int64(record[v * int64(RECORD) + 2]))
            first = int64(head & uint64((1 << LENGTH_SHIFT) - 1))
            K_v = int64(head >> uint64(LENGTH_SHIFT))
            steps += min(K_d, K_v)
            size = (K_v + int64(31)) >> int64(5)
            low = first + min(K_v, int64(lane) * size)
            high = first + min(K_v, (int64(lane) + int64(1)) * size)
            s = uint64(0)
            for j in range(low, high):
                k = int64(topic[j])
                here = uint64(counts[m + k]) - uint64(k == old)
                s += here * uint64(weight[v * int64(K) + k] if dense else weight[j])
            until = running_sum(s, lane, int32(32))
            all_ = uint64(int64(cuda.shfl_sync(FULL, int64(until), 31)))
            sigma_b = float64(all_)
            x = unit(bits(key_a, key_b, base + i)) * (sigma_b + sigma_a)
            if x < sigma_b:
                goal = min(uint64(x), uint64(all_ - uint64(1)))
                chosen = int32(int32(cuda.ffs(int32(votes(until > goal)))) - int32(1))
                found = int32(0)
                if lane == chosen:
                    so_far = uint64(until - s)
                    j = low
                    k = int64(topic[j])
                    here = uint64(counts[m + k]) - uint64(k == old)
                    so_far += here * uint64(weight[v * int64(K) + k] if dense else weight[j])
                    while so_far <= goal:
                        j += int64(1)
                        k = int64(topic[j])
                        here = uint64(counts[m + k]) - uint64(k == old)
                        so_far += here * uint64(weight[v * int64(K) + k] if dense else weight[j])
                    found = int32(k)
                new = int64(cuda.shfl_sync(FULL, found, chosen))
            else:
                u = unit(bits(prior_a, prior_b, base + i))
                found, _, _ = from_prior(v, u, record, guide, prior)
                new = int64(found)
            cuda.syncwarp(FULL)
            if lane == int32(0) and new != old:
                counts[m + old] = uint32(counts[m + old] - uint32(1))
                counts[m + new] = uint32(counts[m + new] + uint32(1))
                z[i] = uint16(new)
                cuda.atomic.sub(n, v * int64(K) + old, uint32(1))
                cuda.atomic.add(n, v * int64(K) + new, uint32(1))
            cuda.syncwarp(FULL)
            i += int64(1)
        if lane == int32(0):
            cuda.atomic.add(work, 0, uint64(steps))

    return draw
