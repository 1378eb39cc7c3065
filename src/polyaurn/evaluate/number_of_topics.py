"""Measures by which numbers of topics are compared in the literature, from their articles.

Arun et al. (2010) and Cao et al. (2009) both need only the inner products of topics, which are
made from the sparse counts: topics are never stored as a dense matrix.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from polyaurn.base.arrays import F64
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.checks import check_belongs, check_documents, count_topics
from polyaurn.model.data import ModelData, document_lengths
from polyaurn.model.model import fitted

_NOTHING = 1e-14  # an eigenvalue below this share of the largest one is rounding


def arun_2010(model: Any) -> float | None:
    """Return the divergence of Arun et al. (2010); smaller is better.

    It is the symmetric Kullback-Leibler divergence between two distributions over topics, both in
    falling order: singular values of the matrix of topics, and the tokens that mixtures of
    documents, weighted by their lengths, give to topics.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model, with its documents.

    Returns
    -------
    float or None
        None where topics are linearly dependent, as several without tokens are, so that a singular
        value is zero.
    """
    trained = fitted(model)
    check_documents(trained)
    values = np.linalg.eigvalsh(_inner_products(trained))[::-1]
    if values[-1] <= _NOTHING * values[0]:
        return None
    of_topics = np.sqrt(values)
    lengths, alpha = document_lengths(trained), trained.priors.alpha
    weight = lengths / (lengths + alpha.sum())
    of_documents = np.sort(trained.doc_topic_counts.T @ weight + alpha * weight.sum())[::-1]
    p, q = of_topics / of_topics.sum(), of_documents / of_documents.sum()
    return float(((p - q) * np.log(p / q)).sum())


def cao_juan_2009(model: Any) -> float | None:
    """Return the density of Cao et al. (2009), the mean cosine between topics; smaller is better.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.

    Returns
    -------
    float or None
        None for one topic, which has no pair.
    """
    trained = fitted(model)
    if trained.n_topics < 2:
        return None
    inner = _inner_products(trained)
    length = np.sqrt(inner.diagonal())
    cosines = inner / np.outer(length, length)
    return float(cosines[np.triu_indices(len(length), 1)].mean())


def griffiths_2004(model: Any, corpus: Corpus) -> float:
    """Return log p(w | z) of Griffiths and Steyvers (2004), topics of tokens given.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model; its assignments are those of the last sweep.
    corpus : Corpus
        What it was trained on.

    Returns
    -------
    float
        Of all tokens together, natural logarithm; larger is better.
    """
    trained = fitted(model)
    documents = check_belongs(trained, corpus)
    beta, n = trained.priors.beta, count_topics(documents, trained.assignments, trained.n_topics)
    prior = _pseudo_counts(trained, n) + beta[n.indices]
    sums = beta.sum() + _pseudo_sums(trained)
    of_words = gammaln(n.data + prior) - gammaln(prior)
    of_topics = gammaln(sums) - gammaln(np.asarray(n.sum(axis=1)).ravel() + sums)
    return float(of_words.sum() + np.sum(of_topics))


def harmonic_mean(log_likelihoods: Sequence[float]) -> float:
    """Return the logarithm of the harmonic mean of likelihoods, given their logarithms.

    Griffiths and Steyvers (2004) estimate by it the probability of the words given a number of
    topics, from several samples of log p(w | z). It is dominated by the lowest one.
    """
    values = np.asarray(log_likelihoods, np.float64)
    low = values.min()
    return float(low - np.log(np.mean(np.exp(low - values))))


def _pseudo_counts(model: ModelData, n: sp.csr_matrix) -> F64:
    """Return the prior's pseudo-counts of seeds where n is not zero."""
    pseudo = _pseudo_matrix(model)
    if pseudo is None:
        return np.zeros(n.nnz)
    rows = np.repeat(np.arange(n.shape[0]), np.diff(n.indptr))
    return np.asarray(pseudo[rows, n.indices], np.float64).ravel()


def _pseudo_sums(model: ModelData) -> F64:
    pseudo = _pseudo_matrix(model)
    if pseudo is None:
        return np.zeros(model.n_topics)
    return np.asarray(pseudo.sum(axis=1), np.float64).ravel()


def _pseudo_matrix(model: ModelData) -> sp.csr_matrix | None:
    if model.priors.pseudo is None:
        return None
    return sp.csr_matrix(model.topic_word_mass - model.topic_word_counts)


def _inner_products(model: ModelData) -> F64:
    """Return the inner products of the topics' distributions over words, K by K."""
    mass, beta = model.topic_word_mass.astype(np.float64), model.priors.beta
    sums = model.mass_of_topics + beta.sum()
    with_prior = mass @ beta
    inner = (mass @ mass.T).toarray() + with_prior[:, None] + with_prior + beta @ beta
    return np.asarray(inner / np.outer(sums, sums))
