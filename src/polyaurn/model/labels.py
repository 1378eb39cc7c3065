"""Names of topics: labels that readers gave, stored with the model, or the leading words."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.base.printable import printable
from polyaurn.model.checks import check_topic
from polyaurn.model.data import ModelData
from polyaurn.model.leading_words import BY_RELEVANCE, leading_words, words_by_topic

KEY = "labels"  # among the model's parameters
REQUESTS = "label_requests"  # what language models were asked for labels, and their answers
OF_LABELS = (KEY, REQUESTS)  # parameters that a label changes
NO_LABEL = "(no words)"
WORDS = 3  # that name a topic without a label
LONGEST = 100  # characters of a label
M = TypeVar("M", bound=ModelData)
Labels = Callable[[list[str]], str] | Mapping[int, str | None] | Iterable[str | None]


def given_labels(model: ModelData) -> list[str | None]:
    """Return the labels that were given, None for other topics."""
    kept = model.parameters.get(KEY)
    if not isinstance(kept, list) or len(kept) != model.n_topics:
        return [None] * model.n_topics
    return [label if isinstance(label, str) else None for label in kept]


def labels_of(model: ModelData) -> list[str]:
    """Return a label of each topic: the one given, or its three leading words."""
    return labels_at(model, np.arange(model.n_topics))


def labels_at(model: ModelData, topics: I64, order: str = BY_RELEVANCE) -> list[str]:
    """Return labels of topics, or leading words of those without, by number; -1 has none."""
    given = given_labels(model)
    numbers = topics.tolist()
    label = {k: given[k] or _first_words(model, k, order) for k in set(numbers) - {-1}}
    return [label.get(k, NO_LABEL) for k in numbers]


def _first_words(model: ModelData, k: int, order: str) -> str:
    words = leading_words(model, k, WORDS, order)[0]
    return ", ".join(model.vocab[v] for v in words) or NO_LABEL


def column_names(n_topics: int, labels: list[str | None]) -> list[str]:
    """Return a name for the column of each topic, unique by its number, with labels given."""
    return [f"topic_{k}" + (f": {labels[k]}" if labels[k] else "") for k in range(n_topics)]


def labelled_first(model: ModelData, topics: I64) -> I64:
    """Return topics in the same order, those before that were given labels."""
    given = given_labels(model)
    return topics[np.argsort([given[k] is None for k in topics.tolist()], kind="stable")]


def label_requests(model: ModelData) -> list[dict[str, Any]]:
    """Return what language models were asked for labels of topics, and their answers."""
    kept = model.parameters.get(REQUESTS)
    found = [r for r in kept if isinstance(r, dict)] if isinstance(kept, list) else []
    return [request for request in found if type(request.get("topic")) is int]


def label_topics(model: M, labels: Labels, n_words: int) -> M:
    """Return the model with labels; requests that belong to earlier ones are dropped."""
    if isinstance(labels, Mapping):
        asked = {check_topic(model, k, "labels"): label for k, label in labels.items()}
    elif callable(labels):
        return with_labels(model, _by_function(model, labels, n_words))
    else:
        asked = _by_list(model, labels)
    new = {k: None if label is None else check_label(label, k) for k, label in asked.items()}
    _check_distinct(given_labels(model), new)
    return with_labels(model, new)


def with_labels(
    model: M, labels: Mapping[int, str | None], requests: Iterable[dict[str, Any]] = ()
) -> M:
    """Return the model with checked labels, and the requests that they came from."""
    found = given_labels(model)
    for k, label in labels.items():
        found[k] = label
    kept = [r for r in label_requests(model) if r.get("topic") not in labels]
    facts = {name: value for name, value in model.parameters.items() if name not in OF_LABELS}
    if any(found):
        facts[KEY] = found
    if kept := [*kept, *requests]:
        facts[REQUESTS] = sorted(kept, key=lambda request: int(request["topic"]))
    return replace(model, parameters=facts)


def check_label(label: Any, topic: int, name: str = "'labels' parameter") -> str:
    """Return a label with single blanks; raise if it is empty, too long or cannot be shown.

    `name` is what the user calls the labels, for error messages.
    """
    text = " ".join(label.split()) if isinstance(label, str) else ""
    if not text:
        raise InputError(
            f"The {name} must give each topic a string that is not empty. Got {label!r} for "
            f"topic {topic}."
        )
    if text != printable(text):
        raise InputError(
            f"The {name} must have labels without control characters. Got "
            f"'{printable(text):.60}' for topic {topic}; write it in letters."
        )
    if len(text) > LONGEST:
        raise InputError(
            f"The {name} must have labels of at most {LONGEST} characters. Got "
            f"{len(text):,} for topic {topic}; shorten it."
        )
    return text


def same_label(label: str) -> str:
    """Return what equal labels have in common: capitals do not distinguish them."""
    return label.casefold()


def distinct_label(label: str, words: Iterable[str], taken: Iterable[str]) -> str:
    """Return a label that is not taken, with a word of the topic after it where it was."""
    others = {same_label(other) for other in taken}
    if same_label(label) not in others:
        return label
    for word in words:
        longer = f"{label[: LONGEST - len(word) - 3]} ({word})"
        fits = len(longer) <= LONGEST and word.casefold() not in label.casefold().split()
        if fits and same_label(longer) not in others:
            return longer
    numbers = range(2, len(others) + 3)
    tried = (f"{label[: LONGEST - 8]} ({number})" for number in numbers)
    return next(longer for longer in tried if same_label(longer) not in others)


def own_words_first(listed: list[list[str]]) -> list[list[str]]:
    """Return the words of each topic, those first that are in fewest topics' lists."""
    shared = Counter(word for words in listed for word in set(words))
    return [sorted(words, key=lambda word: shared[word]) for words in listed]


def _by_function(
    model: ModelData, labels: Callable[[list[str]], str], n_words: int
) -> dict[int, str | None]:
    """Return the labels that a function gives; a word is added to those it gives twice."""
    found: dict[int, str | None] = {}
    listed = words_by_topic(model, n_words)
    for k, (words, ordered) in enumerate(zip(listed, own_words_first(listed), strict=True)):
        if words:
            label = check_label(labels(words), k)
            found[k] = distinct_label(label, ordered, filter(None, found.values()))
    return found


def _by_list(model: ModelData, labels: Any) -> dict[int, Any]:
    """Return the labels of a list, one for each topic."""
    several = isinstance(labels, Iterable) and not isinstance(labels, str)
    listed = list(labels) if several else None
    if listed is None or len(listed) != model.n_topics:
        got = type(labels).__name__ if listed is None else f"{len(listed):,} labels"
        raise InputError(
            "The 'labels' parameter must be a dict of topic numbers to labels, a list with a label "
            f"or None for each of the {model.n_topics:,} topics, or a function of a list of words. "
            f"Got {got} instead."
        )
    return dict(enumerate(listed))


def _check_distinct(before: list[str | None], new: Mapping[int, str | None]) -> None:
    """Reject a new label that another topic has."""
    owner = {same_label(label): k for k, label in enumerate(before) if label and k not in new}
    for k, label in new.items():
        if label is None:
            continue
        other = owner.setdefault(same_label(label), k)
        if other != k:
            raise InputError(
                "The 'labels' parameter must give each topic a label of its own. Got "
                f"'{label}' for topics {min(k, other)} and {max(k, other)}; add a word to one."
            )
