"""Clusters of documents: a topic for each document, Theta and Phi integrated out.

Documents are drawn one after another, each given all others: the textbook's collapsed Gibbs
sampler, whose stationary distribution is the posterior. It runs on one thread, since every draw
needs the one before; threads count words, score, and find clusters of new documents.
"""

from typing import Any

import numpy as np

from polyaurn.backends.cpu.cluster_kernels import (
    count_documents,
    draw_in_turn,
    spread,
)
from polyaurn.backends.cpu.log_posterior import (
    log_rising,
    scores_of_words,
    total_score,
    word_ranges,
)
from polyaurn.backends.cpu.steps import CollapsedSteps
from polyaurn.backends.variates import log_of
from polyaurn.base.arrays import F64, I64, U16, empty
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, below, bits, key
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import learn_beta, learn_symmetric
from polyaurn.chain.schedule import Plan
from polyaurn.chain.state import Counts, Priors, State, Work
from polyaurn.chain.steps import Address
from polyaurn.corpus.corpus import Corpus

SHORT = 64  # tokens that are weighed together, at most
_BITS = 900.0  # powers of two that a weight may take, up and down


class Steps(CollapsedSteps):
    """Steps of document clusters; the tokens of a document all have its cluster as their topic."""

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        workers: Workers | None = None,
        **options: Any,
    ) -> None:
        super().__init__(corpus, n_topics, workers, **options)
        self.lengths = np.diff(corpus.doc_ptr)
        capacity = np.minimum(self.layout.word_tokens, n_topics)
        self._offset = np.concatenate(([0], np.cumsum(capacity)))

    def start(self, seed: int, blocks: I64 | None = None) -> U16:
        """Draw first clusters uniformly."""
        random = bits(key(seed, 0, Purpose.START), np.arange(self.corpus.n_documents))
        return np.repeat(below(random, self.layout.n_topics).astype(np.uint16), self.lengths)

    def clusters_of(self, z: U16) -> U16:
        """Return the cluster of each document; 0 for those without tokens."""
        found = np.zeros(self.corpus.n_documents, np.uint16)
        there = self.lengths > 0
        found[there] = z[self.layout.doc_ptr[:-1][there]]
        if (np.repeat(found, self.lengths) != z).any():
            raise InputError(
                "The tokens of a document must all have its cluster as their topic. Got several "
                "topics in one document; is the run of another model?"
            )
        return found

    def draw_z(
        self,
        z: U16,
        phi: Counts,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: U16 | None = None,
    ) -> tuple[U16, Counts, Work]:
        """Draw clusters of documents; the counts are passed in Phi's place."""
        new = self.clusters_of(z)
        K, (alpha, beta) = self.layout.n_topics, priors[:2]
        m, n_k = np.zeros(K, np.int64), np.zeros(K, np.int64)
        count_documents(self.layout.doc_ptr, new, m, n_k)
        size = int(self._offset[-1])
        columns = (self._offset, np.empty(len(beta), np.int64), empty(size, np.uint16),
                   empty(size, np.int32))  # fmt: skip
        spread(*phi, *columns)
        scale, base = make_base(int(self.lengths.max(initial=0)), len(z), K, beta)
        steps = draw_in_turn(
            self.layout.doc_ptr, self.layout.word, new, *columns, m, n_k, alpha, beta,
            float(beta.sum()), scale, base,
            *key(address.seed, address.moment, Purpose.CLUSTER),
        )  # fmt: skip
        drawn = np.repeat(new, self.lengths)
        return drawn, self.count(drawn), Work(int(steps))

    def draw_priors(self, state: State, plan: Plan, address: Address) -> Priors:
        """Return the priors as given, or learned: alpha and beta, one number each."""
        if not self.learn_every or state.sweep % self.learn_every:
            return state.priors
        sizes = np.bincount(self.clusters_of(state.z)[self.lengths > 0],
                            minlength=self.layout.n_topics)  # fmt: skip
        alpha = np.full(len(sizes), learn_symmetric(sizes, float(state.priors.alpha[0])))
        beta = np.array(state.priors.beta)
        if plan.heat == 1.0:
            beta[:] = learn_beta(state.counts, state.priors)
        alpha.flags.writeable = beta.flags.writeable = False
        return state.priors._replace(alpha=alpha, beta=beta, learned=True)

    def log_posterior(self, state: State) -> float:
        """Return log p(w, z), Theta and Phi integrated out."""
        there = self.lengths > 0
        alpha = state.priors.alpha
        sizes = np.bincount(self.clusters_of(state.z)[there], minlength=len(alpha))
        documents = [
            log_rising(a, m) for a, m in zip(alpha.tolist(), sizes.tolist(), strict=True) if m
        ]
        documents.append(-log_rising(float(alpha.sum()), int(there.sum())))
        counts, beta = state.counts, state.priors.beta
        words = scores_of_words(word_ranges(self.corpus.n_words), counts, beta, self.workers)
        tokens = np.bincount(counts.topic, counts.number, minlength=len(alpha))
        return total_score(documents, words, tokens, state.priors)


def make_base(longest: int, n_tokens: int, n_topics: int, beta: F64) -> tuple[float, F64]:
    """Return what tokens of clusters are divided by, and an empty table of weights by length.

    The table ends where a product could leave the range of floating-point numbers: its factors are
    between `scale` over all tokens and `scale` over the smallest beta.
    """
    beta_sum = float(beta.sum())
    scale = n_tokens / n_topics + beta_sum
    widest = max(scale / float(beta.min()), (n_tokens + beta_sum) / scale, 2.0)
    most = int(_BITS * log_of(2.0) / log_of(widest))
    return scale, np.empty((1 + max(1, min(SHORT, longest, most)), n_topics))
