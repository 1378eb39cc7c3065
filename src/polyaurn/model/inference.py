"""New documents against a trained model: which of their words it knows, and their topics.

Topics of the model stay as they are, at the mean of their posterior given the counts. A document's
tokens are sampled a few times over, and the counts of the last sweeps are averaged. What comes
out for a document depends on its words and the seed, not on the documents beside it.
"""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.backends.devices import check_device
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.errors import InputError
from polyaurn.base.events import range_reporter, report
from polyaurn.base.rng import Purpose, check_seed, key
from polyaurn.base.threads import Workers, count_threads
from polyaurn.corpus.corpus import Corpus, as_corpus
from polyaurn.corpus.names import Numbered

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

BURN_IN, KEPT = 6, 14  # sweeps over a document: left out, and averaged
MOST_UNKNOWN = 0.9  # share of tokens
_TOKENS_A_RANGE = 20_000
_DOCUMENTS_A_RANGE = 2_000


class Known(NamedTuple):
    """Documents in the model's words; `freeze` makes one."""

    doc_ptr: I64
    word: I32
    unknown: I64  # tokens of each document that the model does not know
    doc_names: Sequence[str]

    @property
    def tokens(self) -> I64:
        """Tokens of each document that the model knows."""
        return np.diff(self.doc_ptr)


def freeze(doc_ptr: Any, word: Any, unknown: I64, doc_names: Sequence[str]) -> Known:
    """Return documents whose arrays are read-only, as a corpus' are: kernels tell the two apart."""
    ptr, words = np.array(doc_ptr, np.int64), np.asarray(word, np.int32).view()
    ptr.flags.writeable = words.flags.writeable = False
    return Known(ptr, words, unknown, doc_names)


def in_words_of(model: "TopicModel", X: Any) -> Known:
    """Return documents in the words of a model.

    Parameters
    ----------
    model : TopicModel
        Whose vocabulary counts.
    X : Corpus, matrix of counts, or sequence of str
        The documents. A matrix without names has the model's words in its columns; strings are
        cut into words as by default, into n-grams where the model has them.

    Returns
    -------
    Known
        Tokens of other words are left out and counted.
    """
    V = len(model.vocab)
    matrix = sp.issparse(X) or (hasattr(X, "ndim") and X.ndim == 2)
    if matrix and not hasattr(X, "columns"):
        if X.shape[1] != V:
            raise InputError(
                f"The 'X' parameter must have a column for each of the model's {V:,} words. Got "
                f"{X.shape[1]:,} columns; give a Corpus, whose words are looked up by name."
            )
        if not np.count_nonzero(X.data if sp.issparse(X) else X):
            return _no_words(X.shape[0])
        corpus = Corpus.from_matrix(X, model.vocab)
    elif not isinstance(X, str | Corpus) and len(X) and _all_strings(X):
        texts = list(X)
        try:
            corpus = Corpus.from_texts(texts, **cut_of(model))
        except InputError:  # not a word in any of them
            return _no_words(len(texts))
    else:
        corpus = as_corpus(X)
    if corpus.vocab is model.vocab or corpus.vocab == model.vocab:
        unknown = np.zeros(corpus.n_documents, np.int64)
        return freeze(corpus.doc_ptr, corpus.word, unknown, corpus.doc_names)
    number = {word: v for v, word in enumerate(model.vocab)}
    to_model = np.array([number.get(word, -1) for word in corpus.vocab], np.int32)
    word = to_model[corpus.word]
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
    known = word >= 0
    share = 1.0 - known.mean() if len(known) else 0.0
    if share > MOST_UNKNOWN:
        raise _strangers(share)
    unknown = np.bincount(document[~known], minlength=corpus.n_documents)
    order = np.lexsort((word[known], document[known]))  # words in increasing order again
    tokens = np.bincount(document[known], minlength=corpus.n_documents)
    doc_ptr = np.concatenate(([0], np.cumsum(tokens))).astype(np.int64)
    return freeze(doc_ptr, word[known][order], unknown.astype(np.int64), corpus.doc_names)


def _no_words(n_documents: int) -> Known:
    ptr, nothing = np.zeros(n_documents + 1, np.int64), np.zeros(n_documents, np.int64)
    return freeze(ptr, np.empty(0, np.int32), nothing, Numbered(n_documents))


def cut_of(model: "TopicModel") -> dict[str, Any]:
    """Return options of `Corpus.from_texts` that the model's own words tell."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    longest = max(word.count(" ") for word in model.vocab) + 1
    knows_stop_words = not ENGLISH_STOP_WORDS.isdisjoint(model.vocab)
    return {
        "ngram_range": (1, longest),
        "stop_words": None if knows_stop_words else "english",
    }


def _all_strings(X: Any) -> bool:
    return not isinstance(X, dict) and hasattr(X, "__iter__") and all(isinstance(x, str) for x in X)


def _strangers(share: float) -> InputError:
    return InputError(
        f"The documents must share words with the model. Got {share:.1%} of tokens that it does "
        "not know; is this the model of another language, or are words cut differently?"
    )


def note_of_unknown(known: Known) -> str | None:
    """Return what users should know about words that were left out and documents without any."""
    notes = []
    lost, all_tokens = int(known.unknown.sum()), int(known.unknown.sum() + known.tokens.sum())
    if lost:
        notes.append(
            f"{lost:,} of {all_tokens:,} tokens ({lost / all_tokens:.1%}) are of words that the "
            "model does not know, and were left out"
        )
    empty = int((known.tokens == 0).sum())
    if empty:
        notes.append(
            f"{empty:,} of {len(known.tokens):,} documents have no word that the model knows; they "
            "have the prior's mixture"
        )
    return "; ".join(notes) + "." if notes else None


def mean_counts(
    model: "TopicModel",
    known: Known,
    *,
    burn_in: int = BURN_IN,
    kept: int = KEPT,
    seed: int = 0,
    workers: Workers,
    device: str = "cpu",
) -> sp.csr_matrix:
    """Return the mean number of tokens of each topic in each document, D by K, sparse."""
    from polyaurn.backends.cpu.fold_in import fix_topics, fold_documents

    topics = fix_topics(model.topic_word_counts, model.priors)
    K, address = model.n_topics, key(seed, 0, Purpose.FOLD)

    def fold(lo: int, hi: int) -> tuple[I64, Any, F64]:
        room = int(np.minimum(known.tokens[lo:hi] * kept, K).sum())
        ends = np.empty(hi - lo + 1, np.int64)
        found, mean = np.empty(room, np.uint16), np.empty(room, np.float64)
        fold_documents(
            lo, hi, known.doc_ptr, known.word, burn_in, kept, *topics, *address, ends, found, mean
        )
        return np.diff(ends), found[: ends[-1]].copy(), mean[: ends[-1]].copy()

    report("compiling kernels")
    step, D = "finding topics of documents", len(known.tokens)
    if device == "gpu":
        from polyaurn.backends.gpu import new_documents
        from polyaurn.backends.gpu.failures import failures_named

        on_done = range_reporter(step, D)
        with failures_named("Try device='cpu'."):
            parts = new_documents.fold(known, topics, burn_in, kept, address, on_done)
    else:
        fold(0, 0)
        parts = workers.run(fold, document_ranges(known.doc_ptr), range_reporter(step, D))
    lengths = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    index = np.concatenate([np.empty(0, np.uint16), *(part[1] for part in parts)])
    data = np.concatenate([np.empty(0), *(part[2] for part in parts)])
    return sp.csr_matrix((data, index.astype(np.int32), ptr), shape=(len(lengths), K))


def document_ranges(doc_ptr: I64, tokens: int = _TOKENS_A_RANGE) -> list[tuple[int, int]]:
    """Cut documents into ranges of so many tokens, or 2,000 documents."""
    from polyaurn.backends.cpu.layout import even_ranges

    D = len(doc_ptr) - 1
    n_ranges = max(int(doc_ptr[-1]) // tokens, D // _DOCUMENTS_A_RANGE) + 1
    size = doc_ptr + np.arange(D + 1)  # an empty document is some work, too
    return list(pairwise(even_ranges(size, n_ranges).tolist()))


def infer(
    model: "TopicModel",
    X: Any,
    *,
    sparse: bool = False,
    burn_in: int = BURN_IN,
    kept: int = KEPT,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
) -> Any:
    """Return the mixtures of topics of documents, the topics of the model staying as they are.

    Parameters
    ----------
    model : TopicModel
        A trained model.
    X : Corpus, matrix of counts, or sequence of str
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

    Returns
    -------
    ndarray of float64 or CSR matrix, D by K
        (mean m + alpha) / (tokens + sum of alpha); dense rows sum to one. A document without
        known words has the prior's mean.
    """
    for name, value, least in (("burn_in", burn_in, 0), ("kept", kept, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(
                f"The '{name}' parameter must be a whole number of sweeps, at least {least}. "
                f"Got {value!r} instead."
            )
    seed, threads = check_seed(random_state), count_threads(n_jobs)
    device = check_device(device)
    known = in_words_of(model, X)
    said = note_of_unknown(known)
    if said:
        warnings.warn(said, stacklevel=3)
    with Workers(threads) as workers:
        mean = mean_counts(
            model, known, burn_in=burn_in, kept=kept, seed=seed, workers=workers, device=device
        )
    alpha = model.priors.alpha
    total = known.tokens + alpha.sum()
    if sparse:
        mean.data = (mean.data + alpha[mean.indices]) / np.repeat(total, np.diff(mean.indptr))
        return mean
    dense = np.asarray(mean.toarray() + alpha)
    dense /= total[:, None]
    return dense
