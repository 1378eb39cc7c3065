"""Training documents as if they were new: the chain continues without them, then sees them."""

from collections import deque
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, bits, chain_seed, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import Halt, topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.known_words import Known, freeze
from polyaurn.evaluate.batch import Batch, join, see, select
from polyaurn.model.data import document_lengths
from polyaurn.model.inference import mean_counts
from polyaurn.model.model import TopicModel
from polyaurn.model.slices.slices import fact
from polyaurn.training.averages import Average
from polyaurn.training.sweeps import sweeps

PART = 10  # a tenth of the documents is left out at a time
PARTS = 5  # at most
FORGETTING = 20  # sweeps in which topics forget the documents that were left out
KEPT = 20  # sweeps after these, whose counts are averaged


def check_same(model: TopicModel, known: Known) -> None:
    """Raise unless documents in the model's words are as long as those it was trained on."""
    if not np.array_equal(known.tokens, document_lengths(model)):
        of_slice = fact(model, "setting") is not None
        numbered = " (slices_.documents_of(label) has the numbers of a slice's)" * of_slice
        raise InputError(
            "The 'corpus' parameter must be what the model was trained on, "
            f"{len(model.doc_names):,} documents and {len(model.assignments):,} tokens. Got "
            f"{len(known.tokens):,} documents and {len(known.word):,} tokens of its words; give "
            f"the same documents{numbered}, or others to compare with as 'against'."
        )


def see_left_out(
    model: TopicModel, known: Known, most: int, *, seed: int, workers: Workers, device: str
) -> Batch:
    """Return training documents as the model would see them if it had not been trained on them.

    A random tenth of the documents is left out, at most `most`; the chain continues on the others
    from the topics they have, under the model's priors, until it has forgotten those left out, and
    its mean counts of the next sweeps see them. In small corpora this is done for several tenths.
    Words that only documents left out have are unknown, unless the model has them from elsewhere,
    such as from what it counted before an update. Mixtures are found with the model's own
    topics, as those of new documents are, since topics move a little as a chain continues.
    """
    D = len(known.tokens)
    size = min(max(1, D // PART), most)
    order = np.argsort(bits(key(seed, "left out", Purpose.BATCH), np.arange(D)), kind="stable")
    parts = min(PARTS, max(1, round(most / size)), D // size)
    pseudo = model.priors.pseudo
    elsewhere = np.zeros(len(model.vocab), bool)
    if pseudo is not None:
        elsewhere = np.asarray(topic_word_matrix(pseudo, model.n_topics).sum(axis=0)).ravel() > 0
    seen = []
    for part in range(parts):
        out = np.sort(order[part * size : (part + 1) * size])
        rest = np.sort(np.setdiff1d(np.arange(D), out))
        counts = _continued(model, known, rest, chain_seed(seed, part), workers.n_threads)
        there = np.bincount(select(known, rest).word, minlength=len(model.vocab)) > 0
        documents = _only(select(known, out), there | elsewhere)
        without = replace(model, topic_word_counts=counts)
        scored = see(without, documents, seed=seed, workers=workers, device=device)
        topics = mean_counts(model, documents, seed=seed, workers=workers, device=device)
        seen.append(scored._replace(topics=topics))
    return join(seen)


def _continued(
    model: TopicModel, known: Known, rest: I64, seed: int, threads: int
) -> sp.csr_matrix:
    """Return counts of the chain continued on some of its documents; a mean if the model's are."""
    those = select(known, rest)
    topics = known._replace(word=model.assignments.astype(np.int32))
    z = select(topics, rest).word.astype(np.uint16)
    corpus = Corpus(those.doc_ptr, those.word, model.vocab, those.doc_names)
    priors, K = model.priors, model.n_topics
    pseudo = None if priors.pseudo is None else topic_word_matrix(priors.pseudo, K)
    start = max(1, int(model.parameters.get("sweeps", 1)))
    end = start + FORGETTING + KEPT
    chain = sweeps(
        corpus, K, doc_topic_prior=priors.alpha, topic_word_prior=priors.beta, start=Halt(z, start),
        max_iter=end, warm_start="random", learn_priors_every=0, evaluate_every=0,
        pseudo_counts=pseudo, random_state=seed, n_jobs=threads,
    )  # fmt: skip
    if model.averaged_draws == 1:
        last = deque(chain, maxlen=1)[0][0]
        return topic_word_matrix(last.counts, K)
    mean = Average(KEPT, 4 * KEPT, corpus.n_tokens)  # of all states that are added
    for state, info in chain:
        if info.sweep > start + FORGETTING:
            mean.add(state)
    found = mean.mean()
    assert found is not None
    return found


def _only(known: Known, there: NDArray[np.bool_]) -> Known:
    """Return documents in which words that are not there are unknown."""
    lost = ~there[known.word]
    document = np.repeat(np.arange(len(known.tokens)), known.tokens)
    more = np.bincount(document[lost], minlength=len(known.tokens))
    ptr = np.concatenate(([0], np.cumsum(known.tokens - more))).astype(np.int64)
    return freeze(ptr, known.word[~lost], known.unknown + more, known.doc_names)
