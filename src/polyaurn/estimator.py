"""The estimator: what most users meet first."""

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from polyaurn.corpus import Corpus, as_corpus
from polyaurn.errors import InputError
from polyaurn.kernels import DEFAULT_SAMPLER
from polyaurn.model import TopicModel
from polyaurn.progress import training_line
from polyaurn.rng import check_seed
from polyaurn.sampler import give_all_topics, sweeps
from polyaurn.state import Info, State, check_topics, make_priors, prior_in_brief

Callback = Callable[[State, Info], Any]


class LDA(BaseEstimator):  # type: ignore[misc]
    """Latent Dirichlet allocation, trained by Gibbs sampling.

    The same seed gives the same topics in every byte, for any number of threads.

    Parameters
    ----------
    n_components : int
        Number of topics, K.
    doc_topic_prior : float or array_like of length K
        alpha, the concentration of topics in a document.
    topic_word_prior : float or array_like of length V
        beta, the concentration of words in a topic.
    max_iter : int
        Number of sweeps over the corpus.
    sampler : str
        "polya-urn" draws Phi as sparse Poisson counts: fast, small, and exact in the limit of
        large counts. "partially-collapsed" draws Phi from its Dirichlet posterior: exact, dense.
        "polya-urn-mh", "collapsed", "light" and "collapsed-dense" are the urn's rivals, for
        comparison; see the page on samplers.
    random_state : int, None or NumPy generator
        The seed; None takes a new one each time, kept in ``random_state_``.
    n_jobs : int or None
        Threads; -1 takes all cores. The result does not depend on it, unless the sampler is
        "collapsed" or "light", which are exact on one thread and approximate on several.
    evaluate_every : int
        Compute the log posterior every so many sweeps (and after the last); 0 never.
    warm_start : {"auto", "grow", "smooth", "random"}
        "grow" begins on a share of the documents, 1/64 of a large corpus, and doubles it every
        8 sweeps until all are in; "smooth" begins with larger priors, for a third of the sweeps
        and at most 120; "random" does neither, as in the paper. "auto" does both, each where it
        helps: it grows when tokens times topics are 4e8 or more, unless `max_iter` is too small,
        and smooths with at most 200 topics.
    phi_refreshes : int or "auto"
        How often Phi is drawn in a sweep, 1 (as in the paper) to 8; "auto" takes one for each
        40 tokens a word, from 1 to 4.
    mh_steps : int, optional
        Pairs of Metropolis-Hastings proposals a token, for "light" and "polya-urn-mh"; 2 when not
        given.
    learn_priors_every : int
        Learn an asymmetric alpha and a symmetric beta every so many sweeps; 0, the default, keeps
        the priors as they are. What was learned is in ``model_.priors``.
    callbacks : callable or sequence of callables, optional
        Each is called after every sweep with the state and its `Info`; one that returns True
        ends the training there.
    verbose : bool
        Show a live line on a terminal.

    Attributes
    ----------
    topic_word_counts_ : CSR matrix of int32, K by V
        Tokens of each word in each topic.
    doc_topic_counts_ : CSR matrix of int32, D by K
        Tokens of each topic in each document.
    assignments_ : ndarray of uint16
        Topic of each token, in the corpus' token order.
    components_ : ndarray of float64, K by V
        Topic-word counts plus the prior; rows divided by their sums are word probabilities.
    trace_ : list of dict
        One record a sweep: sweep, phase ("grow 1/64" and so on, then "full"), seconds,
        phi_seconds, z_seconds, log_posterior (None where it was not computed), phi_nonzeros,
        tokens_per_second, work_per_token (the mean of min(topics in the document, topics of
        the word)).
    model_ : TopicModel
        All of the above as one immutable object that can be saved.
    corpus_ : Corpus
        What was trained on.
    n_iter_ : int
        Sweeps done.
    random_state_ : int
        The seed used.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=200, n_words=300, n_topics=5)
    >>> lda = polyaurn.LDA(n_components=5, max_iter=50).fit(corpus)
    >>> len(lda.topics(n_words=3))
    5
    >>> int(lda.topic_word_counts_.sum()) == corpus.n_tokens
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        doc_topic_prior: Any = 0.1,
        topic_word_prior: Any = 0.01,
        max_iter: int = 1000,
        sampler: str = DEFAULT_SAMPLER,
        random_state: Any = 0,
        n_jobs: int | None = -1,
        evaluate_every: int = 10,
        warm_start: str = "auto",
        phi_refreshes: int | str = "auto",
        mh_steps: int | None = None,
        learn_priors_every: int = 0,
        callbacks: Callback | Iterable[Callback] | None = None,
        verbose: bool = True,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.sampler = sampler
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.evaluate_every = evaluate_every
        self.warm_start = warm_start
        self.phi_refreshes = phi_refreshes
        self.mh_steps = mh_steps
        self.learn_priors_every = learn_priors_every
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "LDA":
        """Train on documents.

        When interrupted (Ctrl-C), the estimator keeps the state after the last whole sweep, and
        the interruption goes on to the caller.

        Parameters
        ----------
        X : Corpus, sparse or dense matrix of counts, AnnData, or sequence of str
            The documents. Strings are counted as `Corpus.from_texts` does by default.
        y : ignored
            For scikit-learn's sake.

        Returns
        -------
        LDA
            The estimator itself.
        """
        corpus = as_corpus(X)
        seed = check_seed(self.random_state)
        callbacks = _as_callbacks(self.callbacks)
        if corpus.n_empty:
            warnings.warn(corpus.note_of_empty_documents(), stacklevel=2)
        trace: list[dict[str, Any]] = []
        state: State | None = None
        with training_line(self.max_iter, corpus.n_tokens, show=self.verbose) as line:
            chain = sweeps(
                corpus,
                self.n_components,
                doc_topic_prior=self.doc_topic_prior,
                topic_word_prior=self.topic_word_prior,
                sampler=self.sampler,
                random_state=seed,
                n_jobs=self.n_jobs,
                evaluate_every=self.evaluate_every,
                max_iter=self.max_iter,
                warm_start=self.warm_start,
                phi_refreshes=self.phi_refreshes,
                mh_steps=self.mh_steps,
                learn_priors_every=self.learn_priors_every,
                on_compile=line.compiling,
            )
            try:
                for state, info in chain:
                    trace.append(info.record())
                    line.sweep(info)
                    if any([_says_stop(callback(state, info)) for callback in callbacks]):
                        break
                    state = state._replace(phi=None)  # free its memory while the next is drawn
            finally:
                if state is not None:
                    self._keep(corpus, state, trace, seed)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Train, and return the mixture of topics of each document.

        Parameters
        ----------
        X : Corpus, sparse or dense matrix of counts, or sequence of str
            The documents.
        y : ignored
            For scikit-learn's sake.

        Returns
        -------
        ndarray of float64, D by K
            Rows sum to one; see `TopicModel.doc_topics`.
        """
        return self.fit(X).model_.doc_topics()

    def transform(self, X: Any, *, sparse: bool = False) -> Any:
        """Return the mixtures of topics of documents, the topics staying as they are.

        On the training documents this is not `fit_transform`: that one tells where the chain ended,
        one draw in which topics and documents were sampled together; this one averages several
        draws of each document given the topics. They agree within sampling error.

        Parameters
        ----------
        X : Corpus, sparse or dense matrix of counts, or sequence of str
            The documents.
        sparse : bool
            Return CSR with the topics that a document's tokens were seen in.

        Returns
        -------
        ndarray of float64 or CSR matrix, D by K
            See `TopicModel.transform`.
        """
        return self._fitted().transform(
            X, sparse=sparse, random_state=self.random_state_, n_jobs=self.n_jobs
        )

    def _keep(self, corpus: Corpus, state: State, trace: list[dict[str, Any]], seed: int) -> None:
        K = check_topics(self.n_components)
        priors = state.priors or make_priors(
            self.doc_topic_prior, self.topic_word_prior, K, corpus.n_words
        )
        state = give_all_topics(corpus, state, priors, self.sampler, seed, self.n_jobs)
        self.corpus_ = corpus
        self.n_iter_ = state.sweep
        self.random_state_ = seed
        self.n_features_in_ = corpus.n_words
        self.model_ = TopicModel.from_state(
            corpus,
            state,
            priors,
            trace=trace,
            parameters={
                "sampler": self.sampler,
                "seed": seed,
                "warm_start": self.warm_start,
                "phi_refreshes": self.phi_refreshes,
                "mh_steps": self.mh_steps,
                "learn_priors_every": self.learn_priors_every,
                "doc_topic_prior": prior_in_brief(self.doc_topic_prior),
                "topic_word_prior": prior_in_brief(self.topic_word_prior),
            },
        )

    @property
    def topic_word_counts_(self) -> sp.csr_matrix:
        """Tokens of each word in each topic."""
        return self._fitted().topic_word_counts

    @property
    def doc_topic_counts_(self) -> sp.csr_matrix:
        """Tokens of each topic in each document."""
        return self._fitted().doc_topic_counts

    @property
    def assignments_(self) -> np.ndarray:
        """Topic of each token."""
        return self._fitted().assignments

    @property
    def trace_(self) -> list[dict[str, Any]]:
        """One record a sweep."""
        return self._fitted().trace

    @property
    def components_(self) -> np.ndarray:
        """Topic-word counts plus the prior, dense; made anew at each call."""
        model = self._fitted()
        return np.asarray(model.topic_word_counts.toarray() + model.priors.beta)

    def topics(self, n_words: int = 10, *, weights: bool = False) -> Any:
        """Return the most probable words of each topic; see `TopicModel.topics`."""
        return self._fitted().topics(n_words, weights=weights)  # type: ignore[call-overload]

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the model to a folder that `polyaurn.load` opens.

        Parameters
        ----------
        path : str or Path
            The folder.
        force : bool
            Replace a model that is there.

        Returns
        -------
        Path
            The folder.
        """
        return self._fitted().save(path, force=force)

    def _fitted(self) -> TopicModel:
        model: TopicModel | None = self.__dict__.get("model_")
        if model is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This LDA has not been trained yet; call fit first.")
        return model


def _says_stop(answer: Any) -> bool:
    return isinstance(answer, bool | np.bool_) and bool(answer)


def _as_callbacks(callbacks: Any) -> list[Callback]:
    if callbacks is None:
        return []
    several = isinstance(callbacks, Iterable) and not isinstance(callbacks, str)
    found = list(callbacks) if several else [callbacks]
    for callback in found:
        if not callable(callback):
            raise InputError(
                "The 'callbacks' parameter must be a function of (state, info), or several. "
                f"Got {callback!r} instead."
            )
    return found
