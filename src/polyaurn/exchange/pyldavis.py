"""pyLDAvis: what its ``prepare`` asks for."""

from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.known_words import in_words_of
from polyaurn.model.checks import check_belongs
from polyaurn.model.data import word_probabilities
from polyaurn.model.model import fitted


def pyldavis_arguments(model: Any, corpus: Any) -> dict[str, Any]:
    """Return the arguments of ``pyLDAvis.prepare``.

    Parameters
    ----------
    model : TopicModel or LDA
        A model of at least two topics, which pyLDAvis asks for.
    corpus : Corpus
        What it was trained on. For a model that came from elsewhere without its documents, any
        documents; their mixtures are inferred.

    Returns
    -------
    dict
        topic_term_dists, doc_topic_dists, doc_lengths, vocab and term_frequency. Words that do not
        occur in the corpus are left out, since pyLDAvis divides by their frequency.
    """
    trained = fitted(model)
    if trained.n_topics < 2:
        raise InputError(
            "The 'model' parameter must have at least two topics, between which pyLDAvis measures "
            "distances. Got one; train a model with more."
        )
    if len(trained.doc_names):
        mixtures = check_belongs(trained, corpus) and trained.doc_topics()
    else:
        mixtures = trained.transform(corpus)
    known = in_words_of(trained.vocab, corpus, trained.tokenization)
    frequency = np.bincount(known.word, minlength=len(trained.vocab))
    used = np.flatnonzero(frequency)
    topics = word_probabilities(trained)[:, used]
    return {
        "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
        "doc_topic_dists": mixtures,
        "doc_lengths": known.tokens,
        "vocab": [trained.vocab[v] for v in used],
        "term_frequency": frequency[used],
    }
