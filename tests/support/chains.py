"""Chains and joint draws on small corpora, for tests of distributions."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.special import gammaln

from polyaurn import Corpus
from polyaurn.backends.cpu import phi_sparse
from polyaurn.backends.cpu.steps import CPUSteps
from polyaurn.backends.registry import load_steps
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.samplers import EXACT
from polyaurn.chain.state import WHOLE, Priors, State, topic_word_matrix

ONE = Workers(1)
MH_EXACT = "partially-collapsed-mh"  # the proposals of "polya-urn-mh" with an exact Phi
PARTITIONED = "partitioned"  # exact on a corpus of one group, as all small ones are
BY_COLUMN, BY_ROW = "partitioned-by-column", "partitioned-by-row"  # with columns all short, or long
SPARSE = "sparse-dirichlet"
FINE = 1e-6  # cut at which it is tested: as good as none
# Samplers whose distribution is tested against the posterior
CHAINS = (*EXACT, MH_EXACT, PARTITIONED)


def steps_of(name: str) -> type[CPUSteps]:
    """Return the steps of a sampler, with a cut as good as none, or those of `MH_EXACT`."""
    if name == SPARSE:
        return with_cut(FINE)
    if name in (BY_COLUMN, BY_ROW):
        from support.faults import plant

        kernels = plant("partitioned_visit", length_of_columns(name))
        return with_steps(load_steps(PARTITIONED), visit=kernels.visit_block)
    if name != MH_EXACT:
        return load_steps(name)
    exact = load_steps("partially-collapsed").phi_step
    return with_steps(load_steps("polya-urn-mh"), phi_step=exact)


def length_of_columns(name: str) -> tuple[str, str]:
    """Return the change of a kernel that makes it take all columns for short, or for long."""
    longer = "0" if name == BY_COLUMN else "1 << 40"
    return "LONG = np.uint64(2)", f"LONG = np.uint64({longer})"


def with_cut(cut: float, phi_step: Callable = phi_sparse.draw_phi) -> type[CPUSteps]:
    """Return the steps of `SPARSE` with a cut."""
    return with_steps(load_steps(SPARSE), phi_step=partial(phi_step, cut=cut))


def with_steps(made: type[CPUSteps], **changes: Callable) -> type[CPUSteps]:
    """Return steps in which functions that draw Phi or topics are others."""
    return type(made.__name__, (made,), {name: staticmethod(f) for name, f in changes.items()})


def begin(steps, priors: Priors, seed: int = 0, share: int = WHOLE) -> State:
    """Return a state of topics drawn uniformly, for a share of the documents."""
    blocks = None if share == WHOLE else np.flatnonzero(steps.layout.share <= share)
    z = steps.start(seed, blocks)
    return State(z, steps.count(z), priors, share=share)


def log_joint(corpus: Corpus, z: np.ndarray, priors: Priors) -> float:
    """Log p(w, z) as Griffiths and Steyvers write it, from dense matrices."""
    alpha = priors.alpha
    K, V = len(alpha), len(priors.beta)
    beta = np.tile(priors.beta, (K, 1))
    if priors.pseudo is not None:
        beta += topic_word_matrix(priors.pseudo, K).toarray()
    n = np.zeros((K, V))
    np.add.at(n, (z, corpus.word), 1)
    m = np.zeros((corpus.n_documents, K))
    np.add.at(m, (np.repeat(np.arange(len(m)), np.diff(corpus.doc_ptr)), z), 1)
    words = gammaln(beta.sum(axis=1)).sum() - gammaln(beta).sum()
    words += gammaln(n + beta).sum() - gammaln((n + beta).sum(axis=1)).sum()
    topics = len(m) * (gammaln(alpha.sum()) - gammaln(alpha).sum())
    topics += gammaln(m + alpha).sum() - gammaln(m.sum(axis=1) + alpha.sum()).sum()
    return float(words + topics)


def enumerate_posterior(corpus: Corpus, priors: Priors) -> np.ndarray:
    """P(z | w) of every z, in the order of their digits in base K."""
    K = len(priors.alpha)
    states = product(range(K), repeat=corpus.n_tokens)
    logs = np.array([log_joint(corpus, np.array(z), priors) for z in states])
    p = np.exp(logs - logs.max())
    return p / p.sum()


def digits(number: np.ndarray, K: int, n_tokens: int) -> np.ndarray:
    """Topics of states by number, a row each."""
    return (number[:, None] // K ** np.arange(n_tokens)[::-1] % K).astype(np.uint16)


def number(z: np.ndarray, K: int) -> np.ndarray:
    """Number of states, from their topics."""
    return z.astype(np.int64) @ K ** np.arange(z.shape[-1])[::-1]


def one_step(steps, priors: Priors, z: np.ndarray, seed: int, t: int) -> State:
    """One sweep from given topics, with the random draws of sweep t."""
    return sweep(State(z, steps.count(z), priors, t), steps, PLAIN, seed)[0]


def chain(
    made: type[CPUSteps], corpus: Corpus, priors: Priors, n: int, thin: int = 1, seed: int = 0
) -> Iterator[State]:
    """Yield every `thin`-th state of a chain, `n` of them."""
    steps = made(corpus, len(priors.alpha))
    state = begin(steps, priors, seed)
    for i in range(1, n * thin + 1):
        state, _ = sweep(state, steps, PLAIN, seed)
        if i % thin == 0:
            yield state


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Half the sum of absolute differences."""
    return float(np.abs(p - q).sum() / 2)


def standard_error(series: np.ndarray, batches: int = 40) -> np.ndarray:
    """Error of a chain's mean, from the means of batches; columns are statistics."""
    usable = len(series) // batches * batches
    means = series[:usable].reshape(batches, -1, *series.shape[1:]).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(batches)
