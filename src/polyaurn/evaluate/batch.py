"""Documents seen through a model: scores, unknown words and mixtures, with standard errors."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.rng import Purpose, below, bits, key
from polyaurn.base.threads import Workers
from polyaurn.corpus.known_words import Known, freeze
from polyaurn.evaluate.held_out import complete_known
from polyaurn.model.inference import mean_counts
from polyaurn.model.model import TopicModel


class Batch(NamedTuple):
    """What a model finds in documents, one value for each document."""

    log_likelihood: F64  # of every second known token, given the mixture inferred from the others
    scored: I64  # how many tokens that is
    known: I64  # tokens of words that the model knows
    unknown: I64  # tokens of words that it does not know
    topics: sp.csr_matrix  # mean counts of topics, D by K

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.scored)


def see(model: TopicModel, known: Known, *, seed: int, workers: Workers, device: str) -> Batch:
    """Return documents, in the model's words, as the model sees them."""
    score = complete_known(model, known, seed=seed, workers=workers, device=device)
    topics = mean_counts(model, known, seed=seed, workers=workers, device=device)
    return Batch(score.log_likelihood, score.tokens, known.tokens, known.unknown, topics)


def join(batches: list[Batch]) -> Batch:
    """Return the documents of several batches as one."""
    return Batch(
        np.concatenate([batch.log_likelihood for batch in batches]),
        np.concatenate([batch.scored for batch in batches]),
        np.concatenate([batch.known for batch in batches]),
        np.concatenate([batch.unknown for batch in batches]),
        sp.csr_matrix(sp.vstack([batch.topics for batch in batches])),
    )


def select(known: Known, documents: I64) -> Known:
    """Return some of the documents, in this order."""
    tokens = known.tokens[documents]
    ptr = np.concatenate(([0], np.cumsum(tokens))).astype(np.int64)
    shift = np.repeat(known.doc_ptr[documents] - ptr[:-1], tokens)
    word = known.word[np.arange(ptr[-1]) + shift]
    names = [known.doc_names[d] for d in documents.tolist()]
    return freeze(ptr, word, known.unknown[documents], names)


def ratio(
    numerator: F64 | I64, denominator: F64 | I64, most: float = np.inf
) -> tuple[float, float]:
    """Return the ratio of two sums over documents, and its standard error over documents.

    A document whose denominator is larger than `most` counts with that weight. The error is that of
    linearisation; documents are independent, tokens within one are not.
    """
    weight = np.minimum(1.0, most / np.maximum(denominator, 1))
    numerator, denominator = numerator * weight, denominator * weight
    total, n = float(denominator.sum()), int((denominator > 0).sum())
    if total <= 0:
        return float("nan"), float("nan")
    value = float(numerator.sum()) / total
    left = numerator - value * denominator
    factor = n / (n - 1) if n > 1 else float("nan")
    return value, float(np.sqrt(factor * (left**2).sum()) / total)


def mixtures(batch: Batch, alpha: F64) -> tuple[sp.csr_matrix, F64]:
    """Return shares of topics in documents, without and of the prior: the rows of `share_of`.

    A document's mixture is (m + alpha) / (N + sum of alpha); one without known words has weight 0.
    """
    weight = np.where(batch.known > 0, 1.0 / (batch.known + alpha.sum()), 0.0)
    return sp.csr_matrix(sp.diags_array(weight) @ batch.topics), weight


def shares(batch: Batch, alpha: F64, draws: F64 | None = None) -> F64:
    """Return the mean of the documents' mixtures, or one row for each row of weights `draws`."""
    m, weight = mixtures(batch, alpha)
    times = np.ones((1, batch.size)) if draws is None else draws
    mass = np.asarray((m.T @ times.T).T) + np.outer(times @ weight, alpha)
    found: F64 = mass / np.maximum(times @ (batch.known > 0), 1e-300)[:, None]
    return found[0] if draws is None else found


def weight_of_prior(batch: Batch, alpha: F64) -> float:
    """Return the mean share of the prior in the mixtures of documents."""
    weight = mixtures(batch, alpha)[1]
    return float(alpha.sum() * weight.sum() / max(1, int((batch.known > 0).sum())))


def resamples(n: int, size: int, draws: int, seed: int, name: str) -> F64:
    """Return how often each of n documents is in samples with replacement, draws by n."""
    found = np.empty((draws, n))
    for b in range(draws):
        chosen = below(bits(key(seed, f"{name}.{b}", Purpose.BATCH), np.arange(size)), n)
        found[b] = np.bincount(chosen, minlength=n)
    return found
