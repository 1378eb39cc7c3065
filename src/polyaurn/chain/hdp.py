"""A hierarchical Dirichlet process over K topics: its priors, drawn given the topics of tokens.

Weights Psi of topics are common to all documents. A document's mixture is Dirichlet(alpha Psi), so
that the z step is that of LDA with alpha Psi[k] in alpha's place. Psi is one of two priors on K
topics that both tend to the process as K grows:

* "dirichlet", Psi ~ Dirichlet(gamma / K): no topic is distinguished from another;
* "sticks", a stick of length one is broken K - 1 times, Beta(1, gamma) of the rest at a time.

Given topics, auxiliary counts l[k] say how many draws of topic k in documents came from Psi: of the
j-th token of a topic in a document with probability a / (a + j - 1), a = alpha Psi[k]. Documents
are alike in this, so that l[k] is a sum over j of binomials over the histogram of documents. Given
l, Psi is drawn again; alpha and gamma have gamma priors, and are drawn by auxiliary variables (Teh,
Jordan, Beal and Blei 2006; Escobar and West 1995).
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, gammaln

from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import wrong
from polyaurn.base.rng import Purpose
from polyaurn.chain.priors import Histogram
from polyaurn.chain.state import Priors, TopLevel

DIRICHLET, STICKS = "dirichlet", "sticks"
WEIGHTS = (DIRICHLET, STICKS)
LEAST_ALPHA = 1e-290  # of a topic: kernels need a positive number
NOTHING = 1e-40  # beside a part of one: exact sums of numbers of all sizes take long
SWAPS = 4  # passes over the sticks, each of which may exchange neighbours
LARGE = 0.001  # share of the tokens from which a topic counts as large
_LATER = 1 << 32  # of an index: draws of later steps of a purpose are behind those of topics


class HDP(NamedTuple):
    """How priors of a hierarchical Dirichlet process are drawn.

    `weights` names the prior of Psi. `alpha_prior` and `gamma_prior` are the shape and the rate of
    gamma distributions, None where a concentration is fixed. Tokens are spread over the first
    `start_topics` topics when a chain begins, over all where it is None.
    """

    weights: str = DIRICHLET
    alpha_prior: tuple[float, float] | None = (1.0, 1.0)
    gamma_prior: tuple[float, float] | None = (1.0, 1.0)
    start_topics: int | None = None


class Draws(Protocol):
    """Random variates by address: element i of an array depends on its index only."""

    def uniform(self, purpose: Purpose, index: I64) -> F64:
        """Return numbers in [0, 1)."""

    def binomial(self, purpose: Purpose, n: I64, p: F64, index: I64) -> I64:
        """Return Binomial(n, p)."""

    def log_gamma(self, purpose: Purpose, shape: F64, index: I64) -> F64:
        """Return logarithms of Gamma(shape, 1)."""

    def exp(self, x: F64) -> F64:
        """Return exponentials, rounded alike on every machine."""

    def log(self, x: F64) -> F64:
        """Return logarithms, rounded alike on every machine."""


def first_top(alpha: float, gamma: float, K: int, start_topics: int) -> tuple[F64, TopLevel]:
    """Return alpha of topics and the top level of a chain whose topics are drawn uniformly."""
    shares = np.where(np.arange(K) < start_topics, 1.0 / start_topics, 0.0)
    return floored(alpha * shares), TopLevel(float(alpha), float(gamma), np.arange(K))


def draw_top(found: Histogram, priors: Priors, rules: HDP, draws: Draws) -> Priors:
    """Return the priors given the topics of tokens, as a histogram over documents."""
    before = priors.top
    if before is None or not len(found.length):
        return priors
    alpha, gamma = before.alpha, before.gamma
    tables = count_tables(found, priors.alpha, draws)
    if rules.alpha_prior is not None:
        alpha = draw_alpha(found, alpha, int(tables.sum()), rules.alpha_prior, draws)
    if rules.weights == STICKS:
        order = _exchange(tables, gamma, before.order, draws)
        if rules.gamma_prior is not None:
            gamma = _gamma_of_sticks(tables[order], gamma, rules.gamma_prior, draws)
        psi = np.empty(len(tables))
        psi[order] = _broken_stick(tables[order], gamma, draws)
    else:
        order = before.order
        if rules.gamma_prior is not None:
            gamma = _gamma_of_dirichlet(tables, gamma, rules.gamma_prior, draws)
        psi = _dirichlet(np.asarray(gamma / len(tables) + tables, np.float64), draws)
    top = TopLevel(alpha, gamma, order)
    return priors._replace(alpha=floored(alpha * psi), learned=True, top=top)


def floored(alpha: F64) -> F64:
    """Return alpha of topics, none of them zero, read-only as priors are."""
    alpha = np.maximum(alpha, LEAST_ALPHA)
    alpha.flags.writeable = False
    return alpha


def count_tables(found: Histogram, alpha: F64, draws: Draws) -> I64:
    """Draw l[k], the sum over j of Binomial(D[k, j], alpha[k] / (alpha[k] + j - 1)).

    D[k, j] is how many documents have at least j tokens of topic k.
    """
    topic, number, times = found[:3]
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    behind = np.append(np.cumsum(times[::-1])[::-1], 0)  # documents of this cell and all after it
    last = np.append(first[1:], len(topic))
    cells = last - first
    at_least = behind[:-1] - np.repeat(behind[last], cells)
    span = np.diff(number, prepend=0)
    span[first] = number[first]
    k, n = np.repeat(topic, span), np.repeat(at_least, span)
    j = np.arange(len(k)) - np.repeat(np.cumsum(span) - span, span)
    j += np.repeat(number - span, span)  # j - 1
    p: F64 = alpha[k] / (alpha[k] + j)
    drawn = draws.binomial(Purpose.TABLES, n, p, k * _LATER + j)
    return np.bincount(k, drawn, minlength=len(alpha)).astype(np.int64)


def draw_alpha(
    found: Histogram, alpha: float, tables: int, prior: tuple[float, float], draws: Draws
) -> float:
    """Draw alpha given the sum of l.

    Its likelihood is alpha**(l - D) over the product of (alpha + i)**D[i], D[i] being the number of
    documents with more than i tokens, i = 1, 2 and so on. Each factor below is the integral over a
    gamma variable of rate alpha + i: their sum is minus the logarithm of the auxiliary variables of
    Teh et al., drawn for all documents at once.
    """
    i = np.arange(1, int(found.length[-1]))
    D = _more_than(i, found.length, found.documents)
    shape, rate = prior
    x = draws.exp(draws.log_gamma(Purpose.ALPHA, D.astype(np.float64), i + _LATER))
    rate += math.fsum(x / (alpha + i))
    return _gamma(Purpose.ALPHA, shape + tables - int(found.documents.sum()), rate, draws)


def _gamma_of_dirichlet(
    tables: I64, gamma: float, prior: tuple[float, float], draws: Draws
) -> float:
    """Draw gamma given l, Psi ~ Dirichlet(gamma / K) integrated out.

    As l[k] was for documents, counts for topics are drawn that came from gamma / K.
    """
    number, times = np.unique(tables[tables > 0], return_counts=True)
    j = np.arange(int(number[-1]))
    share = gamma / len(tables)
    n = _more_than(j, number, times)
    p: F64 = np.asarray(share / (share + j), np.float64)
    opened = draws.binomial(Purpose.GAMMA, n, p, j + _LATER)
    rate = prior[1] - _log_beta(gamma + 1.0, int(tables.sum()) - 1, draws)
    return _gamma(Purpose.GAMMA, prior[0] + int(opened.sum()) - 1, rate, draws)


def _gamma_of_sticks(tables: I64, gamma: float, prior: tuple[float, float], draws: Draws) -> float:
    """Draw gamma given l in the order of sticks, their lengths integrated out.

    The likelihood is gamma**(K - 1) Gamma(gamma + l[K]) / Gamma(gamma + sum of l) over the product
    of gamma + l[k] + ... + l[K], k < K.
    """
    last, rest = int(tables[-1]), np.cumsum(tables[::-1])[::-1]  # rest: l[k] + ... + l[K]
    broken = rest[:-1][rest[:-1] > 0]
    shape = prior[0] + len(broken) - (last == 0)
    index = np.arange(len(broken)) + _LATER
    x = draws.exp(draws.log_gamma(Purpose.GAMMA, np.ones(len(broken)), index))
    rate = prior[1] + math.fsum(x / (gamma + broken))
    begun = max(last, 1)
    rate -= _log_beta(gamma + begun, int(rest[0]) - begun, draws)
    return _gamma(Purpose.GAMMA, shape, rate, draws)


def _exchange(tables: I64, gamma: float, order: I64, draws: Draws) -> I64:
    """Draw the order of sticks given l: neighbours change places as their probabilities say.

    A topic keeps its number; only the stick that it has changes.
    """
    order = order.copy()
    if len(order) == 1:
        return order
    for turn in range(2 * SWAPS):
        first = np.arange(turn % 2, len(order) - 2, 2)
        l_of = tables[order]
        rest = np.append(np.cumsum(l_of[::-1])[::-1], 0)
        kept, swapped = gamma + rest[first + 1], gamma + rest[first + 2] + l_of[first]
        u = draws.uniform(Purpose.STICKS, first + turn * _LATER)
        moved = first[u * (kept + swapped) < kept]
        order[moved], order[moved + 1] = order[moved + 1], order[moved]
    a, b = tables[order[-2:]]  # the last stick is what is left, not broken off
    logit = gammaln(gamma + a) - gammaln(a + 1) - gammaln(gamma + b) + gammaln(b + 1)
    u = draws.uniform(Purpose.STICKS, np.array([2 * SWAPS * _LATER]))[0]
    if u < expit(logit):
        order[-2:] = order[-2:][::-1]
    return order


def _broken_stick(tables: I64, gamma: float, draws: Draws) -> F64:
    """Draw the parts of the stick: Beta(1 + l[k], gamma + l[k + 1] + ...) of what is left."""
    K = len(tables)
    rest = np.cumsum(tables[::-1])[::-1]
    index = np.arange(K - 1)
    first, second = np.float64(1.0) + tables[:-1], np.float64(gamma) + rest[1:]
    own = draws.log_gamma(Purpose.WEIGHTS, first, 2 * index)
    others = draws.log_gamma(Purpose.WEIGHTS, second, 2 * index + 1)
    most = np.maximum(own, others)
    x, y = draws.exp(own - most), draws.exp(others - most)
    left = np.cumprod(np.append(1.0, y / (x + y)))
    return np.asarray(left * np.append(x / (x + y), 1.0), np.float64)


def _dirichlet(shape: F64, draws: Draws) -> F64:
    logs = draws.log_gamma(Purpose.WEIGHTS, shape, np.arange(len(shape)))
    parts = draws.exp(logs - logs.max())
    return parts / math.fsum(parts[parts > NOTHING])


def _more_than(least: I64, number: I64, times: I64) -> I64:
    """Return how many of a histogram's numbers, which increase, are above each of some."""
    behind = np.append(np.cumsum(times[::-1])[::-1], 0)
    found: I64 = behind[np.searchsorted(number, least, side="right")]
    return found


def _log_beta(a: float, b: int, draws: Draws) -> float:
    """Draw the logarithm of Beta(a, b), for b = 0 that of one."""
    if b == 0:
        return 0.0
    logs = draws.log_gamma(Purpose.GAMMA, np.array([a, float(b)]), np.array([2, 3]))
    most = float(logs.max())
    both = draws.exp(logs - most)
    return float(logs[0] - most - draws.log(np.array([both[0] + both[1]]))[0])


def _gamma(purpose: Purpose, shape: float, rate: float, draws: Draws) -> float:
    log = draws.log_gamma(purpose, np.array([float(shape)]), np.array([0]))
    return float(draws.exp(log)[0]) / rate


def check_gamma_prior(value: object, name: str) -> tuple[float, float] | None:
    """Return the shape and the rate of a gamma prior, None for a fixed concentration."""
    if value is None:
        return None
    try:
        shape, rate = (float(part) for part in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        shape = rate = math.nan
    if 0.0 < shape < math.inf and 0.0 < rate < math.inf:
        return shape, rate
    raise wrong(
        name, "a pair of positive numbers, shape and rate of a gamma distribution, or None", value,
        "(1, 1) is usual, and None keeps the concentration",
    )  # fmt: skip
