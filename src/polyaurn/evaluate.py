"""How good topics are, told from their top words and the corpus."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from polyaurn.corpus import Corpus
from polyaurn.state import F64


def mimno_coherence(topics: Sequence[Sequence[str]], corpus: Corpus) -> F64:
    """Return the coherence of Mimno et al. (2011), also called UMass, of each topic.

    It is the sum over pairs of top words of ``log((D(v, w) + 1) / D(w))``, where w ranks above v
    and D counts the documents that hold the words. Larger, that is nearer to zero, is better.

    Parameters
    ----------
    topics : sequence of sequence of str
        Top words of each topic, the most probable first.
    corpus : Corpus
        Where the words occur.

    Returns
    -------
    ndarray of float64
        One value a topic; 0 for topics of fewer than two words.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.Corpus.from_matrix([[1, 1], [2, 0], [1, 1]], ["moon", "orbit"])
    >>> polyaurn.evaluate.mimno_coherence([["moon", "orbit"]], corpus).tolist()
    [0.0]
    """
    number = {word: v for v, word in enumerate(corpus.vocab)}
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


def diversity(topics: Sequence[Sequence[str]]) -> float:
    """Return the share of different words among the top words of all topics.

    Parameters
    ----------
    topics : sequence of sequence of str
        Top words of each topic.

    Returns
    -------
    float
        1 where no word is shared by two topics.
    """
    words = [word for topic in topics for word in topic]
    return len(set(words)) / len(words) if words else 1.0
