"""The data of a model: arrays, sizes and what follows from them directly."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64, U16
from polyaurn.chain.priors import topic_word_mass
from polyaurn.chain.state import Counts, Priors
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.model.clusters import Clusters

AVERAGED = "averaged_draws"  # among the parameters


@dataclass(frozen=True, eq=False, repr=False)
class ModelData:
    """The fields of a `TopicModel`, which describes them; tables and files need no more."""

    topic_word_counts: sp.csr_matrix
    doc_topic_counts: sp.csr_matrix
    assignments: U16
    vocab: tuple[str, ...]
    doc_names: Sequence[str]
    priors: Priors
    trace: list[dict[str, Any]] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    tokenization: Tokenization | None = None
    clusters: Clusters | None = None

    def __post_init__(self) -> None:
        """Make all arrays read-only, and containers the model's own."""
        own: dict[str, Any] = {
            "topic_word_counts": _read_only_csr(self.topic_word_counts),
            "doc_topic_counts": _read_only_csr(self.doc_topic_counts),
            "assignments": read_only(self.assignments),
            "priors": _read_only_priors(self.priors),
            "trace": [dict(record) for record in self.trace],
            "parameters": dict(self.parameters),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.priors.alpha)

    @cached_property
    def topic_sizes(self) -> I64 | F64:
        """Tokens of each topic; sums of float64 where there are pseudo-counts and no documents."""
        of_documents = bool(len(self.doc_names))
        counts = self.doc_topic_counts.T if of_documents else self.topic_word_counts
        sizes = np.asarray(counts.sum(axis=1)).ravel()
        found: I64 | F64 = sizes if sizes.dtype == np.float64 else sizes.astype(np.int64)
        found.flags.writeable = False
        return found

    @cached_property
    def topic_word_mass(self) -> sp.csr_matrix:
        """Tokens of each topic and word with the prior's pseudo-counts: what beta is added to."""
        return _read_only_csr(topic_word_mass(self.topic_word_counts, self.priors))

    @cached_property
    def mass_of_topics(self) -> F64:
        """What `topic_word_mass` sums to in each topic."""
        return _sums(self.topic_word_mass, axis=1)

    @cached_property
    def mass_of_words(self) -> F64:
        """What `topic_word_mass` sums to for each word."""
        return _sums(self.topic_word_mass, axis=0)

    @property
    def averaged_draws(self) -> int:
        """How many draws of the chain `topic_word_counts` are the mean of; 1 for its last."""
        return int(self.parameters.get(AVERAGED, 1))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_topics:,} topics, {len(self.doc_names):,} documents, "
            f"{len(self.vocab):,} words, {len(self.assignments):,} tokens)"
        )


def _sums(matrix: sp.csr_matrix, axis: int) -> F64:
    found = np.asarray(matrix.sum(axis=axis), dtype=np.float64).ravel()
    found.flags.writeable = False
    return found


def read_only(array: Any) -> Any:
    """Return an array, or a view of it, that cannot be written to."""
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _read_only_priors(priors: Priors) -> Priors:
    """Return the priors over arrays that cannot be written to."""
    pseudo = priors.pseudo
    if pseudo is not None:
        pseudo = Counts(*map(read_only, pseudo))
    return priors._replace(
        alpha=read_only(priors.alpha), beta=read_only(priors.beta), pseudo=pseudo
    )


def _read_only_csr(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Return a matrix over the same arrays, which cannot be written to."""
    if not sp.issparse(matrix) or not matrix.data.flags.writeable:
        return matrix
    matrix.sort_indices()  # what scipy would otherwise do in place when it is first needed
    same = copy(matrix)
    for name in ("data", "indices", "indptr"):
        setattr(same, name, read_only(getattr(matrix, name)))
    return same


def document_lengths(model: ModelData) -> I64:
    """Return the tokens of each document."""
    return np.asarray(model.doc_topic_counts.sum(axis=1), dtype=np.int64).ravel()


def largest_topics(model: ModelData, most: int | None = None) -> I64:
    """Return the numbers of the largest topics, or all, largest first, equal ones by number."""
    return np.argsort(-model.topic_sizes, kind="stable")[:most]


def word_weights(model: ModelData) -> F64:
    """Return n + beta, dense, K by V; pseudo-counts of seeds belong to beta."""
    return np.asarray(model.topic_word_mass.toarray() + model.priors.beta)


def word_probabilities(model: ModelData) -> F64:
    """Return the topics, dense, K by V; rows sum to one."""
    weights = word_weights(model)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
