"""What several formats need: models without documents, priors as one number, lines of files."""

import math
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import check_topics
from polyaurn.corpus.names import Numbered, check_vocabulary
from polyaurn.model.model import TopicModel

NOTHING = math.exp(-100)  # the probability that LDA-C gives to what does not occur
_ROUNDING = 1e-9


def topics_only(
    counts: F64, alpha: Any, beta: Any, vocabulary: Iterable[Any], source: str, names: str
) -> TopicModel:
    """Return a model whose topics are known and whose documents are not.

    The topics are (counts + beta) divided by its row sums; `source` is stored in the model's
    parameters, and `names` says which parameter holds the words, for the error message.
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
    to that weight, so that the sum, and with it every probability, stays the same.
    """
    least = weights.min(axis=0)
    kept = np.where(least >= prior * (1 - _ROUNDING), prior, least)
    kept = np.maximum(kept, NOTHING)
    return np.maximum(weights - kept, 0.0), kept


def one_number(prior: F64, symbol: str, neighbour: str, *, flatten: bool) -> float:
    """Return a prior as one number; reject a vector, unless `flatten` asks for its mean."""
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
    """Read a line of at most `longest` bytes, whatever a compressed file may expand to."""
    line = file.readline(longest + 1)
    if len(line) > longest:
        raise too_long(path, number, longest)
    return line.rstrip(b"\r\n")


def too_long(path: Any, number: int, longest: int) -> InputError:
    """Return the error for a line that is too long."""
    return InputError(
        f"The file '{path}', line {number}: expected at most {longest:,} bytes. Got a longer line; "
        "is it another format?"
    )


def shown(line: bytes) -> str:
    """Return the beginning of a line, for a message."""
    return repr(line[:60].decode(errors="replace"))
