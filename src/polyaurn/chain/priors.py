"""Priors: as users give them, as arrays, and learned from the topics.

Learning puts the values that maximise p(z, w) given the topics in place of the old ones every few
sweeps (Minka's fixed point, as in Wallach, Mimno and McCallum): empirical Bayes, in which the
target of the chain moves with its state, and settles where the two agree. alpha becomes a
number per topic, beta stays one for all words.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma

from polyaurn.base.arrays import F64, I64, positive_vector
from polyaurn.base.errors import InputError
from polyaurn.chain.state import PARTS, Counts, Priors, topic_word_matrix

MOST_PSEUDO = 200_000_000  # pseudo-counts of a cell: with its tokens still below 2**31
STEPS = 200  # most steps of a fixed point
TOLERANCE = 1e-6  # change of a prior, relative, at which it is found
LEAST, MOST = 1e-6, 1e6  # a prior stays between these
_BY_TOPICS = re.compile(r"(\d+\.?\d*|\.\d+)/K")
SMALL = 4_096  # numbers below are counted in a table, larger ones by sorting


def make_priors(
    alpha: Any,
    beta: Any,
    n_topics: int,
    n_words: int | None,
    names: tuple[str, str] = ("doc_topic_prior", "topic_word_prior"),
    pseudo: Any = None,
) -> Priors:
    """Return the priors as vectors of positive numbers, and pseudo-counts by columns.

    `names` are what the user calls the two priors, for error messages; without `n_words`, a vector
    beta may have any length.
    """
    return Priors(
        positive_vector(alpha, n_topics, names[0], "topics"),
        positive_vector(beta, n_words, names[1], "words of the vocabulary"),
        None if pseudo is None else _pseudo(pseudo, (n_topics, n_words or 0)),
    )


def by_topics(alpha: Any, n_topics: int) -> Any:
    """Return the value of a prior such as "50/K" for a number of topics; others unchanged."""
    found = _BY_TOPICS.fullmatch(alpha) if isinstance(alpha, str) else None
    return float(found[1]) / n_topics if found else alpha


def _pseudo(matrix: Any, shape: tuple[int, int]) -> Counts:
    columns = sp.csc_matrix(matrix, dtype=np.float64, copy=True)
    data = columns.data
    ok = columns.shape == shape and ((data >= 0) & (data <= MOST_PSEUDO)).all()
    if not ok:
        given = getattr(matrix, "dtype", type(matrix).__name__)
        raise InputError(
            f"The 'pseudo_counts' parameter must be {shape[0]:,} topics by {shape[1]:,} words, of "
            f"numbers from 0 to {MOST_PSEUDO:,}. Got {columns.shape} of {given} instead."
        )
    columns.sum_duplicates()
    columns.data = np.rint(columns.data * PARTS) / PARTS
    columns.eliminate_zeros()
    number = columns.data
    whole = bool((number == np.floor(number)).all())
    ptr = columns.indptr.astype(np.int64)
    return Counts(
        ptr[:-1].copy(), ptr[1:].copy(), columns.indices.astype(np.uint16),
        number.astype(np.int32) if whole else number,
    )  # fmt: skip


def prior_in_brief(prior: Any) -> float | str:
    """Return a prior as it is written in headers; vectors are stored in arrays."""
    return float(prior) if np.ndim(prior) == 0 else "vector"


def topic_word_mass(n: sp.csr_matrix, priors: Priors) -> sp.csr_matrix:
    """Return counts n, topics by words, with the pseudo-counts: what beta is added to."""
    if priors.pseudo is None:
        return n
    return sp.csr_matrix(n + topic_word_matrix(priors.pseudo, n.shape[0]))


def pseudo_at(n: sp.csr_matrix, priors: Priors) -> Any:
    """Return the pseudo-counts of the cells that n stores, in their order; 0 without any."""
    if priors.pseudo is None:
        return 0
    if not n.nnz:
        return np.zeros(0)
    rows = np.repeat(np.arange(n.shape[0]), np.diff(n.indptr))
    return np.asarray(topic_word_matrix(priors.pseudo, n.shape[0])[rows, n.indices]).ravel()


def pseudo_sizes(priors: Priors) -> F64:
    """Return the pseudo-counts of each topic, summed over words."""
    K = len(priors.alpha)
    if priors.pseudo is None:
        return np.zeros(K)
    sizes = np.bincount(priors.pseudo.topic, priors.pseudo.number, minlength=K)
    return np.asarray(sizes, np.float64)


class Histogram(NamedTuple):
    """How many documents have each number of tokens of each topic, and each length.

    Cell i says that `times[i]` documents have `number[i]` tokens of topic `topic[i]`; cells are in
    increasing order of topic, then number. `documents[j]` documents have `length[j]` tokens, in
    increasing order. Numbers and lengths are positive: documents without tokens say nothing.
    """

    topic: I64
    number: I64
    times: I64
    length: I64
    documents: I64


class Cells(NamedTuple):
    """The counts of topics and words as learning beta needs them.

    `times[i]` cells have `number[i]` tokens, and `pseudo[i]` pseudo-counts beside them; without any
    `pseudo` is 0. `sizes` are the tokens of each topic.
    """

    number: I64
    times: I64
    pseudo: Any
    sizes: Any


def learn_priors(
    found: Histogram,
    counts: Counts,
    priors: Priors,
    cells: Callable[[Counts, Priors], Cells] | None = None,
) -> Priors:
    """Return the priors under which the topics are the most probable: alpha asymmetric.

    `cells` takes the place of `cells_of` where counts are not all here.
    """
    alpha = learn_alpha(found, priors.alpha)
    alpha.flags.writeable = False
    return with_beta_learned(counts, priors, cells)._replace(alpha=alpha)


def with_beta_learned(
    counts: Counts, priors: Priors, cells: Callable[[Counts, Priors], Cells] | None = None
) -> Priors:
    """Return priors with the symmetric beta under which the words of topics are most probable."""
    beta = np.full(len(priors.beta), fit_beta((cells or cells_of)(counts, priors), priors))
    beta.flags.writeable = False
    return priors._replace(beta=beta, learned=True)


def learn_alpha(found: Histogram, alpha: F64) -> F64:
    """Return the asymmetric alpha that fits the topics of documents best.

    Each step multiplies alpha[k] by the sum over documents of digamma(m + alpha[k]) -
    digamma(alpha[k]), over the same for the lengths of documents and the sum of alpha.
    """
    topic, number, times, length, documents = found
    K = len(alpha)
    alpha = np.array(alpha)
    for _ in range(STEPS):
        gain = times * (digamma(number + alpha[topic]) - digamma(alpha)[topic])
        loss = (documents * (digamma(length + alpha.sum()) - digamma(alpha.sum()))).sum()
        before = alpha
        alpha = np.clip(alpha * np.bincount(topic, gain, minlength=K) / loss, LEAST, MOST)
        if np.abs(alpha - before).max() <= TOLERANCE * before.max():
            break
    return alpha


def learn_beta(counts: Counts, priors: Priors) -> float:
    """Return the symmetric beta that fits the words of topics best, beside their pseudo-counts."""
    return fit_beta(cells_of(counts, priors), priors)


def fit_beta(cells: Cells, priors: Priors) -> float:
    """Return the symmetric beta that fits these counts best."""
    V = len(priors.beta)
    number, times, pseudo, sizes = cells
    pseudo_sums = pseudo_sizes(priors)
    b = float(priors.beta.mean())
    for _ in range(STEPS):
        gain = float((times * (digamma(number + pseudo + b) - digamma(pseudo + b))).sum())
        grown = digamma(sizes + pseudo_sums + V * b) - digamma(pseudo_sums + V * b)
        loss = float(V * grown.sum())
        before = b
        b = min(max(b * gain / loss, LEAST), MOST)
        if abs(b - before) <= TOLERANCE * before:
            break
    return b


def learn_symmetric(sizes: I64, alpha: float) -> float:
    """Return the symmetric concentration that fits the sizes of clusters best."""
    K, total = len(sizes), int(sizes.sum())
    used = sizes[sizes > 0]
    for _ in range(STEPS):
        gain = float((digamma(used + alpha) - digamma(alpha)).sum())
        loss = K * float(digamma(total + K * alpha) - digamma(K * alpha))
        before = alpha
        alpha = min(max(alpha * gain / loss, LEAST), MOST) if loss > 0.0 else alpha
        if abs(alpha - before) <= TOLERANCE * before:
            break
    return alpha


def cells_of(counts: Counts, priors: Priors) -> Cells:
    """Return the different counts of cells, how often each occurs, and its pseudo-count.

    Cells that have pseudo-counts are listed one by one, topic by topic.
    """
    K = len(priors.alpha)
    sizes = np.bincount(counts.topic, counts.number, minlength=K)
    if priors.pseudo is None:
        return Cells(*unique_numbers(counts.number), 0, sizes)
    n = topic_word_matrix(counts, K)
    pseudo = pseudo_at(n, priors)
    seeded = pseudo > 0
    return with_seeded(*unique_numbers(n.data[~seeded]), n.data[seeded], pseudo[seeded], sizes)


def with_seeded(number: I64, times: I64, seeded: Any, pseudo: Any, sizes: Any) -> Cells:
    """Return cells without pseudo-counts, by number, and then those with them."""
    return Cells(
        np.concatenate((number, seeded)),
        np.concatenate((times, np.ones(len(seeded), np.int64))),
        np.concatenate((np.zeros(len(number)), pseudo)),
        sizes,
    )


def unique_numbers(number: Any) -> tuple[I64, I64]:
    """Return the different positive numbers in increasing order and how often each occurs."""
    large, many = np.unique(number[number >= SMALL], return_counts=True)
    times = np.bincount(number[number < SMALL])
    small = np.flatnonzero(times)
    return np.concatenate((small, large)), np.concatenate((times[small], many))
