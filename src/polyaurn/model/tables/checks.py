"""What views ask of their parameters, and of the model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def check_count(value: Any, name: str) -> int:
    """Return how many rows are asked for, or refuse it."""
    if not is_whole(value) or value < 1:
        raise InputError(
            f"The '{name}' parameter must be a whole number, at least 1. Got {value!r} instead."
        )
    return int(value)


def check_share(value: Any, name: str) -> float:
    """Return a weight from 0 to 1, or refuse it."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"The '{name}' parameter must lie from 0 to 1. Got {value!r} instead.")
    return float(value)


def check_topic(model: "TopicModel", topic: Any, name: str = "topic") -> int:
    """Return a topic's number, or refuse it."""
    if not is_whole(topic) or not 0 <= topic < model.n_topics:
        raise InputError(
            f"The '{name}' parameter must be a topic's number, from 0 to {model.n_topics - 1:,}. "
            f"Got {topic!r} instead; topic_info() lists the topics."
        )
    return int(topic)


def check_topics_asked(model: "TopicModel", topics: Any) -> I64:
    """Return the numbers of topics that are asked for, all when none are named."""
    if topics is None:
        return np.arange(model.n_topics)
    asked = topics if isinstance(topics, Sequence | np.ndarray | range) else [topics]
    numbers = [check_topic(model, topic, "topics") for topic in asked]
    if len(set(numbers)) < len(numbers) or not numbers:
        raise InputError(
            f"The 'topics' parameter must name different topics, at least one. Got {topics!r} "
            "instead; leave it out for all."
        )
    return np.array(numbers, np.int64)


def need_documents(model: "TopicModel", view: str) -> None:
    """Refuse a model without documents."""
    if not len(model.doc_names):
        raise InputError(
            f"The model must have documents for '{view}'. Got one that came from elsewhere without "
            "them; its topics can be viewed, and transform gives the mixtures of documents."
        )


def check_a_document_each(model: "TopicModel", values: Any, name: str) -> list[Any]:
    """Return what is given for each document, as a list."""
    listed = None if isinstance(values, str) or not hasattr(values, "__iter__") else list(values)
    D = len(model.doc_names)
    if listed is None or len(listed) != D:
        got = type(values).__name__ if listed is None else f"{len(listed):,}"
        raise InputError(
            f"The '{name}' parameter must have one value for each of the model's {D:,} documents, "
            f"in the corpus' order. Got {got} instead."
        )
    return listed


def lengths_of(model: "TopicModel") -> I64:
    """Return the tokens of each document."""
    return np.asarray(model.doc_topic_counts.sum(axis=1), dtype=np.int64).ravel()


def mass_in_documents(model: "TopicModel") -> F64:
    """Return m + alpha where m is not zero, in the order of the sparse counts."""
    m = model.doc_topic_counts
    return np.asarray(m.data + model.priors.alpha[m.indices], dtype=np.float64)
