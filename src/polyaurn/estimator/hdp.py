"""The estimator of a hierarchical Dirichlet process: as many topics as the documents need."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.errors import BiasWarning, InputError, TopicCountWarning
from polyaurn.chain.samplers import DEFAULT_SAMPLER
from polyaurn.corpus.corpus import Corpus
from polyaurn.estimator.lda import LDA
from polyaurn.model.model import TopicModel
from polyaurn.model.top_level import (
    TopicCount,
    count_topics,
    interval_of_weights,
    mean_weights,
    note_of_topics,
)
from polyaurn.training.run import Run
from polyaurn.training.settings import FIXED_STRENGTH, HDP_MODEL, LEARN_EVERY
from polyaurn.training.updates import Earlier, gamma_of


class HDP(LDA):
    """Hierarchical Dirichlet process: latent Dirichlet allocation that finds its number of topics.

    Topics have weights Psi that all documents share, and a document's mixture is
    Dirichlet(alpha Psi). Psi, alpha and gamma are drawn in every sweep. Topics that are not needed
    lose their tokens, and the model has those that kept some, the largest first. The same seed
    gives the same topics in every byte, for any number of threads.

    Parameters
    ----------
    max_components : int
        The most topics that may be used. The result hardly depends on it where it is well above
        the number of topics in use.
    doc_topic_prior : float
        alpha, the concentration of topics in a document, of all topics together; where it is
        learned, the value that it begins with.
    gamma : float
        Concentration of the weights Psi of topics, in the same way.
    alpha_prior, gamma_prior : pair of float, or None
        Shape and rate of the gamma distribution that is the prior of alpha, and of gamma; None
        keeps the value that is given.
    topic_weights : {"dirichlet", "sticks"}
        The prior of Psi: Dirichlet(gamma / K) for K = `max_components`, or a stick that is broken
        K - 1 times. Both tend to the same process as K grows.
    start_topics : int, optional
        Topics that tokens are spread over at first, 100 when not given; others open as they are
        needed, but few do beside topics that are blends of several: take more than you expect. From
        a single topic they part slowly, and of many that are too many few close.
    topic_word_prior : float, array_like of length V, or None
        beta, the concentration of words in a topic; None is 1 / max_components.
    max_iter, random_state, n_jobs, device, evaluate_every
        As in `LDA`.
    sampler : str
        As in `LDA`, except that "auto" takes "sparse-dirichlet" wherever it does not take
        "partitioned", whether beta is learned or not, also on a GPU. Weights that are drawn with an
        urn are biased; name it to have it nevertheless.
    cluster, n_workers, cluster_address
        As in `LDA`. The model is put together in this process, with the topics of all tokens.
    warm_start, phi_refreshes, mh_steps, average_draws
        As in `LDA`.
    learn_priors_every : int
        Learn beta every so many sweeps; 0 keeps it. A smaller beta makes for more topics.
    seed_words, seed_strength, fixed_topics, fixed_strength
        As in `LDA`.
    checkpoint, checkpoint_every, resume, callbacks, verbose
        As in `LDA`.

    Attributes
    ----------
    n_topics_ : TopicCount
        How many topics have tokens, and how many more than 0.1% of them: in the last draw, and
        with an interval over the draws of the last quarter of the sweeps, which is None where there
        are fewer than four. It is of one chain: others may stay at other numbers.
    weights_ : ndarray of float64, length K
        Psi of the topics of the model, the mean over draws. What is missing from a sum of one is
        the weight of topics without tokens.
    weights_interval_ : ndarray of float64, K by 2
        Quantiles of Psi over the same draws, 2.5% and 97.5%; NaN of fewer than four.
    trace_ : list of dict
        As in `LDA`; each record also has gamma, topics (with tokens) and large_topics (with more
        than 0.1% of the tokens). alpha_sum is alpha.
    model_, topic_word_counts_, doc_topic_counts_, assignments_, components_, ...
        As in `LDA`, for the topics that have tokens.

    Notes
    -----
    `update` keeps the weights of topics as they are.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=200, n_words=300, n_topics=5)
    >>> hdp = polyaurn.HDP(max_components=40, max_iter=80, verbose=False).fit(corpus)
    >>> hdp.n_topics_.last == len(hdp.topics()) < 40
    True
    """

    model = HDP_MODEL

    def __init__(
        self,
        max_components: int = 1000,
        *,
        doc_topic_prior: float = 0.1,
        gamma: float = 1.0,
        alpha_prior: tuple[float, float] | None = (1.0, 1.0),
        gamma_prior: tuple[float, float] | None = (1.0, 1.0),
        topic_weights: str = "dirichlet",
        start_topics: int | None = None,
        topic_word_prior: Any = 0.01,
        max_iter: int = 1000,
        sampler: str = DEFAULT_SAMPLER,
        random_state: Any = 0,
        n_jobs: int | None = -1,
        device: str = "cpu",
        cluster: str | None = None,
        n_workers: int | None = None,
        cluster_address: str | None = None,
        evaluate_every: int = 10,
        warm_start: str | bool = "auto",
        phi_refreshes: int | str = "auto",
        mh_steps: int | None = None,
        average_draws: int | str = "auto",
        learn_priors_every: int = LEARN_EVERY,
        seed_words: Mapping[int, Iterable[str]] | None = None,
        seed_strength: int | str = "auto",
        fixed_topics: Any = None,
        fixed_strength: int = FIXED_STRENGTH,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "auto",
        resume: bool = False,
        callbacks: Any = None,
        verbose: bool = True,
    ) -> None:
        super().__init__(
            max_components, doc_topic_prior=doc_topic_prior, topic_word_prior=topic_word_prior,
            max_iter=max_iter, sampler=sampler, random_state=random_state, n_jobs=n_jobs,
            device=device, cluster=cluster, n_workers=n_workers, cluster_address=cluster_address,
            evaluate_every=evaluate_every, warm_start=warm_start,
            phi_refreshes=phi_refreshes, mh_steps=mh_steps, average_draws=average_draws,
            learn_priors_every=learn_priors_every, seed_words=seed_words,
            seed_strength=seed_strength, fixed_topics=fixed_topics, fixed_strength=fixed_strength,
            checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume,
            callbacks=callbacks, verbose=verbose,
        )  # fmt: skip
        self.gamma = gamma
        self.alpha_prior = alpha_prior
        self.gamma_prior = gamma_prior
        self.topic_weights = topic_weights
        self.start_topics = start_topics

    @property
    def n_components(self) -> int:
        """The most topics that may be used, as `LDA` calls it."""
        return self.max_components

    @n_components.setter
    def n_components(self, value: int) -> None:
        self.max_components = value

    @classmethod
    def from_model(cls, model: TopicModel, **parameters: Any) -> Self:
        """Return a trained estimator from a model; see `LDA.from_model`.

        Parameters
        ----------
        model : TopicModel
            As `polyaurn.load` returns it, of a hierarchical Dirichlet process. One that was updated
            has weights of topics that are no longer drawn; a new `fit` begins with the usual
            concentration.
        **parameters
            Parameters that replace those of its training.

        Returns
        -------
        HDP
            A trained estimator, to be used or updated.
        """
        if gamma_of(model) is None:
            of = "DocumentClusters" if model.clusters is not None else "LDA"
            raise InputError(
                "The 'model' parameter must be one of a hierarchical Dirichlet process. Got "
                f"another one; {of}.load and {of}.from_model take it."
            )
        if model.priors.top is None:
            usual = cls()
            parameters = {
                "doc_topic_prior": usual.doc_topic_prior,
                "max_components": max(usual.max_components, model.n_topics),
            } | parameters
        return super().from_model(model, **parameters)

    def _train_in_folder(self, run: Run) -> None:
        """Train, in the run's folder if there is one, or with workers."""
        if run.note_of_weights:
            warnings.warn(run.note_of_weights, BiasWarning, stacklevel=3)
        super()._train_in_folder(run)

    def _warn_of_unfinished_start(self) -> None:
        """Warn, too, if the number of topics is at its limit or still changes."""
        super()._warn_of_unfinished_start()
        model = self.model_
        note = "" if model.priors.top is None else note_of_topics(model, self.max_components)
        if note:
            warnings.warn(note, TopicCountWarning, stacklevel=7)

    def _adopt(self, begun: Earlier, corpus: Corpus) -> None:
        """Take over what an update has; as many topics may be used as before, if not more."""
        most = self.max_components
        super()._adopt(begun, corpus)
        self.max_components = max(most, self.max_components)

    @property
    def n_topics_(self) -> TopicCount:
        """How many topics have tokens, and how many more than 0.1% of them."""
        return count_topics(self._fitted())

    @property
    def weights_(self) -> F64:
        """Psi of the topics, the mean over draws."""
        return mean_weights(self._fitted())

    @property
    def weights_interval_(self) -> np.ndarray:
        """Quantiles of Psi over the draws, 2.5% and 97.5%."""
        return interval_of_weights(self._fitted())
