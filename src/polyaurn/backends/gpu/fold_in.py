"""New documents given fixed topics, on the GPU: a warp for each.

The kernels do what `polyaurn.backends.cpu.fold_in` does: the same draws at the same
addresses, and the same sums in the same order, one addend after another, each product and sum
rounded by itself, so that they give the CPU's bytes. Lanes share fetching the addends, and
looking where a running sum passes.

Warps take documents from a queue, longest first, so that long ones do not begin last; for
left-to-right they take the particles of documents, which are independent. Each warp has
a row of K places for its document's counts. A token takes as many additions in turn as its word
has topics: a single very long document is as slow as one warp is. Indices are unsigned where it
matters, so that numba does not check whether they count from the end.
"""

from numba import float64, int32, int64, uint16, uint32, uint64

from polyaurn.backends.cpu import fold_in as plain
from polyaurn.backends.gpu.sizes import FULL
from polyaurn.backends.gpu.toolkit import cuda, device_function, kernel
from polyaurn.backends.gpu.variates import bits, plus, times, unit
from polyaurn.backends.gpu.warp import before, votes

_FNV, _PRIME = int(plain.FNV), int(plain.PRIME)
_IN_A_ROW = 8  # additions without a question between them


@device_function
def next_item(queue):
    """Return the number of the next piece of work, the same for all lanes."""
    item = int64(0)
    if cuda.threadIdx.x & 31 == 0:
        item = int64(cuda.atomic.add(queue, 0, uint64(1)))
    return int64(cuda.shfl_sync(FULL, item, 0))


@device_function
def hash_words(word, begin, end):
    """Return 64 bits that stand for a document's words."""
    h = uint64(_FNV)
    for i in range(begin, end):
        h = uint64((h ^ uint64(word[i])) * uint64(_PRIME))
    return h


@device_function
def add_in_turn(total, x, many):
    """Add the first lanes' x, one after another; return the sum, and what it was at this lane.

    Lanes from `many` on have x = 0.
    """
    lane = int32(cuda.threadIdx.x & 31)
    mine = total
    source = int32(0)
    while source < many:
        for step in range(_IN_A_ROW):
            total = plus(total, cuda.shfl_sync(FULL, x, int32(source + int32(step))))
            if lane == source + int32(step):
                mine = total
        source = int32(source + int32(_IN_A_ROW))
    return total, mine


@device_function
def weigh(v, M, K, first, topic, weight, beta, alpha, prior, c, m, running, row):
    """Sum a token's weights at c alpha; the part of the word's topics is left in `running`."""
    lane = int64(cuda.threadIdx.x & 31)
    Q = 0.0
    start = first[uint64(v)]
    length = first[uint64(v + 1)] - start
    low = int64(0)
    while low < length:
        j = low + lane
        x = 0.0
        if j < length:
            k = int64(topic[uint64(start + j)])
            x = times(
                weight[uint64(start + j)],
                plus(times(c, alpha[uint64(k)]), float64(m[uint64(row + k)])),
            )
        Q, until = add_in_turn(Q, x, int32(min(length - low, int64(32))))
        if j < length:
            running[uint64(row + j)] = until
        low += int64(32)
    return Q, plus(Q, times(beta[uint64(v)], plus(M, times(c, prior[uint64(K - 1)]))))


@device_function
def choose(v, u, Q, M, K_d, K, first, topic, share, beta, prior, c, m, topics, running, row):
    """Return the topic at which the sum of weights passes u."""
    lane = int64(cuda.threadIdx.x & 31)
    if u < Q:
        start = first[uint64(v)]
        length = first[uint64(v + 1)] - start
        low = int64(0)
        passed = uint32(0)
        while low < length and passed == uint32(0):
            j = low + lane
            here = False
            if j < length:  # a lane reads what it wrote
                here = running[uint64(row + j)] > u
            passed = votes(here)
            low += int64(32)
        return int64(topic[uint64(start + low - int64(33) + int64(cuda.ffs(int32(passed))))])
    u = cuda.libdevice.ddiv_rn(plus(u, -Q), beta[uint64(v)])
    if u < M and K_d > int64(0):
        low = int64(0)
        passed = uint32(0)
        while low < K_d and passed == uint32(0):
            j = low + lane
            x = 0.0
            if j < K_d:
                k = int64(topics[uint64(row + j)])
                x = times(float64(m[uint64(row + k)]), share[uint64(k)])
            u, until = add_in_turn(u, -x, int32(min(K_d - low, int64(32))))
            passed = votes(j < K_d and until < 0.0)
            low += int64(32)
        place = K_d - int64(1)
        if passed != uint32(0):
            place = low - int64(33) + int64(cuda.ffs(int32(passed)))
        return int64(topics[uint64(row + place)])
    u = cuda.libdevice.ddiv_rn(plus(u, -M), c)
    low, high = int64(0), int64(K)
    while low < high:
        middle = (low + high) >> int64(1)
        if prior[uint64(middle)] <= u:
            low = middle + int64(1)
        else:
            high = middle
    return min(low, int64(K) - int64(1))


@device_function
def enter(k, M, K_d, share, m, topics, where, row):
    """Add a token of topic k to a document."""
    here = m[uint64(row + k)]
    cuda.syncwarp(FULL)
    if cuda.threadIdx.x & 31 == 0:
        if here == uint32(0):
            topics[uint64(row + K_d)] = uint16(k)
            where[uint64(row + k)] = uint16(K_d)
        m[uint64(row + k)] = uint32(here + uint32(1))
    cuda.syncwarp(FULL)
    if here == uint32(0):
        K_d += int64(1)
    return plus(M, share[uint64(k)]), K_d


@device_function
def leave(k, M, K_d, share, m, topics, where, row):
    """Take a token of topic k out of a document."""
    here = m[uint64(row + k)]
    cuda.syncwarp(FULL)
    if here == uint32(1):
        K_d -= int64(1)
    if cuda.threadIdx.x & 31 == 0:
        m[uint64(row + k)] = uint32(here - uint32(1))
        if here == uint32(1):
            last, place = topics[uint64(row + K_d)], where[uint64(row + k)]
            topics[uint64(row + int64(place))] = last
            where[uint64(row + int64(last))] = place
    cuda.syncwarp(FULL)
    return plus(M, -share[uint64(k)]), K_d


@device_function
def clear(K_d, m, topics, row):
    """Take all tokens out of a document."""
    j = int64(cuda.threadIdx.x & 31)
    while j < K_d:
        m[uint64(row + int64(topics[uint64(row + j)]))] = uint32(0)
        j += int64(32)
    cuda.syncwarp(FULL)


@kernel
def fold_documents(
    order, n_documents, doc_ptr, word, z, burn_in, kept, raised, K,
    first, topic, weight, share, beta, alpha, prior, key_a, key_b,
    m, topics, where, running, total, queue, begins, lengths, found, sums,
):  # fmt: skip
    """Sample topics of documents; write sums of counts over the last `kept` sweeps.

    Sweep s of the burn-in draws at raised[s] alpha. Topics of document d and their sums go to found
    and sums, from begins[d] on, lengths[d] of them in increasing order of topic. m and total hold
    zeros, before and after. The queue has two numbers: documents that were taken, places of found
    that were.
    """
    lane = int64(cuda.threadIdx.x & 31)
    row = (int64(cuda.grid(1)) >> int64(5)) * int64(K)
    item = next_item(queue)
    while item < int64(n_documents):
        d = int64(order[item])
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        a = uint64(key_a ^ hash_words(word, begin, end))
        M, K_d, index = 0.0, int64(0), uint64(0)
        for sweep in range(burn_in + kept):  # the first one brings the tokens in
            c = 1.0
            if sweep < burn_in:
                c = raised[sweep]
            for i in range(begin, end):
                v = int64(word[i])
                if sweep > 0:
                    M, K_d = leave(int64(z[i]), M, K_d, share, m, topics, where, row)
                Q, all_ = weigh(
                    v, M, K, first, topic, weight, beta, alpha, prior, c, m, running, row
                )
                u = times(unit(bits(a, key_b, index)), all_)
                index = uint64(index + uint64(1))
                k = choose(
                    v,
                    u,
                    Q,
                    M,
                    K_d,
                    K,
                    first,
                    topic,
                    share,
                    beta,
                    prior,
                    c,
                    m,
                    topics,
                    running,
                    row,
                )
                if lane == int64(0):
                    z[i] = uint16(k)
                M, K_d = enter(k, M, K_d, share, m, topics, where, row)
            if sweep >= burn_in:
                j = lane
                while j < K_d:
                    k = int64(topics[row + j])
                    total[row + k] += int64(m[row + k])
                    j += int64(32)
                cuda.syncwarp(FULL)
        clear(K_d, m, topics, row)
        write_sums(d, K, total, row, queue, begins, lengths, found, sums)
        item = next_item(queue)


@device_function
def write_sums(d, K, total, row, queue, begins, lengths, found, sums):
    """Write a document's nonzero sums to the next free places, and make them zero."""
    lane = int64(cuda.threadIdx.x & 31)
    length = int64(0)
    low = int64(0)
    while low < int64(K):
        here = False
        if low + lane < int64(K):
            here = total[row + low + lane] > int64(0)
        length += int64(cuda.popc(votes(here)))
        low += int64(32)
    at = int64(0)
    if lane == int64(0):
        at = int64(cuda.atomic.add(queue, 1, uint64(length)))
        begins[d] = at
        lengths[d] = length
    at = int64(cuda.shfl_sync(FULL, at, 0))
    low = int64(0)
    while low < int64(K):
        k = low + lane
        t = int64(0)
        if k < int64(K):
            t = total[row + k]
        heads = votes(t > int64(0))
        if t > int64(0):
            place = at + int64(cuda.popc(uint32(heads & before(lane))))
            found[place] = uint16(k)
            sums[place] = t
            total[row + k] = int64(0)
        at += int64(cuda.popc(heads))
        low += int64(32)
    cuda.syncwarp(FULL)


@kernel
def score_left_to_right(
    order, n_documents, doc_ptr, word, z, particles, K,
    first, topic, weight, share, beta, alpha, prior, alpha_all, key_a, key_b,
    m, topics, where, running, queue, p,
):  # fmt: skip
    """Write p of each token given those before it, by each particle, which follow each other.

    A particle of a document of n tokens makes 1 + 2 + ... + n draws, so that particle r begins
    with draw r n (n + 1) / 2. m holds zeros, before and after.
    """
    lane = int64(cuda.threadIdx.x & 31)
    row = (int64(cuda.grid(1)) >> int64(5)) * int64(K)
    item = next_item(queue)
    while item < int64(n_documents) * int64(particles):
        d, r = int64(order[item // int64(particles)]), item % int64(particles)
        begin = doc_ptr[d]
        n_d = doc_ptr[d + 1] - begin
        a = uint64(key_a ^ hash_words(word, begin, begin + n_d))
        index = uint64(r * (n_d * (n_d + int64(1)) // int64(2)))
        mine = begin * int64(particles) + r * n_d
        M, K_d = 0.0, int64(0)
        for i in range(n_d):
            for j in range(i + 1):  # those before it again, then the token itself
                v = int64(word[begin + j])
                if j < i:
                    M, K_d = leave(int64(z[mine + j]), M, K_d, share, m, topics, where, row)
                Q, all_ = weigh(
                    v, M, K, first, topic, weight, beta, alpha, prior, 1.0, m, running, row
                )
                u = times(unit(bits(a, key_b, index)), all_)
                index = uint64(index + uint64(1))
                k = choose(
                    v,
                    u,
                    Q,
                    M,
                    K_d,
                    K,
                    first,
                    topic,
                    share,
                    beta,
                    prior,
                    1.0,
                    m,
                    topics,
                    running,
                    row,
                )
                if lane == int64(0):
                    z[mine + j] = uint16(k)
                    if j == i:
                        p[(begin + i) * int64(particles) + r] = cuda.libdevice.ddiv_rn(
                            all_, plus(float64(i), alpha_all)
                        )
                M, K_d = enter(k, M, K_d, share, m, topics, where, row)
        clear(K_d, m, topics, row)
        item = next_item(queue)
