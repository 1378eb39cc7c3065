"""What a sweep reads and writes: plain tuples of arrays, and nothing hidden.

``K`` topics, ``V`` words, ``D`` documents, ``N`` tokens, as in the paper.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I32, I64, U16, U32, U64
from polyaurn.base.errors import InputError

MAX_TOPICS = 65_535
NO_TOPIC = 65_535  # of a token whose document has not joined the chain yet; topics lie below

MOST_PSEUDO = 200_000_000  # pseudo-counts of a cell: with its tokens still below 2**31

WHOLE = 64  # shares of a corpus are counted in 64ths
SHARES = (1, 2, 4, 8, 16, 32)  # smaller ones, with which a chain may begin
_PIECE = 1 << 22  # tokens counted at a time


class Counts(NamedTuple):
    """The statistic n, word by word: the topics of word v lie in ``[first[v], last[v])``.

    Topics are in increasing order inside a word, and only positive counts are kept.
    """

    first: I64
    last: I64
    topic: U16
    number: I32


class Priors(NamedTuple):
    """Dirichlet concentrations: ``alpha`` for each topic, ``beta`` for each word.

    `pseudo`, where given, are tokens that topics are taken to have had beforehand: word v in topic
    k has the concentration beta[v] plus theirs.
    """

    alpha: F64
    beta: F64
    pseudo: Counts | None = None


class Phi(NamedTuple):
    """Phi, word by word, in the form that the z step reads.

    The column of word v lies in ``[first[v], last[v])``, topics in increasing order. `weight`
    is phi times ``2**exponent[v]``, so that a word's largest lies in [2**30, 2**31), rounded:
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
    """All that the next sweep needs: topics of the tokens, their counts, sweeps done.

    `phi` is the Phi that `z` was last drawn with (None before the first sweep). `share` is the
    share of the documents that are in, in 64ths; tokens of others have the topic NO_TOPIC.
    `parts` are the counts of parts of the documents, where Phi is drawn before each; they
    follow from `z`, and are counted again when they are not there. `priors` are those learned so
    far, None where they stay as given.
    """

    z: U16
    counts: Counts
    sweep: int
    phi: Phi | None = None
    share: int = WHOLE
    parts: tuple[Counts, ...] = ()
    priors: Priors | None = None


def on_host(state: State) -> State:
    """Return a state whose arrays are NumPy's, wherever they are; those of a GPU are copied.

    Parameters
    ----------
    state : State
        From `polyaurn.sweeps`. With ``device="gpu"`` its topics, counts and Phi lie on the GPU
        until the next sweep changes them.

    Returns
    -------
    State
        May be kept; the same one if its arrays are NumPy's already.
    """
    if not hasattr(state.counts, "on_host"):
        return state
    from polyaurn.backends.gpu.failures import failures_named

    parts: tuple[Any, ...] = state
    with failures_named():
        found = [part.on_host() if hasattr(part, "on_host") else part for part in parts]
    return State(*found)._replace(parts=())


class Halt(NamedTuple):
    """Where a chain stopped: of a State, what cannot be computed again; see there."""

    z: U16
    sweep: int
    share: int = WHOLE
    priors: Priors | None = None


def halt_of(state: State) -> Halt:
    """Return what of a state cannot be computed again; topics of a GPU are copied."""
    if isinstance(state.z, np.ndarray):
        return Halt(state.z, state.sweep, state.share, state.priors)
    from polyaurn.backends.gpu.failures import failures_named

    with failures_named():
        return Halt(np.asarray(state.z), state.sweep, state.share, state.priors)


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


class Cost(NamedTuple):
    """What a sweep cost: seconds of its two steps, and the work of the z step."""

    phi_seconds: float
    z_seconds: float
    work: Work


class Info(NamedTuple):
    """What one sweep tells about itself; the record of the trace.

    `law` says what the chain converges to: "exact" (the posterior), "asymptotic" (near it for large
    counts) or "approximate". `acceptance` is the share of Metropolis-Hastings proposals that were
    accepted, those that propose the topic at hand included; None where there are none.
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

    def record(self) -> dict[str, Any]:
        """Return the sweep as one line of the trace."""
        return self._asdict()


def check_topics(n_topics: Any, name: str = "n_components") -> int:
    """Return the number of topics, or refuse it."""
    if isinstance(n_topics, bool) or not isinstance(n_topics, int | np.integer):
        raise InputError(
            f"The '{name}' parameter must be an integer from 1 to {MAX_TOPICS:,}. "
            f"Got {n_topics!r} instead; give the number of topics, such as 100."
        )
    if not 1 <= n_topics <= MAX_TOPICS:
        remedy = "ask for at least one topic" if n_topics < 1 else "topics are stored in 16 bits"
        raise InputError(
            f"The '{name}' parameter must be an integer from 1 to {MAX_TOPICS:,}. "
            f"Got {n_topics:,} instead; {remedy}."
        )
    return int(n_topics)


def make_priors(
    alpha: Any,
    beta: Any,
    n_topics: int,
    n_words: int,
    names: tuple[str, str] = ("doc_topic_prior", "topic_word_prior"),
    pseudo: Any = None,
) -> Priors:
    """Return the priors as vectors, or refuse them.

    Parameters
    ----------
    alpha : float or array_like of length `n_topics`
        Concentration of topics in a document.
    beta : float or array_like of length `n_words`
        Concentration of words in a topic.
    n_topics, n_words : int
        K and V.
    names : pair of str
        What the user calls the two parameters, for error messages.
    pseudo : sparse or dense matrix of whole numbers, `n_topics` by `n_words`, optional
        Tokens beforehand.

    Returns
    -------
    Priors
        Two vectors of positive finite numbers, and the matrix by columns.
    """
    return Priors(
        _prior(alpha, n_topics, names[0], "topics"),
        _prior(beta, n_words, names[1], "words of the vocabulary"),
        None if pseudo is None else _pseudo(pseudo, (n_topics, n_words)),
    )


def _pseudo(matrix: Any, shape: tuple[int, int]) -> Counts:
    columns = sp.csc_matrix(matrix)
    data = columns.data
    ok = columns.shape == shape and ((data >= 0) & (data <= MOST_PSEUDO)).all()
    if not ok or (data != np.floor(data)).any():
        raise InputError(
            f"The 'pseudo_counts' parameter must be {shape[0]:,} topics by {shape[1]:,} words, of "
            f"whole numbers from 0 to {MOST_PSEUDO:,}. Got {columns.shape} of {data.dtype} instead."
        )
    columns.sum_duplicates()
    columns.eliminate_zeros()
    ptr = columns.indptr.astype(np.int64)
    return Counts(
        ptr[:-1].copy(), ptr[1:].copy(), columns.indices.astype(np.uint16),
        columns.data.astype(np.int32),
    )  # fmt: skip


def _prior(value: Any, length: int, name: str, what: str) -> F64:
    expected = f"a positive number, or {length:,} of them (one for each of the {what})"
    try:
        if value is None:
            raise TypeError
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got {value!r} instead; "
            "give a number such as 0.1."
        ) from None
    if vector.ndim > 1 or (vector.ndim == 1 and len(vector) != length):
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got an array of shape {vector.shape} "
            "instead; give one number, or a vector of the right length."
        )
    bad = ~(np.isfinite(vector) & (vector > 0))
    if bad.any():
        where = "" if vector.ndim == 0 else f" at position {int(np.argmax(bad))}"
        worst = float(np.atleast_1d(vector)[np.argmax(bad)])
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got {worst!r}{where} instead; "
            "priors are concentrations: finite, and above zero."
        )
    full = np.ascontiguousarray(np.broadcast_to(vector, (length,)))
    full.flags.writeable = False
    return full


def prior_in_brief(prior: Any) -> float | str:
    """Return a prior as it is written in headers; vectors lie in arrays."""
    return float(prior) if np.ndim(prior) == 0 else "vector"


def topic_word_matrix(counts: Counts, n_topics: int) -> sp.csr_matrix:
    """Return the counts as a scipy CSR matrix of int32, topics by words."""
    return _columns_to_csr(counts.first, counts.last, counts.topic, counts.number, n_topics)


def topic_word_mass(n: sp.csr_matrix, priors: Priors) -> sp.csr_matrix:
    """Return counts n, topics by words, with the pseudo-counts: what beta is added to."""
    if priors.pseudo is None:
        return n
    return sp.csr_matrix(n + topic_word_matrix(priors.pseudo, n.shape[0]))


def pseudo_at(n: sp.csr_matrix, priors: Priors) -> Any:
    """Return the pseudo-counts of the cells that n stores, in their order; 0 without any."""
    if priors.pseudo is None:
        return 0
    rows = np.repeat(np.arange(n.shape[0]), np.diff(n.indptr))
    return np.asarray(topic_word_matrix(priors.pseudo, n.shape[0])[rows, n.indices]).ravel()


def pseudo_sizes(priors: Priors) -> F64:
    """Return the pseudo-counts of each topic, summed over words."""
    K = len(priors.alpha)
    if priors.pseudo is None:
        return np.zeros(K)
    sizes = np.bincount(priors.pseudo.topic, priors.pseudo.number, minlength=K)
    return np.asarray(sizes, np.float64)


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
    """Raise AssertionError when a state contradicts itself; for tests and for the careful.

    Parameters
    ----------
    word : ndarray of int32
        The corpus' tokens.
    n_words, n_topics : int
        V and K.
    state : State
        What to check: topics in range, counts equal to a recount of z.
    """
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
