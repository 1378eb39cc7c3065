"""What a model of document clusters has besides its topics: in which cluster each document is."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64, U16

NO_MIXTURE = 1e-6  # alpha of a document's topics: it has the one of its cluster


class Clusters(NamedTuple):
    """Clusters of a chain, and their numbers as topics of the model.

    Clusters without a document are no topics. The model's ``priors.alpha`` is that of topics in a
    document, next to nothing; `alpha` is the concentration of clusters.

    Attributes
    ----------
    draws : CSR matrix of int32, D by clusters of the chain
        In how many of the draws each document was in each cluster.
    topic : ndarray of int64
        The topic of each cluster of the chain, -1 for those without one.
    last : ndarray of uint16, length D
        The cluster of each document where the chain ended.
    alpha : float
        Concentration of clusters.
    """

    draws: sp.csr_matrix
    topic: I64
    last: U16
    alpha: float

    def labels(self) -> I64:
        """Return the topic of each document; -1 for those without words."""
        return np.where(np.diff(self.draws.indptr) > 0, self.topic[leading_columns(self.draws)], -1)

    def probabilities(self, n_topics: int) -> sp.csr_matrix:
        """Return the share of the draws in which each document was in each topic's cluster."""
        kept = np.flatnonzero(self.topic >= 0)
        cells = (np.ones(len(kept)), (kept, self.topic[kept]))
        shares = sp.csr_matrix(self.draws @ sp.csr_matrix(cells, shape=(len(self.topic), n_topics)))
        shares.sort_indices()
        total = np.asarray(shares.sum(axis=1)).ravel()
        shares.data = shares.data / np.repeat(total, np.diff(shares.indptr))
        return shares

    def merged(self, group: I64) -> "Clusters":
        """Return the clusters of a model whose topic k has become topic ``group[k]``."""
        return self._replace(topic=np.where(self.topic >= 0, group[self.topic], -1))


def by_size(draws: sp.csr_matrix, last: U16, alpha: float) -> Clusters:
    """Return clusters; those that lead in a document are topics, the largest first."""
    found = leading_columns(draws)[np.diff(draws.indptr) > 0]
    sizes = np.bincount(found, minlength=draws.shape[1])
    order = np.argsort(-sizes, kind="stable")
    topic = np.full(len(sizes), -1, np.int64)
    kept = order[sizes[order] > 0]
    topic[kept] = np.arange(len(kept))
    return Clusters(draws.astype(np.int32), topic, last, float(alpha))


def leading_columns(matrix: sp.csr_matrix) -> I64:
    """Return the column of the largest number of each row, the first of equal ones."""
    rows = matrix.sorted_indices()
    lengths = np.diff(rows.indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((rows.indices, -rows.data, row))
    found = np.zeros(len(lengths), np.int64)
    found[lengths > 0] = rows.indices[order[rows.indptr[:-1][lengths > 0]]]
    return found


def arrays_of(clusters: Clusters) -> dict[str, Any]:
    """Return the arrays that a model folder has of clusters."""
    parts = {f"clusters.{p}": getattr(clusters.draws, p) for p in ("data", "indices", "indptr")}
    alpha: F64 = np.array([clusters.alpha])
    return parts | {"clusters.topic": clusters.topic, "clusters.last": clusters.last,
                    "clusters.alpha": alpha}  # fmt: skip
