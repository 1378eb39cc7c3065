"""Document clusters in plain NumPy: slow on purpose, dense, and the oracle.

Sums and products are taken in the order of the compiled kernels, so that both give the same bytes.
"""

import numpy as np

from polyaurn.backends.cpu.cluster_kernels import BLOCK
from polyaurn.backends.cpu.clusters import make_base
from polyaurn.backends.variates import exp_of, log_of
from polyaurn.base.arrays import F64, I64, U16
from polyaurn.base.rng import Purpose, bits, key, unit
from polyaurn.chain.state import Priors
from polyaurn.corpus.corpus import Corpus


class Counted:
    """Documents in clusters: n by word and cluster, and what belongs to it."""

    def __init__(self, corpus: Corpus, z: U16, priors: Priors) -> None:
        self.corpus, self.z = corpus, z.copy()
        self.alpha, self.beta = priors.alpha, priors.beta
        K = len(self.alpha)
        self.n = np.zeros((corpus.n_words, K), np.int64)
        self.m, self.n_k = np.zeros(K, np.int64), np.zeros(K, np.int64)
        for d in range(len(z)):
            self.move(d, int(z[d]), 1)
        lengths = np.diff(corpus.doc_ptr)
        scale, base = make_base(int(lengths.max()), int(lengths.sum()), K, self.beta)
        self.scale, self.part = scale, len(base) - 1
        self.beta_sum = float(self.beta.sum())

    def words(self, d: int) -> I64:
        """Return the words of a document."""
        return self.corpus.word[self.corpus.doc_ptr[d] : self.corpus.doc_ptr[d + 1]].astype(int)

    def move(self, d: int, k: int, step: int) -> None:
        """Add a document to a cluster, or remove it."""
        words = self.words(d)
        np.add.at(self.n[:, k], words, step)
        self.m[k] += step * (len(words) > 0)
        self.n_k[k] += step * len(words)

    def weights(self, words: I64, lo: int, weight: F64) -> F64:
        """Multiply weights by what the words from a place on say, given those before."""
        for t in range(lo, len(words)):
            weight = weight * (self.scale / (self.n_k + (self.beta_sum + t)))
        for t in range(lo, len(words)):
            v = words[t]
            prior = self.beta[v] + int((words[:t] == v).sum())
            factor = (self.n[v] + prior) * (1.0 / prior)
            weight = np.where(self.n[v] > 0, weight * factor, weight)
        return weight

    def weigh(self, d: int) -> F64:
        """Return what each cluster weighs for a document, up to a factor."""
        words = self.words(d)
        if len(words) <= self.part:
            return self.weights(words, 0, self.m + self.alpha)
        score = np.array([log_of(w) for w in self.m + self.alpha])
        for lo in range(0, len(words), self.part):
            part = self.weights(words[: lo + self.part], lo, np.ones(len(score)))
            score += np.array([log_of(w) for w in part])
        return np.array([exp_of(s) for s in score - score.max()])

    def drawn(self, d: int, u: float) -> int:
        """Return the cluster in which the running sum of weights passes a share of their total."""
        weight = self.weigh(d)
        K = len(weight)
        blocks = np.append(weight, np.zeros(-K % BLOCK)).reshape(-1, BLOCK)
        sums = np.add.accumulate(blocks, axis=1)[:, -1]
        u *= np.add.accumulate(sums)[-1]
        b = 0
        while b < len(sums) - 1 and u >= sums[b]:
            u, b = u - sums[b], b + 1
        k = b * BLOCK
        while k < min(K, (b + 1) * BLOCK) - 1 and u >= weight[k]:
            u, k = u - weight[k], k + 1
        return k


def draw_clusters(corpus: Corpus, z: U16, priors: Priors, seed: int, sweep: int) -> U16:
    """Draw the cluster of each document once, in turn."""
    state, draws = Counted(corpus, z, priors), key(seed, sweep, Purpose.CLUSTER)
    for d in np.flatnonzero(np.diff(corpus.doc_ptr)).tolist():
        state.move(d, int(state.z[d]), -1)
        state.z[d] = state.drawn(d, float(unit(bits(draws, d))))
        state.move(d, int(state.z[d]), 1)
    return state.z
