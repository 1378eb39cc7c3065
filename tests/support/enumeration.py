"""One sweep from enumerated draws of the posterior of a tiny corpus."""

import numpy as np

from polyaurn import Corpus
from polyaurn.chain.priors import make_priors
from support.chains import digits, enumerate_posterior, number, one_step
from support.p_values import chi_square_p

SHAPES = {
    "one document": ([[2, 1, 2]], [0.5, 0.5], 0.3),
    "one word": ([[3], [2]], [0.4, 0.8], 0.5),
    "an empty document": ([[2, 1], [0, 0], [1, 2]], [0.3, 0.3], 0.2),
    "one topic": ([[2, 1], [1, 1]], [0.7], 0.1),
    "three topics": ([[1, 1, 0], [0, 1, 2]], [0.2, 0.5, 0.3], 0.4),
    "asymmetric": ([[2, 1, 0], [0, 1, 2], [0, 0, 1]], [0.3, 0.7], [0.1, 0.2, 0.4]),
}
BEFORE = {  # with pseudo-counts
    "fractions": ([[2, 1, 0], [0, 1, 2]], [0.3, 0.7], [0.1, 0.2, 0.4],
                  [[1.7, 0, 0.4], [0.3, 2.6, 0]]),
    "an empty topic": ([[2, 1], [1, 2]], [0.5, 0.4], 0.1, [[0.25, 0.15], [0, 0]]),
}  # fmt: skip
FOR_PROPOSALS = {"unlike documents": ([[3, 0], [1, 2], [0, 1]], [0.1, 0.9], [0.05, 0.3])}


def setting(shape):
    """Return a corpus, its priors, and the enumerated posterior."""
    counts, alpha, beta, *before = (SHAPES | FOR_PROPOSALS | BEFORE)[shape]
    corpus = Corpus.from_matrix(counts)
    pseudo = np.array(before[0]) if before else None
    priors = make_priors(alpha, beta, len(alpha), corpus.n_words, pseudo=pseudo)
    return corpus, priors, enumerate_posterior(corpus, priors)


def after_one_sweep(made, shape, draws, pseudo=..., **options):
    """Start from independent draws of the posterior, sweep once; return the p-value of the result.

    It should be draws of the posterior again. They are independent, so that chi-square needs no
    thinning. Given `pseudo`, the sweep is under these pseudo-counts, wrongly.
    """
    corpus, priors, p = setting(shape)
    K = len(priors.alpha)
    steps = made(corpus, K, **options)
    if pseudo is not ...:
        priors = make_priors(*priors[:2], K, corpus.n_words, pseudo=pseudo)
    rng = np.random.default_rng(7)
    starts = digits(rng.choice(len(p), size=draws, p=p), K, corpus.n_tokens)
    ends = np.array([one_step(steps, priors, z, 1, t).z for t, z in enumerate(starts)])
    return chi_square_p(np.bincount(number(ends, K), minlength=len(p)), p)
