"""Counts averaged over draws of a chain: better estimates of topics than its last draw.

Topics keep their numbers inside a chain, so that counts n of several sweeps can be averaged. Sums
are of whole numbers, and do not depend on where a run was interrupted.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.checks import is_whole, wrong
from polyaurn.chain.state import State, on_host, topic_word_matrix

WINDOW = 4  # draws are from the last quarter of the sweeps
DRAWS = 20  # at most, when not given
MOST_TOKENS = 100_000_000  # beyond, "auto" takes one draw: sums have several times the nonzeros
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
        counts = topic_word_matrix(here.counts, len(here.priors.alpha)).astype(np.int64)
        self._sum = counts if self._sum is None else self._sum + counts
        self.draws += 1

    def mean(self) -> sp.csr_matrix | None:
        """Return the mean counts, topics by words; None before the second draw."""
        if self._sum is None or self.draws < 2:
            return None
        mean = self._sum.astype(np.float64)
        mean.data /= self.draws
        return mean

    def arrays(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of it."""
        return {} if self._sum is None else _arrays(self._sum, self.draws)

    def _restore(self, saved: Mapping[str, Any]) -> None:
        data, indices, indptr, shape, draws = (np.asarray(saved[name]) for name in _NAMES)
        self._sum = sp.csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))
        self.draws = int(draws[0])


def arrays_of_mean(mean: sp.csr_matrix, draws: int) -> dict[str, Any]:
    """Return what a checkpoint would keep, from the mean counts of a model."""
    total = mean.copy()
    total.data = np.rint(mean.data * draws).astype(np.int64)
    return _arrays(total, draws)


def _arrays(total: sp.csr_matrix, draws: int) -> dict[str, Any]:
    shape = np.array(total.shape, np.int64)
    parts = (total.data, total.indices, total.indptr, shape, np.array([draws], np.int64))
    return dict(zip(_NAMES, parts, strict=True))
