"""Documents of topics that drift: one changes its words halfway, and another grows."""

import numpy as np

from polyaurn import Corpus

WORDS, SLICES, CHANGE = 90, 6, 3  # the first slice with the new words
BLOCK = 15


def planted(t):
    """Return the topics, 3 by words, and their shares in slice t."""
    phi = np.zeros((3, WORDS))
    first = 0 if t < CHANGE else BLOCK
    phi[0, first : first + BLOCK] = 1.0
    phi[0, 2 * BLOCK : 3 * BLOCK] = 0.5  # words that it keeps
    phi[1, 3 * BLOCK : 4 * BLOCK] = phi[2, 4 * BLOCK :] = 1.0
    phi = (phi + 0.002) / (phi + 0.002).sum(axis=1, keepdims=True)
    growing = 0.15 + 0.1 * t
    return phi, np.array([(1 - growing) / 2, growing, (1 - growing) / 2])


def drifting(seed, per_slice=150, length=30):
    """Return a corpus, the year of each document, and the shares of topics in each slice."""
    rng = np.random.default_rng(seed)
    rows, years, shares = [], [], []
    for t in range(SLICES):
        phi, size = planted(t)
        theta = rng.dirichlet(size * 1.0, per_slice)
        rows += [rng.multinomial(length, row @ phi) for row in theta]
        years += [2001 + t] * per_slice
        shares.append(theta.mean(axis=0))
    vocab = [f"w{v:02d}" for v in range(WORDS)]
    order = rng.permutation(len(rows))
    corpus = Corpus.from_matrix(np.array(rows)[order], vocab)
    return corpus, [years[d] for d in order], np.array(shares)
