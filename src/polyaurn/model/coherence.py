"""The coherence of Mimno et al., which needs the words of topics and a corpus."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64, release
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import document_pieces, first_in_documents, occurrences
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
    times = occurrences(corpus.word, corpus.n_words)
    missing = {w for topic in topics for w in topic if w not in number or not times[number[w]]}
    check_all_occur(sorted(missing))
    numbers = [np.array([number[word] for word in topic], np.int64) for topic in topics]
    found = np.zeros(len(topics))
    for t, together in enumerate(_documents_with_both(numbers, corpus)):
        for j in range(1, len(together)):
            found[t] += np.log((together[j, :j] + 1) / together.diagonal()[:j]).sum()
    return found


def _documents_with_both(topics: list[I64], corpus: Corpus) -> list[I64]:
    """Return for each topic how many documents hold both words of each pair of its words.

    Documents are counted a piece at a time, so that the corpus does not have to fit in memory.
    """
    listed = np.unique(np.concatenate([np.empty(0, np.int64), *topics]))
    column = np.full(corpus.n_words, -1, np.int32)
    column[listed] = np.arange(len(listed))
    columns = [column[topic] for topic in topics]
    together = [np.zeros((len(topic), len(topic)), np.int64) for topic in topics]
    for lo, hi in document_pieces(corpus.doc_ptr):
        begin = corpus.doc_ptr[lo]
        ptr, word = corpus.doc_ptr[lo : hi + 1] - begin, corpus.word[begin : corpus.doc_ptr[hi]]
        of_word = column[word]
        counted = (of_word >= 0) & first_in_documents(ptr, word)
        kept = np.concatenate(([0], np.cumsum(counted)))[ptr]
        indices = of_word[counted]
        shape = (hi - lo, len(listed))
        there = sp.csr_matrix((np.ones(len(indices), np.int64), indices, kept), shape).tocsc()
        for both, places in zip(together, columns, strict=True):
            words = there[:, places]
            both += (words.T @ words).toarray()
        release(corpus.word)
    return together


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
