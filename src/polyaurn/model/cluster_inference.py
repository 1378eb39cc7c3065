"""Probabilities of clusters for new documents, and how likely documents are, by exact sums."""

import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.backends.cpu.cluster_kernels import fill_bases, fill_probabilities
from polyaurn.backends.cpu.clusters import make_base
from polyaurn.base.arrays import F64
from polyaurn.base.events import range_reporter, report
from polyaurn.base.threads import Workers, count_threads
from polyaurn.corpus.known_words import Known, in_words_of, note_of_unknown
from polyaurn.model.data import ModelData

_CELLS = 1 << 20  # probabilities that a thread fills at a time
NOTHING = 1e-9  # a probability below is left out of a sparse result


class Assigned(NamedTuple):
    """What is known of new documents.

    `probability` is D by K, dense or CSR; `level` is the log likelihood of each document, and
    `tokens` how many of its words are known.
    """

    probability: Any
    level: F64
    tokens: Any


def assign(model: ModelData, X: Any, *, sparse: bool = False, n_jobs: int | None = -1) -> Assigned:
    """Return the probabilities of a model's clusters for documents.

    A document's words are taken one after another, each given those before it: with n tokens and m
    documents of each cluster, the sum over clusters is exact, and nothing is random.
    """
    known = in_words_of(model.vocab, X, model.tokenization)
    said = note_of_unknown(known, only_if_much=True)
    if said:
        warnings.warn(said, stacklevel=4)
    with Workers(count_threads(n_jobs)) as workers:
        return assign_known(model, known, workers, sparse=sparse)


def assign_known(
    model: ModelData, known: Known, workers: Workers, *, sparse: bool = False
) -> Assigned:
    """Return the same for documents in the model's words."""
    assert model.clusters is not None
    K, beta = model.n_topics, model.priors.beta
    columns = model.topic_word_counts.tocsc().sorted_indices()
    ptr = columns.indptr.astype(np.int64)
    counts = (ptr[:-1].copy(), np.diff(ptr), columns.indices.astype(np.uint16),
              columns.data.astype(np.int32))  # fmt: skip
    m = np.bincount(model.doc_topic_counts.indices, minlength=K).astype(np.int64)
    n_k = np.asarray(model.topic_word_counts.sum(axis=1)).ravel().astype(np.int64)
    alpha, beta_sum = np.full(K, model.clusters.alpha), float(beta.sum())
    alpha.flags.writeable = False  # as in training
    longest = int(np.diff(known.doc_ptr).max(initial=0))
    scale, base = make_base(longest, int(n_k.sum()), K, beta)
    fill_bases(m, n_k, alpha, beta_sum, scale, base)
    D = len(known.tokens)
    level = np.empty(D)

    def fill(lo: int, hi: int) -> Any:
        found = np.empty((hi - lo, K))
        fill_probabilities(lo, hi, known.doc_ptr, known.word, *counts, m, n_k, alpha, beta,
                           beta_sum, scale, base, found, level)  # fmt: skip
        return _without_nothing(found) if sparse else found

    report("compiling kernels")
    bounds = [*range(0, D, max(1, _CELLS // K)), D]
    on_done = range_reporter("finding clusters of documents", D)
    parts = workers.run(fill, list(pairwise(bounds)), on_done)
    empty: Any = sp.csr_matrix((0, K)) if sparse else np.empty((0, K))
    joined = (sp.vstack if sparse else np.concatenate)([empty, *parts])
    return Assigned(sp.csr_matrix(joined) if sparse else joined, level, known.tokens)


def _without_nothing(found: F64) -> sp.csr_matrix:
    found[found < NOTHING] = 0.0
    return sp.csr_matrix(found)
