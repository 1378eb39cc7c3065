"""How topics of one number become those of the next larger one: which stay, split and merge.

Which topics belong together is decided by how alike their words are; how much of one goes to the
other is counted in tokens, since both models give topics to the tokens of the same documents.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.model.distance import likeness
from polyaurn.model.leading_words import words_by_topic
from polyaurn.model.model import TopicModel

WORDS = 8  # of each topic
LEAST_SHARE = 0.1  # of the tokens of one of the two topics, for a flow to be listed
_TOKENS = 1 << 22  # counted at once

STAYS, SPLITS, MERGES, MIXES = "stays", "splits", "merges", "mixes"


class Column(NamedTuple):
    """What is known of one model: topics, their tokens and leading words."""

    z: Any
    counts: Any
    sizes: I64
    words: list[list[str]]


def topic_flows(numbers: Sequence[int], load: Callable[[int], TopicModel]) -> dict[str, Any]:
    """Return the topics of each number, and how they become those of the next one.

    Returns
    -------
    dict
        "topics": for each number the "tokens" and "words" of its topics. "steps": for each two
        neighbouring numbers, "from" and "to", and under "topics" for each topic of the smaller one
        what becomes of it ("stays", "splits", "merges" or "mixes", which is both) and where its
        tokens go: "topic", "tokens", "share" of its own, and "likeness" (the Bhattacharyya
        coefficient). Topics that share few tokens are left out, except the one most alike.
    """
    topics, steps = [], []
    before: tuple[int, Column] | None = None
    for K in numbers:
        column = _column(load(K))
        topics.append({"topics": K, "tokens": column.sizes.tolist(), "words": column.words})
        if before is not None:
            steps.append({"from": before[0], "to": K, "topics": _step(before[1], column)})
        before = (K, column)
    return {"topics": topics, "steps": steps}


def _column(model: TopicModel) -> Column:
    sizes = np.bincount(model.assignments, minlength=model.n_topics).astype(np.int64)
    return Column(model.assignments, model.topic_word_counts, sizes, words_by_topic(model, WORDS))


def _step(smaller: Column, larger: Column) -> list[dict[str, Any]]:
    alike = likeness(smaller.counts, larger.counts)
    shared = shared_tokens(smaller.z, larger.z, *alike.shape)
    what = kinds(alike, smaller.sizes, larger.sizes)
    share = shared / np.maximum(1, smaller.sizes)[:, None]
    listed = (share >= LEAST_SHARE) | (shared >= LEAST_SHARE * np.maximum(1, larger.sizes))
    listed &= shared > 0
    _list_most_alike(listed, alike, smaller.sizes, larger.sizes)
    return [
        {
            "topic": k,
            "what": what[k],
            "to": [
                {
                    "topic": int(m), "tokens": int(shared[k, m]),
                    "share": round(float(share[k, m]), 4),
                    "likeness": round(float(alike[k, m]), 4),
                }
                for m in sorted(np.flatnonzero(listed[k]), key=lambda m: (-shared[k, m], m))
            ],
        }
        for k in range(len(alike))
    ]  # fmt: skip


def shared_tokens(z: Any, other: Any, K: int, L: int) -> I64:
    """Return how many tokens have each topic of one model and each of another, K by L."""
    found = np.zeros(K * L, np.int64)
    for lo in range(0, len(z), _TOKENS):
        part = slice(lo, lo + _TOKENS)
        found += np.bincount(z[part].astype(np.int64) * L + other[part], minlength=K * L)
    return found.reshape(K, L)


def _list_most_alike(listed: Any, alike: F64, sizes: I64, larger: I64) -> None:
    """List for each topic with tokens, of both models, the one it is most alike."""
    rows, columns = np.flatnonzero(sizes), np.flatnonzero(larger)
    listed[rows, alike[rows].argmax(axis=1)] = True
    listed[alike[:, columns].argmax(axis=0), columns] = True


def kinds(alike: F64, sizes: I64, larger: I64) -> list[str]:
    """Say what becomes of each topic of the smaller number.

    It splits if two or more topics of the larger number are most alike to it, and merges if the one
    it is itself most alike to is so to another topic of the smaller number, too.
    """
    parents = alike.argmax(axis=0)[larger > 0]
    children = np.bincount(parents, minlength=len(sizes))
    nearest = alike.argmax(axis=1)
    drawn = np.bincount(nearest[sizes > 0], minlength=len(larger))
    names = {(False, False): STAYS, (True, False): SPLITS, (False, True): MERGES,
             (True, True): MIXES}  # fmt: skip
    return [
        names[bool(children[k] > 1), bool(sizes[k] > 0 and drawn[nearest[k]] > 1)]
        for k in range(len(sizes))
    ]
