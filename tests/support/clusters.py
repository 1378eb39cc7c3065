"""Document clusters on small corpora: enumeration, joint draws, planted clusters."""

from itertools import product

import numpy as np
from scipy.special import gammaln

from polyaurn import Corpus, datasets
from polyaurn.backends.cpu import clusters
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from support.chains import digits, number
from support.faults import plant
from support.p_values import chi_square_p

SHAPES = {
    "short": ([[2, 1, 0], [0, 1, 2], [1, 0, 1], [0, 0, 1], [2, 0, 0]], [0.4, 0.7], [0.3, 0.2, 0.4]),
    "an empty document": ([[2, 1], [0, 0], [1, 2], [1, 0]], [0.3, 0.3, 0.5], 0.5),
    "one cluster": ([[1, 1], [2, 0]], [0.7], 0.1),
    "repeated words": ([[4, 0], [0, 3], [3, 1], [1, 1]], [0.5, 0.5], 0.3),
}


def steps_with(*changes):
    """Return steps whose kernels have a fault; without any, sound ones."""
    if not changes:
        return clusters.Steps
    module, kernels = plant("clusters"), plant("cluster_kernels", *changes)
    module.draw_in_turn = kernels.draw_in_turn
    return module.Steps


def setting(shape):
    """Return a corpus, its priors, and the enumerated posterior of clusters."""
    counts, alpha, beta = SHAPES[shape]
    corpus = Corpus.from_matrix(counts)
    priors = make_priors(alpha, beta, len(alpha), corpus.n_words)
    there = np.flatnonzero(np.diff(corpus.doc_ptr))
    matrix = corpus.to_matrix().toarray()[there]
    logs = [log_joint(matrix, np.array(z), priors)
            for z in product(range(len(alpha)), repeat=len(there))]  # fmt: skip
    p = np.exp(np.array(logs) - max(logs))
    return corpus, priors, p / p.sum()


def log_joint(matrix, z, priors):
    """Log p(w, z) from dense matrices, documents by words."""
    alpha, beta = priors.alpha, priors.beta
    K, V = len(alpha), len(beta)
    n = np.zeros((K, V))
    np.add.at(n, z, matrix)
    m = np.bincount(z, minlength=K)
    words = K * (gammaln(beta.sum()) - gammaln(beta).sum())
    words += gammaln(n + beta).sum() - gammaln((n + beta).sum(axis=1)).sum()
    documents = gammaln(alpha.sum()) - gammaln(alpha).sum() + gammaln(m + alpha).sum()
    return float(words + documents - gammaln(len(z) + alpha.sum()))


def tokens_of(z, corpus):
    """Return topics of tokens, from the clusters of documents that have words."""
    lengths = np.diff(corpus.doc_ptr)
    return np.repeat(z.astype(np.uint16), lengths[lengths > 0])


def after_one_sweep(made, shape, draws):
    """Start from independent draws of the posterior, sweep once; return the p-value of the result.

    It should be draws of the posterior again.
    """
    corpus, priors, p = setting(shape)
    K, steps = len(priors.alpha), made(corpus, len(priors.alpha))
    there = np.flatnonzero(np.diff(corpus.doc_ptr))
    rng = np.random.default_rng(7)
    starts = digits(rng.choice(len(p), size=draws, p=p), K, len(there))
    ends = []
    for t, start in enumerate(starts):
        z = tokens_of(start, corpus)
        state = sweep(State(z, steps.count(z), priors, t), steps, PLAIN, 1)[0]
        ends.append(state.z[corpus.doc_ptr[:-1][there]])
    return chi_square_p(np.bincount(number(np.array(ends), K), minlength=len(p)), p)


def planted(n_documents=600, n_words=400, n_clusters=8, length=10.0, seed=0):
    """Return texts whose clusters are known, as a corpus and a number for each document."""
    corpus, truth = datasets.generate(
        n_documents, n_words, n_clusters, length, doc_topic_prior=1e-9, random_state=seed,
        topic_concentration=30.0, return_truth=True,
    )  # fmt: skip
    there = np.diff(corpus.doc_ptr) > 0
    labels = np.full(n_documents, -1)
    labels[there] = truth.z[corpus.doc_ptr[:-1][there]]
    return corpus, labels
