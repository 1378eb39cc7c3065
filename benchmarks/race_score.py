"""The race's two scores, from counts and priors that any package can report.

`n` are counts of topics by words, `m` of documents by topics, `alpha` has one value per topic.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

SPLIT_SEED, HALVES_SEED = 7, 0
MOST_DOCUMENTS, STEPS = 1500, 50
LEAST = 1e-300  # keeps logarithms and divisions finite


def split(counts: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Return the documents to train on, and the tenth of them that is held out."""
    D = counts.shape[0]
    held = np.zeros(D, bool)
    held[np.random.default_rng(SPLIT_SEED).permutation(D)[: D // 10]] = True
    return counts[~held], counts[held]


def completion(
    n: sp.csr_matrix, test: sp.csr_matrix, alpha: np.ndarray, beta: float, steps: int = STEPS
) -> float:
    """Return the mean log probability of held-out tokens, given the others of their document.

    Every token is seen or scored with probability 1/2. The mixture of topics is found from the seen
    ones by expectation maximisation with `alpha` as pseudo-counts. Documents without a token of
    either kind are left out. NaN where none remains.
    """
    rng, V = np.random.default_rng(HALVES_SEED), n.shape[1]
    by_word = n.tocsc().astype(float)
    totals = np.asarray(n.sum(axis=1), float).ravel() + V * beta
    level, tokens = 0.0, 0
    D = test.shape[0]
    for d in rng.choice(D, min(MOST_DOCUMENTS, D), replace=False):
        row = slice(test.indptr[d], test.indptr[d + 1])
        words, counts = test.indices[row], test.data[row]
        seen = rng.binomial(counts, 0.5)
        scored = counts - seen
        if not seen.any() or not scored.any():
            continue
        phi = (by_word[:, words].toarray() + beta) / totals[:, None]
        theta = mixture(phi, seen, alpha, steps)
        level += float(scored @ np.log(np.maximum(theta @ phi, LEAST)))
        tokens += int(scored.sum())
    return level / tokens if tokens else float("nan")


def mixture(phi: np.ndarray, counts: np.ndarray, alpha: np.ndarray, steps: int) -> np.ndarray:
    """Return a document's mixture after so many steps of expectation maximisation."""
    theta = alpha / alpha.sum()
    total = counts.sum() + alpha.sum()
    for _ in range(steps):
        expected = theta * (phi @ (counts / np.maximum(theta @ phi, LEAST)))
        theta = (expected + alpha) / total
    return theta


def log_joint(n: sp.csr_matrix, m: sp.csr_matrix, alpha: np.ndarray, beta: float) -> float:
    """Return log p(w, z) per training token."""
    K, V = n.shape
    D = m.shape[0]
    per_topic, per_document = (np.asarray(x.sum(axis=1), float).ravel() for x in (n, m))
    own = alpha[m.indices]
    words = np.sum(gammaln(n.data + beta) - gammaln(beta))
    words += K * gammaln(V * beta) - np.sum(gammaln(per_topic + V * beta))
    topics = np.sum(gammaln(m.data + own) - gammaln(own))
    topics += D * gammaln(alpha.sum()) - np.sum(gammaln(per_document + alpha.sum()))
    return float((words + topics) / per_topic.sum())


def count(
    document: np.ndarray, word: np.ndarray, topic: np.ndarray, shape: tuple[int, int], topics: int
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Return n and m of tokens, for documents by words of a shape."""
    one = np.ones(len(topic), np.int32)
    n = sp.csr_matrix((one, (topic, word)), shape=(topics, shape[1]))
    return n, sp.csr_matrix((one, (document, topic)), shape=(shape[0], topics))
