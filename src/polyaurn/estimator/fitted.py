"""What a trained estimator has: attributes, mixtures of new documents, scores."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from polyaurn.base.errors import InputError
from polyaurn.chain.priors import topic_word_mass
from polyaurn.corpus.tokenization import Tokenizer
from polyaurn.estimator.inputs import documents_to_meet
from polyaurn.estimator.parameters import WEIGHT_SCALE, parameters_of, seed_of
from polyaurn.model.labels import Labels
from polyaurn.model.leading_words import BY_RELEVANCE
from polyaurn.model.model import TopicModel
from polyaurn.model.storage import load
from polyaurn.model.summary import model_html
from polyaurn.model.tables.mixin import Tables
from polyaurn.training.progress import following

if TYPE_CHECKING:
    from polyaurn.evaluate import HeldOut
    from polyaurn.pages.inline import Report

PATIENCE = 1.0  # seconds after which progress is shown


class Trained(
    Tables[TopicModel],
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of the estimator: all that reads ``model_``."""

    model_: TopicModel
    random_state_: int
    n_iter_: int
    n_features_in_: int
    weight_scale_: float
    n_jobs: int | None
    device: str
    verbose: bool

    def transform(self, X: Any, *, sparse: bool = False) -> Any:
        """Return the mixtures of topics of documents, given fixed topics.

        On the training documents, ``model_.doc_topics()`` is something else: it says where the
        chain ended, one draw in which topics and documents were sampled together; this averages
        several draws of each document given the topics. They agree within sampling error.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, sequence of str, or of lists of tokens
            The documents. Strings are cut as in training. Columns of a data frame must be those of
            training.
        sparse : bool
            Return CSR with the topics that a document's tokens were seen in.

        Returns
        -------
        ndarray of float64 or CSR matrix, D by K
            See `TopicModel.transform`.
        """
        self._fitted()
        return self._mixtures(documents_to_meet(self, X), sparse=sparse)

    def _mixtures(self, documents: Any, *, sparse: bool = False) -> Any:
        with following("finding topics of documents", show=bool(self.verbose), after=PATIENCE):
            return self._fitted().transform(
                documents, sparse=sparse, random_state=self.random_state_, n_jobs=self.n_jobs,
                device=self.device,
            )  # fmt: skip

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log likelihood per held-out token, for model selection: higher is better.

        Every second token of each document is scored given the mixture that the others give
        (`polyaurn.evaluate.document_completion`), and the mean is taken: cheap enough for
        GridSearchCV, and comparable between test sets of different sizes.
        `polyaurn.evaluate.left_to_right` estimates the likelihood of whole documents, and takes
        longer.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, sequence of str, or of lists of tokens
            Documents it was not trained on, of two tokens or more.
        y : ignored
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        float
            In nats per token.
        """
        return self._completed(X).per_token

    def perplexity(self, X: Any) -> float:
        """Return the exponential of minus `score`: lower is better.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, sequence of str, or of lists of tokens
            Documents it was not trained on, of two tokens or more.

        Returns
        -------
        float
            How many words, equally probable, would be as hard to predict.
        """
        return self._completed(X).perplexity

    def _completed(self, X: Any) -> "HeldOut":
        from polyaurn.evaluate import document_completion

        model = self._fitted()
        documents = documents_to_meet(self, X)
        with following("scoring", show=bool(self.verbose), after=PATIENCE):
            held_out = document_completion(
                model, documents, random_state=self.random_state_, n_jobs=self.n_jobs,
                device=self.device,
            )  # fmt: skip
        if not held_out.tokens.sum():
            raise InputError(
                "The 'X' parameter must have a document of two tokens or more, one of which is "
                "scored given the other. Got none; score longer documents."
            )
        return held_out

    def topics(self, n_words: int = 10, *, weights: bool = False, order: str = BY_RELEVANCE) -> Any:
        """Return the leading words of each topic; see `TopicModel.topics`."""
        model = self._fitted()
        return model.topics(n_words, weights=weights, order=order)  # type: ignore[call-overload]

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the model to a folder that `polyaurn.load` opens.

        A folder that `save` itself wrote is replaced, so that a cell of a notebook can be run
        again. It must hold nothing but what was written: a model of ``polyaurn train``, one
        whose files were changed, and a run with checkpoints are replaced only with `force`, and
        files that polyaurn did not write never are.

        Parameters
        ----------
        path : str or Path
            The folder.
        force : bool
            Replace any model or run that is there.

        Returns
        -------
        Path
            The folder.
        """
        return self._fitted().save(path, force=force)

    def report(self, *, labels: Labels | None = None, **options: Any) -> "Report":
        """Return the page about the model, which a notebook shows below the cell.

        Parameters
        ----------
        labels : mapping, sequence or callable, optional
            Labels of topics, as `label_topics` takes them; the estimator itself has none, since
            `label_topics` returns another model.
        **options
            Those of `polyaurn.report`: ``corpus``, ``dates``, ``title``, ``height`` and so on. The
            documents are those of training where no corpus is given.

        Returns
        -------
        Report
            Save it with ``.save("report.html")``.
        """
        from polyaurn.pages.inline import report

        self._fitted()
        shown = self
        if labels is not None:
            shown = copy(self)
            shown.model_ = self.label_topics(labels)
        return report(shown, **options)

    @classmethod
    def load(cls, path: str | Path, *, tokenizer: Tokenizer | None = None) -> Self:
        """Return a trained estimator from a model folder.

        Parameters
        ----------
        path : str or Path
            As written by `save` or ``polyaurn train --out``.
        tokenizer : callable, optional
            The function that cut text into words in training, which is not saved.

        Returns
        -------
        LDA
            With the parameters of that training: `sampler` and `random_state` are those that
            were used. The folder has neither the documents (``corpus_``) nor an earlier model
            (`fixed_topics`), and of priors that were given as vectors and then learned, only what
            was learned. Parameters that do not change the topics have their defaults.

        Examples
        --------
        >>> import tempfile, polyaurn
        >>> corpus = polyaurn.datasets.generate(n_documents=30, n_words=40, n_topics=3)
        >>> lda = polyaurn.LDA(3, max_iter=20, verbose=False).fit(corpus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = polyaurn.LDA.load(lda.save(f"{folder}/model"))
        >>> again.n_components, again.topics() == lda.topics()
        (3, True)
        """
        return cls.from_model(load(path, tokenizer=tokenizer))

    @classmethod
    def from_model(cls, model: TopicModel, **parameters: Any) -> Self:
        """Return a trained estimator from a model, such as one of another package.

        Parameters
        ----------
        model : TopicModel
            As `polyaurn.load` and the functions of `polyaurn.exchange` return.
        **parameters
            Parameters that replace those of its training, as in `load`.

        Returns
        -------
        LDA
            A trained estimator, to be used or updated.
        """
        if model.clusters is not None:
            raise InputError(
                "The 'model' parameter must be one of topics in mixtures. Got one of document "
                "clusters; DocumentClusters.load and DocumentClusters.from_model take it."
            )
        given, own = parameters_of(model), cls._get_param_names()
        found = cls(**{name: given[name] for name in given if name in own} | parameters)
        found.model_ = model
        found.random_state_ = seed_of(model)
        found.n_iter_ = int(model.parameters.get("sweeps", 0))
        found.n_features_in_ = len(model.vocab)
        found.weight_scale_ = float(model.parameters.get(WEIGHT_SCALE, 1.0))
        return found

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
        """One record per sweep."""
        return self._fitted().trace

    @property
    def components_(self) -> np.ndarray:
        """Topic-word counts plus the prior, dense; made at each call."""
        model = self._fitted()
        mass = topic_word_mass(model.topic_word_counts, model.priors)
        return np.asarray(mass.toarray() + model.priors.beta)

    @property
    def _n_features_out(self) -> int:
        return self._fitted().n_topics

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    def _repr_html_inner(self) -> str:
        """Return the topics of a trained estimator, and scikit-learn's diagram before."""
        if self.__sklearn_is_fitted__():
            return model_html(self.model_, repr(self).replace("\n", " "))
        return str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return what a notebook shows."""
        found: dict[str, str] = super()._repr_mimebundle_(**options)
        return found | ({"text/html": self._repr_html_inner()} if "text/html" in found else {})

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    @contextmanager
    def _as_before_on_failure(self) -> Iterator[None]:
        """Put all attributes back as they were if training fails before it has given a model."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            if self.__dict__.get("model_") is before.get("model_"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise

    def _fitted(self) -> TopicModel:
        model: TopicModel | None = self.__dict__.get("model_")
        if model is None:
            from sklearn.exceptions import NotFittedError

            name = type(self).__name__
            raise NotFittedError(f"This {name} has not been trained yet; call fit first.")
        return model
