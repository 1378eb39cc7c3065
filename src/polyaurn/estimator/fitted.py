"""What a trained estimator has: attributes, mixtures of new documents, scores."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from polyaurn.chain.priors import topic_word_mass
from polyaurn.estimator.inputs import documents_to_meet
from polyaurn.model.model import TopicModel
from polyaurn.model.tables.mixin import Tables

if TYPE_CHECKING:
    from polyaurn.evaluate import HeldOut


class Trained(
    Tables[TopicModel],
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of the estimator: all that reads ``model_``."""

    model_: TopicModel
    random_state_: int
    n_jobs: int | None
    device: str

    def transform(self, X: Any, *, sparse: bool = False) -> Any:
        """Return the mixtures of topics of documents, the topics staying as they are.

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
        model = self._fitted()
        return model.transform(
            documents_to_meet(self, X),
            sparse=sparse,
            random_state=self.random_state_,
            n_jobs=self.n_jobs,
            device=self.device,
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log likelihood of a held-out token, for model selection: higher is better.

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
            For scikit-learn's sake.

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
        from polyaurn.base.errors import InputError
        from polyaurn.evaluate import document_completion

        model = self._fitted()
        held_out = document_completion(
            model,
            documents_to_meet(self, X),
            random_state=self.random_state_,
            n_jobs=self.n_jobs,
            device=self.device,
        )
        if not held_out.tokens.sum():
            raise InputError(
                "The 'X' parameter must have a document of two tokens or more, one of which is "
                "scored given the other. Got none; score longer documents."
            )
        return held_out

    def topics(self, n_words: int = 10, *, weights: bool = False) -> Any:
        """Return the most probable words of each topic; see `TopicModel.topics`."""
        return self._fitted().topics(n_words, weights=weights)  # type: ignore[call-overload]

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

            raise NotFittedError("This LDA has not been trained yet; call fit first.")
        return model
