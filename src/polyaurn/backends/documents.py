"""New documents against topics that stay as they are: what backends are given and return."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64, U16
from polyaurn.chain.priors import topic_word_mass
from polyaurn.chain.state import Priors

OnDone = Callable[[tuple[Any, ...]], None] | None  # called with each range of documents done
Part = tuple[I64, U16, F64]  # topics per document, those topics in increasing order, mean counts


class Topics(NamedTuple):
    """What fold-in reads of a model; the column of word v is [first[v], first[v + 1])."""

    first: I64
    topic: U16
    weight: F64  # n times share
    share: F64
    beta: F64
    alpha: F64
    prior: F64  # running sums of alpha times share


def fix_topics(topic_word_counts: sp.csr_matrix, priors: Priors) -> Topics:
    """Return what fold-in reads of the counts n, topics by words; n has the pseudo-counts in it."""
    mass = topic_word_mass(topic_word_counts, priors)
    columns = mass.tocsc().sorted_indices()
    sizes = np.asarray(mass.sum(axis=1), np.float64).ravel()
    share = 1.0 / (sizes + priors.beta.sum())
    return Topics(
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.uint16),
        columns.data * share[columns.indices],
        share,
        np.array(priors.beta),
        np.array(priors.alpha),
        np.cumsum(priors.alpha * share),
    )
