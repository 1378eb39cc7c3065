"""The heat map of similar topics, as the page has it."""

from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.model.data import ModelData
from polyaurn.model.similarity import similar_topics

MOST_TOPICS = 250  # on the heat map
STEPS = 99  # of the similarity, from 0


def heat_map(model: ModelData) -> dict[str, Any] | None:
    """Return the largest topics in the order of their tree, and how alike each two are.

    topics: their numbers. alike: 1 minus the Hellinger distance in `STEPS`, of each topic and those
    before it. links: for each merger where its two sides are, in rows from the top, and at which
    distances they and it merged. None for a single topic.
    """
    if model.n_topics < 2:
        return None
    found = similar_topics(model, MOST_TOPICS)
    alike = np.rint(found.alike * STEPS).astype(int)
    return {
        "topics": found.topics.tolist(),
        "steps": STEPS,
        "alike": [alike[i, :i].tolist() for i in range(len(alike))],
        "links": _brackets(found.linkage, found.order),
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
