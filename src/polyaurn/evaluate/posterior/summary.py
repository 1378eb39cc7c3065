"""What a notebook shows of posterior draws."""

from typing import Any

from polyaurn.base.html import Markup, bar, note, summary, table, text, words

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
    rows = []
    for k in worst.argsort(kind="stable")[:TOPICS].tolist():
        row = posterior.chains[0].phi_sum[k]
        first = row.indices[(-row.data).argsort(kind="stable")[:WORDS]]
        found = words(posterior.vocab[v] for v in first.tolist())
        rows.append((k, bar(float(worst[k]), f"{worst[k]:.2f}"), found))
    return table(("topic", "least match", "words"), rows)


def _number(value: float | None) -> Markup:
    return text("" if value is None else f"{value:,.4g}")
