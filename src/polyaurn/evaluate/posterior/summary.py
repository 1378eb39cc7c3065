"""What a notebook shows of posterior draws."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.html import Markup, bar, note, summary, table, text, words
from polyaurn.chain.priors import pseudo_sizes
from polyaurn.chain.state import Priors
from polyaurn.model.data import ModelData
from polyaurn.model.leading_words import leading_words

TOPICS, WORDS = 20, 6


def posterior_html(posterior: Any) -> str:
    """Return how chains agree: numbers that need no topics, and the topics that match worst."""
    K = posterior.match_quality.shape[1]
    chains = len(posterior.chains)
    facts = f"{chains:,} chains of {posterior.n_draws:,} draws, {K:,} topics"
    if chains > 1:
        facts += f", {len(posterior.matched()):,} of them the same in all chains"
    if not posterior.n_draws:
        return summary("Posterior", facts)
    rows = [
        (
            text(row["quantity"]),
            *(_number(row[name]) for name in ("mean", "sd", "r_hat", "ess_bulk")),
        )
        for row in posterior.summary()
        if row["topic"] is None
    ]
    parts = [table(("quantity", "mean", "sd", "R-hat", "effective draws"), rows)]
    if chains > 1:
        parts.append(_topics(posterior, K))
        if K > TOPICS:
            parts.append(note(f"The {TOPICS} of {K:,} topics that chains agree on least."))
    return summary("Posterior", facts, *parts)


def _topics(posterior: Any, K: int) -> Markup:
    worst = posterior.match_quality[1:].min(axis=0)
    means = _means(posterior)
    rows = []
    for k in worst.argsort(kind="stable")[:TOPICS].tolist():
        found = words(posterior.vocab[v] for v in leading_words(means, k, WORDS)[0].tolist())
        rows.append((k, bar(float(worst[k]), f"{worst[k]:.2f}"), found))
    return table(("topic", "least match", "words"), rows)


def _means(posterior: Any) -> ModelData:
    """Return the posterior mean of the first chain's topics as a model without documents."""
    chain = posterior.chains[0]
    both = list(zip(chain.topic_sizes, chain.priors, strict=True))
    totals = [n + pseudo_sizes(p)[chain.order] + p.beta.sum() for n, p in both]
    counts = chain.phi_sum.multiply(np.mean(totals, axis=0)[:, None] / len(both)).tocsr()
    priors = Priors(
        np.mean([p.alpha[chain.order] for p in chain.priors], axis=0),
        np.mean([p.beta for p in chain.priors], axis=0),
    )
    nothing = sp.csr_matrix((0, len(totals[0])))
    return ModelData(counts, nothing, np.empty(0, np.uint16), tuple(posterior.vocab), (), priors)


def _number(value: float | None) -> Markup:
    return text("" if value is None else f"{value:,.4g}")
