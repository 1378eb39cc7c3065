"""scikit-learn's LatentDirichletAllocation: variational parameters in and out."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.exchange.parts import one_number, take_prior_out, topics_only
from polyaurn.model.data import word_weights
from polyaurn.model.model import TopicModel, fitted


def from_sklearn(lda: Any, feature_names: Iterable[str]) -> TopicModel:
    """Take the topics of a fitted LatentDirichletAllocation.

    Parameters
    ----------
    lda : sklearn.decomposition.LatentDirichletAllocation
        A fitted estimator.
    feature_names : iterable of str
        The words, such as ``vectorizer.get_feature_names_out()``.

    Returns
    -------
    TopicModel
        A model without documents. Its topics are the rows of ``lda.components_`` divided by their
        sums; pseudo-counts are ``components_`` less the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from polyaurn import exchange
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit([[4, 1, 0], [0, 1, 5]])
    >>> model = exchange.from_sklearn(lda, ["moon", "orbit", "goal"])
    >>> sorted(topic[0] for topic in model.topics())
    ['goal', 'moon']
    """
    try:
        weights = np.asarray(lda.components_, np.float64)
        alpha, eta = float(lda.doc_topic_prior_), float(lda.topic_word_prior_)
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            "The 'lda' parameter must be a fitted LatentDirichletAllocation. Got "
            f"{type(lda).__name__} without its components; call fit first."
        ) from None
    counts, beta = take_prior_out(weights, np.full(weights.shape[1], eta))
    names = "'feature_names' parameter"
    words = [str(name) if isinstance(name, np.str_) else name for name in feature_names]
    return topics_only(counts, alpha, beta, words, "scikit-learn LatentDirichletAllocation", names)


def to_sklearn(model: Any, *, flatten_priors: bool = False) -> Any:
    """Make a fitted LatentDirichletAllocation with the topics of a model.

    Parameters
    ----------
    model : TopicModel or LDA
        What to convert.
    flatten_priors : bool
        scikit-learn has one number for each prior; True takes the mean of a vector, False
        rejects it.

    Returns
    -------
    sklearn.decomposition.LatentDirichletAllocation
        ``components_`` is n + beta. It transforms and scores matrices whose columns are the model's
        words, and can be trained on with ``partial_fit``.
    """
    from scipy.special import psi
    from sklearn.decomposition import LatentDirichletAllocation

    trained = fitted(model)
    alpha = one_number(
        trained.priors.alpha, "alpha", "LatentDirichletAllocation", flatten=flatten_priors
    )
    beta = one_number(
        trained.priors.beta, "beta", "LatentDirichletAllocation", flatten=flatten_priors
    )
    lda = LatentDirichletAllocation(
        trained.n_topics, doc_topic_prior=alpha, topic_word_prior=beta, random_state=0
    )
    weights = word_weights(trained)
    lda.doc_topic_prior_, lda.topic_word_prior_ = alpha, beta
    lda.components_ = weights
    lda.exp_dirichlet_component_ = np.exp(psi(weights) - psi(weights.sum(axis=1, keepdims=True)))
    lda.n_features_in_ = len(trained.vocab)
    lda.n_iter_ = int(trained.parameters.get("sweeps", 0))
    lda.n_batch_iter_ = 1
    lda.random_state_ = np.random.RandomState(0)
    return lda
