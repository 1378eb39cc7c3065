"""Documents given fixed topics: their mixtures, and how probable their words are.

phi[k, v] = (n[k, v] + beta[v]) share[k], with share[k] = 1 / (n[k] + sum of beta), is never written
down. A token's weight for topic k, (alpha[k] + m[k]) phi[k, v], falls into three sums, as in
`polyaurn.backends.cpu.collapsed`: over the topics of the word, of the document, and over all, the
last of which is known beforehand. A token costs as much as its word has topics.

What is drawn for a document depends only on its words and the seed, not on its neighbours: sums
begin again with it, and alpha[k] + m[k] is made from its parts, never counted up and down.
`polyaurn.backends.gpu.fold_in` does the same sums in the same order.
"""

import numpy as np

from polyaurn.backends.variates import bits, log_of, unit
from polyaurn.base.compilation import njit

FNV, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@njit(cache=True)
def hash_words(word, begin, end):
    """Return 64 bits that stand for a document's words (FNV-1a over numbers)."""
    h = FNV
    for i in range(begin, end):
        h = (h ^ np.uint64(word[i])) * PRIME
    return h


@njit(cache=True)
def weigh(v, M, first, topic, weight, beta, alpha, prior, c, m, running):
    """Sum a token's weights at c alpha; the part of the word's topics is left in `running`."""
    Q = 0.0
    start = first[v]
    for j in range(first[v + 1] - start):
        k = topic[start + j]
        Q += weight[start + j] * (c * alpha[k] + m[k])
        running[j] = Q
    return Q, Q + beta[v] * (M + c * prior[-1])


@njit(cache=True)
def choose(v, u, Q, M, first, topic, share, beta, prior, c, m, topics, K_d, running):
    """Return the topic at which the sum of weights passes u."""
    if u < Q:
        j = 0
        while running[j] <= u:
            j += 1
        return np.int64(topic[first[v] + j])
    u = (u - Q) / beta[v]
    if u < M and K_d > 0:
        k = np.int64(topics[0])
        for j in range(K_d):
            k = np.int64(topics[j])
            u -= m[k] * share[k]
            if u < 0.0:
                break
        return k
    k = np.searchsorted(prior, (u - M) / c, side="right")
    return min(max(np.int64(k), 0), len(prior) - 1)


@njit(cache=True)
def enter(k, M, K_d, share, m, topics, where):
    """Add a token of topic k to a document."""
    if m[k] == 0.0:
        topics[K_d] = k
        where[k] = K_d
        K_d += 1
    m[k] += 1.0
    return M + share[k], K_d


@njit(cache=True)
def leave(k, M, K_d, share, m, topics, where):
    """Take a token of topic k out of a document."""
    m[k] -= 1.0
    if m[k] == 0.0:
        K_d -= 1
        topics[where[k]] = topics[K_d]
        where[topics[K_d]] = where[k]
    return M - share[k], K_d


@njit(nogil=True, cache=True)
def fold_documents(
    lo, hi, doc_ptr, word, burn_in, kept, raised, first, topic, weight, share, beta, alpha, prior,
    key_a, key_b, ends, found, mean,
):  # fmt: skip
    """Sample topics of some documents; write the mean counts over the last `kept` sweeps.

    Sweep s of the burn-in draws at raised[s] alpha. Topics of document d and their mean counts go
    to found and mean, from ends[d - lo] to ends[d - lo + 1], in increasing order of topic.
    """
    K = len(alpha)
    m = np.zeros(K, np.float64)
    topics, where = np.empty(K, np.uint16), np.empty(K, np.int64)
    running = np.empty(K + 1, np.float64)
    total = np.zeros(K, np.int64)
    longest = 0
    for d in range(lo, hi):
        longest = max(longest, doc_ptr[d + 1] - doc_ptr[d])
    z = np.empty(longest, np.int64)
    at = 0
    ends[0] = 0
    for d in range(lo, hi):
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        a = key_a ^ hash_words(word, begin, end)
        M, K_d = 0.0, 0
        draw = np.uint64(0)
        for sweep in range(burn_in + kept):  # the first one brings the tokens in
            c = raised[sweep] if sweep < burn_in else 1.0
            for i in range(begin, end):
                v = word[i]
                if sweep > 0:
                    M, K_d = leave(z[i - begin], M, K_d, share, m, topics, where)
                Q, all_ = weigh(v, M, first, topic, weight, beta, alpha, prior, c, m, running)
                u = unit(bits(a, key_b, draw)) * all_
                draw += np.uint64(1)
                k = choose(v, u, Q, M, first, topic, share, beta, prior, c, m, topics, K_d, running)
                z[i - begin] = k
                M, K_d = enter(k, M, K_d, share, m, topics, where)
            if sweep >= burn_in:
                for j in range(K_d):
                    total[topics[j]] += np.int64(m[topics[j]])
        for j in range(K_d):
            m[topics[j]] = 0.0
        for k in range(K):
            if total[k] > 0:
                found[at] = k
                mean[at] = total[k] / kept
                total[k] = 0
                at += 1
        ends[d - lo + 1] = at


@njit(cache=True)
def average_particles(p):
    """Return log p(w) and its error, given p[i, r] of token i by particle r."""
    particles = p.shape[1]
    level = 0.0
    without = np.zeros(particles, np.float64)  # log p by all particles but one
    for i in range(len(p)):
        sum_i = p[i].sum()
        level += log_of(sum_i / particles)
        if particles > 1:
            for r in range(particles):
                without[r] += log_of((sum_i - p[i, r]) / (particles - 1))
    if particles == 1:
        return level, np.nan
    spread = ((without - without.mean()) ** 2).sum()  # the jackknife over particles
    return level, np.sqrt((particles - 1) / particles * spread)


@njit(nogil=True, cache=True)
def average_documents(lo, hi, doc_ptr, p, level, error):
    """Write `average_particles` of some documents; p holds a row for each token."""
    for d in range(lo, hi):
        level[d], error[d] = average_particles(p[doc_ptr[d] : doc_ptr[d + 1]])


@njit(nogil=True, cache=True)
def score_left_to_right(
    lo, hi, doc_ptr, word, particles, first, topic, weight, share, beta, alpha, prior,
    key_a, key_b, level, error,
):  # fmt: skip
    """Estimate log p(w) of some documents, left to right; see `polyaurn.evaluate.left_to_right`."""
    K = len(alpha)
    m = np.zeros(K, np.float64)
    topics, where = np.empty(K, np.uint16), np.empty(K, np.int64)
    running = np.empty(K + 1, np.float64)
    alpha_all = alpha.sum()
    for d in range(lo, hi):
        begin, n_d = doc_ptr[d], doc_ptr[d + 1] - doc_ptr[d]
        a = key_a ^ hash_words(word, begin, begin + n_d)
        p = np.empty((n_d, particles), np.float64)
        z = np.empty(n_d, np.int64)
        draw = np.uint64(0)
        for r in range(particles):
            M, K_d = 0.0, 0
            for i in range(n_d):
                for t in range(i + 1):  # the tokens before it once more, then token i itself
                    v = word[begin + t]
                    if t < i:
                        M, K_d = leave(z[t], M, K_d, share, m, topics, where)
                    Q, all_ = weigh(v, M, first, topic, weight, beta, alpha, prior, 1.0, m, running)
                    u = unit(bits(a, key_b, draw)) * all_
                    draw += np.uint64(1)
                    k = choose(
                        v, u, Q, M, first, topic, share, beta, prior, 1.0, m, topics, K_d, running
                    )
                    z[t] = k
                    M, K_d = enter(k, M, K_d, share, m, topics, where)
                p[i, r] = all_ / (i + alpha_all)
            for j in range(K_d):
                m[topics[j]] = 0.0
        level[d], error[d] = average_particles(p)


@njit(nogil=True, cache=True)
def score_tokens(
    lo, hi, doc_ptr, word, first, topic, weight, share, beta, alpha,
    seen_tokens, mean_ptr, mean_topic, mean, level,
):  # fmt: skip
    """Write log p of tokens given mixtures (mean + alpha) / (seen tokens + sum of alpha)."""
    K = len(alpha)
    alpha_all = alpha.sum()
    theta = np.empty(K, np.float64)
    prior_share = 0.0
    for k in range(K):
        prior_share += alpha[k] * share[k]
    theta[:] = alpha
    for d in range(lo, hi):
        spread = prior_share
        for j in range(mean_ptr[d], mean_ptr[d + 1]):
            theta[mean_topic[j]] += mean[j]
            spread += mean[j] * share[mean_topic[j]]
        level[d] = 0.0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            v = word[i]
            p = beta[v] * spread
            for j in range(first[v], first[v + 1]):
                p += weight[j] * theta[topic[j]]
            level[d] += np.log(p / (seen_tokens[d] + alpha_all))
        for j in range(mean_ptr[d], mean_ptr[d + 1]):
            theta[mean_topic[j]] = alpha[mean_topic[j]]
