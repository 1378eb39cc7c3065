"""How alike topics are: a matrix in the order of the tree in which they merge."""

from typing import NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.model.data import ModelData, largest_topics
from polyaurn.model.distance import topic_distances
from polyaurn.model.tables.hierarchy import linkage_of


class Similarity(NamedTuple):
    """The largest topics, alike ones side by side.

    `alike` is 1 minus the Hellinger distance of each two topics. `linkage` numbers the topics from
    0 as scipy does, by their own numbers; `order` has those numbers in the order of `topics`.
    """

    topics: I64
    alike: F64
    linkage: F64
    order: I64


def similar_topics(model: ModelData, most: int) -> Similarity:
    """Return how alike the largest topics are, in the order of the leaves of their tree."""
    from scipy.cluster.hierarchy import leaves_list

    chosen = np.sort(largest_topics(model, most))
    distance = topic_distances(model.topic_word_mass[chosen])
    links = linkage_of(distance)
    order = leaves_list(links).astype(np.int64) if len(links) else np.arange(len(chosen))
    return Similarity(chosen[order], 1.0 - distance[np.ix_(order, order)], links, order)
