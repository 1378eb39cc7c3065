"""Names of topics: labels that readers gave, stored with the model, or the leading words."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.model.checks import check_topic
from polyaurn.model.data import ModelData
from polyaurn.model.leading_words import leading_words, words_by_topic

KEY = "labels"  # among the model's parameters
NO_LABEL = "(no words)"
WORDS = 3  # that name a topic without a label
M = TypeVar("M", bound=ModelData)


def given_labels(model: ModelData) -> list[str | None]:
    """Return the labels that were given, None for other topics."""
    kept = model.parameters.get(KEY)
    if not isinstance(kept, list) or len(kept) != model.n_topics:
        return [None] * model.n_topics
    return [label if isinstance(label, str) else None for label in kept]


def labels_of(model: ModelData) -> list[str]:
    """Return a label of each topic: the one given, or its three leading words."""
    return labels_at(model, np.arange(model.n_topics))


def labels_at(model: ModelData, topics: I64) -> list[str]:
    """Return the labels of topics, one for each number; -1 has none."""
    given = given_labels(model)
    numbers = topics.tolist()
    label = {k: given[k] or _first_words(model, k) for k in set(numbers) - {-1}}
    return [label.get(k, NO_LABEL) for k in numbers]


def _first_words(model: ModelData, k: int) -> str:
    return ", ".join(model.vocab[v] for v in leading_words(model, k, WORDS)[0]) or NO_LABEL


def label_topics(
    model: M, labels: Callable[[list[str]], str] | Mapping[int, str], n_words: int
) -> M:
    """Return the model with labels."""
    found = given_labels(model)
    if isinstance(labels, Mapping):
        for topic, label in labels.items():
            found[check_topic(model, topic, "labels")] = _check(label, topic)
    elif callable(labels):
        for k, words in enumerate(words_by_topic(model, n_words)):
            if words:
                found[k] = _check(labels(words), k)
    else:
        raise InputError(
            "The 'labels' parameter must be a function of a list of words, or a dict of topic "
            f"numbers to labels. Got {type(labels).__name__} instead."
        )
    return replace(model, parameters=model.parameters | {KEY: found})


def _check(label: Any, topic: int) -> str:
    text = " ".join(label.split()) if isinstance(label, str) else ""
    if not text:
        raise InputError(
            f"The 'labels' parameter must give each topic a string that is not empty. Got "
            f"{label!r} for topic {topic}."
        )
    return text
