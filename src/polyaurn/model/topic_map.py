"""Topics on a plane: near each other where they use the same words. Needs no plotting library."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

MOST_TOPICS = 10_000  # similarities of all pairs are held at once


class TopicMap(NamedTuple):
    """Where topics lie.

    Attributes
    ----------
    positions : ndarray of float64, K by 2
        Around their mean, the wider direction first.
    share : ndarray of float64, length 2
        How much of the spread of all topics each direction shows, from 0 to 1.
    """

    positions: F64
    share: F64


def topic_map(model: "TopicModel") -> TopicMap:
    """Place topics on a plane by classical scaling of their Hellinger distances.

    Parameters
    ----------
    model : TopicModel
        Whose topics, (n + beta) / (sum of n + beta).

    Returns
    -------
    TopicMap
        The same for the same model. In each direction the topic farthest from the middle, the
        first of them, has a positive coordinate.

    Examples
    --------
    >>> import polyaurn
    >>> from polyaurn.model.topic_map import topic_map
    >>> corpus = polyaurn.datasets.generate(n_documents=200, n_words=80, n_topics=4)
    >>> model = polyaurn.LDA(4, max_iter=30, verbose=False).fit(corpus).model_
    >>> topic_map(model).positions.shape
    (4, 2)
    """
    if model.n_topics > MOST_TOPICS:
        raise InputError(
            f"The 'model' parameter must have at most {MOST_TOPICS:,} topics for a map. Got "
            f"{model.n_topics:,}; show some of its topics in another way."
        )
    alike = affinities(model)
    from_row = alike.mean(axis=1)
    inner = alike - from_row[:, None] - from_row[None, :] + from_row.mean()
    inner = (inner + inner.T) / 2
    values, vectors = _largest(inner)
    spread = float(np.trace(inner))
    there = values > 1e-10 * max(1.0, spread)
    length = np.sqrt(np.where(there, values, 0.0))
    share = np.where(there, values, 0.0) / (spread if spread > 0 else 1.0)
    return TopicMap(np.ascontiguousarray(vectors * length), share)


def affinities(model: "TopicModel") -> F64:
    """Return the Bhattacharyya coefficients of all pairs of topics, K by K.

    Square roots of smoothed counts are those of the prior plus something that is zero where the
    counts are, so that time goes by the nonzeros. The squared Hellinger distance is one minus the
    coefficient.

    Parameters
    ----------
    model : TopicModel
        Whose topics.

    Returns
    -------
    ndarray of float64
        From 0 to 1, and 1 on the diagonal.
    """
    n, beta = model.topic_word_mass, model.priors.beta
    root = np.sqrt(beta)
    extra = sp.csr_matrix(
        (np.sqrt(n.data + beta[n.indices]) - root[n.indices], n.indices, n.indptr), shape=n.shape
    )
    along = np.asarray(extra @ root).ravel()
    products = (extra @ extra.T).toarray() + along[:, None] + along[None, :] + beta.sum()
    norm = np.sqrt(np.asarray(n.sum(axis=1), np.float64).ravel() + beta.sum())
    alike: F64 = np.minimum(products / np.outer(norm, norm), 1.0)
    np.fill_diagonal(alike, 1.0)
    return alike


def _largest(inner: F64) -> tuple[F64, F64]:
    """Return the two largest eigenvalues and their vectors, signs fixed, zeros where missing."""
    from scipy.linalg import eigh

    K = len(inner)
    found, columns = eigh(inner, subset_by_index=[max(0, K - 2), K - 1])
    values, vectors = np.zeros(2), np.zeros((K, 2))
    values[: len(found)], vectors[:, : len(found)] = found[::-1], columns[:, ::-1]
    size: Any = np.abs(vectors)
    first = np.argmax(size >= size.max(axis=0) * (1 - 1e-9), axis=0)
    return values, vectors * np.where(vectors[first, [0, 1]] < 0, -1.0, 1.0)
