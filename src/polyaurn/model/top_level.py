"""Models of hierarchical Dirichlet processes: topics without tokens left out, and what is stored.

A chain has as many topics as it may use, and a model those that have tokens, the largest first. To
resume a run from its model, the numbers that its topics have in the chain are stored as well, and
the weights of all.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.chain.hdp import LARGE
from polyaurn.chain.priors import pseudo_sizes
from polyaurn.chain.state import Counts, Halt, Priors, State, TopLevel, topic_word_matrix
from polyaurn.files.npz import read_npz, write_npz
from polyaurn.files.sealed import Damaged
from polyaurn.model.data import ModelData

_ORDER, _CONCENTRATIONS = "top_level.order", "top_level.concentrations"
TOP_TYPES = {_CONCENTRATIONS: "f", _ORDER: "i"}
_TOPICS, _WHOLE, _DRAWS = "top_level.topics", "top_level.whole", "top_level.draws"
MODEL_TYPES = TOP_TYPES | {_TOPICS: "i", _WHOLE: "f", _DRAWS: "f"}


WINDOW = 4  # draws are from the last quarter of the sweeps
INTERVAL = 0.025, 0.975
LEAST_DRAWS = 4  # that an interval is given of
ENOUGH = 50  # draws, to say whether their number of topics still changes
FAR = 4.0  # standard errors


class TopicCount(NamedTuple):
    """How many topics: of the last draw, and an interval that has 95% of the draws, and the last.

    `large` ones have more than 0.1% of the tokens each. Intervals are of one chain, and None where
    it has fewer than four draws.
    """

    last: int
    low: int | None
    high: int | None
    large: int
    large_low: int | None
    large_high: int | None

    def __str__(self) -> str:
        every, large = _range(self.low, self.high), _range(self.large_low, self.large_high)
        return (
            f"{self.last:,} topics{every}, {self.large:,} of them{large} with more than 0.1% of "
            "the tokens"
        )


def _range(low: int | None, high: int | None) -> str:
    return "" if low is None or high is None else f" ({low:,} to {high:,})"


def count_topics(model: ModelData) -> TopicCount:
    """Return the number of topics of a model, with intervals over the end of its trace."""
    sizes = model.doc_topic_counts.sum(axis=0)
    last = int((sizes > 0).sum()), int((sizes > LARGE * sizes.sum()).sum())
    found: list[Any] = []
    for number, name in zip(last, ("topics", "large_topics"), strict=True):
        draws = _last_draws(model, name)
        if len(draws) < LEAST_DRAWS:
            found += [number, None, None]
        else:
            low, high = np.quantile(draws, INTERVAL, method="inverted_cdf").tolist()
            found += [number, min(low, number), max(high, number)]
    return TopicCount(*found)


def _last_draws(model: ModelData, name: str) -> list[int]:
    """Return what the trace says under a name, in the last quarter of the sweeps."""
    first = model.trace[-1]["sweep"] * (1 - 1 / WINDOW) if model.trace else 0
    return [r[name] for r in model.trace if r.get(name) is not None and r["sweep"] > first]


def note_of_topics(model: ModelData, most: int) -> str:
    """Return a sentence where the number of topics is at its limit or still changes; else none."""
    used = count_topics(model).last
    if used >= most:
        return (
            f"All {most:,} topics that the model may use have tokens, so that more may be needed: "
            f"set max_components (--topics) to more than {most:,}."
        )
    draws = np.array(_last_draws(model, "topics"), np.float64)
    if len(draws) < ENOUGH:
        return ""
    early, late = draws[: len(draws) // 2], draws[len(draws) // 2 :]
    error = math.hypot(_error(early), _error(late))
    moved = float(late.mean() - early.mean())
    if abs(moved) < 1.0 or abs(moved) <= FAR * error:
        return ""
    return (
        f"The number of topics was still {'rising' if moved > 0 else 'falling'} at the end, from "
        f"{early.mean():,.0f} to {late.mean():,.0f} on average over the last quarter of the "
        "sweeps: train more of them (max_iter, --sweeps)."
    )


def _error(draws: F64) -> float:
    """Return the standard error of a mean of draws that depend on each other, from five batches."""
    means = [batch.mean() for batch in np.array_split(draws, 5)]
    return float(np.std(means, ddof=1) / math.sqrt(len(means)))


def mean_weights(model: ModelData) -> F64:
    """Return the mean of Psi of each topic over draws."""
    return np.asarray(_draws(model).mean(axis=0), np.float64)


def interval_of_weights(model: ModelData) -> F64:
    """Return the quantiles of Psi of each topic over draws, topics by 2; NaN of too few draws."""
    draws = _draws(model)
    if len(draws) < LEAST_DRAWS:
        return np.full((model.n_topics, 2), np.nan)
    return np.asarray(np.quantile(draws, INTERVAL, axis=0).T, np.float64)


def _draws(model: ModelData) -> F64:
    top = model.priors.top
    if top is None or top.draws is None:  # of a model that was updated: as it kept them
        return np.array([model.priors.alpha / model.priors.alpha.sum()])
    return top.draws


def arrays_of_top(top: TopLevel | None) -> dict[str, Any]:
    """Return what is stored of the top level; nothing of a model without one."""
    if top is None:
        return {}
    found = {_CONCENTRATIONS: np.array([top.alpha, top.gamma]), _ORDER: top.order}
    if top.topics is not None and top.whole is not None and top.draws is not None:
        found |= {_TOPICS: top.topics, _WHOLE: top.whole, _DRAWS: top.draws.ravel()}
    return found


def top_of_arrays(arrays: Mapping[str, Any], K: int) -> TopLevel | None:
    """Return the top level that was stored, of K topics or, in a model, of as many in it."""
    if _ORDER not in arrays:
        return None
    both, order = arrays[_CONCENTRATIONS], arrays[_ORDER]
    whole, topics, draws = arrays.get(_WHOLE), arrays.get(_TOPICS), arrays.get(_DRAWS)
    n = K if whole is None else len(whole)
    right = len(both) == 2 and bool((np.isfinite(both) & (both > 0)).all())
    if not right or not np.array_equal(np.sort(order), np.arange(n)):
        raise Damaged("its top level does not fit together")
    if topics is not None and whole is not None and draws is not None:
        known = len(topics) == K and len(np.unique(topics)) == K and n >= K
        known = known and int(topics.min()) >= 0 and int(topics.max()) < n
        weights = (np.isfinite(whole) & (whole > 0)).all() and (np.isfinite(draws)).all()
        if not known or not weights or len(draws) % K:
            raise Damaged("its top level does not fit together")
        topics, draws = topics.astype(np.int64), draws.astype(np.float64).reshape(-1, K)
    alpha, gamma = both.tolist()
    return TopLevel(alpha, gamma, order.astype(np.int64), topics, whole, draws)


def write_top(path: Path, top: TopLevel, weights: F64 | None) -> None:
    """Write where the top level of a chain ended, and draws of Psi, draws by topics."""
    drawn = {} if weights is None else {_DRAWS: weights.ravel()}
    with path.open("wb") as file:
        write_npz(file, arrays_of_top(top) | drawn)


def read_top(path: Path, K: int) -> tuple[TopLevel | None, F64 | None]:
    """Return what `write_top` has written of K topics."""
    top = top_of_arrays(read_npz(path, TOP_TYPES), K)
    try:
        return top, read_npz(path, {_DRAWS: "f"})[_DRAWS].reshape(-1, K)
    except Damaged:  # no draws were averaged
        return top, None


def with_topics_in_use(
    state: State, mean: sp.csr_matrix | None, weights: F64 | None
) -> tuple[State, sp.csr_matrix | None]:
    """Return a state of the topics that have tokens only, the largest first, and their mean counts.

    `weights` are draws of Psi, draws by topics; those of the state stand for them where there are
    none. Topics with pseudo-counts, such as seeded ones, stay as well.
    """
    priors, top = state.priors, state.priors.top
    if top is None or top.topics is not None:
        return state, mean
    K = len(priors.alpha)
    n = topic_word_matrix(state.counts, K)
    sizes = np.asarray(n.sum(axis=1)).ravel()
    order = np.argsort(-sizes, kind="stable")
    topics = order[(sizes + pseudo_sizes(priors))[order] > 0]
    topics = topics if len(topics) else order[:1]
    place = np.full(K, len(topics))
    place[topics] = np.arange(len(topics))
    if weights is None or not len(weights):
        weights = (priors.alpha / priors.alpha.sum()).reshape(1, -1)
    alpha = priors.alpha[topics]
    alpha.flags.writeable = False
    pseudo = priors.pseudo and _of_topics(priors.pseudo, topics, K)
    full = top._replace(topics=topics, whole=priors.alpha, draws=weights[:, topics])
    used = state._replace(
        z=place[state.z].astype(np.uint16),
        counts=_of_topics(state.counts, topics, K),
        priors=priors._replace(alpha=alpha, pseudo=pseudo, top=full),
        parts=(),
    )
    return used, None if mean is None else mean[topics]


def _of_topics(counts: Counts, topics: I64, K: int) -> Counts:
    """Return counts of some topics, under their places among them."""
    columns = topic_word_matrix(counts, K)[topics].tocsc().sorted_indices()
    ptr = columns.indptr.astype(np.int64)
    number = columns.data.astype(counts.number.dtype)
    return Counts(ptr[:-1].copy(), ptr[1:].copy(), columns.indices.astype(np.uint16), number)


def as_in_chain(halt: Halt, mean: sp.csr_matrix | None) -> tuple[Halt, sp.csr_matrix | None]:
    """Return where a chain ended, and mean counts, with the topics of the chain again."""
    priors = halt.priors
    top = None if priors is None else priors.top
    if priors is None or top is None or top.topics is None or top.whole is None:
        return halt, mean
    whole = top.whole
    whole.flags.writeable = False
    if mean is not None:
        rows = sp.csr_matrix(mean).tocoo()
        shape = (len(whole), mean.shape[1])
        mean = sp.coo_matrix((rows.data, (top.topics[rows.row], rows.col)), shape=shape).tocsr()
    full = Priors(whole, priors.beta, learned=True, top=TopLevel(*top[:3]))
    return halt._replace(z=top.topics[halt.z].astype(np.uint16), priors=full), mean
