"""What a sweep reads and writes: plain tuples of arrays, and nothing hidden.

``K`` topics, ``V`` words, ``D`` documents, ``N`` tokens, as in the paper.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I32, I64, U16, U32, U64
from polyaurn.base.checks import is_whole
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus

MAX_TOPICS = 65_535
NO_TOPIC = 65_535  # of a token whose document has not joined the chain yet; topics are below

PARTS = 1 << 20  # of a token: fractions are rounded to them, so that sums are exact in any order
WHOLE = 64  # shares of a corpus are counted in 64ths
SHARES = (1, 2, 4, 8, 16, 32)  # smaller ones, with which a chain may begin
_PIECE = 1 << 22  # tokens counted at a time
_OF_HDP = ("gamma", "topics", "large_topics")
OF_CLUSTER = ("bytes_sent", "slowest_worker", "busy_seconds", "exchange_seconds")
_MAY_LACK = (*_OF_HDP, *OF_CLUSTER)  # names of a record of the trace


class Counts(NamedTuple):
    """The statistic n, word by word: the topics of word v are in ``[first[v], last[v])``.

    Topics are in increasing order inside a word, and only positive counts are kept. Numbers are
    whole, int32; with pseudo-counts that are fractions they are float64, in 2**-20ths.
    """

    first: I64
    last: I64
    topic: U16
    number: I32 | F64


class TopLevel(NamedTuple):
    """What a hierarchical Dirichlet process has besides alpha Psi, which is alpha of its topics.

    `alpha` and `gamma` are the concentrations of documents' mixtures and of Psi, and `order` has
    the topics in the order in which sticks are broken. A model that leaves out topics without
    tokens has the numbers of the others in `topics`, in `whole` alpha Psi of all topics, and in
    `draws` Psi of its topics in several draws.
    """

    alpha: float
    gamma: float
    order: I64
    topics: I64 | None = None
    whole: F64 | None = None
    draws: F64 | None = None


class Priors(NamedTuple):
    """Dirichlet concentrations: ``alpha`` for each topic, ``beta`` for each word.

    `pseudo`, where given, are tokens that topics are taken to have had beforehand: word v in topic
    k has the concentration beta[v] plus theirs. `learned` says that they are no longer as given.
    `top` is there in a hierarchical Dirichlet process.
    """

    alpha: F64
    beta: F64
    pseudo: Counts | None = None
    learned: bool = False
    top: TopLevel | None = None


class Phi(NamedTuple):
    """Phi, word by word, in the form that the z step reads.

    The column of word v is in ``[first[v], last[v])``, topics in increasing order. `weight`
    is phi times ``2**exponent[v]``, so that a word's largest is in [2**30, 2**31), rounded:
    sums of weight times count are then integers, the same in any order. `prior` holds the running
    sums of weight times alpha over the column, alpha in 2**-16ths of its largest and each product
    rounded; `sigma_a` is their total in units of weight times alpha. A word whose column
    is long also has weights by topic, ``dense[row[v]]``, and unless the column is full, the
    topics' places in it, ``rank[row[v]]``; other words have ``row[v] = -1``.
    """

    first: I64
    last: I64
    topic: U16
    weight: U32
    exponent: I32
    prior: U64
    sigma_a: F64
    row: I32
    dense: U32
    rank: U16

    @property
    def nonzeros(self) -> int:
        """How many cells are not zero."""
        return int((self.last - self.first).sum())


class State(NamedTuple):
    """All that the next sweep needs: topics of the tokens, their counts, priors, sweeps done.

    `share` is the share of the documents that have joined the chain, in 64ths; tokens of others
    have the topic NO_TOPIC. `parts` are the counts of parts of the documents, where Phi is drawn
    before each; they follow from `z`, and are counted again when they are missing. `priors` belong
    to `z`: where they are learned, they were learned from it. `smooth` says that the topics were
    drawn under the raised priors of a smooth start, so that they are no draw under `priors`.
    """

    z: U16
    counts: Counts
    priors: Priors
    sweep: int = 0
    share: int = WHOLE
    parts: tuple[Counts, ...] = ()
    smooth: bool = False


def on_host(state: State) -> State:
    """Return a state of NumPy arrays; those of a GPU are copied.

    Parameters
    ----------
    state : State
        From `polyaurn.sweeps`. With ``device="gpu"`` its topics and counts are stored on the GPU
        until the next sweep changes them.

    Returns
    -------
    State
        May be kept; the same state if its arrays are NumPy arrays already.
    """
    if isinstance(state.z, np.ndarray):
        return state
    return state._replace(z=to_host(state.z), counts=to_host(state.counts), parts=())


def to_host(held: Any) -> Any:
    """Return what a device holds as NumPy arrays; anything else unchanged."""
    return held.on_host() if hasattr(held, "on_host") else held


class Halt(NamedTuple):
    """Where a chain stopped: the part of a State that cannot be computed again.

    `priors` are those learned so far, None where they stay as given; `smooth` is the State's.
    """

    z: U16
    sweep: int
    share: int = WHOLE
    priors: Priors | None = None
    smooth: bool = False


def halt_of(state: State) -> Halt:
    """Return the part of a state that cannot be computed again, in the computer's memory."""
    learned = state.priors if state.priors.learned else None
    return Halt(to_host(state.z), state.sweep, state.share, learned, state.smooth)


class Work(NamedTuple):
    """What a z step did: steps, and for Metropolis-Hastings proposals and those accepted.

    Steps are what the sampler's complexity counts: for those of the paper the sum over tokens of
    min(K_d, K_v), for others topics walked over, or proposals.
    """

    steps: int
    proposed: int = 0
    accepted: int = 0

    def plus(self, other: "Work") -> "Work":
        """Return the work of both."""
        return Work(*(a + b for a, b in zip(self, other, strict=True)))


class Info(NamedTuple):
    """What one sweep reports about itself; all but `phi` is the record of the trace.

    `phase` is "full" for a sweep over all documents under the priors of the model. Before that a
    chain may be in its warm start: "smooth" (under raised priors), "grow 1/64" and so on (over a
    share of the documents), or "grow 1/64 smooth". Only topics of full sweeps are draws of the
    chain that was asked for.

    `law` says what the chain converges to: "exact" (the posterior), "asymptotic" (near it for large
    counts) or "approximate". `acceptance` is the share of Metropolis-Hastings proposals that were
    accepted, including those that propose the present topic; None where there are none. `gamma`,
    `topics` (with tokens) and `large_topics` (above 0.1% of the tokens) are those of a hierarchical
    Dirichlet process, and missing from the record of another model; `bytes_sent` by all workers,
    the number of the slowest one, its seconds of work, and those it spent exchanging are of a
    cluster, and missing without one. `phi` is the Phi that topics
    were last drawn given, None for samplers that draw none.
    """

    sweep: int
    phase: str
    law: str
    seconds: float
    phi_seconds: float
    z_seconds: float
    log_posterior: float | None
    phi_nonzeros: int
    tokens_per_second: float
    work_per_token: float
    acceptance: float | None
    alpha_sum: float
    beta_mean: float
    gamma: float | None = None
    topics: int | None = None
    large_topics: int | None = None
    bytes_sent: int | None = None
    slowest_worker: int | None = None
    busy_seconds: float | None = None
    exchange_seconds: float | None = None
    phi: Any = None

    def record(self) -> dict[str, Any]:
        """Return the sweep as one line of the trace."""
        record = self._asdict()
        del record["phi"]
        return {k: v for k, v in record.items() if v is not None or k not in _MAY_LACK}


def check_topics(n_topics: Any, name: str = "n_components", of: str = "topic") -> int:
    """Return the number of topics, or reject it; `of` is what they are called."""
    whole = is_whole(n_topics)
    if whole and 1 <= n_topics <= MAX_TOPICS:
        return int(n_topics)
    remedy = f"give the number of {of}s, such as 100"
    if whole:
        few = n_topics < 1
        remedy = f"ask for at least one {of}" if few else f"{of}s are stored in 16 bits"
    got = f"{n_topics:,}" if whole else repr(n_topics)
    raise InputError(
        f"The '{name}' parameter must be an integer from 1 to {MAX_TOPICS:,}. Got {got} instead; "
        f"{remedy}."
    )


def topic_word_matrix(counts: Counts, n_topics: int) -> sp.csr_matrix:
    """Return the counts as a scipy CSR matrix of their type, topics by words."""
    return _columns_to_csr(counts.first, counts.last, counts.topic, counts.number, n_topics)


def phi_matrix(phi: Phi, n_topics: int) -> sp.csr_matrix:
    """Return Phi as a CSR matrix, topics by words; rows sum to one up to the rounding."""
    csr = _columns_to_csr(phi.first, phi.last, phi.topic, phi.weight.astype(np.float64), n_topics)
    csr.data = np.ldexp(csr.data, -phi.exponent[csr.indices])
    return csr


def _columns_to_csr(first: I64, last: I64, topic: U16, data: Any, n_topics: int) -> sp.csr_matrix:
    length = last - first
    ptr = np.concatenate(([0], np.cumsum(length)))
    take = np.arange(ptr[-1]) + np.repeat(first - ptr[:-1], length)
    return sp.csc_matrix(
        (data[take], topic[take].astype(np.int32), ptr), shape=(n_topics, len(length))
    ).tocsr()


def doc_topic_matrix(doc_ptr: I64, z: U16, n_topics: int) -> sp.csr_matrix:
    """Return the statistic m as a scipy CSR matrix of int32, documents by topics."""
    pieces, lo, D = [], 0, len(doc_ptr) - 1
    while lo < D:  # some documents at a time, to keep memory small
        hi = int(np.searchsorted(doc_ptr, doc_ptr[lo] + _PIECE, side="right")) - 1
        hi = min(max(hi, lo + 1), D)
        topic = z[doc_ptr[lo] : doc_ptr[hi]].astype(np.int32)
        m = sp.csr_matrix(
            (np.ones(len(topic), np.int32), topic, doc_ptr[lo : hi + 1] - doc_ptr[lo]),
            shape=(hi - lo, n_topics),
        )
        m.sum_duplicates()
        pieces.append(m)
        lo = hi
    if not pieces:
        return sp.csr_matrix((0, n_topics), dtype=np.int32)
    return sp.csr_matrix(sp.vstack(pieces, format="csr"))


def check_invariants(word: I32, n_words: int, n_topics: int, state: State) -> None:
    """Raise AssertionError unless topics are in range and the counts equal a recount of z."""
    z, counts = state.z, state.counts
    if len(z) != len(word):
        raise AssertionError(f"{len(z)} topics for {len(word)} tokens")
    if state.share < WHOLE:
        word, z = word[z != NO_TOPIC], z[z != NO_TOPIC]
    if len(z) and int(z.max()) >= n_topics:
        raise AssertionError(f"topic {int(z.max())} of {n_topics}")
    recount = sp.coo_matrix(
        (np.ones(len(z), np.int64), (z.astype(np.int64), word)), shape=(n_topics, n_words)
    ).tocsr()
    if (recount != topic_word_matrix(counts, n_topics)).nnz:
        raise AssertionError("the counts carried differ from the counts of z")


def check_start(start: Any, corpus: Corpus, K: int) -> None:
    """Reject a state of another corpus or number of topics, or one that contradicts itself."""
    expected = f"a State of this corpus ({corpus.n_tokens:,} tokens) with at most {K:,} topics"
    if not isinstance(start, State | Halt):
        raise InputError(
            f"The 'start' parameter must be {expected}. Got {type(start).__name__} instead."
        )
    growing = start.share < WHOLE
    topics = int(start.z[start.z != NO_TOPIC].max(initial=0) if growing else start.z.max()) + 1
    if len(start.z) != corpus.n_tokens or topics > K:
        raise InputError(
            f"The 'start' parameter must be {expected}. Got one of {len(start.z):,} tokens and "
            f"{topics:,} topics; use the corpus and the number of topics it came from."
        )
    if isinstance(start, Halt):
        return
    try:
        check_invariants(corpus.word, corpus.n_words, K, start)
    except AssertionError as error:
        raise InputError(
            f"The 'start' parameter must be {expected}. Got one that contradicts itself "
            f"({error}); start again."
        ) from None


def check_share(layout: Any, state: State) -> None:
    """Reject a state in which a document that should be in has no topics."""
    expected = np.zeros(len(layout.doc_ptr) - 1, bool)
    for b in np.flatnonzero(layout.share <= state.share):
        expected[layout.documents[layout.blocks[b] : layout.blocks[b + 1]]] = True
    if ((state.z != NO_TOPIC) != np.repeat(expected, np.diff(layout.doc_ptr))).any():
        raise InputError(
            "The 'start' parameter must be a State of this corpus and number of topics. Got one "
            f"whose share of {state.share}/{WHOLE} of the documents is another; start again."
        )
