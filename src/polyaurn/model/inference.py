"""The topics of new documents, given those of a trained model.

Topics of the model stay as they are, at the mean of their posterior given the counts. A document's
tokens are sampled in several sweeps, and the counts of the last sweeps are averaged. The result
for a document depends on its words and the seed, not on the other documents.
"""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.backends.documents import fix_topics
from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.backends.sharded.new_documents import Cluster, cluster_of
from polyaurn.base.checks import check_whole
from polyaurn.base.events import range_reporter, report
from polyaurn.base.rng import Purpose, check_seed, key
from polyaurn.base.threads import Workers, count_threads
from polyaurn.corpus.known_words import Known, in_words_of, note_of_unknown
from polyaurn.model.cluster_inference import assign
from polyaurn.model.data import ModelData

BURN_IN, KEPT = 6, 14  # sweeps over a document: left out, and averaged


def mean_counts(
    model: ModelData,
    known: Known,
    *,
    burn_in: int = BURN_IN,
    kept: int = KEPT,
    seed: int = 0,
    workers: Workers,
    device: str = "cpu",
    cluster: Cluster | None = None,
) -> sp.csr_matrix:
    """Return the mean number of tokens of each topic in each document, D by K, sparse."""
    topics = fix_topics(model.topic_word_counts, model.priors)
    backend = BACKENDS[device]
    report("compiling kernels")
    on_done = range_reporter("finding topics of documents", len(known.tokens))
    with backend.failures("Try device='cpu'."):
        parts = (cluster or backend.new_documents()).mean_counts(
            known.doc_ptr, known.word, topics, (burn_in, kept), key(seed, 0, Purpose.FOLD),
            workers, on_done,
        )  # fmt: skip
    lengths = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    index = np.concatenate([np.empty(0, np.uint16), *(part[1] for part in parts)])
    data = np.concatenate([np.empty(0), *(part[2] for part in parts)])
    return sp.csr_matrix((data, index.astype(np.int32), ptr), shape=(len(lengths), model.n_topics))


def infer(
    model: ModelData,
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
    """Return the mixtures of topics of documents, given the fixed topics of the model.

    Parameters
    ----------
    model : TopicModel
        A trained model.
    X : Corpus, matrix of counts, sequence of str, or sequence of lists of tokens
        The documents; see `in_words_of`.
    sparse : bool
        Return only topics that a document's tokens were seen in, as CSR. The entries are those
        of the dense matrix; what is left out is the prior's share of the other topics.
    burn_in, kept : int
        Sweeps over a document that are left out, and that are averaged.
    random_state : int, None or NumPy generator
        The seed.
    n_jobs : int or None
        Threads; the result does not depend on it.
    device : {"cpu", "gpu", "auto"}
        Where to sample; the result does not depend on it.
    cluster, n_workers, cluster_address
        Workers to share the documents among; see `LDA`.

    Returns
    -------
    ndarray of float64 or CSR matrix, D by K
        (mean m + alpha) / (tokens + sum of alpha); dense rows sum to one. A document without
        known words has the prior's mean. For document clusters, the probabilities of clusters,
        which do not depend on sweeps, seed or device.
    """
    if model.clusters is not None:
        return assign(model, X, sparse=sparse, n_jobs=n_jobs).probability
    burn_in = check_whole(burn_in, "burn_in", 0, of="sweeps")
    kept = check_whole(kept, "kept", of="sweeps")
    seed, threads = check_seed(random_state), count_threads(n_jobs)
    device = check_device(device)
    several = cluster_of(cluster, n_workers, cluster_address)
    known = in_words_of(model.vocab, X, model.tokenization)
    said = note_of_unknown(known, only_if_much=True)
    if said:
        warnings.warn(said, stacklevel=3)
    with Workers(threads) as workers:
        mean = mean_counts(
            model, known, burn_in=burn_in, kept=kept, seed=seed, workers=workers, device=device,
            cluster=several,
        )  # fmt: skip
    alpha = model.priors.alpha
    total = known.tokens + alpha.sum()
    if sparse:
        mean.data = (mean.data + alpha[mean.indices]) / np.repeat(total, np.diff(mean.indptr))
        return mean
    dense = np.asarray(mean.toarray() + alpha)
    dense /= total[:, None]
    return dense
