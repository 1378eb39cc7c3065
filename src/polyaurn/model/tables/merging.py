"""Several topics made one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import Priors, topic_word_matrix
from polyaurn.model.tables.checks import check_topic
from polyaurn.model.tables.labels import KEY, given_labels

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel


def merge_topics(model: "TopicModel", groups: Any) -> "TopicModel":
    """Return a model with topics merged; see `Views.merge_topics`."""
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
    facts = {k: v for k, v in model.parameters.items() if k not in ("run", KEY)}
    facts |= {"n_topics": len(parts), "merged_topics": parts}
    if any(labels):
        facts[KEY] = [_label([labels[k] for k in old]) for old in parts]
    return replace(
        model,
        topic_word_counts=_summed(gather @ model.topic_word_counts, model.topic_word_counts),
        doc_topic_counts=_summed(model.doc_topic_counts @ gather.T, model.doc_topic_counts),
        assignments=z,
        priors=_merged_priors(model.priors, gather),
        trace=[],
        parameters=facts,
    )


def _merged_priors(priors: Priors, gather: sp.csr_matrix) -> Priors:
    K, V = len(priors.alpha), len(priors.beta)
    pseudo = gather @ topic_word_matrix(priors.pseudo, K) if priors.pseudo is not None else None
    return make_priors(gather @ priors.alpha, priors.beta, gather.shape[0], V, pseudo=pseudo)


def _parts(model: "TopicModel", groups: Any) -> list[list[int]]:
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
    return " + ".join(dict.fromkeys(label for label in labels if label)) or None
