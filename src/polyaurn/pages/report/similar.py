"""How alike topics are: a matrix in the order of the tree in which they merge."""

from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.model.data import ModelData, largest_topics
from polyaurn.model.distance import topic_distances
from polyaurn.model.tables.hierarchy import linkage_of

MOST_TOPICS = 250  # on the heat map
STEPS = 99  # of the similarity, from 0


def similar_topics(model: ModelData) -> dict[str, Any] | None:
    """Return the largest topics in the order of their tree, and how alike each two are.

    topics: their numbers. alike: 1 minus the Hellinger distance in `STEPS`, of each topic and those
    before it. links: for each merger where its two sides are, in rows from the top, and at which
    distances they and it merged. None for a single topic.
    """
    from scipy.cluster.hierarchy import leaves_list

    chosen = np.sort(largest_topics(model, MOST_TOPICS))
    if len(chosen) < 2:
        return None
    distance = topic_distances(model.topic_word_mass[chosen])
    links = linkage_of(distance)
    order = leaves_list(links).astype(np.int64)
    alike = np.rint((1.0 - distance[np.ix_(order, order)]) * STEPS).astype(int)
    return {
        "topics": chosen[order].tolist(),
        "steps": STEPS,
        "alike": [alike[i, :i].tolist() for i in range(len(order))],
        "links": _brackets(links, order),
        "all": model.n_topics,
    }


def _brackets(links: F64, order: I64) -> list[list[float]]:
    """Return the row and the distance of both sides of each merger, and its own distance."""
    K = len(order)
    row, height = np.empty(2 * K - 1), np.zeros(2 * K - 1)
    row[order] = np.arange(K)
    found = []
    for step, (left, right, distance, _) in enumerate(links.tolist()):
        a, b = sorted((int(left), int(right)), key=lambda side: row[side])
        row[K + step], height[K + step] = (row[a] + row[b]) / 2, distance
        numbers = (row[a], row[b], height[a], height[b], distance)
        found.append([round(float(number), 4) for number in numbers])
    return found
