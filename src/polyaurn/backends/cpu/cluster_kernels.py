"""Clusters of documents, compiled: what each cluster weighs for a document, and draws from that.

Theta and Phi are integrated out. A document of the words w_0, w_1, ... takes cluster k with weight

    (alpha[k] + m[k]) prod_t (beta + n[k, w_t] + i_t) / (n[k] + sum of beta + t),

itself left out of the documents m and the tokens n of clusters; i_t counts earlier tokens of the
same word in the document. The factors of a word without tokens in a cluster are the same for all
clusters. So the weight is that of a length, which is in a table, times one factor for each cluster
that the word was seen in, 1 + n / (beta + i): a walk over its column of counts.

Weights of up to `len(base) - 1` tokens stay within the range of floating-point numbers. A longer
document is weighed in parts, whose logarithms are added.
"""

import numpy as np

from polyaurn.backends.variates import bits, exp_of, log_of, unit
from polyaurn.base.compilation import njit

BLOCK = 16  # clusters whose weights are summed together: sums of blocks need not wait for others


@njit(nogil=True, cache=True)
def spread(first, last, topic, number, offset, used, out_topic, out_number):
    """Copy columns of counts to where each has space for all clusters its word may be in."""
    for v in range(len(first)):
        start = offset[v] - first[v]
        used[v] = last[v] - first[v]
        for j in range(first[v], last[v]):
            out_topic[start + j] = topic[j]
            out_number[start + j] = number[j]


@njit(nogil=True, cache=True)
def count_documents(doc_ptr, z, m, n_k):
    """Count documents and tokens of clusters; documents without tokens are in none."""
    for d in range(len(z)):
        if doc_ptr[d + 1] > doc_ptr[d]:
            m[z[d]] += 1
            n_k[z[d]] += doc_ptr[d + 1] - doc_ptr[d]


@njit(nogil=True, cache=True)
def fill_base(k, m, n_k, alpha, beta_sum, scale, base):
    """Write what cluster k weighs for a document of each length whose words are not in it."""
    x = m[k] + alpha[k]
    base[0, k] = x
    for t in range(len(base) - 1):
        x *= scale / (n_k[k] + (beta_sum + t))
        base[t + 1, k] = x


@njit(nogil=True, cache=True)
def fill_bases(m, n_k, alpha, beta_sum, scale, base):
    """Fill the table of weights by length, for all clusters."""
    for k in range(len(m)):
        fill_base(k, m, n_k, alpha, beta_sum, scale, base)


@njit(nogil=True, cache=True)
def multiply(begin, lo, hi, word, offset, used, topic, number, beta, weight):
    """Multiply weights by the factors of tokens lo to hi of a document that begins at `begin`.

    A factor is (n + prior) / prior, where n is not zero.
    """
    i = 0
    for t in range(begin, hi):
        v = word[t]
        i = i + 1 if t > begin and word[t - 1] == v else 0
        if t < lo:
            continue
        prior = beta[v] + i
        inverse = 1.0 / prior
        start = np.uint64(offset[v])
        for j in range(start, start + np.uint64(used[v])):
            weight[np.uint64(topic[j])] *= (number[j] + prior) * inverse


@njit(nogil=True, cache=True)
def weigh(
    begin, end, word, offset, used, topic, number, m, n_k, alpha, beta, beta_sum, scale, base,
    weight, score,
):  # fmt: skip
    """Fill the weights of clusters for a document, up to a factor; return that factor's logarithm.

    For a long document `score` is filled with logarithms.
    """
    K, part = len(weight), len(base) - 1
    if end - begin <= part:
        weight[:] = base[end - begin]
        multiply(begin, begin, end, word, offset, used, topic, number, beta, weight)
        return 0.0
    for k in range(K):
        score[k] = log_of(m[k] + alpha[k])
    for lo in range(begin, end, part):
        hi = min(lo + part, end)
        weight[:] = 1.0
        for t in range(lo - begin, hi - begin):
            for k in range(K):
                weight[k] *= scale / (n_k[k] + (beta_sum + t))
        multiply(begin, lo, hi, word, offset, used, topic, number, beta, weight)
        for k in range(K):
            score[k] += log_of(weight[k])
    most = score.max()
    for k in range(K):
        weight[k] = exp_of(score[k] - most)
    return most


@njit(nogil=True, cache=True)
def choose(weight, sums, u):
    """Return the cluster in which the running sum of weights passes the share u of their total."""
    K, total = len(weight), 0.0
    for b in range(len(sums)):
        s = 0.0
        for k in range(b * BLOCK, min(K, (b + 1) * BLOCK)):
            s += weight[k]
        sums[b] = s
        total += s
    u *= total
    b = 0
    while b < len(sums) - 1 and u >= sums[b]:
        u -= sums[b]
        b += 1
    k, last = b * BLOCK, min(K, (b + 1) * BLOCK) - 1
    while k < last and u >= weight[k]:
        u -= weight[k]
        k += 1
    return k


@njit(nogil=True, cache=True)
def find(k, v, offset, used, topic):
    """Return the place of a cluster in a word's column; the column's end if it is not there."""
    j, end = np.uint64(offset[v]), np.uint64(offset[v] + used[v])
    while j < end and topic[j] != k:
        j += np.uint64(1)
    return np.int64(j)


@njit(nogil=True, cache=True)
def shift(v, k, step, offset, used, topic, number):
    """Add a token of a word to a cluster, or remove one; large counts drift to the front."""
    j = find(k, v, offset, used, topic)
    if j == offset[v] + used[v]:
        topic[j], number[j] = k, 0
        used[v] += 1
    number[j] += step
    if number[j] == 0:
        used[v] -= 1
        last = offset[v] + used[v]
        topic[j], number[j] = topic[last], number[last]
    elif j > offset[v] and number[j] > number[j - 1]:
        topic[j], topic[j - 1] = topic[j - 1], topic[j]
        number[j], number[j - 1] = number[j - 1], number[j]


@njit(nogil=True, cache=True)
def move(begin, end, word, k, step, offset, used, topic, number, m, n_k):
    """Add a document to a cluster, or remove it."""
    for t in range(begin, end):
        shift(word[t], k, step, offset, used, topic, number)
    m[k] += step
    n_k[k] += step * (end - begin)


@njit(nogil=True, cache=True)
def draw_in_turn(
    doc_ptr, word, z, offset, used, topic, number, m, n_k, alpha, beta, beta_sum, scale, base, a, b
):
    """Draw the cluster of each document given all others; return how many cells were looked at."""
    K = len(m)
    weight, score = np.empty(K), np.empty(K)
    sums = np.empty((K + BLOCK - 1) // BLOCK)
    work = 0
    fill_bases(m, n_k, alpha, beta_sum, scale, base)
    for d in range(len(z)):
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        if begin == end:
            continue
        k = np.int64(z[d])
        move(begin, end, word, k, -1, offset, used, topic, number, m, n_k)
        fill_base(k, m, n_k, alpha, beta_sum, scale, base)
        weigh(begin, end, word, offset, used, topic, number, m, n_k, alpha, beta, beta_sum, scale,
              base, weight, score)  # fmt: skip
        work += K
        for t in range(begin, end):
            work += used[word[t]]
        k = choose(weight, sums, unit(bits(a, b, d)))
        move(begin, end, word, k, 1, offset, used, topic, number, m, n_k)
        fill_base(k, m, n_k, alpha, beta_sum, scale, base)
        z[d] = k
    return work


@njit(nogil=True, cache=True)
def fill_probabilities(
    lo, hi, doc_ptr, word, first, used, topic, number, m, n_k, alpha, beta, beta_sum, scale, base,
    probability, level,
):  # fmt: skip
    """Fill the probabilities of clusters for documents lo to hi, and their log likelihoods.

    Counts and clusters stay as they are.
    """
    K = len(m)
    score = np.empty(K)
    documents = 0.0
    for k in range(K):
        documents += m[k] + alpha[k]
    for d in range(lo, hi):
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        weight = probability[d - lo]
        factor = weigh(begin, end, word, first, used, topic, number, m, n_k, alpha, beta, beta_sum,
                       scale, base, weight, score)  # fmt: skip
        total = 0.0
        for k in range(K):
            total += weight[k]
        for k in range(K):
            weight[k] /= total
        factor += log_of(total) - log_of(documents) - (end - begin) * log_of(scale)
        i = 0
        for t in range(begin, end):
            i = i + 1 if t > begin and word[t - 1] == word[t] else 0
            factor += log_of(beta[word[t]] + i)
        level[d] = factor
