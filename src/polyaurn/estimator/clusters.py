"""Clusters of documents as an estimator: one topic for each document, for short texts."""

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.chain.state import Counts, Priors, State
from polyaurn.estimator.inputs import documents_to_meet, documents_to_train
from polyaurn.estimator.parameters import WEIGHT_SCALE
from polyaurn.estimator.training import Training
from polyaurn.model.checks import count_topics
from polyaurn.model.cluster_inference import Assigned, assign
from polyaurn.model.clusters import NO_MIXTURE, by_size
from polyaurn.model.model import TopicModel
from polyaurn.training.averages import Average, AverageOfDocuments
from polyaurn.training.clusters import DRAWS, NAMES, make_cluster_run
from polyaurn.training.progress import following
from polyaurn.training.run import Run

PATIENCE = 1.0  # seconds after which progress is shown


class DocumentClusters(ClusterMixin, Training):  # type: ignore[misc]
    """Clusters of documents, each with one topic: for titles, messages, tickets, answers.

    The Dirichlet multinomial mixture: every document has the words of its cluster, and nothing
    else. Clusters are sampled by collapsed Gibbs sampling from the posterior, with the same bytes
    for any number of threads. Clusters that no document needs are not shown.

    Parameters
    ----------
    n_clusters : int
        The maximum number of clusters.
    cluster_prior : float
        Concentration of clusters, alpha: what an empty cluster weighs beside a document.
    word_prior : float or None
        Concentration of words in a cluster, beta: with a larger one clusters are fewer. None takes
        0.1, or less where that would add more than half the tokens of a cluster of mean size; the
        first ten sweeps begin with at most an eighth of them.
    max_iter : int
        Number of sweeps over the documents.
    random_state : int, None or NumPy generator
        The seed; None takes a new one each time, kept in ``random_state_``.
    n_jobs : int or None
        Threads; -1 takes all cores. The result does not depend on it. Clusters are sampled on one
        thread; others count and score, and find the clusters of new documents.
    evaluate_every : int
        Compute the log posterior every so many sweeps (and after the last); 0 for never.
    average_draws : int or "auto"
        Clusters of documents are those of so many draws of the chain, spread over the last quarter
        of the sweeps. "auto" is 20, or as many as there are sweeps; 1 takes the last draw.
    learn_priors_every : int
        Learn both concentrations every so many sweeps; 0 keeps them as they are.
    checkpoint : str or Path, optional
        A folder in which the run is kept while it runs, so that it can be resumed.
    checkpoint_every : int or str
        Sweeps between checkpoints, or a time such as "5min"; "auto" is a minute, and "never" keeps
        none.
    resume : bool
        Continue from the newest checkpoint in the folder, or start where there is none, to the same
        bytes as without an interruption.
    callbacks : callable or sequence of callables, optional
        Each is called after every sweep with the state and its `Info`; one that returns True ends
        the training there.
    verbose : bool
        Show progress at a terminal and in notebooks, of `fit` at once, of others if they take long.

    Attributes
    ----------
    labels_ : ndarray of int64, length D
        The cluster that each document was in most often, clusters with more documents first; -1 for
        documents without words.
    probabilities_ : CSR matrix of float64, D by clusters
        The share of draws in which each document was in each cluster.
    n_clusters_ : int
        Clusters with documents.
    model_ : TopicModel
        Clusters as topics, with tables, report and files; its counts are those of `labels_`.
    components_ : ndarray of float64, clusters by V
        Tokens of words in clusters plus the prior.
    trace_ : list of dict
        One record per sweep.
    corpus_ : Corpus
        What was trained on.
    n_features_in_ : int
        Words seen in `fit`.
    feature_names_in_ : ndarray of str
        Columns of the data frame that `fit` was given; not there otherwise.
    n_iter_ : int
        Sweeps done.
    random_state_ : int
        The seed used.

    Examples
    --------
    >>> import polyaurn
    >>> texts = ["cat dog", "dog cat cat", "moon star", "star moon sun"] * 5
    >>> clusters = polyaurn.DocumentClusters(10, max_iter=50, verbose=False).fit(texts)
    >>> clusters.labels_[:4].tolist()
    [0, 0, 1, 1]
    >>> clusters.predict(["a dog", "the sun"]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        n_clusters: int = 100,
        *,
        cluster_prior: float = 0.1,
        word_prior: float | None = None,
        max_iter: int = 200,
        random_state: Any = 0,
        n_jobs: int | None = -1,
        evaluate_every: int = 10,
        average_draws: int | str = "auto",
        learn_priors_every: int = 0,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "auto",
        resume: bool = False,
        callbacks: Any = None,
        verbose: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.cluster_prior = cluster_prior
        self.word_prior = word_prior
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.evaluate_every = evaluate_every
        self.average_draws = average_draws
        self.learn_priors_every = learn_priors_every
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of documents.

        When interrupted (Ctrl-C), the estimator keeps the state after the last whole sweep, and
        the interruption is passed on to the caller.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, AnnData, strings, or lists of tokens
            The documents, as `LDA` takes them.
        y : ignored
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        DocumentClusters
            The estimator itself.
        """
        with self._as_before_on_failure():
            corpus = documents_to_train(self, X)
            if corpus.n_empty:
                warnings.warn(corpus.note_of_empty_documents(), stacklevel=2)
            ours = {name: theirs for theirs, name in NAMES.items()}
            given = {ours.get(name, name): value for name, value in self.get_params().items()}
            self._train_in_folder(make_cluster_run(given, corpus))
        return self

    def update(self, *_: Any, **__: Any) -> Self:
        """Raise an error: clusters cannot be continued with new documents."""
        raise InputError(
            "The estimator must be an LDA or an HDP to be updated. Got a DocumentClusters, which "
            "is not continued; fit it again with all documents."
        )

    def predict(self, X: Any) -> I64:
        """Return the most probable cluster of each document, given fixed clusters.

        Parameters
        ----------
        X : whatever `fit` takes
            The documents. Strings are cut as in training.

        Returns
        -------
        ndarray of int64
            -1 for documents without a word that the model knows.
        """
        found = self._assigned(X)
        likeliest = found.probability.argmax(axis=1)
        return np.where(found.tokens > 0, likeliest, -1).astype(np.int64)

    def predict_proba(self, X: Any) -> F64:
        """Return the probabilities of clusters for documents, given fixed clusters.

        Parameters
        ----------
        X : whatever `fit` takes
            The documents.

        Returns
        -------
        ndarray of float64, D by clusters
            Rows sum to one; a document without known words has the shares of clusters.
        """
        return np.asarray(self._assigned(X).probability)

    def transform(self, X: Any, *, sparse: bool = False) -> Any:
        """Return the probabilities of clusters for documents, as `predict_proba` does.

        On the training documents, `probabilities_` is something else: it says where they were while
        clusters were sampled; this takes them for new ones, after the clusters have seen them.

        Parameters
        ----------
        X : whatever `fit` takes
            The documents.
        sparse : bool
            Return CSR, without probabilities below 1e-9.

        Returns
        -------
        ndarray of float64 or CSR matrix, D by clusters
            Rows sum to one.
        """
        return self._assigned(X, sparse=sparse).probability

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log likelihood per token of documents, for model selection: higher is better.

        Parameters
        ----------
        X : whatever `fit` takes
            Documents it was not trained on.
        y : ignored
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        float
            In nats: that of whole documents, summed over clusters, divided by their tokens.
        """
        found = self._assigned(X)
        if not found.tokens.sum():
            raise InputError(
                "The 'X' parameter must have a document with a word that the model knows. Got none."
            )
        return float(math.fsum(found.level) / found.tokens.sum())

    def perplexity(self, X: Any) -> float:
        """Return the exponential of minus `score`: lower is better.

        Parameters
        ----------
        X : whatever `fit` takes
            Documents it was not trained on.

        Returns
        -------
        float
            How many words, equally probable, would be as hard to predict.
        """
        return math.exp(-self.score(X))

    @classmethod
    def from_model(cls, model: TopicModel, **parameters: Any) -> Self:
        """Return a trained estimator from a model of clusters.

        Parameters
        ----------
        model : TopicModel
            As `polyaurn.load` returns it.
        **parameters
            Parameters that replace those of its training.

        Returns
        -------
        DocumentClusters
            A trained estimator.
        """
        if model.clusters is None:
            raise InputError(
                "The 'model' parameter must be one of document clusters. Got one of topics in "
                "mixtures; LDA.load and LDA.from_model take it."
            )
        run = model.parameters.get("run")
        said = run if isinstance(run, dict) else {}
        known = cls().get_params()
        found = cls(**{name: said[name] for name in known if name in said} | parameters)
        found._take(model)
        return found

    @property
    def labels_(self) -> I64:
        """The cluster that each document was in most often."""
        clusters = self._fitted().clusters
        assert clusters is not None
        return clusters.labels()

    @property
    def probabilities_(self) -> sp.csr_matrix:
        """The share of draws in which each document was in each cluster."""
        model = self._fitted()
        assert model.clusters is not None
        return model.clusters.probabilities(model.n_topics)

    @property
    def n_clusters_(self) -> int:
        """How many clusters have documents."""
        return self._fitted().n_topics

    def _assigned(self, X: Any, *, sparse: bool = False) -> Assigned:
        model = self._fitted()
        documents = documents_to_meet(self, X)
        with following("finding clusters of documents", show=bool(self.verbose), after=PATIENCE):
            return assign(model, documents, sparse=sparse, n_jobs=self.n_jobs)

    def _warn_of_unfinished_start(self) -> None:
        """Say nothing: no parameter leaves out the first sweeps, in which beta is smaller."""

    def _keep(
        self,
        run: Run,
        state: State,
        trace: list[dict[str, Any]],
        average: Average | None = None,
    ) -> None:
        assert isinstance(average, AverageOfDocuments)
        corpus, lengths = run.corpus, np.diff(run.corpus.doc_ptr)
        last = np.zeros(len(lengths), np.uint16)
        last[lengths > 0] = state.z[corpus.doc_ptr[:-1][lengths > 0]]
        clusters = by_size(average.total(state), last, state.priors.alpha[0])
        z = np.repeat(np.maximum(clusters.labels(), 0), lengths).astype(np.uint16)
        K = int(clusters.topic.max()) + 1
        columns = count_topics(corpus, z, K).tocsc().sorted_indices()
        ptr = columns.indptr.astype(np.int64)
        counts = Counts(ptr[:-1], ptr[1:], columns.indices.astype(np.uint16), columns.data)
        priors = Priors(np.full(K, NO_MIXTURE), state.priors.beta)
        facts = run.facts | {DRAWS: max(1, average.draws)}
        if self.weight_scale_ != 1.0:
            facts |= {WEIGHT_SCALE: self.weight_scale_}
        model = TopicModel.from_state(
            corpus, State(z, counts, priors, state.sweep), priors, trace=trace, parameters=facts
        )
        self.corpus_ = corpus
        self._take(replace(model, clusters=clusters))

    def _take(self, model: TopicModel) -> None:
        features = self.__dict__.get("n_features_in_", len(model.vocab))
        self.model_, self.n_features_in_ = model, features
        self.n_iter_, self.random_state_ = model.parameters["sweeps"], model.parameters["seed"]
        self.weight_scale_ = float(model.parameters.get(WEIGHT_SCALE, 1.0))
