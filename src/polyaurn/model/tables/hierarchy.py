"""Topics merged step by step, the nearest first."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.model.distance import topic_distances
from polyaurn.model.tables.checks import check_count, is_whole
from polyaurn.model.tables.frames import Columns, frame

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

METHODS = ("average", "complete", "single", "weighted", "ward")
MOST_TOPICS = 10_000


class Hierarchy(NamedTuple):
    """Topics merged step by step.

    Attributes
    ----------
    linkage : ndarray of float64, K - 1 by 4
        As ``scipy.cluster.hierarchy.linkage`` returns it; its `dendrogram` draws it.
    table : DataFrame or dict
        A row for each merger: ``step`` from 1, ``distance``, ``left`` and ``right`` (the topics of
        both sides, lists of numbers), ``tokens``, and ``words``, the leading ones of all together.
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
        if not is_whole(n_topics) or not 1 <= n_topics <= K:
            raise InputError(
                f"The 'n_topics' parameter must be a whole number from 1 to {K:,}. Got "
                f"{n_topics!r} instead."
            )
        clusters = {k: [k] for k in range(K)}
        for step, (a, b) in enumerate(self.linkage[: K - n_topics, :2].astype(int).tolist()):
            clusters[K + step] = sorted(clusters.pop(a) + clusters.pop(b))
        return sorted(group for group in clusters.values() if len(group) > 1)


def hierarchy(model: "TopicModel", method: str, n_words: int, *, as_frame: bool) -> Hierarchy:
    """Return how topics merge; see `Views.hierarchy`."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    check_count(n_words, "n_words")
    if method not in METHODS:
        raise InputError(
            f"The 'method' parameter must be one of {', '.join(map(repr, METHODS))}. "
            f"Got {method!r} instead."
        )
    if model.n_topics > MOST_TOPICS:
        raise InputError(
            f"The model must have at most {MOST_TOPICS:,} topics for 'hierarchy', which measures "
            f"all pairs. Got {model.n_topics:,}."
        )
    links = np.empty((0, 4))
    if model.n_topics > 1:
        links = linkage(squareform(topic_distances(model.topic_word_mass), checks=False), method)
    rows = list(_mergers(model, links, n_words))
    columns: Columns = {"step": np.arange(1, len(links) + 1), "distance": links[:, 2]}
    for name in ("left", "right", "tokens", "words"):
        columns[name] = [row[name] for row in rows]
    return Hierarchy(links, frame(columns, as_frame=as_frame))


def _mergers(model: "TopicModel", links: F64, n_words: int) -> Iterator[dict[str, Any]]:
    counts = {k: model.topic_word_counts[k] for k in range(model.n_topics)}
    topics = {k: [k] for k in counts}
    for step, (a, b) in enumerate(links[:, :2].astype(int).tolist()):
        left, right = sorted((topics.pop(a), topics.pop(b)))
        both = counts.pop(a) + counts.pop(b)
        topics[model.n_topics + step] = sorted(left + right)
        counts[model.n_topics + step] = both
        order = np.lexsort((both.indices, -both.data))[:n_words]
        words = ", ".join(model.vocab[v] for v in both.indices[order])
        yield {"left": left, "right": right, "tokens": both.sum(), "words": words}
