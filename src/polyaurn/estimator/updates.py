"""Training that continues a model: new documents, its topics kept."""

import warnings
from typing import Any, Self

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.joined_words import earlier_documents, join_words, one_after_another
from polyaurn.estimator.fitted import Trained
from polyaurn.estimator.inputs import documents_to_add
from polyaurn.estimator.training import Training
from polyaurn.training.run import make_run
from polyaurn.training.settings import UPDATE_SWEEPS
from polyaurn.training.updates import (
    Earlier,
    check_counts,
    check_forget,
    check_new_topics,
    check_same_documents,
    earlier,
)


class Updates(Training):
    """What an estimator does with documents that come after its training."""

    n_components: int
    doc_topic_prior: Any
    topic_word_prior: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on documents."""
        raise NotImplementedError

    def update(
        self,
        X: Any,
        *,
        forget: float = 0.0,
        new_topics: int = 0,
        earlier_documents: Any = None,
        max_iter: int = UPDATE_SWEEPS,
    ) -> Self:
        """Continue the model with new documents: topics keep their numbers and meanings.

        What the model has counted, in its own documents and those before, becomes part of the
        prior: tokens that topics have had beforehand. Topics of the new documents are then sampled
        as in `fit`, with the same sampler, checkpoints and callbacks, for fewer sweeps and without
        an annealed start. Random numbers are those of `random_state` and of how many updates the
        model has had, so that no two updates share them. Afterwards the estimator is that of the
        new documents: ``corpus_``, ``assignments_`` and ``topic_word_counts_`` are theirs, and
        earlier tokens are in ``model_.priors.pseudo``. Words, `transform`, scores and the next
        update rest on both.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, strings, or lists of tokens
            The new documents. Strings are cut as in training. Words that the model does not have
            join its vocabulary at the end; of text those that `fit` would keep.
        forget : float
            Share of the earlier counts that is forgotten, from 0 to 1: with 0.2 a token weighs 0.8
            after this update and 0.64 after the next.
        new_topics : int
            Topics to add, for what the earlier ones do not explain. They are the last ones.
        earlier_documents : Corpus, matrix of counts, strings, or lists of tokens, optional
            The documents that the model was trained on. Their topics are then sampled again
            together with those of the new documents, which follow them in ``corpus_``, and their
            counts are no prior; `forget` fades only what was counted before them.
        max_iter : int
            Sweeps. The topics are there already, and need fewer than in `fit`. When interrupted
            (Ctrl-C), the estimator has the new documents in it as they were after the last sweep:
            do not update with the same ones again.

        Returns
        -------
        LDA
            The estimator itself; ``n_components`` has the new topics in it.

        Examples
        --------
        >>> import polyaurn
        >>> corpus = polyaurn.datasets.generate(n_documents=90, n_words=80, n_topics=3)
        >>> old, new = corpus.select(range(60)), corpus.select(range(60, 90))
        >>> lda = polyaurn.LDA(3, max_iter=40, verbose=False).fit(old)
        >>> lda = lda.update(new, forget=0.1)
        >>> seen = lda.model_.topic_word_mass.sum()
        >>> len(lda.corpus_), round(seen - 0.9 * old.n_tokens) == new.n_tokens
        (30, True)
        """
        model = self._fitted()
        check_forget(forget)
        check_new_topics(new_topics)
        check_whole(max_iter, "max_iter", of="sweeps")
        check_counts(model)
        with self._as_before_on_failure():
            documents = documents_to_add(self, X)
            corpus = join_words(model.vocab, documents, model.tokenization)
            n_old = 0
            if earlier_documents is not None:
                old = _documents_of(self, earlier_documents)
                corpus, n_old = one_after_another(old, corpus), old.n_documents
            self._continue(
                corpus, forget=forget, new_topics=new_topics, n_old=n_old, max_iter=max_iter
            )
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Train on the first documents, and continue with the next: `fit`, then `update`.

        Parameters
        ----------
        X : whatever `fit` takes
            The documents.
        y : ignored
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        LDA
            The estimator itself.
        """
        return self.update(X) if self.__sklearn_is_fitted__() else self.fit(X)

    def _continue(
        self, corpus: Corpus, *, forget: float, new_topics: int, n_old: int, max_iter: int
    ) -> None:
        """Train on a corpus whose words begin with the model's, and its documents with old ones."""
        model = self._fitted()
        begun = earlier(model, corpus, forget=forget, new_topics=new_topics, n_old=n_old)
        if corpus.n_empty:
            warnings.warn(corpus.note_of_empty_documents(), stacklevel=3)
        run = make_run(self, corpus, begun, max_iter)
        try:
            self._train_in_folder(run)
        finally:
            if self.model_ is not model:  # also where it was interrupted
                self._adopt(begun, corpus)

    def _adopt(self, begun: Earlier, corpus: Corpus) -> None:
        """Take over the topics, priors and words of an update as parameters and attributes."""
        self.n_components = len(begun.alpha)
        for name, prior in (("doc_topic_prior", begun.alpha), ("topic_word_prior", begun.beta)):
            if np.ndim(getattr(self, name)):
                setattr(self, name, prior)
        self.n_features_in_ = corpus.n_words
        if "feature_names_in_" in self.__dict__:
            self.feature_names_in_ = np.asarray(corpus.vocab, dtype=object)


def _documents_of(estimator: Trained, X: Any) -> Corpus:
    """Return the documents that a model was trained on, in its words."""
    model = estimator.model_
    old = earlier_documents(model.vocab, documents_to_add(estimator, X), model.tokenization)
    check_same_documents(model, old)
    return old
