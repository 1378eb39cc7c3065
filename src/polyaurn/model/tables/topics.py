"""Topics: one row each, and those that a query finds."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.corpus.apostrophes import with_whole_words
from polyaurn.corpus.patterns import TERMS, expression
from polyaurn.model.checks import check_corpus
from polyaurn.model.coherence import mimno_coherence
from polyaurn.model.data import ModelData
from polyaurn.model.labels import labels_at, labels_of
from polyaurn.model.leading_words import (
    BY_FREQUENCY,
    check_order,
    exclusivity,
    topic_totals,
    words_by_topic,
)
from polyaurn.model.tables.words import Columns
from polyaurn.model.top_level import interval_of_weights, mean_weights


def topic_info(model: ModelData, corpus: Any, n_words: int, order: str) -> Columns:
    """Return one row per topic; coherence only with a corpus."""
    check_whole(n_words, "n_words")
    if corpus is not None:
        check_corpus(corpus)
    sizes, words = model.topic_sizes, words_by_topic(model, n_words, check_order(order))
    used = sizes > 0
    table = {
        "topic": np.arange(model.n_topics),
        "label": labels_of(model),
        "tokens": sizes,
        "prevalence": sizes / sizes.sum(),
        "documents": np.bincount(model.doc_topic_counts.indices, minlength=model.n_topics),
        "words": [", ".join(listed) for listed in words],
        "exclusivity": np.where(used, exclusivity(model, n_words), np.nan),
    }
    if model.priors.top is not None:
        low, high = interval_of_weights(model).T
        table |= {"weight": mean_weights(model), "weight_low": low, "weight_high": high}
    if corpus is not None:
        probable = words_by_topic(model, n_words, BY_FREQUENCY)
        table["coherence_mimno"] = np.where(used, mimno_coherence(probable, corpus), np.nan)
    return table


def find_topics(model: ModelData, query: str | Sequence[str], n: int) -> Columns:
    """Return the topics in which a query's words are probable."""
    check_whole(n, "n")
    words = _words_of(model, query)
    counts = model.topic_word_mass[:, words].toarray()
    log_p = np.log(counts + model.priors.beta[words]) - np.log(topic_totals(model))[:, None]
    there = np.flatnonzero(counts.any(axis=1))
    probability = np.exp(log_p[there].mean(axis=1))
    joint = log_p[there].sum(axis=1) + np.log(np.maximum(model.topic_sizes[there], 1e-300))
    weight = np.exp(joint - joint.max())
    order = np.lexsort((there, -probability))[:n]
    return {
        "topic": there[order],
        "label": labels_at(model, there[order]),
        "probability": probability[order],
        "topic_probability": (weight / weight.sum())[order],
        "words": [_with_counts(model, words, counts[k]) for k in there[order]],
    }


def _with_counts(model: ModelData, words: list[int], counts: Any) -> str:
    return ", ".join(f"{model.vocab[v]} {c:g}" for v, c in zip(words, counts, strict=True))


def _words_of(model: ModelData, query: Any) -> list[int]:
    """Return the numbers of a query's words; warn of unknown ones."""
    number = {word: v for v, word in enumerate(model.vocab)}
    if isinstance(query, str):
        rules = model.tokenization
        whole = query if rules is None else with_whole_words(query, rules.language)
        known, unknown = _cut(whole, number)
    elif isinstance(query, Sequence) and all(isinstance(word, str) for word in query):
        known = [word for word in query if word in number]
        unknown = [word for word in query if word not in number]
    else:
        raise InputError(
            "The 'query' parameter must be a string, or a list of words. Got "
            f"{type(query).__name__} instead."
        )
    used = [v for v in dict.fromkeys(number[word] for word in known) if _occurs(model, v)]
    if not used:
        raise InputError(
            "The 'query' parameter must have a word that the model knows. Got "
            f"{query!r}; vocab lists the words."
        )
    if unknown:
        shown = ", ".join(repr(word) for word in dict.fromkeys(unknown))
        warnings.warn(f"The model does not know {shown}; left out of the query.", stacklevel=4)
    return used


def _occurs(model: ModelData, v: int) -> bool:
    return bool((model.topic_word_mass.indices == v).any())


def _cut(query: str, number: dict[str, int]) -> tuple[list[str], list[str]]:
    """Cut a query into the longest runs of words that the model knows, and words it does not."""
    tokens = re.findall(expression(TERMS), query)
    longest = max(word.count(" ") for word in number) + 1
    known, unknown, at = [], [], 0
    while at < len(tokens):
        for length in range(min(longest, len(tokens) - at), 0, -1):
            run = " ".join(tokens[at : at + length])
            found = next((word for word in (run, run.lower()) if word in number), None)
            if found is not None:
                known.append(found)
                break
        else:
            unknown.append(tokens[at].lower())
            length = 1
        at += length
    return known, unknown
