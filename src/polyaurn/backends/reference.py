"""The samplers of the paper in plain NumPy: slow on purpose, dense, and the oracle.

Formulas are written as in the paper. Draws have the same addresses as in the compiled kernels, so
that both give the same bytes.
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from polyaurn.backends.backend import DrawPhi
from polyaurn.backends.cpu import layout as derived_layout
from polyaurn.backends.cpu.log_posterior import log_posterior
from polyaurn.backends.cpu.start import uniform_topics
from polyaurn.backends.draws import AddressedDraws
from polyaurn.backends.tables import (
    KNOTS,
    LARGEST_RATE,
    OCTAVES,
    SLOTS,
    ball_sizes,
    default_cut,
    poisson_tables,
)
from polyaurn.backends.variates import MOST_FACTORS
from polyaurn.base.arrays import F64, I64, U16
from polyaurn.base.rng import Key, Moment, Purpose, below, bits, key, open_unit, unit
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP, Draws
from polyaurn.chain.priors import Histogram
from polyaurn.chain.samplers import MH_STEPS
from polyaurn.chain.state import NO_TOPIC, Counts, Phi, Priors, State, Work, doc_topic_matrix
from polyaurn.chain.steps import Address, LDASteps
from polyaurn.corpus.corpus import Corpus


class ReferenceLayout:
    """A corpus and a number of topics; only the blocks that documents belong to are derived."""

    def __init__(self, corpus: Corpus, n_topics: int) -> None:
        derived = derived_layout.make_layout(corpus, n_topics)
        self.documents, self.blocks, self.share = derived.documents, derived.blocks, derived.share
        self.doc_ptr, self.word = corpus.doc_ptr, corpus.word
        self.n_words, self.n_topics = corpus.n_words, n_topics


class ReferenceSteps(LDASteps):
    """Steps in plain NumPy."""

    phi_step: ClassVar[DrawPhi[ReferenceLayout, Counts, Phi]]

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        workers: Workers | None = None,
        *,
        mh_steps: int = MH_STEPS,
        learn_every: int = 0,
        hdp: HDP | None = None,
    ) -> None:
        super().__init__(corpus, mh_steps=mh_steps, learn_every=learn_every, hdp=hdp)
        self.layout = ReferenceLayout(corpus, n_topics)

    def start(self, seed: int, blocks: I64 | None = None) -> U16:
        """Draw first topics uniformly; documents of other blocks have none."""
        return uniform_topics(self.layout, seed, blocks, self.start_topics)

    def count(self, z: U16) -> Counts:
        """Count n by adding up tokens one by one."""
        return count(self.layout, z)

    def count_blocks(self, z: U16, counts: Counts, blocks: I64) -> Counts:
        """Count n in some blocks of documents."""
        document = np.repeat(np.arange(self.corpus.n_documents), np.diff(self.layout.doc_ptr))
        here = np.isin(document, documents_of(self.layout, blocks))
        return count(self.layout, np.where(here, z, NO_TOPIC).astype(np.uint16))

    def replace_counts(self, counts: Counts, old: Counts, new: Counts) -> Counts:
        """Put some documents' new counts in place of their old ones."""
        n, gone, come = (dense_counts(c, self.layout.n_topics) for c in (counts, old, new))
        return sparse_counts(n + come - gone)

    def document_histogram(self, z: U16) -> Histogram:
        """Count documents by topic and number of tokens."""
        return document_histogram(self.layout.doc_ptr, z, self.layout.n_topics)

    def draws(self, address: Address) -> Draws:
        """Return the random variates of a sweep."""
        return AddressedDraws(*address)

    def draw_phi(self, counts: Counts, priors: Priors, address: Address) -> Phi:
        """Draw Phi given n and pseudo-counts."""
        if priors.pseudo is not None:
            K = self.layout.n_topics
            counts = sparse_counts(dense_counts(counts, K) + dense_counts(priors.pseudo, K))
        return type(self).phi_step(self.layout, counts, priors, *address)

    def enter(self, z: U16, phi: Phi, address: Address, blocks: I64) -> U16:
        """Give tokens without a topic one drawn from the prior's part of Phi."""
        return enter(self.layout, z, phi, *address, blocks)

    def draw_z(
        self,
        z: U16,
        phi: Phi,
        priors: Priors,
        address: Address,
        blocks: I64 | None = None,
        into: U16 | None = None,
    ) -> tuple[U16, Counts, Work]:
        """Draw topics given Phi: the second step of both algorithms."""
        return draw_z(self.layout, z, phi, priors, *address, blocks, into)

    def log_posterior(self, state: State) -> float:
        """Return log p(w, z), Theta and Phi integrated out."""
        return log_posterior(self.corpus, state, state.priors, Workers(1))


def count(layout: Any, z: U16) -> Counts:
    """Count n by adding up tokens one by one."""
    n = np.zeros((layout.n_words, layout.n_topics), np.int64)
    here = z != NO_TOPIC
    np.add.at(n, (layout.word[here], z[here]), 1)
    return sparse_counts(n)


def document_histogram(doc_ptr: I64, z: U16, n_topics: int) -> Histogram:
    """Count documents by topic and number of tokens, from the matrix m."""
    m = doc_topic_matrix(doc_ptr, z, n_topics)
    cells, times = np.unique(np.stack((m.indices, m.data)), axis=1, return_counts=True)
    lengths = np.diff(doc_ptr)
    length, documents = np.unique(lengths[lengths > 0], return_counts=True)
    topic, number = cells.astype(np.int64)
    return Histogram(topic, number, times, length, documents)


def sparse_counts(n: Any) -> Counts:
    """Return a matrix n, words by topics, as counts."""
    first, last, topic = _columns(n > 0)
    number = n[n > 0]
    return Counts(first, last, topic, number if n.dtype.kind == "f" else number.astype(np.int32))


def dense_counts(counts: Counts, n_topics: int) -> Any:
    """Return n as a matrix, words by topics, of whole numbers or of fractions."""
    kind = np.float64 if counts.number.dtype.kind == "f" else np.int64
    n = np.zeros((len(counts.first), n_topics), kind)
    for v in range(len(n)):
        column = slice(counts.first[v], counts.last[v])
        n[v, counts.topic[column]] = counts.number[column]
    return n


def draw_phi_urn(layout: Any, counts: Counts, priors: Priors, seed: int, sweep: Moment) -> Phi:
    """Draw Phi from the Poisson Pólya urn: the first step of Algorithm 2."""
    gamma = draw_urn(layout, counts, priors, seed, sweep)
    return make_phi(gamma.astype(np.float64), priors.alpha, gamma > 0)


def draw_urn(layout: Any, counts: Counts, priors: Priors, seed: int, sweep: Moment) -> I64:
    """Draw the urn's ball counts, words by topics, no observed word and no topic left empty."""
    V, K = layout.n_words, layout.n_topics
    n, beta = dense_counts(counts, K), priors.beta
    cells, parts = key(seed, sweep, Purpose.CELL), key(seed, sweep, Purpose.FRACTION)
    gamma = np.zeros((V, K), np.int64)
    for v, k in np.argwhere(n > 0):
        whole = int(n[v, k])
        if whole > 0:
            gamma[v, k] = poisson_count(whole, bits(cells, v * 2**16 + k))
        if n[v, k] > whole:
            gamma[v, k] += poisson_rate(n[v, k] - whole, bits(parts, v * 2**16 + k))
    how_many, where = key(seed, sweep, Purpose.BALLS), key(seed, sweep, Purpose.BALL)
    for v in range(V):
        balls = poisson_rate(beta[v] * K, bits(how_many, v))
        np.add.at(gamma[v], below(bits(where, v * 2**32 + np.arange(balls)), K), 1)
    columns = key(seed, sweep, Purpose.COLUMN)
    occurs = np.bincount(layout.word, minlength=V) > 0
    for v in np.flatnonzero((gamma.sum(axis=1) == 0) & occurs).tolist():
        # topics in order of n first, then of beta: one uniform finds both
        edges = np.concatenate((np.cumsum(n[v]), n[v].sum() + beta[v] * np.arange(1, K + 1)))
        np.add.at(gamma[v], _throw(columns, v, edges) % K, 1)
    rows = key(seed, sweep, Purpose.ROW)
    for k in np.flatnonzero(gamma.sum(axis=0) == 0).tolist():
        edges = np.concatenate((np.cumsum(beta), beta.sum() + np.cumsum(n[:, k])))
        np.add.at(gamma[:, k], _throw(rows, k, edges) % V, 1)
    return gamma


def draw_phi_dirichlet(
    layout: Any, counts: Counts, priors: Priors, seed: int, sweep: Moment
) -> Phi:
    """Draw Phi from its Dirichlet posterior: the first step of Algorithm 1."""
    V, K = layout.n_words, layout.n_topics
    n = dense_counts(counts, K)
    cells = key(seed, sweep, Purpose.CELL)
    logs = np.empty((V, K))
    for v in range(V):
        for k in range(K):
            logs[v, k] = log_gamma(n[v, k] + priors.beta[v], cells, (v * 2**16 + k) * 256)
    mass = np.exp(logs)
    for k in np.flatnonzero(mass.sum(axis=0) == 0.0).tolist():
        mass[:, k] = np.exp(logs[:, k] - logs[:, k].max())
    return make_phi(mass, priors.alpha, np.ones((V, K), bool))


def draw_phi_sparse(layout: Any, counts: Counts, priors: Priors, seed: int, sweep: Moment) -> Phi:
    """Draw Phi from its Dirichlet posterior as Gamma(n) plus the balls of Gamma(beta)."""
    V, K = layout.n_words, layout.n_topics
    cut = default_cut(K)
    n, beta, rate = dense_counts(counts, K), priors.beta, ball_sizes(cut).rate
    cells, where = key(seed, sweep, Purpose.CELL), key(seed, sweep, Purpose.BALL)
    occurs = np.bincount(layout.word, minlength=V) > 0
    mass = np.zeros((V, K))
    for v in range(V):
        for k in range(K):
            index = (v * 2**16 + k) * 256
            if beta[v] >= 1.0:
                mass[v, k] = gamma(n[v, k] + beta[v], cells, index)
            elif n[v, k] == int(n[v, k]) > 0:
                mass[v, k] = gamma_count(int(n[v, k]), cells, index)
            elif n[v, k] > 0:
                log = log_gamma(n[v, k], cells, index)
                mass[v, k] = np.exp(log) if log >= -690.0 else 0.0
        if beta[v] < 1.0:
            total, ball = beta[v] * rate * K, v * 2**32  # balls expected; address of the first
            at = -np.log(open_unit(bits(where, ball)))
            if occurs[v] and not (n[v] >= 1).any():  # given that one falls into the column
                at = -np.log1p(open_unit(bits(where, ball)) * np.expm1(-total))
            while at < total:
                mass[v, int(at / total * K)] += ball_size(bits(where, ball + 1), cut)
                ball += 2
                at -= np.log(open_unit(bits(where, ball)))
    rows = key(seed, sweep, Purpose.ROW)
    for k in np.flatnonzero(mass.sum(axis=0) == 0.0).tolist():
        edges = np.cumsum(beta * rate)
        words = _throw(rows, k, np.concatenate((edges, edges[-1] + np.cumsum(n[:, k] * rate)))) % V
        sizes = [ball_size(bits(rows, k * 2**32 + 2**31 + i), cut) for i in range(len(words))]
        np.add.at(mass[:, k], words, sizes)
    return make_phi(mass, priors.alpha, mass > 0.0)


def make_phi(mass: F64, alpha: F64, keep: np.ndarray) -> Phi:
    """Normalise over words, scale each word to whole weights, sum its prior part."""
    V, _ = mass.shape
    phi = mass / mass.sum(axis=0)
    exponent = np.full(V, 1000, np.int32)
    weight = keep.astype(np.uint32)  # a word whose every draw is zero has weights of one
    sigma_a = np.zeros(V)
    first, last, topic = _columns(keep)
    rank = (np.cumsum(keep, axis=1) - 1).astype(np.uint16)
    prior = np.zeros(len(topic), np.uint64)
    for v in np.flatnonzero(keep.any(axis=1)):
        if phi[v].max() > 0.0:
            exponent[v] = min(31 - np.frexp(phi[v].max())[1], 1000)
            weight[v] = np.floor(np.ldexp(phi[v], exponent[v]) + 0.5)
        column = slice(first[v], last[v])
        w, a = weight[v, topic[column]], alpha[topic[column]] / alpha.max() * 65536.0
        parts = np.where(w > 0, np.maximum(np.rint(w * a), 1.0), 0.0)  # weight times alpha
        prior[column] = np.cumsum(parts.astype(np.uint64))
        sigma_a[v] = prior[last[v] - 1] * (alpha.max() / 65536.0)
    row = np.arange(V, dtype=np.int32)
    return Phi(first, last, topic, weight[keep], exponent, prior, sigma_a, row, weight, rank)


def draw_z(
    layout: Any,
    z: U16,
    phi: Phi,
    priors: Priors,
    seed: int,
    sweep: Moment,
    blocks: Any = None,
    into: U16 | None = None,
) -> tuple[U16, Counts, Work]:
    """Draw topics given Phi: the second step of both algorithms.

    The work is counted as the paper does, min(K_d, K_v) for each token, K_d as the sweep begins.
    """
    new = z.copy()
    visited, work = np.full_like(z, NO_TOPIC), 0
    choices, priors_own = key(seed, sweep, Purpose.Z), key(seed, sweep, Purpose.PRIOR)
    for d in documents_of(layout, blocks):
        begin, end = layout.doc_ptr[d], layout.doc_ptr[d + 1]
        m = np.bincount(z[begin:end], minlength=layout.n_topics)
        K_d = int(np.count_nonzero(m))
        for i in range(begin, end):
            v = layout.word[i]
            column = slice(phi.first[v], phi.last[v])
            phi_v = np.zeros(layout.n_topics, np.int64)
            phi_v[phi.topic[column]] = phi.weight[column]
            work += min(K_d, int(phi.last[v] - phi.first[v]))
            m[new[i]] -= 1
            b = np.cumsum(phi_v * m)
            sigma_b = float(b[-1])
            u = unit(bits(choices, i)) * (sigma_b + phi.sigma_a[v])
            if u < sigma_b:
                new[i] = np.searchsorted(b, min(int(u), int(b[-1]) - 1), side="right")
            else:
                new[i] = _from_prior(phi, v, bits(priors_own, i))
            m[new[i]] += 1
        visited[begin:end] = new[begin:end]
        if into is not None:
            into[begin:end] = new[begin:end]
    return new if into is None else into, count(layout, visited), Work(work)


def enter(layout: Any, z: U16, phi: Phi, seed: int, sweep: Moment, blocks: Any) -> U16:
    """Give tokens without a topic one drawn from the prior's part of Phi."""
    new, entries = z.copy(), key(seed, sweep, Purpose.ENTER)
    for d in documents_of(layout, blocks):
        for i in range(layout.doc_ptr[d], layout.doc_ptr[d + 1]):
            if z[i] == NO_TOPIC:
                v = layout.word[i]
                new[i] = _from_prior(phi, v, bits(entries, i))
    return new


def documents_of(layout: Any, blocks: Any) -> Any:
    """Return the documents of some blocks, or all."""
    if blocks is None:
        return range(len(layout.doc_ptr) - 1)
    bounds = [layout.documents[layout.blocks[b] : layout.blocks[b + 1]] for b in blocks]
    return np.concatenate(bounds).astype(np.int64)


def _from_prior(phi: Phi, v: int, r: Any) -> int:
    """Draw a topic of a word from the prior's part only."""
    column = slice(phi.first[v], phi.last[v])
    total = phi.prior[column][-1]
    goal = min(int(unit(r) * float(total)), int(total) - 1)
    return int(phi.topic[column][np.searchsorted(phi.prior[column], np.uint64(goal), side="right")])


def poisson_count(n: int, r: Any) -> int:
    """Draw Poisson(n) for a whole n: alias table up to L = 100, rounded Gaussian above."""
    if n > LARGEST_RATE:
        return _rounded_gaussian(float(n), r)
    tables = poisson_tables()
    slot = int(r) * SLOTS >> 64
    return slot if int(r) % 2**32 < tables.cut[n, slot] else int(tables.other[n, slot])


def poisson_rate(rate: float, r: Any) -> int:
    """Draw Poisson(rate): smallest x whose distribution function passes a uniform."""
    if rate > LARGEST_RATE:
        return _rounded_gaussian(rate, r)
    u, p, x = float(unit(r)), float(np.exp(-rate)), 0
    while u >= p and x < 1000:
        u, x = u - p, x + 1
        p *= rate / x
    return x


def poisson_positive(rate: float, r: Any) -> int:
    """Draw Poisson(rate) conditioned on not being zero."""
    if rate > LARGEST_RATE:
        return max(_rounded_gaussian(rate, r), 1)
    u, p, x = float(unit(r)), float(rate / np.expm1(rate)), 1
    while u >= p and x < 1000:
        u, x = u - p, x + 1
        p *= rate / x
    return x


def ball_size(r: Any, cut: float) -> float:
    """Draw the size of a ball: a quantile between two knots."""
    sizes = ball_sizes(cut)
    s = float(open_unit(r)) * sizes.scale
    fraction, exponent = np.frexp(s)  # s = fraction 2**exponent, fraction in [1/2, 1)
    knot = (OCTAVES - 1 + exponent + 2.0 * fraction - 1.0) * KNOTS
    return float(np.interp(knot, np.arange(len(sizes.quantile)), sizes.quantile))


def gamma_count(n: int, key: Key, index: int) -> float:
    """Draw Gamma(n, 1) for a whole n > 0: a sum of exponential draws, or by rejection."""
    if n > MOST_FACTORS:
        return gamma(float(n), key, index)
    return float(-np.log(open_unit(bits(key, index + 1 + np.arange(n)))).sum())


def gamma(shape: float, key: Key, index: int) -> float:
    """Draw Gamma(shape, 1) for a shape of at least one."""
    return (shape - 1.0 / 3.0) * _gamma_factor(shape - 1.0 / 3.0, key, index)


def log_gamma(shape: float, key: Key, index: int) -> float:
    """Draw the logarithm of Gamma(shape, 1), boosted where the shape is below one."""
    d = shape + 2.0 / 3.0 if shape < 1.0 else shape - 1.0 / 3.0
    boost = float(np.log(open_unit(bits(key, index)))) / shape if shape < 1.0 else 0.0
    return float(np.log(d * _gamma_factor(d, key, index))) + boost


def _gamma_factor(d: float, key: Key, index: int) -> float:
    """Draw v for which d v is Gamma(d + 1/3, 1), by Marsaglia and Tsang's rejection."""
    attempt = 0
    while True:
        x = float(ndtri(open_unit(bits(key, index + 2 * attempt + 1))))
        v = (1.0 + x / np.sqrt(9.0 * d)) ** 3
        u = float(open_unit(bits(key, index + 2 * attempt + 2)))
        if v > 0.0 and np.log(u) < 0.5 * x * x + d - d * v + d * np.log(v):
            return float(v)
        attempt += 1


def _rounded_gaussian(rate: float, r: Any) -> int:
    return max(0, int(np.floor(rate + np.sqrt(rate) * ndtri(open_unit(r)) + 0.5)))


def _throw(key: Key, item: int, edges: F64) -> I64:
    """Throw a zero-truncated Poisson number of balls between edges; return where they fell."""
    balls = poisson_positive(edges[-1], bits(key, item * 2**32))
    u = unit(bits(key, item * 2**32 + 1 + np.arange(balls))) * edges[-1]
    found: I64 = np.searchsorted(edges, u, side="right").astype(np.int64)
    return np.minimum(found, len(edges) - 1)


def _columns(keep: np.ndarray) -> tuple[I64, I64, U16]:
    """Return where each word's kept topics are when they are listed word by word."""
    last = np.cumsum(keep.sum(axis=1))
    first = np.concatenate(([0], last[:-1]))
    return first, last, np.nonzero(keep)[1].astype(np.uint16)


class Urn(ReferenceSteps):
    """The sampler "polya-urn"."""

    phi_step = staticmethod(draw_phi_urn)


class SparseDirichlet(ReferenceSteps):
    """The sampler "sparse-dirichlet"."""

    phi_step = staticmethod(draw_phi_sparse)


class PartiallyCollapsed(ReferenceSteps):
    """The sampler "partially-collapsed"."""

    phi_step = staticmethod(draw_phi_dirichlet)


REFERENCES: dict[str, type[ReferenceSteps]] = {
    "polya-urn": Urn,
    "partially-collapsed": PartiallyCollapsed,
    "sparse-dirichlet": SparseDirichlet,
}
