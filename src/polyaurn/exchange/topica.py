"""topica: a model as its analysis functions read one."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.checks import check_documents
from polyaurn.model.data import document_lengths, word_probabilities
from polyaurn.model.labels import labels_of
from polyaurn.model.leading_words import BY_FREQUENCY
from polyaurn.model.model import TopicModel, fitted


class ForTopica:
    """A model with the names that topica reads; dense arrays are made when first used."""

    def __init__(self, model: TopicModel, draws: F64 | None = None) -> None:
        self.model = model
        self.theta_draws = draws

    @property
    def num_topics(self) -> int:
        """K."""
        return self.model.n_topics

    @property
    def vocabulary(self) -> list[str]:
        """The words."""
        return list(self.model.vocab)

    @property
    def doc_names(self) -> list[str]:
        """Names of the documents."""
        return list(self.model.doc_names)

    @property
    def topic_names(self) -> list[str]:
        """Labels, or leading words."""
        return labels_of(self.model)

    @property
    def alpha(self) -> F64:
        """The prior of topics, by which topica knows a Dirichlet model."""
        return self.model.priors.alpha

    @property
    def doc_lengths(self) -> I64:
        """Tokens of each document."""
        return document_lengths(self.model)

    @cached_property
    def topic_word(self) -> F64:
        """Topics, K by V; rows sum to one."""
        return word_probabilities(self.model)

    @cached_property
    def doc_topic(self) -> F64:
        """Mixtures of the training documents, D by K; rows sum to one."""
        check_documents(self.model)
        return self.model.doc_topics()

    @property
    def fit_history(self) -> list[tuple[int, float]]:
        """Sweeps with their log posterior."""
        known = [(t["sweep"], t["log_posterior"]) for t in self.model.trace]
        return [(sweep, level) for sweep, level in known if level is not None]

    def top_words(
        self, n: int = 10, *, topic: int | None = None, weights: bool = False
    ) -> list[Any]:
        """Return the most probable words of one topic, or of each, as topica's own models do."""
        words: list[Any] = (
            self.model.topics(n, weights=True, order=BY_FREQUENCY)
            if weights
            else list(self.model.topics(n, order=BY_FREQUENCY))
        )
        return words if topic is None else list(words[topic])

    def transform(self, docs: Sequence[Sequence[str]], *, seed: int = 0) -> F64:
        """Return the mixtures of documents that are cut into words, D by K."""
        return np.asarray(self.model.transform(_count(docs), random_state=seed))

    def __repr__(self) -> str:
        return f"ForTopica({self.model!r})"


class Untrained(ForTopica):
    """A model that topica trains itself, by an estimator's parameters and another seed."""

    def __init__(self, estimator: Any, seed: int) -> None:
        self._estimator, self._seed = estimator, seed

    def fit(self, docs: Sequence[Sequence[str]]) -> "Untrained":
        """Train on documents that are cut into words."""
        from sklearn.base import clone

        lda = clone(self._estimator).set_params(random_state=int(self._seed), verbose=False)
        super().__init__(lda.fit(_count(docs)).model_)
        return self


def to_topica(model: Any, posterior: Any = None) -> ForTopica:
    """Return a model that topica's analysis functions take.

    Parameters
    ----------
    model : TopicModel or LDA
        The model. One without documents will do where topica reads only topics.
    posterior : Posterior, optional
        From `LDA.sample_posterior`, with draws of Theta for all documents and topics
        (``documents=range(corpus.n_documents)``). topica then takes the draws of the first chain,
        whose topics the model has, for its intervals; otherwise it draws from Dirichlets around the
        mixtures.

    Returns
    -------
    ForTopica
        With topic_word, doc_topic, vocabulary, alpha, and whatever else topica uses. Topics
        keep their numbers and labels.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.Corpus.from_matrix([[2, 1]], ["moon", "orbit"])
    >>> lda = polyaurn.LDA(1, max_iter=2, topic_word_prior=0.5, verbose=False).fit(corpus)
    >>> polyaurn.exchange.to_topica(lda).topic_word.tolist()
    [[0.625, 0.375]]
    """
    trained = fitted(model)
    if posterior is None:
        return ForTopica(trained)
    draws = getattr(posterior, "theta", None)
    if draws is None or not (
        np.array_equal(posterior.documents, np.arange(len(trained.doc_names)))
        and np.array_equal(posterior.topics, np.arange(trained.n_topics))
    ):
        raise InputError(
            "The 'posterior' parameter must hold draws of Theta for all of the model's documents "
            "and topics. Got others, or none; sample with documents=range(corpus.n_documents)."
        )
    return ForTopica(trained, draws[0])


def topica_factory(lda: Any) -> Callable[[int], Untrained]:
    """Return what topica calls ``model_factory``: a seed to a model that it trains.

    Parameters
    ----------
    lda : LDA
        An estimator, trained or not, whose parameters are used.

    Returns
    -------
    callable
        For ``bootstrap_stability``, ``topic_stability`` and ``standard_errors``, whose documents
        are cut into words.
    """
    if not hasattr(lda, "get_params") or not hasattr(lda, "fit"):
        raise InputError(
            f"The 'lda' parameter must be an LDA. Got {type(lda).__name__} instead; a trained "
            "model does not say how to train another."
        )
    return lambda seed: Untrained(lda, seed)


def _count(docs: Sequence[Sequence[str]]) -> Corpus:
    """Count documents that are cut into words already."""
    number: dict[str, int] = {}
    words = [number.setdefault(word, len(number)) for doc in docs for word in doc]
    ptr = np.concatenate(([0], np.cumsum([len(doc) for doc in docs], dtype=np.int64)))
    return Corpus(ptr, np.array(words, np.int32), tuple(number))
