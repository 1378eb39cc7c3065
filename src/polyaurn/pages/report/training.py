"""What the trace of a chain shows about convergence, in sentences."""

import math
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import is_number
from polyaurn.chain.schedule import FULL, note_of_unfinished_start
from polyaurn.evaluate.diagnostics import effective_sample_size
from polyaurn.evaluate.forecast import forecast_in_words
from polyaurn.model.model import TopicModel
from polyaurn.model.top_level import count_topics

MOST_POINTS = 400
_ENOUGH = 20  # values in the second half, to say anything
_FAR = 2.5  # standard errors
_NECESSARY = (
    "That is needed for convergence and does not prove it: a chain may stay in one of several "
    "modes for long. Other seeds, compared by 'polyaurn choose-topics' or by R-hat over several "
    "chains ('polyaurn.evaluate.posterior'), show more."
)


def summarise_trace(trace: list[dict[str, Any]], n_tokens: int) -> dict[str, Any]:
    """Describe how training went, from the records of its sweeps.

    points: sweep, log posterior per token, and 1 for sweeps with the model's own priors on all
    documents (0 in burn-in); settled: how many values the verdict is based on; ess: their effective
    sample size; verdict, one word, and explanation, the same in sentences; forecast, a sentence
    about what more sweeps would gain, or nothing.
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
    verdict, explanation, ess = judge(half)
    if trace and trace[-1].get("phase", FULL) != FULL:
        explanation = note_of_unfinished_start(trace[-1])
    return {
        "points": _thin(points),
        "values": len(points),
        "settled": len(half),
        "ess": ess,
        "verdict": verdict,
        "explanation": explanation,
        "forecast": forecast_in_words(trace),
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


def judge(half: F64) -> tuple[str, str, float | None]:
    """Judge whether the second half of a chain's log posteriors still moves.

    Its two quarters are compared: the difference of their means, in standard errors that allow for
    autocorrelation, as Geweke (1992) does. Returns "unknown", "rising", "falling" or "level"; the
    same in sentences; and the effective sample size, None where it is unknown.
    """
    if not len(half):
        return (
            "unknown",
            "The model has no log posteriors, so nothing can be said about convergence. Training "
            "with --eval-every (evaluate_every) above 0 keeps them.",
            None,
        )
    if len(half) < _ENOUGH:
        return (
            "unknown",
            f"The second half of the chain has {len(half):,} log "
            f"posterior{'' if len(half) == 1 else 's'}, too few to judge by. Train more sweeps, or "
            "set --eval-every (evaluate_every) lower.",
            None,
        )
    size = effective_sample_size(half)
    if math.isnan(size):
        return ("unknown", "The log posterior is constant, so there is nothing to judge by.", None)
    ess = round(size, 1)
    worth = (
        f"The second half of the chain has {len(half):,} log posteriors, worth about {ess:,.0f} "
        f"independent one{'' if round(ess) == 1 else 's'}."
    )
    early, late = half[: len(half) // 2], half[len(half) // 2 :]
    error = math.sqrt(sum(_squared_error(part) for part in (early, late)))
    far = (late.mean() - early.mean()) / error if error > 0 else 0.0
    if far > _FAR:
        explanation = (
            "The log posterior was still rising at the end: the chain has not settled; train more "
            "sweeps."
        )
        return "rising", f"{explanation} {worth}", ess
    if far < -_FAR:
        explanation = (
            "The log posterior was falling at the end, as it may where a chain leaves a narrow "
            "peak: it has not settled, and more sweeps will show."
        )
        return "falling", f"{explanation} {worth}", ess
    explanation = (
        "No rise is left in the second half of the chain that could be distinguished from noise."
    )
    return "level", f"{explanation} {worth} {_NECESSARY}", ess


def _squared_error(part: F64) -> float:
    size = effective_sample_size(part)
    return 0.0 if math.isnan(size) else float(part.var()) / max(size, 1.0)


def _thin(points: list[list[Any]]) -> list[list[Any]]:
    """Keep evenly spaced points, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return points
    kept = np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int)
    return [points[i] for i in kept.tolist()]
