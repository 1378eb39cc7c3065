"""Draws of (Phi, z, w) from the model, and what is measured on them."""

import numpy as np

from polyaurn import Corpus
from polyaurn.chain.state import Priors

LENGTHS = np.array([2, 0, 3, 2, 2, 1, 3, 2, 2, 3])  # short, so that leaving a token out matters
PTR = np.concatenate(([0], np.cumsum(LENGTHS)))
DOC = np.repeat(np.arange(len(LENGTHS)), LENGTHS)


def from_prior(priors: Priors, rng: np.random.Generator):
    """Draw Phi, z and w from the generative model; tokens sorted by word inside documents."""
    alpha, beta = priors.alpha, priors.beta
    phi = rng.dirichlet(beta, size=len(alpha))
    theta = rng.dirichlet(alpha, size=len(LENGTHS))
    z = pick(theta[DOC], rng)
    return phi, *sort_tokens(z, pick(phi[z], rng))


def pick(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column for each row of probabilities."""
    edges = np.cumsum(p, axis=1)
    return (rng.random((len(p), 1)) * edges[:, -1:] >= edges).sum(axis=1)


def sort_tokens(z: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((w, DOC))
    return z[order].astype(np.uint16), w[order].astype(np.int32)


def make_corpus(w: np.ndarray, V: int) -> Corpus:
    return Corpus(PTR, w, tuple(f"w{v}" for v in range(V)))


def statistics(phi: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return eight functions of (Phi, z, w), none of which depends on the order of tokens."""
    K, V = phi.shape
    n = np.zeros((K, V))
    np.add.at(n, (z, w), 1)
    m = np.zeros((len(LENGTHS), K))
    np.add.at(m, (DOC, z), 1)
    share = n.sum(axis=1) / len(z)
    pairs = (m * (m - 1)).sum() / (LENGTHS * (LENGTHS - 1)).sum()
    return np.array([
        n[0, 0] / len(z),  # topic 0 with word 0
        (share**2).sum(),  # how even topics are
        pairs,  # two tokens of a document share their topic
        phi[0, 0],
        (phi**2).sum(),  # how peaked topics are
        (w == 0).mean(),
        ((n.sum(axis=0) / len(z)) ** 2).sum(),  # how even words are
        np.log(phi[z, w] + 1e-12).clip(-8).mean(),  # likelihood of a token
    ])  # fmt: skip
