"""What each topic is like, in the numbers that users of MALLET know."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.model.coherence import mimno_coherence
from polyaurn.model.leading_words import exclusivity
from polyaurn.model.model import TopicModel


def topic_diagnostics(model: Any, corpus: Any = None, *, n_words: int = 10) -> dict[str, Any]:
    """Return numbers that distinguish good topics from poor ones, one per topic.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    corpus : Corpus, optional
        What it was trained on; with it, coherence is computed, too.
    n_words : int
        Top words, for exclusivity and coherence.

    Returns
    -------
    dict of str to ndarray
        * ``tokens``: size of the topic.
        * ``document_entropy``: of the documents its tokens are in, in nats; small for topics of
          few documents.
        * ``effective_words``: one over the sum of squared word probabilities.
        * ``exclusivity``: mean over top words of p(w | topic) over its sum over topics; 1 for words
          that no other topic has.
        * ``corpus_distance``: Kullback-Leibler divergence from the words of all topics together;
          small for topics that resemble the whole corpus.
        * ``uniform_distance``: from the uniform distribution over the vocabulary.
        * ``rank_1_documents``: documents in which no topic has more tokens.
        * ``documents``: documents that have it.
        * ``coherence_mimno``: of Mimno et al. (2011), if there is a corpus.

        A topic without tokens has 0 in ``tokens``, ``documents``, ``rank_1_documents`` and
        ``effective_words``, and NaN elsewhere.
    """
    fitted: TopicModel = getattr(model, "model_", model)
    n, m = fitted.topic_word_counts, fitted.doc_topic_counts
    sizes = fitted.topic_sizes
    used = sizes > 0
    safe = np.where(used, sizes, 1)
    of_words = np.asarray(n.sum(axis=1), np.float64).ravel()
    p = sp.diags_array(1.0 / np.where(of_words > 0, of_words, 1.0)) @ n.astype(np.float64)
    overall = np.asarray(n.sum(axis=0), np.float64).ravel()
    overall /= overall.sum()
    by_document = m.tocsc().astype(np.float64)
    share = by_document.copy()
    share.data /= np.repeat(safe, np.diff(share.indptr))
    values: dict[str, Any] = {
        "tokens": sizes,
        "documents": np.diff(by_document.indptr).astype(np.int64),
        "rank_1_documents": _rank_1(m, fitted.n_topics),
        "effective_words": np.divide(
            1.0, _row_sums(p, lambda x, v: x * x), out=np.zeros(len(sizes)), where=used
        ),
        "document_entropy": -np.add.reduceat(
            np.append(share.data * np.log(share.data), 0.0), share.indptr[:-1]
        ),
        "corpus_distance": _row_sums(p, lambda x, v: x * np.log(x / overall[v])),
        "uniform_distance": _row_sums(p, lambda x, v: x * np.log(x * len(overall))),
        "exclusivity": exclusivity(fitted, n_words),
    }
    for name in ("document_entropy", "corpus_distance", "uniform_distance", "exclusivity"):
        values[name] = np.where(used, values[name], np.nan)
    if corpus is not None:
        coherent = mimno_coherence(fitted.topics(n_words, order="frequency"), corpus)
        values["coherence_mimno"] = np.where(used, coherent, np.nan)
    return values


def _row_sums(p: sp.csr_matrix, term: Any) -> F64:
    """Sum a function of probability and word over the words of each topic."""
    p = sp.csr_matrix(p)
    return np.asarray(
        sp.csr_matrix((term(p.data, p.indices), p.indices, p.indptr), shape=p.shape).sum(axis=1)
    ).ravel()


def _rank_1(m: sp.csr_matrix, K: int) -> Any:
    first = np.zeros(K, np.int64)
    for d in np.flatnonzero(np.diff(m.indptr)):
        row = slice(m.indptr[d], m.indptr[d + 1])
        first[m.indices[row][m.data[row] == m.data[row].max()]] += 1
    return first
