"""The coherence of Mimno et al., which needs the words of topics and a corpus."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus


def mimno_coherence(topics: Any, corpus: Corpus, *, n_words: int = 10) -> F64:
    """Return the coherence of Mimno et al. (2011), also called UMass, of each topic.

    It is the sum over pairs of top words of ``log((D(v, w) + 1) / D(w))``, where w ranks above v
    and D counts the documents that hold the words. Larger, that is nearer to zero, is better.

    Parameters
    ----------
    topics : TopicModel, LDA, or sequence of sequence of str
        A model, or the top words of each topic, the most probable first.
    corpus : Corpus
        Where the words occur.
    n_words : int
        The most probable words of a model's topics.

    Returns
    -------
    ndarray of float64
        One value per topic; 0 for topics of fewer than two words.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.Corpus.from_matrix([[1, 1], [2, 0], [1, 1]], ["moon", "orbit"])
    >>> polyaurn.evaluate.mimno_coherence([["moon", "orbit"]], corpus).tolist()
    [0.0]
    """
    topics = top_words(topics, n_words)
    number = {word: v for v, word in enumerate(corpus.vocab)}
    used = set(np.unique(corpus.word).tolist())
    check_all_occur(sorted({w for topic in topics for w in topic if number.get(w, -1) not in used}))
    listed = sorted({number[word] for topic in topics for word in topic})
    column = {v: j for j, v in enumerate(listed)}
    there: sp.csc_matrix = (corpus.to_matrix().tocsc()[:, listed] > 0).astype(np.int64)
    found = np.zeros(len(topics))
    for t, topic in enumerate(topics):
        words = there[:, [column[number[word]] for word in topic]]
        together = (words.T @ words).toarray()
        for j in range(1, len(topic)):
            found[t] += np.log((together[j, :j] + 1) / together.diagonal()[:j]).sum()
    return found


def top_words(topics: Any, n_words: int) -> list[list[str]]:
    """Return the top words of a model's topics, or the lists that are given."""
    model = getattr(topics, "model_", topics)
    if hasattr(model, "topics"):
        return [list(topic) for topic in model.topics(n_words, order="frequency")]
    sequence = isinstance(topics, Sequence) and not isinstance(topics, str)
    listed = [list(topic) for topic in topics if not isinstance(topic, str)] if sequence else []
    if len(listed) < len(topics if sequence else "?") or not all(
        isinstance(word, str) for topic in listed for word in topic
    ):
        raise InputError(
            "The 'topics' parameter must be a trained model, or lists of words, one for each "
            f"topic. Got {type(topics).__name__} instead."
        )
    if any(len(set(topic)) < len(topic) for topic in listed):
        raise InputError("The 'topics' parameter must have each word once in a topic.")
    return listed


def check_all_occur(missing: list[str]) -> None:
    """Reject top words that the corpus does not have."""
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(
            "The 'topics' parameter must have words that all occur in the corpus. Missing there: "
            f"{missing[0]!r}{more}; score topics on the corpus they were trained on, or on one "
            "with the same words."
        )
