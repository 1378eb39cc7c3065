"""New documents given fixed topics: what backends receive and return."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.backends.variates import exp_of, log_of
from polyaurn.base.arrays import F64, I64, U16
from polyaurn.chain.priors import topic_word_mass
from polyaurn.chain.state import Priors

OnDone = Callable[[tuple[Any, ...]], None] | None  # called with each range of documents done
Part = tuple[I64, U16, F64]  # topics per document, those topics in increasing order, mean counts

SMALL, RAISED = 0.5, 10.0  # a sum of alpha that is annealed, and where that begins


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


def raised_alpha(alpha: F64, burn_in: int) -> F64:
    """Return what alpha is multiplied by in each sweep of the burn-in, falling geometrically to 1.

    Where alpha is tiny, the topics of the first tokens draw all others after them, and a few
    sweeps cannot leave what they chose. So the sum of alpha begins at `RAISED`; sweeps that are
    averaged have alpha itself. From a sum of `SMALL` on, chains mix, and all factors are 1.
    """
    total = float(alpha.sum())
    factors = np.ones(burn_in)
    if 0.0 < total < SMALL:
        logarithm = log_of(RAISED) - log_of(total)
        for sweep in range(burn_in):
            factors[sweep] = exp_of(logarithm * (burn_in - sweep) / burn_in)
    return factors
