"""Topics merged: step by step, the nearest first, or in groups that are given."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_one_of, check_whole
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import Priors, topic_word_matrix
from polyaurn.model.checks import check_topic
from polyaurn.model.data import ModelData
from polyaurn.model.distance import topic_distances
from polyaurn.model.labels import KEY, LONGEST, OF_LABELS, given_labels, labels_at
from polyaurn.model.leading_words import BY_RELEVANCE, check_order, leading_words_of
from polyaurn.model.summary import hierarchy_html
from polyaurn.model.tables.words import Columns

METHODS = ("average", "complete", "single", "weighted", "ward")
MOST_TOPICS = 10_000
MERGED = "merged_topics"  # among the parameters of a model: the topics that became each
M = TypeVar("M", bound=ModelData)


class Hierarchy(NamedTuple):
    """Topics merged step by step.

    Attributes
    ----------
    linkage : ndarray of float64, K - 1 by 4
        As ``scipy.cluster.hierarchy.linkage`` returns it; its `dendrogram` draws it.
    table : DataFrame or dict
        A row for each merger: ``step`` from 1, ``distance``, ``left`` and ``right`` (the topics of
        both sides, lists of numbers), ``left_name`` and ``right_name`` (the label of a topic, or
        leading words), ``tokens``, and ``words``, the leading ones of all together.
    """

    linkage: F64
    table: Any

    def groups(self, n_topics: int) -> list[list[int]]:
        """Return which topics are together when so many are left.

        Parameters
        ----------
        n_topics : int
            From 1 to K.

        Returns
        -------
        list of list of int
            Groups of two or more, as `merge_topics` takes them.
        """
        K = len(self.linkage) + 1
        check_whole(n_topics, "n_topics", 1, K)
        clusters = {k: [k] for k in range(K)}
        for step, (a, b) in enumerate(self.linkage[: K - n_topics, :2].astype(int).tolist()):
            clusters[K + step] = sorted(clusters.pop(a) + clusters.pop(b))
        return sorted(group for group in clusters.values() if len(group) > 1)

    def _repr_html_(self) -> str:
        return hierarchy_html(self.linkage, self.table)


def hierarchy(model: ModelData, method: str, n_words: int, order: str = BY_RELEVANCE) -> Hierarchy:
    """Return how topics merge, its table as columns."""
    check_whole(n_words, "n_words")
    check_one_of(method, "method", METHODS)
    check_order(order)
    if model.n_topics > MOST_TOPICS:
        raise InputError(
            f"The model must have at most {MOST_TOPICS:,} topics for 'hierarchy', which measures "
            f"all pairs. Got {model.n_topics:,}."
        )
    links = linkage_of(topic_distances(model.topic_word_mass), method)
    rows = list(_mergers(model, links, n_words, order))
    columns: Columns = {"step": np.arange(1, len(links) + 1), "distance": links[:, 2]}
    for name in ("left", "right", "left_name", "right_name", "tokens", "words"):
        columns[name] = [row[name] for row in rows]
    return Hierarchy(links, columns)


def linkage_of(distance: F64, method: str = "average") -> F64:
    """Return how topics at these distances merge, as scipy's `linkage`; a single one does not."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if len(distance) < 2:
        return np.empty((0, 4))
    return np.asarray(linkage(squareform(distance, checks=False), method), np.float64)


def _mergers(model: ModelData, links: F64, n_words: int, order: str) -> Iterator[dict[str, Any]]:
    mass = {k: model.topic_word_mass[k] for k in range(model.n_topics)}
    size = dict(enumerate(model.topic_sizes))
    topics = {k: [k] for k in mass}
    name = dict(enumerate(labels_at(model, np.arange(model.n_topics), order)))
    for new, (a, b) in enumerate(links[:, :2].astype(int).tolist(), start=model.n_topics):
        a, b = sorted((a, b), key=topics.__getitem__)
        left, right = topics.pop(a), topics.pop(b)
        topics[new] = sorted(left + right)
        mass[new] = mass.pop(a) + mass.pop(b)
        size[new] = size.pop(a) + size.pop(b)
        name[new] = ", ".join(leading_words_of(model, mass[new], n_words, order))
        yield {"left": left, "right": right, "left_name": name.pop(a), "right_name": name.pop(b),
               "tokens": size[new], "words": name[new]}  # fmt: skip


def merge_topics(model: M, groups: Any) -> M:
    """Return a model in which groups of topics are one topic each."""
    parts = _parts(model, groups)
    becomes = np.empty(model.n_topics, np.int64)
    for new, old in enumerate(parts):
        becomes[old] = new
    gather = sp.csr_matrix(
        (np.ones(model.n_topics, np.int32), (becomes, np.arange(model.n_topics))),
        shape=(len(parts), model.n_topics),
    )
    z = becomes.astype(np.uint16)[model.assignments]
    z.flags.writeable = False
    labels = given_labels(model)
    facts = {k: v for k, v in model.parameters.items() if k not in ("run", *OF_LABELS)}
    facts |= {"n_topics": len(parts), MERGED: parts}
    if any(labels):
        facts[KEY] = [_label([labels[k] for k in old]) for old in parts]
    return replace(
        model,
        topic_word_counts=_summed(gather @ model.topic_word_counts, model.topic_word_counts),
        doc_topic_counts=_summed(model.doc_topic_counts @ gather.T, model.doc_topic_counts),
        assignments=z,
        priors=_merged_priors(model.priors, gather),
        clusters=None if model.clusters is None else model.clusters.merged(becomes),
        trace=[],
        parameters=facts,
    )


def _merged_priors(priors: Priors, gather: sp.csr_matrix) -> Priors:
    K, V = len(priors.alpha), len(priors.beta)
    pseudo = gather @ topic_word_matrix(priors.pseudo, K) if priors.pseudo is not None else None
    return make_priors(gather @ priors.alpha, priors.beta, gather.shape[0], V, pseudo=pseudo)


def _parts(model: ModelData, groups: Any) -> list[list[int]]:
    """Return the old topics of each new one, in order of the least of them."""
    lists = isinstance(groups, Sequence) and all(
        isinstance(group, Sequence | np.ndarray) and not isinstance(group, str) for group in groups
    )
    if not lists:
        raise InputError(
            "The 'groups' parameter must be lists of topic numbers, such as [[1, 5], [2, 7]]. Got "
            f"{groups!r} instead."
        )
    named = [[check_topic(model, topic, "groups") for topic in group] for group in groups]
    flat = [topic for group in named for topic in group]
    twice = next((topic for topic, times in Counter(flat).items() if times > 1), None)
    if twice is not None:
        raise InputError(
            f"The 'groups' parameter must name each topic once. Got topic {twice} twice; put what "
            "belongs together into one group."
        )
    others = set(range(model.n_topics)) - set(flat)
    return sorted([sorted(group) for group in named if group] + [[k] for k in others])


def _summed(matrix: Any, like: Any) -> sp.csr_matrix:
    csr = sp.csr_matrix(matrix, dtype=like.dtype)
    csr.sort_indices()
    return csr


def _label(labels: list[str | None]) -> str | None:
    joined = " + ".join(dict.fromkeys(label for label in labels if label))
    return (joined if len(joined) <= LONGEST else f"{joined[: LONGEST - 1]}…") or None
