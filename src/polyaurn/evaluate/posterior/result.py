"""What several chains drew, with topics aligned to those of the first."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.chain.hdp import LARGE
from polyaurn.chain.priors import pseudo_sizes
from polyaurn.chain.state import Priors
from polyaurn.evaluate.convergence import LEAST_DRAWS, ess_bulk, ess_tail, r_hat
from polyaurn.evaluate.posterior.summary import posterior_html

MATCHED = 0.6  # match quality from which a topic counts as the same in another chain


class Chain(NamedTuple):
    """What one chain drew, topics in the first chain's order.

    Attributes
    ----------
    seed : int
        The seed of the chain.
    order : ndarray of int64, length K
        The number that the chain itself gave each topic.
    sweep : ndarray of int64, one per draw
        The sweep of each draw.
    log_posterior : ndarray of float64, one per draw
        log p(w, z).
    topic_sizes : ndarray of int64, draws by K
        Tokens of each topic.
    priors : tuple of Priors, one per draw
        alpha and beta.
    phi : ndarray of float64 or None, draws by topics by words
        Draws of Phi for what was chosen.
    theta : ndarray of float64 or None, draws by documents by topics
        Draws of Theta for what was chosen.
    phi_sum : CSR matrix of float64, K by V
        The sum over draws of n / (sum of n + beta), pseudo-counts of seeds being part of n.
    theta_sum : CSR matrix of float64 or None, D by K
        The sum over draws of m / (N_d + sum of alpha).
    """

    seed: int
    order: I64
    sweep: I64
    log_posterior: F64
    topic_sizes: I64
    priors: tuple[Priors, ...]
    phi: F64 | None
    theta: F64 | None
    phi_sum: sp.csr_matrix
    theta_sum: sp.csr_matrix | None

    def phi_mean(self, *, sparse: bool = False) -> Any:
        """Return the posterior mean of Phi; see `Posterior.phi_mean`."""
        draws = len(self.priors)
        mean = self.phi_sum / draws
        scale = [
            1.0 / (n + pseudo_sizes(p)[self.order] + p.beta.sum())
            for n, p in zip(self.topic_sizes, self.priors, strict=True)
        ]
        if _all_equal([p.beta for p in self.priors]):
            pairs = [(np.sum(scale, axis=0), self.priors[0].beta)]
        else:
            pairs = [(s, p.beta) for s, p in zip(scale, self.priors, strict=True)]
        return _with_prior(mean, [(s / draws, beta) for s, beta in pairs], sparse=sparse)

    def theta_mean(self, lengths: I64, *, sparse: bool = False) -> Any:
        """Return the posterior mean of Theta, given documents' lengths."""
        if self.theta_sum is None:
            raise InputError(
                "The mean of Theta was not kept. Sample with 'theta_mean' set to True to have it."
            )
        draws = len(self.priors)
        mean = self.theta_sum / draws
        pairs = [(1.0 / (lengths + p.alpha.sum()), p.alpha[self.order]) for p in self.priors]
        if _all_equal([p.alpha for p in self.priors]):
            pairs = [(pairs[0][0] * draws, pairs[0][1])]
        return _with_prior(mean, [(s / draws, alpha) for s, alpha in pairs], sparse=sparse)


def _all_equal(priors: list[F64]) -> bool:
    """Return whether priors of all draws are the same, as where none are learned."""
    first = priors[0]
    return all(prior is first or np.array_equal(prior, first) for prior in priors)


def _with_prior(mean: sp.csr_matrix, pairs: list[tuple[F64, F64]], *, sparse: bool) -> Any:
    """Add outer products of (row, column) to a matrix, or only to its stored entries."""
    if not sparse:
        dense = mean.toarray()
        for row, column in pairs:
            dense += np.outer(row, column)
        return dense
    rows = np.repeat(np.arange(mean.shape[0]), np.diff(mean.indptr))
    for row, column in pairs:
        mean.data += row[rows] * column[mean.indices]
    return mean


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """Draws of several chains, from `LDA.sample_posterior`.

    Attributes
    ----------
    chains : tuple of Chain
        The first chain's numbers of topics are used for all.
    match_quality : ndarray of float64, chains by K
        How alike a topic's mean and that of the first chain's topic are: the Bhattacharyya
        coefficient, 1 for the same distribution of words, 0 for no word in common.
    vocab, doc_names : sequence of str
        From the corpus.
    words, topics, documents : ndarray of int64
        What `phi` and `theta` were kept for.
    lengths : ndarray of int64
        Tokens of each document.
    law : str
        What the chains converge to: "exact", "asymptotic" or "approximate".
    """

    chains: tuple[Chain, ...]
    match_quality: F64
    vocab: tuple[str, ...]
    doc_names: Sequence[str]
    words: I64
    topics: I64
    documents: I64
    lengths: I64
    law: str

    @property
    def n_draws(self) -> int:
        """Draws of each chain; the fewest, where sampling was interrupted."""
        return min(len(chain.sweep) for chain in self.chains)

    @property
    def log_posterior(self) -> F64:
        """The log posterior of each draw, chains by draws."""
        return np.asarray(self._stack("log_posterior"), dtype=np.float64)

    @property
    def topic_sizes(self) -> I64:
        """Tokens of each topic, chains by draws by K."""
        return np.asarray(self._stack("topic_sizes"), dtype=np.int64)

    @property
    def n_topics(self) -> I64:
        """How many topics have tokens, chains by draws."""
        return np.asarray((self.topic_sizes > 0).sum(axis=2), dtype=np.int64)

    @property
    def large_topics(self) -> I64:
        """How many topics have more than 0.1% of the tokens, chains by draws."""
        sizes = self.topic_sizes
        return np.asarray((sizes > LARGE * sizes.sum(axis=2, keepdims=True)).sum(axis=2), np.int64)

    @property
    def alpha(self) -> F64:
        """The alpha of each topic in each draw, chains by draws by K."""
        return np.array([[p.alpha[c.order] for p in c.priors[: self.n_draws]] for c in self.chains])

    @property
    def gamma(self) -> F64 | None:
        """The gamma of each draw, chains by draws; None unless the model is an HDP."""
        tops = [[p.top for p in c.priors[: self.n_draws]] for c in self.chains]
        found = [[top.gamma for top in row if top is not None] for row in tops]
        return np.array(found) if found[0] else None

    @property
    def beta(self) -> F64:
        """The mean of beta over words in each draw, chains by draws."""
        return np.array([[p.beta.mean() for p in c.priors[: self.n_draws]] for c in self.chains])

    @property
    def phi(self) -> F64 | None:
        """Draws of Phi for `topics` and `words`; chains by draws by topics by words."""
        return None if self.chains[0].phi is None else self._stack("phi")

    @property
    def theta(self) -> F64 | None:
        """Draws of Theta for `documents` and `topics`; chains by draws by documents by topics."""
        return None if self.chains[0].theta is None else self._stack("theta")

    def phi_mean(self, chain: int | None = 0, *, sparse: bool = False) -> Any:
        """Return the posterior mean of Phi, words' probabilities in topics.

        Parameters
        ----------
        chain : int or None
            Which chain; None averages over all, which is useful for topics that match well.
        sparse : bool
            Return as CSR only cells in which a draw had tokens; entries are those of the dense
            matrix.

        Returns
        -------
        ndarray of float64 or CSR matrix, K by V
            The mean over draws of (n + beta) / (sum of n + beta).
        """
        return self._mean([c.phi_mean(sparse=sparse) for c in self._chosen(chain)])

    def theta_mean(self, chain: int | None = 0, *, sparse: bool = False) -> Any:
        """Return the posterior mean of Theta, topics' shares in documents.

        Parameters
        ----------
        chain : int or None
            Which chain; None averages over all, which is useful for topics that match well.
        sparse : bool
            Return as CSR only cells in which a draw had tokens; entries are those of the dense
            matrix if one chain is asked for.

        Returns
        -------
        ndarray of float64 or CSR matrix, D by K
            The mean over draws of (m + alpha) / (N_d + sum of alpha).
        """
        return self._mean([c.theta_mean(self.lengths, sparse=sparse) for c in self._chosen(chain)])

    def matched(self, least_match: float = MATCHED) -> I64:
        """Return the topics that are the same in all chains.

        Parameters
        ----------
        least_match : float
            The match quality from which topics count as the same.

        Returns
        -------
        ndarray of int64
            The numbers of these topics.
        """
        return np.flatnonzero(self.match_quality.min(axis=0) >= least_match)

    def summary(self, least_match: float = MATCHED) -> list[dict[str, Any]]:
        """Describe draws, with R-hat and effective sample sizes where these have a meaning.

        Parameters
        ----------
        least_match : float
            Sizes of topics that match worse in some chain have neither, since these topics differ
            between chains.

        Returns
        -------
        list of dict
            For the log posterior, the sum of alpha, the mean of beta and the size of each topic,
            and for a hierarchical Dirichlet process gamma and the number of topics, too: quantity,
            topic, match, mean, sd, q05, q95, r_hat, ess_bulk, ess_tail. None stands for what is
            not known, as for a quantity that does not vary.
        """
        same = set(self.matched(least_match).tolist())
        free = {
            "log_posterior": self.log_posterior,
            "alpha_sum": self.alpha.sum(axis=2),
            "beta_mean": self.beta,
        }
        top_level = self.gamma is not None
        if top_level:
            free |= {"gamma": self.gamma, "n_topics": self.n_topics.astype(np.float64),
                     "large_topics": self.large_topics.astype(np.float64)}  # fmt: skip
        rows = [_describe(name, None, None, draws, compare=True) for name, draws in free.items()]
        worst = self.match_quality.min(axis=0)
        for k in range(self.match_quality.shape[1]):
            draws = self.topic_sizes[:, :, k].astype(np.float64)
            if top_level and not draws.any():
                continue
            rows.append(_describe("topic_size", k, float(worst[k]), draws, compare=k in same))
        return rows

    def to_arviz(self, least_match: float = MATCHED) -> Any:
        """Return the draws in the form of the installed version of ArviZ.

        Parameters
        ----------
        least_match : float
            Topics that match worse in some chain are left out, since they differ between chains.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            With ArviZ 0.x and 1.x, respectively: log_posterior, beta, and for matched topics alpha,
            topic_size, phi and theta.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # 0.x announces 1.x
                import arviz
        except ImportError:
            raise InputError(
                "The to_arviz method needs ArviZ, which is not installed. Install it with "
                "pip install 'polyaurn[arviz]'."
            ) from None
        groups, coords, dims = self._arviz_groups(self.matched(least_match))
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups, coords=coords, dims=dims)
        return arviz.from_dict(**groups, coords=coords, dims=dims)

    def _arviz_groups(
        self, topics: I64
    ) -> tuple[dict[str, dict[str, Any]], dict[str, Any], dict[str, list[str]]]:
        """Return groups of variables of some topics, coordinates and dimensions for ArviZ."""
        chosen = np.flatnonzero(np.isin(self.topics, topics))
        coords: dict[str, Any] = {"topic": topics}
        dims = {"topic_size": ["topic"], "alpha": ["topic"]}
        drawn: dict[str, Any] = {
            "log_posterior": self.log_posterior,
            "beta": self.beta,
            "topic_size": self.topic_sizes[:, :, topics],
            "alpha": self.alpha[:, :, topics],
        }
        kept_topic = "topic" if len(chosen) == len(topics) else "chosen_topic"
        if len(chosen):
            coords[kept_topic] = self.topics[chosen]
        if self.phi is not None and len(chosen):
            drawn["phi"] = self.phi[:, :, chosen]
            coords["word"] = [self.vocab[v] for v in self.words]
            dims["phi"] = [kept_topic, "word"]
        if self.theta is not None and len(chosen):
            drawn["theta"] = self.theta[:, :, :, chosen]
            coords["document"] = [self.doc_names[d] for d in self.documents]
            dims["theta"] = ["document", kept_topic]
        statistics = {"lp": self.log_posterior}
        return {"posterior": drawn, "sample_stats": statistics}, coords, dims

    def __repr__(self) -> str:
        same = len(self.matched()) if len(self.chains) > 1 else self.match_quality.shape[1]
        return (
            f"Posterior({len(self.chains)} chains of {self.n_draws:,} draws, "
            f"{self.match_quality.shape[1]:,} topics, {same:,} of them the same in all chains)"
        )

    def _repr_html_(self) -> str:
        return posterior_html(self)

    def _stack(self, name: str) -> Any:
        return np.stack([getattr(chain, name)[: self.n_draws] for chain in self.chains])

    def _chosen(self, chain: int | None) -> tuple[Chain, ...]:
        if chain is None:
            return self.chains
        last = len(self.chains) - 1
        remedy = "leave it out for the first chain, or give None for all of them"
        return (self.chains[check_whole(chain, "chain", 0, last, remedy=remedy)],)

    @staticmethod
    def _mean(found: list[Any]) -> Any:
        return sum(found[1:], start=found[0]) / len(found)


def _describe(
    name: str, topic: int | None, match: float | None, draws: F64, *, compare: bool
) -> dict[str, Any]:
    moves = compare and draws.shape[1] >= LEAST_DRAWS and float(np.ptp(draws)) > 0.0
    measured = {
        measure.__name__: _number(measure(draws)) if moves else None
        for measure in (r_hat, ess_bulk, ess_tail)
    }
    low, high = np.quantile(draws, (0.05, 0.95))
    return {
        "quantity": name,
        "topic": topic,
        "match": match,
        "mean": float(draws.mean()),
        "sd": float(draws.std(ddof=1)) if draws.size > 1 else None,
        "q05": float(low),
        "q95": float(high),
        **measured,
    }


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
