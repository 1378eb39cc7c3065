"""Twin of the z step for long documents; see `polyaurn.gpu.z_long`."""

import numpy as np

from polyaurn.gpu.sizes import LANES
from polyaurn.gpu.twins.columns import column_of, from_prior
from polyaurn.kernels.chance import bits, unit
from polyaurn.machine_code import njit

_UNIT = np.uint64(1)


@njit(nogil=True, cache=True)
def z_long(
    dense, order, doc_ptr, word, z, counts, base,
    record, weight, guide, prior, topic, n, K, key_a, key_b, prior_a, prior_b, work,
):  # fmt: skip
    """Draw topics of documents; `counts` holds zeros, a row of K for each."""
    s, until = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    for number in range(len(order)):
        d = order[number]
        m = number * K
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            counts[m + z[i]] += np.uint32(1)
        K_d = np.count_nonzero(counts[m : m + K])
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            v, old = np.int64(word[i]), np.int64(z[i])
            first, K_v, sigma_a = column_of(v, record)
            work[0] += np.uint64(min(K_d, K_v))
            size, all_ = (K_v + LANES - 1) // LANES, np.uint64(0)
            for lane in range(LANES):  # each sums over its stretch of the column
                s[lane] = 0
                for j in range(first + min(K_v, lane * size), first + min(K_v, (lane + 1) * size)):
                    s[lane] += _part(dense, j, v, old, K, m, counts, weight, topic)
                all_ += s[lane]
                until[lane] = all_
            sigma_b = np.float64(all_)
            x = unit(bits(key_a, key_b, base + i)) * (sigma_b + sigma_a)
            if x < sigma_b:
                goal = min(np.uint64(x), all_ - _UNIT)
                chosen = 0
                while until[chosen] <= goal:
                    chosen += 1
                j = first + min(K_v, chosen * size)
                so_far = until[chosen] - s[chosen]
                so_far += _part(dense, j, v, old, K, m, counts, weight, topic)
                while so_far <= goal:
                    j += 1
                    so_far += _part(dense, j, v, old, K, m, counts, weight, topic)
                new = np.int64(topic[j])
            else:
                u = unit(bits(prior_a, prior_b, base + i))
                new, _, _ = from_prior(v, u, record, guide, prior)
            if new != old:
                counts[m + old] -= np.uint32(1)
                counts[m + new] += np.uint32(1)
                z[i] = new
                n[v * K + old] -= np.uint32(1)
                n[v * K + new] += np.uint32(1)


@njit(cache=True)
def _part(dense, j, v, old, K, m, counts, weight, topic):
    """Return weight times count of a column's topic, the token itself left out."""
    k = np.int64(topic[j])
    here = np.uint64(counts[m + k]) - np.uint64(k == old)
    return here * np.uint64(weight[v * K + k if dense else j])
