"""Hierarchical Dirichlet processes of a few tokens: enumerated, drawn from the prior, broken."""

from collections.abc import Callable
from functools import cache, partial
from itertools import permutations, product
from types import ModuleType
from typing import Any

import numpy as np
from scipy.special import gammaln

from polyaurn import Corpus
from polyaurn.backends.draws import AddressedDraws
from polyaurn.backends.reference import document_histogram
from polyaurn.chain import hdp
from polyaurn.chain.hdp import DIRICHLET, HDP, STICKS
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import TopLevel
from polyaurn.chain.steps import LDASteps
from support.chains import log_joint
from support.faults import plant
from support.joint_draws import DOC, LENGTHS, PTR, pick

# What is planted, and under which prior of Psi it must be seen: both where no name is
FAULTS: dict[str, tuple[str, tuple[str, str]]] = {
    "tokens_counted_twice": ("", ("(alpha[k] + j)", "(alpha[k] + 2.0 * j)")),
    "documents_forgotten_in_alpha": ("", ("tables - int(found.documents.sum())", "tables")),
    "rate_of_alpha_forgotten": ("", ("rate += math.fsum(x / (alpha + i))", "rate += 0.0")),
    "gamma_not_shared_out": (DIRICHLET, ("gamma / len(tables) + tables", "gamma + tables")),
    "one_table_too_many": (DIRICHLET, ("int(opened.sum()) - 1", "int(opened.sum())")),
    "beta_of_gamma_forgotten": (DIRICHLET, ("prior[1] - _log", "prior[1] + 0 * _log")),
    "own_tables_in_the_rest": (STICKS, ("gamma) + rest[1:]", "gamma) + rest[:-1]")),
    "neighbours_change_the_wrong_way": (STICKS, ("swapped) < kept", "swapped) > kept")),
    "last_stick_is_one_more": (STICKS, ("shape = prior[0] + len(broken) - (last == 0)",
                                        "shape = prior[0] + len(tables) - 1")),
}  # fmt: skip


@cache
def broken(fault: str) -> ModuleType:
    """Return the arithmetic with a fault."""
    return plant("hdp", FAULTS[fault][1], package="polyaurn.chain")


def drawing(made: type[LDASteps], draw_top: Callable[..., Any]) -> type[LDASteps]:
    """Return steps whose priors are drawn by another function."""

    def draw_priors(steps: Any, state: Any, plan: Any, address: Any) -> Any:
        found = steps.document_histogram(state.z)
        return draw_top(found, state.priors, steps.hdp, AddressedDraws(*address))

    return type(made.__name__, (made,), {"draw_priors": draw_priors})


def psi_from_prior(rules: HDP, gamma: float, order: Any, rng: np.random.Generator) -> Any:
    """Draw Psi, K of them."""
    K = len(order)
    if rules.weights == DIRICHLET:
        return rng.dirichlet(np.full(K, gamma / K))
    v = np.append(rng.beta(1.0, gamma, K - 1), 1.0)
    psi = np.empty(K)
    psi[order] = v * np.append(1.0, np.cumprod(1.0 - v[:-1]))
    return psi


def top_from_prior(rules: HDP, K: int, rng: np.random.Generator) -> tuple[Any, TopLevel]:
    """Draw alpha Psi and the top level; gamma priors have a shape and a rate."""
    alpha, gamma = (rng.gamma(a) / b for a, b in (rules.alpha_prior, rules.gamma_prior))
    order = rng.permutation(K)
    psi = psi_from_prior(rules, gamma, order, rng)
    return hdp.floored(alpha * psi), TopLevel(alpha, gamma, order)


def statistics(alpha: Any, top: TopLevel, z: Any) -> Any:
    """Return seven functions of a draw."""
    K, psi = len(alpha), alpha / alpha.sum()
    m = np.zeros((len(LENGTHS), K))
    np.add.at(m, (DOC, z), 1)
    share = m.sum(axis=0) / len(z)
    pairs = (m * (m - 1)).sum() / (LENGTHS * (LENGTHS - 1)).sum()
    return np.array([
        np.log(top.alpha), np.log(top.gamma), (psi**2).sum(), psi[0],
        (share > 0).sum(), (share**2).sum(), pairs,
    ])  # fmt: skip


def marginal_conditional(rules: HDP, K: int, draws: int) -> Any:
    """Draw from the prior, each draw independent of the others."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(draws):
        alpha, top = top_from_prior(rules, K, rng)
        found.append(statistics(alpha, top, _topics(alpha, rng)))
    return np.array(found)


def successive_conditional(
    rules: HDP, K: int, draws: int, draw_top: Callable[..., Any] = hdp.draw_top
) -> Any:
    """Alternate topics given the top level with the top level given topics."""
    rng = np.random.default_rng(2)
    alpha, top = top_from_prior(rules, K, rng)
    priors = make_priors(alpha, 0.1, K, 2)._replace(top=top)
    found = []
    for t in range(draws):
        z = _topics(priors.alpha, rng)
        found_in = document_histogram(PTR, z, K)
        priors = draw_top(found_in, priors, rules, AddressedDraws(3, t))
        found.append(statistics(priors.alpha, priors.top, z))
    return np.array(found)


def _topics(alpha: Any, rng: np.random.Generator) -> Any:
    theta = rng.dirichlet(alpha, size=len(LENGTHS))
    return pick(theta[DOC], rng).astype(np.uint16)


def enumerated(corpus: Corpus, K: int, alpha: float, gamma: float, rules: HDP, beta: float) -> Any:
    """P(z | w) of every z, in the order of their digits in base K: Psi and l summed out."""
    words = make_priors(1.0, beta, K, corpus.n_words)
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
    level = partial(_log_of_tables, gamma=gamma, rules=rules)
    logs = []
    for z in product(range(K), repeat=corpus.n_tokens):
        topics = np.array(z)
        m = np.zeros((corpus.n_documents, K), int)
        np.add.at(m, (document, topics), 1)
        # log_joint has Theta with alpha = 1; only its factor of words is wanted
        of_words = log_joint(corpus, topics, words) - _log_topics_of_ones(m)
        columns = [_tables_of(m[:, k], alpha) for k in range(K)]
        parts = [
            sum(np.log(c[n]) for c, n in zip(columns, tables, strict=True)) + level(tables)
            for tables in product(*(np.flatnonzero(c) for c in columns))
        ]
        logs.append(of_words + np.logaddexp.reduce(parts))
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


def _log_topics_of_ones(m: Any) -> float:
    K = m.shape[1]
    return float(len(m) * gammaln(K) - gammaln(m.sum(axis=1) + K).sum() + gammaln(m + 1.0).sum())


def _tables_of(m: Any, alpha: float) -> Any:
    """Sum over documents of the coefficients by l of a (a + 1) ... in powers of alpha Psi."""
    found = np.ones(1)
    for number in m:
        for j in range(number):  # times (x + j)
            found = np.convolve(found, [float(j), 1.0])
    return found * alpha ** np.arange(len(found))


@cache
def _log_of(tables: tuple[int, ...], gamma: float, weights: str) -> float:
    of_each, K = np.array(tables), len(tables)
    if weights == DIRICHLET:
        own = gammaln(gamma / K + of_each) - gammaln(gamma / K)
        return float(gammaln(gamma) - gammaln(gamma + of_each.sum()) + own.sum())
    orders = []
    for order in permutations(range(K)):
        rest = np.append(np.cumsum(of_each[list(order)][::-1])[::-1], 0)
        total = 0.0
        for place, k in enumerate(order[:-1]):
            b = gamma + rest[place + 1]
            total += (
                np.log(gamma) + gammaln(1 + of_each[k]) + gammaln(b) - gammaln(1 + of_each[k] + b)
            )
        orders.append(total)
    return float(np.logaddexp.reduce(orders))


def _log_of_tables(tables: Any, gamma: float, rules: HDP) -> float:
    """Log of E[prod Psi[k]**l[k]], up to a constant."""
    return _log_of(tuple(int(x) for x in tables), gamma, rules.weights)
