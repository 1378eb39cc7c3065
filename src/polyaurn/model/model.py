"""The result of training: topics and where they occur."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.chain.schedule import SMOOTH
from polyaurn.chain.state import Priors, State, doc_topic_matrix, on_host, topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import check_vocabulary, has_names
from polyaurn.corpus.tokenization import Tokenizer, tokenization_for
from polyaurn.model.data import AVERAGED, ModelData
from polyaurn.model.folder import SAVE, save
from polyaurn.model.inference import BURN_IN, KEPT, infer
from polyaurn.model.leading_words import (
    BY_RELEVANCE,
    check_order,
    leading_words,
    topic_totals,
    words_by_topic,
)
from polyaurn.model.summary import model_html
from polyaurn.model.tables.mixin import Tables


@dataclass(frozen=True, eq=False, repr=False)
class TopicModel(ModelData, Tables["TopicModel"]):
    """A trained topic model: the last state of a chain, with what is needed to read it.

    It is immutable: attributes cannot be set, and arrays, those of sparse matrices included, cannot
    be written to. `trace` and `parameters` are copies of what the model was made with, plain lists
    and dictionaries; do not change them.

    Attributes
    ----------
    topic_word_counts : CSR matrix, K by V
        n: how many tokens of each word have each topic. The mean over `averaged_draws` draws of the
        chain, float64; with a single draw, whole numbers of int32. In a model that came from
        elsewhere without its documents (`polyaurn.exchange`), pseudo-counts of float64.
    doc_topic_counts : CSR matrix of int32, D by K
        m: how many tokens of each document have each topic.
    assignments : ndarray of uint16, length N
        z: the topic of each token, in the corpus' token order.
    vocab, doc_names : sequence of str
        From the corpus.
    priors : Priors
        alpha and beta, and pseudo-counts where topics were seeded.
    trace : list of dict
        One record per sweep.
    parameters : dict
        What repeats the run: sampler, seed, sweeps, sizes, fingerprint of the corpus.
    tokenization : Tokenization or None
        How new text is cut: as that of the corpus was. None where it was not text; new text is then
        cut as fits the words.
    clusters : Clusters or None
        For document clusters, the draws of each document's cluster. None in other models.
    averaged_draws : int
        How many draws `topic_word_counts` is the mean of. All else is of the last draw.
    n_topics : int
        K.
    topic_sizes : ndarray, length K
        Tokens of each topic.
    topic_word_mass : CSR matrix, K by V
        n with the prior's pseudo-counts: what beta is added to.
    """

    @classmethod
    def from_state(
        cls,
        corpus: Corpus,
        state: State,
        priors: Priors,
        *,
        trace: list[dict[str, Any]] | None = None,
        parameters: dict[str, Any] | None = None,
        mean_counts: sp.csr_matrix | None = None,
        draws: int = 1,
    ) -> "TopicModel":
        """Make a model from the state of a chain.

        Parameters
        ----------
        corpus : Corpus
            What the chain runs on.
        state : State
            As yielded by `polyaurn.sweeps`.
        priors : Priors
            alpha and beta: ``state.priors``.
        trace : list of dict, optional
            Records of the sweeps.
        parameters : dict, optional
            Further facts to keep with the model.
        mean_counts : CSR matrix, K by V, optional
            Mean counts over several draws, in place of those of the state.
        draws : int
            How many.

        Returns
        -------
        TopicModel
            Independent of the chain.
        """
        K = len(priors.alpha)
        state = on_host(state)
        z = state.z.copy()
        z.flags.writeable = False
        facts = sizes_and_sweeps(corpus, K, state.sweep, smooth=state.smooth)
        if mean_counts is not None:
            facts[AVERAGED] = draws
        else:
            mean_counts = topic_word_matrix(state.counts, K)
        return cls(
            topic_word_counts=mean_counts,
            doc_topic_counts=doc_topic_matrix(corpus.doc_ptr, z, K),
            assignments=z,
            vocab=corpus.vocab,
            doc_names=corpus.doc_names,
            priors=priors,
            trace=list(trace or []),
            parameters=facts | (parameters or {}),
            tokenization=corpus.tokenization,
        )

    @overload
    def topics(
        self, n_words: int = ..., *, weights: Literal[False] = ..., order: str = ...
    ) -> list[list[str]]: ...

    @overload
    def topics(
        self, n_words: int = ..., *, weights: Literal[True], order: str = ...
    ) -> list[list[tuple[str, float]]]: ...

    def topics(
        self, n_words: int = 10, *, weights: bool = False, order: str = BY_RELEVANCE
    ) -> list[list[str]] | list[list[tuple[str, float]]]:
        """Return the leading words of each topic.

        Parameters
        ----------
        n_words : int
            How many words.
        weights : bool
            Return pairs of a word and its probability, (n + beta) / (sum of n + beta), where
            pseudo-counts of seeds belong to beta.
        order : {"relevance", "frequency"}
            "relevance" ranks words that are frequent in the topic and rarer elsewhere above those
            that are frequent everywhere: Sievert and Shirley's measure with lambda 0.6 (see
            `topic_words`). "frequency" lists the most probable words.

        Returns
        -------
        list of list
            Topic by topic, words in this order; equal ones in the order of the vocabulary.
            Only words that occur in the topic, or were seeded there, are listed, so a small topic
            may have fewer.
        """
        check_whole(n_words, "n_words")
        check_order(order)
        if not weights:
            return words_by_topic(self, n_words, order)
        found = []
        for k, total in enumerate(topic_totals(self).tolist()):
            words, mass = leading_words(self, k, n_words, order)
            pairs = zip(words.tolist(), (mass / total).tolist(), strict=True)
            found.append([(self.vocab[v], p) for v, p in pairs])
        return found

    def with_words(self, words: Any) -> "TopicModel":
        """Return the model with its words named, as where it was trained on a bare matrix.

        Parameters
        ----------
        words : sequence of str, length V
            For example ``CountVectorizer.get_feature_names_out()``.

        Returns
        -------
        TopicModel
            The same topics, under these words.
        """
        vocab = check_vocabulary([str(word) for word in words], "'words' parameter")
        if len(vocab) != len(self.vocab):
            raise InputError(
                f"The 'words' parameter must name {len(self.vocab):,} words. Got {len(vocab):,}; "
                "give those of the matrix that the model was trained on."
            )
        return replace(self, vocab=vocab)

    def with_tokenizer(self, tokenizer: Tokenizer) -> "TopicModel":
        """Return the model with a function that cuts new text, such as one that was not saved.

        Parameters
        ----------
        tokenizer : callable
            Splits a text into words; the one of training.

        Returns
        -------
        TopicModel
            The same topics.
        """
        rules = self.tokenization or tokenization_for(self.vocab)
        return replace(self, tokenization=rules.with_tokenizer(tokenizer))

    def doc_topics(self) -> F64:
        """Return the mixture of topics of each training document, (m + alpha) / (N_d + sum alpha).

        Returns
        -------
        ndarray of float64, D by K
            Rows sum to one; an empty document has the prior mean. For document clusters, the share
            of draws in which a document was in each cluster; rows of empty documents are zero.
        """
        if self.clusters is not None:
            return np.asarray(self.clusters.probabilities(self.n_topics).toarray())
        mass = self.doc_topic_counts.toarray() + self.priors.alpha
        return np.asarray(mass / mass.sum(axis=1, keepdims=True), dtype=np.float64)

    def transform(
        self,
        X: Any,
        *,
        sparse: bool = False,
        burn_in: int = BURN_IN,
        kept: int = KEPT,
        random_state: Any = 0,
        n_jobs: int | None = -1,
        device: str = "cpu",
        cluster: str | None = None,
        n_workers: int | None = None,
        cluster_address: str | None = None,
    ) -> Any:
        """Return the mixtures of topics of documents, given fixed topics.

        Parameters
        ----------
        X : Corpus, matrix of counts, sequence of str, or sequence of lists of tokens
            The documents. Strings are cut as in training. Words are looked up by name; those that
            the model does not know are left out, with a warning where they are more than half of
            the tokens. A matrix has the model's words in its columns.
        sparse : bool
            Return only topics that a document's tokens were seen in, as CSR; entries are those of
            the dense matrix.
        burn_in, kept : int
            Sweeps over a document that are left out, and that are averaged.
        random_state : int, None or NumPy generator
            The seed. The result for a document depends only on its words and the seed.
        n_jobs : int or None
            Threads; the result does not depend on it.
        device : {"cpu", "gpu", "auto"}
            Where to sample; the result does not depend on it.
        cluster, n_workers, cluster_address
            Workers to share the documents among, as in `LDA`; the result does not depend on them.

        Returns
        -------
        ndarray of float64 or CSR matrix, D by K
            Dense rows sum to one; a document without known words has the prior's mean.
        """
        return infer(
            self, X, sparse=sparse, burn_in=burn_in, kept=kept, random_state=random_state,
            n_jobs=n_jobs, device=device, cluster=cluster, n_workers=n_workers,
            cluster_address=cluster_address,
        )  # fmt: skip

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
        return save(self, path, force=force, writer=SAVE)

    def _repr_html_(self) -> str:
        return model_html(self)


def sizes_and_sweeps(corpus: Corpus, n_topics: int, sweeps: int, *, smooth: bool) -> dict[str, Any]:
    """Return what the parameters of each model begin with."""
    facts = {
        "n_topics": n_topics,
        "n_documents": corpus.n_documents,
        "n_words": corpus.n_words,
        "n_tokens": corpus.n_tokens,
        "sweeps": sweeps,
        "corpus_sha256": corpus.fingerprint,
    }
    return facts | ({"stopped_in": SMOOTH} if smooth else {})


def fitted(model: Any) -> TopicModel:
    """Return the model of an estimator or of a pipeline that ends with one, or the model itself.

    Words without names are those that the steps of the pipeline before the estimator give.
    """
    last = getattr(model, "_final_estimator", model)
    found = getattr(last, "model_", last)
    if last is not model and isinstance(found, TopicModel) and not has_names(found.vocab):
        try:
            return found.with_words(model[:-1].get_feature_names_out())
        except (AttributeError, ValueError, InputError):  # a step does not say
            return found
    if not isinstance(found, TopicModel):
        raise InputError(
            "The 'model' parameter must be a TopicModel or a trained LDA. Got "
            f"{type(model).__name__} instead; call fit first, or polyaurn.load."
        )
    return found
