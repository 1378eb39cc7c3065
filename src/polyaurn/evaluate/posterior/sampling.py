"""Chains that run one after another, and the draws kept of each after its burn-in."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, key
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain.priors import topic_word_mass
from polyaurn.chain.state import Info, Priors, State, doc_topic_matrix, on_host, topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.evaluate.diagnostics import log_posterior
from polyaurn.evaluate.posterior.choice import Choice
from polyaurn.evaluate.posterior.result import Chain, Posterior
from polyaurn.model.distance import match_topics, row_quality
from polyaurn.training.sweeps import sweeps

Report = Callable[[int, Info], None]


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


def sample(
    corpus: Corpus,
    options: dict[str, Any],
    *,
    burn_in: int,
    chains: int,
    draws: int,
    thin: int,
    choice: Choice,
    theta_mean: bool,
    seed: int,
    report: Report,
    into: list[Chain],
    last: list[State],
) -> None:
    """Run the chains with the options of `polyaurn.sweeps`; chain c has the seed `seed` + c.

    `report` is called with the number of sweeps before the chain, and the info of each sweep.
    `into` receives each chain, and `last` the last state of the first one, when the chain ends or
    is interrupted.
    """
    for c in range(chains):
        done = c * (burn_in + draws * thin)
        run = options | {"random_state": seed + c}
        state, recorder = None, None
        try:
            for state, info in sweeps(corpus, **run | {"max_iter": burn_in}):  # noqa: B007
                report(done, info)
            assert state is not None
            begun = state = on_host(state)
            order = _align(into, begun, run["n_components"])
            recorder = Recorder(corpus, seed + c, order, choice, theta_mean=theta_mean)
            for state, info in _continue(corpus, run, begun, draws, thin):
                if info.log_posterior is not None:
                    recorder.keep(state, state.priors, info.log_posterior)
                report(done, info)
        finally:
            if not c and state is not None:
                with suppress(InputError):  # a GPU that failed may have lost it
                    last.append(on_host(state)._replace(parts=()))
            if recorder is not None and len((kept := recorder.chain()).sweep):
                into.append(kept)


def _continue(
    corpus: Corpus, run: dict[str, Any], state: State, draws: int, thin: int
) -> Iterator[tuple[State, Info]]:
    """Continue a chain without a warm start; draws are the sweeps with a log posterior."""
    begun = state.sweep
    plain = {"warm_start": "random", "evaluate_every": 0, "max_iter": None}
    further = sweeps(corpus, **run | plain | {"start": state})
    with Workers(count_threads(run["n_jobs"])) as workers:
        for after, info in islice(further, draws * thin):
            if (after.sweep - begun) % thin == 0:
                after = on_host(after)
                info = info._replace(
                    log_posterior=log_posterior(corpus, after, after.priors, workers)
                )
            yield after, info


def _align(before: list[Chain], state: State, K: int) -> I64:
    """Return the chain's topic for each topic of the first chain."""
    if not before:
        return np.arange(K)
    return match_topics(before[0].phi_sum, topic_word_matrix(state.counts, K))[0]


def gather(corpus: Corpus, chains: list[Chain], choice: Choice, law: str) -> Posterior:
    """Put chains together that are aligned to the first, with the quality of their matches."""
    return Posterior(
        chains=tuple(chains),
        match_quality=np.array([row_quality(chains[0].phi_sum, c.phi_sum) for c in chains]),
        vocab=corpus.vocab,
        doc_names=corpus.doc_names,
        words=choice.words,
        topics=choice.topics,
        documents=choice.documents,
        lengths=np.diff(corpus.doc_ptr),
        law=law,
    )
