"""What the trace of a chain shows about convergence, in sentences."""

from typing import Any

import numpy as np

from polyaurn.base.checks import is_number
from polyaurn.chain.schedule import FULL, note_of_unfinished_start
from polyaurn.evaluate.diagnostics import effective_sample_size
from polyaurn.evaluate.trend import FALLING, LEVEL, UNKNOWN, trend_in_words, trend_of
from polyaurn.model.model import TopicModel
from polyaurn.model.top_level import count_topics

MOST_POINTS = 400
_NECESSARY = (
    "A level log posterior is needed for convergence and does not prove it: a chain may stay in "
    "one of several modes for long. Other seeds, compared by 'polyaurn choose-topics' or by R-hat "
    "over several chains ('polyaurn.evaluate.posterior'), show more."
)


def summarise_trace(trace: list[dict[str, Any]], n_tokens: int) -> dict[str, Any]:
    """Describe how training went, from the records of its sweeps.

    points: sweep, log posterior per token, and 1 for sweeps with the model's own priors on all
    documents (0 in burn-in); settled: how many values the verdict is based on; ess: their effective
    sample size; verdict, one word, and sentence, the same as training prints it; explanation, what
    is to be known about it.
    """
    scored = [r for r in trace if is_number(r.get("log_posterior")) and is_number(r.get("sweep"))]
    tokens = max(n_tokens, 1)
    points = [
        [
            int(r["sweep"]),
            round(r["log_posterior"] / tokens, 5),
            int(r.get("phase", FULL) == FULL),
        ]
        for r in scored
    ]
    full = np.array([r["log_posterior"] for r in scored if r.get("phase", FULL) == FULL])
    half = full[len(full) // 2 :]
    trend = trend_of(trace)
    verdict = UNKNOWN if trend is None else trend.verdict
    ess = None if trend is None else round(effective_sample_size(half), 1)
    explanation = "" if ess is None else _explained(verdict, ess, len(half))
    if trace and trace[-1].get("phase", FULL) != FULL:
        explanation = note_of_unfinished_start(trace[-1])
    return {
        "points": _thin(points),
        "values": len(points),
        "settled": len(half),
        "ess": ess,
        "verdict": verdict,
        "sentence": trend_in_words(trace),
        "explanation": explanation,
    }


def topics_by_sweep(trained: TopicModel) -> dict[str, Any] | None:
    """Return how many topics a hierarchical Dirichlet process has, and had by sweep; else None."""
    names = ("sweep", "topics", "large_topics")
    said = [[record.get(name) for name in names] for record in trained.trace]
    counted = [numbers for numbers in said if all(map(is_number, numbers))]
    if not counted:
        return None
    top = trained.priors.top
    drawn = "" if top is None else f" alpha is {top.alpha:.3g}, gamma {top.gamma:.3g}."
    return {"sentence": f"{count_topics(trained)}.{drawn}", "points": _thin(counted)}


def _explained(verdict: str, ess: float, values: int) -> str:
    """Return what is to be known about the verdict."""
    said = (
        f"The second half of the chain has {values:,} log posteriors, worth about {ess:,.0f} "
        f"independent one{'' if round(ess) == 1 else 's'}."
    )
    if verdict == LEVEL:
        return f"{said} {_NECESSARY}"
    if verdict == FALLING:
        return f"{said} It may fall where a chain leaves a narrow peak; more sweeps will show."
    return said


def _thin(points: list[list[Any]]) -> list[list[Any]]:
    """Keep evenly spaced points, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return points
    kept = np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int)
    return [points[i] for i in kept.tolist()]
