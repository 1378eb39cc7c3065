"""Documents that a new model explains and an old one does not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.base.threads import Workers
from polyaurn.corpus.known_words import in_words_of
from polyaurn.evaluate.batch import select
from polyaurn.evaluate.held_out import complete_known
from polyaurn.model.common_words import CommonWords
from polyaurn.model.inference import mean_counts
from polyaurn.model.labels import labels_at
from polyaurn.model.model import TopicModel
from polyaurn.model.snippets import snippets
from polyaurn.training.updates import has_counts

LEAST_SCORED = 5  # tokens, for a score that can be compared


def unexplained(
    old: TopicModel,
    new: TopicModel,
    common: CommonWords,
    documents: Any,
    texts: Sequence[str] | None,
    n: int,
    *,
    seed: int,
    workers: Workers,
    device: str,
) -> dict[str, Any]:
    """Return the documents whose score per token gains most, as `Difference` describes them.

    Both models know the words of both: a word that only one of them has seen has no tokens in the
    other's topics, and the mean of its beta. Of a model without counts of tokens beta says nothing
    (LDA-C's is e^-100), and a word has at least the part of a topic that beta is in the other.
    """
    check_whole(n, "n_documents", of="documents")
    known = in_words_of(common.words, documents, new.tokenization)
    if not known.tokens.sum():
        raise InputError(
            "The 'documents' parameter must have words that the models know. Got none; give the "
            "documents of the new model."
        )
    if texts is None and _are_texts(documents):
        texts = list(documents)
    if texts is not None and len(texts) != len(known.tokens):
        raise InputError(
            "The 'texts' parameter must have one text for each of the "
            f"{len(known.tokens):,} documents. Got {len(texts):,} instead."
        )
    both = (
        _widened(old, common, common.before, _least(old, new)),
        _widened(new, common, common.after, _least(new, old)),
    )
    scored = [
        complete_known(model, known, seed=seed, workers=workers, device=device) for model in both
    ]
    tokens = scored[0].tokens
    level = [score.log_likelihood / np.maximum(tokens, 1) for score in scored]
    gain = np.where(tokens >= LEAST_SCORED, level[1] - level[0], -np.inf)
    order = np.lexsort((np.arange(len(gain)), -gain))
    first = order[: min(n, int((gain > 0).sum()))].astype(np.int64)
    those = select(known, first)
    shares = mean_counts(both[1], those, seed=seed, workers=workers, device=device).toarray()
    topic = (shares + new.priors.alpha).argmax(axis=1).astype(np.int64)
    unknown = _share_lacking(old, those.doc_ptr, those.word)
    table = {
        "number": first,
        "document": list(those.doc_names),
        "tokens": those.tokens,
        "score_before": level[0][first],
        "score_after": level[1][first],
        "gain": gain[first],
        "unknown_before": unknown,
        "topic_after": topic,
        "label_after": labels_at(new, topic),
    }
    if texts is not None:
        table["snippet"] = [
            snippets(new, k, [texts[d]])[0]
            for k, d in zip(topic.tolist(), first.tolist(), strict=True)
        ]
    return table


def _are_texts(documents: Any) -> bool:
    return isinstance(documents, list | tuple) and all(isinstance(d, str) for d in documents)


def _least(model: TopicModel, other: TopicModel) -> float:
    """Return the least beta that a model's words should have beside the other model."""
    if has_counts(model) or not has_counts(other):
        return 0.0
    size = other.mass_of_topics + other.priors.beta.sum()
    return float((other.priors.beta.mean() / size).mean())


def _widened(model: TopicModel, common: CommonWords, counts: Any, least: float) -> TopicModel:
    """Return a model that knows the words of both."""
    beta = np.full(len(common.words), float(model.priors.beta.mean()))
    number = {word: v for v, word in enumerate(common.words)}
    beta[[number[word] for word in model.vocab]] = model.priors.beta
    beta = np.maximum(beta, least)
    priors = model.priors._replace(beta=beta, pseudo=None)
    return replace(model, topic_word_counts=counts, priors=priors, vocab=common.words)


def _share_lacking(old: TopicModel, doc_ptr: Any, word: Any) -> F64:
    """Return the share of each document's tokens whose words the old model lacks.

    These follow the old model's words in the vocabulary of both.
    """
    lacks = np.concatenate(([0], np.cumsum(word >= len(old.vocab))))
    tokens = np.maximum(np.diff(doc_ptr), 1)
    return np.asarray((lacks[doc_ptr[1:]] - lacks[doc_ptr[:-1]]) / tokens, np.float64)
