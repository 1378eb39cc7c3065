"""Counts averaged over draws of a chain: better estimates of topics than its last draw.

Topics keep their numbers inside a chain, so that counts n of several sweeps can be averaged. Sums
are of whole numbers, and do not depend on where a run was interrupted.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.checks import is_whole, wrong
from polyaurn.chain.state import State, TopLevel, on_host, topic_word_matrix
from polyaurn.corpus.corpus import Corpus

WINDOW = 4  # draws are from the last quarter of the sweeps
DRAWS = 20  # at most, when not given
MOST_TOKENS = 100_000_000  # beyond, "auto" takes one draw: sums have several times the nonzeros
_WEIGHTS = "weights"
_NAMES = ("sum_data", "sum_indices", "sum_indptr", "sum_shape", "sum_draws")


def check_average(value: Any) -> int | str:
    """Return over how many draws counts are averaged, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return value
    if is_whole(value) and value >= 1:
        return int(value)
    raise wrong("average_draws", "'auto' or a positive whole number", value, "1 takes the last one")


class Average:
    """The sum of counts over the draws that are averaged, spread over the end of a chain."""

    def __init__(
        self, draws: int | str, max_iter: int, n_tokens: int, saved: Mapping[str, Any] | None = None
    ) -> None:
        wanted = draws if isinstance(draws, int) else DRAWS
        if isinstance(draws, str) and n_tokens > MOST_TOKENS:
            wanted = 1
        window = max(1, max_iter // WINDOW)
        wanted = min(wanted, window)
        self._last, self._step = max_iter, window // wanted
        self._first = max_iter - (wanted - 1) * self._step
        self._one = wanted == 1  # the state itself has its counts
        self._sum: sp.csr_matrix | None = None
        self._weights: list[F64] = []  # Psi of draws
        self.draws = 0
        if saved and all(name in saved for name in _NAMES):
            self._restore(saved)

    def takes(self, state: State) -> bool:
        """Return whether the sweep of a state is one of those that are averaged."""
        behind = self._last - state.sweep
        there = state.sweep >= self._first and not behind % self._step
        return there and not self._one and not state.smooth

    def add(self, state: State, gather: Callable[[State], State] = on_host) -> None:
        """Add the counts of a state, gathered on the host."""
        here = gather(state)
        counts = self._counts(here)
        self._sum = counts if self._sum is None else self._sum + counts
        self.draws += 1
        if here.priors.top is not None:
            self._weights.append(here.priors.alpha / here.priors.top.alpha)

    @property
    def weights(self) -> F64 | None:
        """Psi of the draws, draws by topics; None without a hierarchical Dirichlet process."""
        return np.array(self._weights) if self._weights else None

    def _counts(self, state: State) -> sp.csr_matrix:
        """Return what is added up of a state: tokens of words in topics."""
        return topic_word_matrix(state.counts, len(state.priors.alpha)).astype(np.int64)

    def mean(self) -> sp.csr_matrix | None:
        """Return the mean counts, topics by words; None before the second draw."""
        if self._sum is None or self.draws < 2:
            return None
        mean = self._sum.astype(np.float64)
        mean.data /= self.draws
        return mean

    def arrays(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of it."""
        return {} if self._sum is None else arrays_of_sum(self._sum, self.draws, self.weights)

    def _restore(self, saved: Mapping[str, Any]) -> None:
        self._sum = sum_in(saved)
        self.draws = int(saved["sum_draws"][0])
        if _WEIGHTS in saved:
            K = self._sum.shape[0]
            self._weights = list(np.asarray(saved[_WEIGHTS]).reshape(-1, K))


def joined_sums(found: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a checkpoint keeps of sums, given those of the words of each worker."""
    total = sum_in(found[0])
    for saved in found[1:]:
        total = total + sum_in(saved)
    arrays = arrays_of_sum(sp.csr_matrix(total), int(found[0]["sum_draws"][0]))
    return _with_weights(arrays, found[0])


def sums_of_words(saved: Mapping[str, Any], lo: int, hi: int) -> dict[str, Any]:
    """Return what a checkpoint keeps of sums, of some words only."""
    if not all(name in saved for name in _NAMES):
        return {}
    total = sum_in(saved).tocoo()
    own = (total.col >= lo) & (total.col < hi)
    rows, columns, data = total.row[own], total.col[own], total.data[own]
    some = sp.csr_matrix((data, (rows, columns)), shape=total.shape, dtype=np.int64)
    return _with_weights(arrays_of_sum(some, int(saved["sum_draws"][0])), saved)


def _with_weights(arrays: dict[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint keeps of sums, with the weights that another kept, if any."""
    return arrays | ({_WEIGHTS: saved[_WEIGHTS]} if _WEIGHTS in saved else {})


def sum_in(saved: Mapping[str, Any]) -> sp.csr_matrix:
    """Return the sum that a checkpoint keeps."""
    data, indices, indptr, shape = (np.asarray(saved[name]) for name in _NAMES[:4])
    return sp.csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))


class AverageOfDocuments(Average):
    """In how many of the draws each document was in each cluster."""

    def __init__(
        self,
        draws: int | str,
        max_iter: int,
        corpus: Corpus,
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(draws, max_iter, corpus.n_tokens, saved)
        self._doc_ptr = corpus.doc_ptr

    def _counts(self, state: State) -> sp.csr_matrix:
        there = np.diff(self._doc_ptr) > 0
        ptr = np.concatenate(([0], np.cumsum(there)))
        cluster = state.z[self._doc_ptr[:-1][there]].astype(np.int32)
        shape = (len(there), len(state.priors.alpha))
        return sp.csr_matrix((np.ones(len(cluster), np.int64), cluster, ptr), shape=shape)

    def total(self, state: State) -> sp.csr_matrix:
        """Return the number of draws by document and cluster: those averaged, or a state's only."""
        return self._counts(state) if self._sum is None else self._sum


def arrays_of_mean(mean: sp.csr_matrix, draws: int, top: TopLevel | None) -> dict[str, Any]:
    """Return what a checkpoint would keep, from the mean counts of a model."""
    total = mean.copy()
    total.data = np.rint(mean.data * draws).astype(np.int64)
    weights = None
    if top is not None and top.draws is not None and top.topics is not None:
        weights = np.zeros((len(top.draws), mean.shape[0]))
        weights[:, top.topics] = top.draws
    return arrays_of_sum(total, draws, weights)


def arrays_of_sum(total: sp.csr_matrix, draws: int, weights: F64 | None = None) -> dict[str, Any]:
    """Return what a checkpoint keeps of a sum over draws, and of weights of topics in each."""
    shape = np.array(total.shape, np.int64)
    parts = (total.data, total.indices, total.indptr, shape, np.array([draws], np.int64))
    found: dict[str, Any] = dict(zip(_NAMES, parts, strict=True))
    return found if weights is None else found | {_WEIGHTS: weights.ravel()}
