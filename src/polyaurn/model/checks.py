"""Checks of parameters against a model: topics, documents, the corpus it was trained on."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import I64
from polyaurn.base.checks import is_whole, wrong
from polyaurn.base.errors import InputError
from polyaurn.chain.state import doc_topic_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.data import ModelData

WITHIN = 1e-6  # of a token: rounding of means


def check_topic(model: ModelData, topic: Any, name: str = "topic") -> int:
    """Return a topic's number, or raise."""
    if not is_whole(topic) or not 0 <= topic < model.n_topics:
        what = "numbers of topics" if name == "topics" else "a topic's number"
        raise InputError(
            f"The '{name}' parameter must be {what}, from 0 to {model.n_topics - 1:,}. Got "
            f"{topic!r} instead; topic_info() and 'polyaurn topics' list the topics."
        )
    return int(topic)


def check_topics_asked(model: ModelData, topics: Any) -> I64:
    """Return the numbers of topics in the order asked for; all for None."""
    if topics is None:
        return np.arange(model.n_topics)
    several = isinstance(topics, Iterable) and not isinstance(topics, str)
    asked = list(topics) if several else [topics]
    numbers = [check_topic(model, topic, "topics") for topic in asked]
    if not numbers or len(set(numbers)) < len(numbers):
        raise InputError(
            "The 'topics' parameter must name at least one topic, each once. Got "
            f"{', '.join(map(str, numbers)) or 'none'}; leave it out for the default."
        )
    return np.array(numbers, np.int64)


def check_document(
    model: ModelData, document: Any, name: str = "document", remedy: str = ""
) -> int:
    """Return the number of a training document, given by its number or name, or raise."""
    D = len(model.doc_names)
    if is_whole(document) and 0 <= document < D:
        return int(document)
    if isinstance(document, str) and document in model.doc_names:
        return model.doc_names.index(document)
    each = "documents, each " if name == "documents" else ""
    raise wrong(name, f"{each}a number from 0 to {D - 1:,}, or a document's name", document, remedy)


def check_documents(model: ModelData, remedy: str = "only its topics can be written") -> None:
    """Reject a model without documents."""
    if not len(model.doc_names):
        raise InputError(
            "The model must have documents. Got one that came from elsewhere without "
            f"them; {remedy}."
        )


def check_value_per_document(model: ModelData, values: Any, name: str) -> list[Any]:
    """Return what is given for each document, as a list."""
    single = isinstance(values, str | dict) or not hasattr(values, "__iter__")
    listed = None if single else list(values)
    D = len(model.doc_names)
    if listed is None or len(listed) != D:
        got = type(values).__name__ if listed is None else f"{len(listed):,}"
        raise InputError(
            f"The '{name}' parameter must have one value for each of the model's {D:,} documents, "
            f"in the corpus' order. Got {got} instead."
        )
    return listed


def check_corpus(corpus: Any) -> Corpus:
    """Reject what is not a Corpus."""
    if not isinstance(corpus, Corpus):
        raise InputError(
            f"The 'corpus' parameter must be a Corpus. Got {type(corpus).__name__} instead; read "
            "it with polyaurn.read_corpus, or take an estimator's corpus_."
        )
    return corpus


def check_belongs(model: ModelData, corpus: Any) -> Corpus:
    """Reject a corpus other than the one the model was trained on."""
    documents = check_corpus(corpus)
    check_documents(model)
    if (
        documents.vocab != model.vocab
        or corpus.n_documents != len(model.doc_names)
        or corpus.n_tokens != len(model.assignments)
        or _differ(doc_topic_matrix(corpus.doc_ptr, model.assignments, model.n_topics),
                   model.doc_topic_counts)
        or not _has_counts(corpus, model)
    ):  # fmt: skip
        raise InputError(
            f"The 'corpus' parameter must be what the model was trained on, {model!r}. Got "
            f"{corpus!r}; read the same file with the same options."
        )
    return documents


def _has_counts(corpus: Corpus, model: ModelData) -> bool:
    """Return whether a model has the words of a corpus; of means over draws, how many of each."""
    if model.averaged_draws > 1:
        totals = np.asarray(model.topic_word_counts.sum(axis=0)).ravel()
        words = np.bincount(corpus.word, minlength=corpus.n_words)
        if model.priors.top is not None:  # topics of some draws are left out
            return bool((totals <= words + WITHIN).all()) and totals.sum() > 0
        return bool(np.allclose(totals, words))
    counts = count_topics(corpus, model.assignments, model.n_topics)
    return not _differ(counts, model.topic_word_counts)


def count_topics(corpus: Corpus, z: Any, n_topics: int) -> sp.csr_matrix:
    """Return n for topics z of a corpus' tokens, CSR of int32, K by V."""
    ones = np.ones(len(z), np.int32)
    shape = (n_topics, corpus.n_words)
    return sp.coo_matrix((ones, (z.astype(np.int32), corpus.word)), shape=shape).tocsr()


def _differ(a: sp.csr_matrix, b: sp.csr_matrix) -> bool:
    return bool((a != b).nnz)
