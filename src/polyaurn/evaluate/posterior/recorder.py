"""What is kept of one chain: its draws, their sums, and all of it as arrays for a checkpoint."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, key
from polyaurn.chain.priors import topic_word_mass
from polyaurn.chain.state import (
    Counts,
    Priors,
    State,
    TopLevel,
    doc_topic_matrix,
    topic_word_matrix,
)
from polyaurn.corpus.corpus import Corpus
from polyaurn.evaluate.posterior.choice import Choice
from polyaurn.evaluate.posterior.result import Chain

_CSR = ("data", "indices", "indptr")


class Recorder:
    """Draws of one chain; `order` holds the chain's own number of each topic.

    Phi and Theta are kept for what `choice` names; `theta_mean` says whether to sum what the mean
    of Theta needs.
    """

    def __init__(
        self, corpus: Corpus, seed: int, order: I64, choice: Choice, *, theta_mean: bool
    ) -> None:
        self._corpus, self._seed, self._order, self._choice = corpus, seed, order, choice
        self._lengths = np.diff(corpus.doc_ptr)
        self._sweep: list[int] = []
        self._level: list[float] = []
        self._sizes: list[I64] = []
        self._priors: list[Priors] = []
        self._phi: list[F64] = []
        self._theta: list[F64] = []
        self._phi_sum: sp.csr_matrix | None = None
        self._theta_sum: sp.csr_matrix | None = None
        self._theta_mean = theta_mean

    def keep(self, state: State, priors: Priors, level: float) -> None:
        """Take a draw."""
        K = len(self._order)
        n = topic_word_matrix(state.counts, K)
        sizes = np.asarray(n.sum(axis=1), dtype=np.int64).ravel()[self._order]
        mass = topic_word_mass(n, priors)[self._order]
        totals = np.asarray(mass.sum(axis=1), dtype=np.int64).ravel()
        self._sweep.append(state.sweep)
        self._level.append(level)
        self._sizes.append(sizes)
        self._priors.append(priors)
        chosen = self._choice
        if chosen.wants_phi or chosen.wants_theta:
            bits = key(self._seed, state.sweep, Purpose.POSTERIOR)
            rng = np.random.Generator(np.random.Philox(key=[int(bits.a), int(bits.b)]))
        if chosen.wants_phi:
            self._phi.append(_draw_phi(mass, totals, priors.beta, chosen, rng))
        if chosen.wants_theta:
            self._theta.append(self._draw_theta(state, priors.alpha[self._order], rng))
        self._phi_sum = _add_rows(self._phi_sum, mass, totals + priors.beta.sum())
        if self._theta_mean:
            m = doc_topic_matrix(self._corpus.doc_ptr, state.z, K)[:, self._order]
            self._theta_sum = _add_rows(self._theta_sum, m, self._lengths + priors.alpha.sum())

    @property
    def last_sweep(self) -> int:
        """The sweep of the newest draw; 0 before the first, and while a draw is taken its own."""
        return self._sweep[-1] if self._sweep else 0

    def arrays(self) -> dict[str, Any]:
        """Return all that was kept as one-dimensional arrays, for a checkpoint."""
        distinct: list[Priors] = []
        numbers = []
        for priors in self._priors:
            if not distinct or not _same(priors, distinct[-1]):
                distinct.append(priors)
            numbers.append(len(distinct) - 1)
        found: dict[str, Any] = {
            "order": self._order,
            "sweep": np.array(self._sweep, np.int64),
            "log_posterior": np.array(self._level, np.float64),
            "topic_sizes": _flat(self._sizes, np.int64),
            "prior": np.array(numbers, np.int64),
            "learned": np.array([priors.learned for priors in distinct], np.int64),
            "alpha": _flat([priors.alpha for priors in distinct], np.float64),
            "beta": _flat([priors.beta for priors in distinct], np.float64),
            "top": _flat([p.top[:2] for p in distinct if p.top is not None], np.float64),
            "phi": _flat(self._phi, np.float64),
            "theta": _flat(self._theta, np.float64),
        }
        for name, total in (("phi_sum", self._phi_sum), ("theta_sum", self._theta_sum)):
            if total is not None:
                found |= {f"{name}.{part}": getattr(total, part) for part in _CSR}
        return found

    def restore(self, arrays: Mapping[str, Any], pseudo: Counts | None) -> None:
        """Take over what a checkpoint kept; `pseudo` are the pseudo-counts of all priors."""
        K, V, D = len(self._order), self._corpus.n_words, self._corpus.n_documents
        chosen = self._choice
        try:
            n = len(arrays["sweep"])
            alpha, beta = (arrays[name].reshape(-1, m) for name, m in (("alpha", K), ("beta", V)))
            alpha.flags.writeable = beta.flags.writeable = False
            both = arrays.get("top", np.empty(0)).reshape(-1, 2).tolist()
            tops: list[TopLevel | None] = [TopLevel(a, g, np.arange(K)) for a, g in both]
            tops = tops or [None] * len(alpha)
            distinct = [
                Priors(a, b, pseudo, bool(learned), top)
                for a, b, learned, top in zip(alpha, beta, arrays["learned"], tops, strict=True)
            ]
            self._priors = [distinct[i] for i in arrays["prior"]]
            self._sweep = arrays["sweep"].tolist()
            self._level = arrays["log_posterior"].tolist()
            self._sizes = list(arrays["topic_sizes"].reshape(n, K))
            if chosen.wants_phi:
                shape = (n, len(chosen.topics), len(chosen.words))
                self._phi = list(arrays["phi"].reshape(shape))
            if chosen.wants_theta:
                shape = (n, len(chosen.documents), len(chosen.topics))
                self._theta = list(arrays["theta"].reshape(shape))
            if n:
                self._phi_sum = _csr(arrays, "phi_sum", (K, V))
            if n and self._theta_mean:
                self._theta_sum = _csr(arrays, "theta_sum", (D, K))
            if not n == len(self._level) == len(self._priors):
                raise ValueError("numbers of draws differ")
        except (KeyError, IndexError, ValueError) as error:
            raise InputError(
                f"The draws in a checkpoint do not fit together ({error}). Sample again in another "
                "folder."
            ) from None

    def _draw_theta(self, state: State, alpha: F64, rng: np.random.Generator) -> F64:
        """Draw Theta of the chosen documents given their topics."""
        place = np.empty(len(alpha), np.int64)
        place[self._order] = np.arange(len(alpha))
        doc_ptr = self._corpus.doc_ptr
        rows = []
        for d in self._choice.documents:
            topics = place[state.z[doc_ptr[d] : doc_ptr[d + 1]]]
            m = np.bincount(topics, minlength=len(alpha))
            rows.append(rng.dirichlet(m + alpha)[self._choice.topics])
        return np.array(rows)

    def chain(self) -> Chain:
        """Return what was kept."""
        return Chain(
            seed=self._seed,
            order=self._order,
            sweep=np.array(self._sweep, np.int64),
            log_posterior=np.array(self._level),
            topic_sizes=np.array(self._sizes, np.int64),
            priors=tuple(self._priors),
            phi=np.array(self._phi) if self._phi else None,
            theta=np.array(self._theta) if self._theta else None,
            phi_sum=self._phi_sum,
            theta_sum=self._theta_sum,
        )


def _draw_phi(
    n: sp.csr_matrix, sizes: I64, beta: F64, chosen: Choice, rng: np.random.Generator
) -> F64:
    """Draw Phi of the chosen topics and words given the counts; the rest is one further word."""
    a = n[chosen.topics][:, chosen.words].toarray() + beta[chosen.words]
    rest = sizes[chosen.topics] + beta.sum() - a.sum(axis=1)
    if len(chosen.words) == len(beta):
        return np.array([rng.dirichlet(row) for row in a])
    return np.array([rng.dirichlet(np.append(row, r))[:-1] for row, r in zip(a, rest, strict=True)])


def _add_rows(total: sp.csr_matrix | None, counts: sp.csr_matrix, by: F64) -> sp.csr_matrix:
    """Add counts, their rows divided, to a sum."""
    shares = counts.astype(np.float64)
    shares.sort_indices()
    shares.data /= np.repeat(by, np.diff(shares.indptr))
    return shares if total is None else total + shares


def _same(one: Priors, other: Priors) -> bool:
    """Return whether priors are the same in every byte."""
    return one.learned == other.learned and all(
        a is b or np.array_equal(a, b) for a, b in zip(one[:2], other[:2], strict=True)
    )


def _flat(rows: list[Any], dtype: Any) -> Any:
    return np.concatenate([np.ravel(row) for row in rows]).astype(dtype) if rows else np.empty(0)


def _csr(arrays: Mapping[str, Any], name: str, shape: tuple[int, int]) -> sp.csr_matrix:
    return sp.csr_matrix(tuple(arrays[f"{name}.{part}"] for part in _CSR), shape=shape)
