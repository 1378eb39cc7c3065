"""What several neighbours need: models without documents, and checks."""

import math
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import make_priors, topic_word_mass
from polyaurn.chain.state import check_topics, doc_topic_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered, check_vocabulary
from polyaurn.model.model import TopicModel

NOTHING = math.exp(-100)  # the probability that LDA-C gives to what does not occur
_ROUNDING = 1e-9


def topics_only(
    counts: F64, alpha: Any, beta: Any, vocabulary: Iterable[Any], source: str, names: str
) -> TopicModel:
    """Return a model whose topics are known and whose documents are not.

    Parameters
    ----------
    counts : ndarray of float64, K by V
        Pseudo-counts; (counts + beta), divided by its row sums, are the topics.
    alpha, beta : float or array_like
        The priors.
    vocabulary : iterable of str
        The words.
    source : str
        Where it comes from, kept in the model's parameters.
    names : str
        Which parameter holds the words, for the error message.

    Returns
    -------
    TopicModel
        With no documents and no tokens.
    """
    vocab = check_vocabulary(vocabulary, names)
    K, V = counts.shape
    if len(vocab) != V:
        raise InputError(
            f"The {names} must have one word for each of the model's {V:,} words. Got "
            f"{len(vocab):,}; do the two belong together?"
        )
    check_topics(K, "n_topics")
    facts = {"n_topics": K, "n_documents": 0, "n_words": V, "n_tokens": 0, "source": source}
    return TopicModel(
        topic_word_counts=sp.csr_matrix(counts),
        doc_topic_counts=sp.csr_matrix((0, K), dtype=np.int32),
        assignments=np.empty(0, np.uint16),
        vocab=vocab,
        doc_names=Numbered(0),
        priors=make_priors(alpha, beta, K, V),
        parameters=facts,
    )


def take_prior_out(weights: F64, prior: F64) -> tuple[F64, F64]:
    """Split the parameters of Dirichlets over words, K by V, into pseudo-counts and a prior.

    The prior is the one given, unless a word has less than that in some topic; it is then lowered
    to what is there, so that the sum, and with it every probability, stays what it was.
    """
    least = weights.min(axis=0)
    kept = np.where(least >= prior * (1 - _ROUNDING), prior, least)
    kept = np.maximum(kept, NOTHING)
    return np.maximum(weights - kept, 0.0), kept


def fitted(model: Any) -> TopicModel:
    """Return the model of an estimator, or the model itself."""
    found = getattr(model, "model_", model)
    if not isinstance(found, TopicModel):
        raise InputError(
            "The 'model' parameter must be a TopicModel or a trained LDA. Got "
            f"{type(model).__name__} instead; call fit first, or polyaurn.load."
        )
    return found


def word_weights(model: TopicModel) -> F64:
    """Return n + beta, dense, K by V; pseudo-counts of seeds belong to beta."""
    mass = topic_word_mass(model.topic_word_counts, model.priors)
    return np.asarray(mass.toarray() + model.priors.beta)


def word_probabilities(model: TopicModel) -> F64:
    """Return the topics, dense, K by V; rows sum to one."""
    weights = word_weights(model)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def check_belongs(model: TopicModel, corpus: Any) -> Corpus:
    """Refuse a corpus other than the one the model was trained on."""
    if not isinstance(corpus, Corpus):
        raise InputError(
            f"The 'corpus' parameter must be a Corpus. Got {type(corpus).__name__} instead; read "
            "it with polyaurn.read_corpus, or take an estimator's corpus_."
        )
    need_documents(model)
    if (
        corpus.vocab != model.vocab
        or corpus.n_documents != len(model.doc_names)
        or corpus.n_tokens != len(model.assignments)
        or _differ(doc_topic_matrix(corpus.doc_ptr, model.assignments, model.n_topics),
                   model.doc_topic_counts)
        or _differ(count_topics(corpus, model.assignments, model.n_topics),
                   model.topic_word_counts)
    ):  # fmt: skip
        raise InputError(
            f"The 'corpus' parameter must be what the model was trained on, {model!r}. Got "
            f"{corpus!r}; read the same file with the same options."
        )
    return corpus


def need_documents(model: TopicModel) -> None:
    """Refuse a model without documents."""
    if not len(model.doc_names):
        raise InputError(
            "The 'model' parameter must have documents. Got one that came from elsewhere without "
            "them; only its topics can be written."
        )


def count_topics(corpus: Corpus, z: Any, n_topics: int) -> sp.csr_matrix:
    """Return n of topics z of a corpus' tokens, CSR of int32, K by V."""
    ones = np.ones(len(z), np.int32)
    shape = (n_topics, corpus.n_words)
    return sp.coo_matrix((ones, (z.astype(np.int32), corpus.word)), shape=shape).tocsr()


def _differ(a: sp.csr_matrix, b: sp.csr_matrix) -> bool:
    return bool((a != b).nnz)


def one_number(prior: F64, symbol: str, neighbour: str, *, flatten: bool) -> float:
    """Return a prior as one number; refuse one that is several, unless its mean will do."""
    if prior.min() == prior.max():
        return float(prior[0])
    if not flatten:
        raise InputError(
            f"The 'flatten_priors' parameter must be True here: {neighbour} has one number for "
            f"{symbol}. Got a model with values from {prior.min():.3g} to {prior.max():.3g}, whose "
            "mean would be written."
        )
    return float(prior.mean())


def read_line(file: BinaryIO, path: Any, number: int, longest: int) -> bytes:
    """Read a line of at most so many bytes, whatever a packed file may expand to."""
    line = file.readline(longest + 1)
    if len(line) > longest:
        raise too_long(path, number, longest)
    return line.rstrip(b"\r\n")


def too_long(path: Any, number: int, longest: int) -> InputError:
    """Return what is said about a line without end."""
    return InputError(
        f"The file '{path}', line {number}: expected at most {longest:,} bytes. Got a longer line; "
        "is it another format?"
    )


def shown(line: bytes) -> str:
    """Return the beginning of a line, for a message."""
    return repr(line[:60].decode(errors="replace"))
