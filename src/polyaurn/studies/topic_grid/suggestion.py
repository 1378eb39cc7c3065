"""Which number of topics to take: the rule of one standard error, on paired differences.

All models are scored on the same held-out documents. Differences between two numbers of topics
are therefore taken document by document, which removes what makes one document harder than another;
what is left is the error that decides.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64


def behind_the_best(rows: Sequence[dict[str, Any]], scores: Mapping[int, Any], tokens: Any) -> None:
    """Add to each row how far its held-out score is below the best one, and the error of that.

    Parameters
    ----------
    rows : sequence of dict
        By number of topics; "behind_best" becomes {"mean", "error"} in nats per token, or None
        where nothing was scored. The error is None with fewer than two documents.
    scores : mapping of int to ndarray, seeds by documents
        Log likelihoods for each number of topics.
    tokens : ndarray of int
        Tokens scored of each document.
    """
    filled = np.flatnonzero(tokens)
    total = int(np.sum(tokens))
    means = {K: _mean(scores[K][:, filled]) for K in scores} if total else {}
    best = max(means, key=lambda K: (math.fsum(means[K]), -K), default=None)
    between_seeds = 2 * _seed_variance(scores, total)
    for row in rows:
        row["behind_best"] = None
        if best is None:
            continue
        difference = means[best] - means[row["topics"]]
        behind = math.fsum(difference) / total
        error: float | None = None
        if row["topics"] == best:
            error = 0.0
        elif len(filled) > 1:
            over_documents = _ratio_variance(difference, behind, tokens[filled])
            error = math.sqrt(over_documents + between_seeds)
        row["behind_best"] = {"mean": behind, "error": error}


def _mean(values: Any) -> F64:
    """Return the mean over seeds of the log likelihood of each document."""
    return np.asarray(np.mean(values, axis=0), np.float64)


def _ratio_variance(difference: F64, ratio: float, tokens: Any) -> float:
    """Return the variance of a sum over documents, divided by that of their tokens."""
    D = len(difference)
    rest = difference - ratio * tokens
    return D / (D - 1) * math.fsum(rest**2) / int(tokens.sum()) ** 2


def _seed_variance(scores: Mapping[int, Any], total: int) -> float:
    """Return the variance of a mean over seeds, from all numbers of topics; 0 with one seed."""
    n_seeds = min(len(values) for values in scores.values())
    if n_seeds < 2 or not total:
        return 0.0
    each = [np.var(np.sum(values, axis=1) / total, ddof=1) for values in scores.values()]
    return float(np.mean(each)) / n_seeds


def suggest(rows: Sequence[dict[str, Any]], *, held_out: bool = True) -> dict[str, Any]:
    """Return the number of topics that is suggested, and the sentence that says why.

    It is the smallest number whose held-out score is below the best by no more than one standard
    error. Where that is the largest or the smallest one tried, the sentence says so: the answer may
    be outside. Without any document `held_out` nothing is suggested.

    Returns
    -------
    dict
        "topics", None where nothing is suggested; "best", the number with the highest score;
        "still_rises" and "still_falls", whether it is the largest or smallest number tried;
        "sentence".
    """
    tried = [row["topics"] for row in rows]
    measured = [row for row in rows if row["behind_best"] is not None]
    nothing = {"topics": None, "best": None, "still_rises": False, "still_falls": False}
    if not held_out:
        return nothing | {
            "sentence": "No suggestion: no document is held out; read the measures and the topics, "
            "or hold out a share of the documents."
        }
    if len(measured) < len(rows):
        return nothing | {
            "sentence": "No suggestion: the held-out documents have too few tokens to be scored; "
            "hold out more of them."
        }
    if len(rows) < 2:
        return nothing | {
            "best": tried[0],
            "sentence": "No suggestion: one number of topics was tried, which says nothing about "
            "others; try several.",
        }
    best = min(measured, key=lambda row: row["behind_best"]["mean"])["topics"]
    if any(row["behind_best"]["error"] is None for row in measured):
        return nothing | {
            "best": best,
            "sentence": "No suggestion: one held-out document has no standard error; hold out "
            "more of them.",
        }
    near = [row["topics"] for row in measured if _is_near(row["behind_best"])]
    chosen = min(near)
    rises, falls = chosen == tried[-1], chosen == tried[0]
    why = _still_rises(measured) if rises else _why(chosen, best, tried)
    ends = [part for part in (_of_coherence(rows), _of_seeds(rows)) if part]
    return {
        "topics": chosen, "best": best, "still_rises": rises, "still_falls": falls,
        "sentence": "; ".join([why, *ends]) + ".",
    }  # fmt: skip


def _is_near(behind: dict[str, float]) -> bool:
    return behind["mean"] <= behind["error"]


def _why(chosen: int, best: int, tried: Sequence[int]) -> str:
    """Say what a suggestion rests on."""
    where = ", the largest number tried" if best == tried[-1] else ""
    if chosen == tried[0]:
        than = "has the best held-out score"
        if chosen != best:
            than = f"is within one standard error of the best held-out score ({best:,}{where})"
        fewer = f"; try fewer, such as {chosen // 2:,}" if chosen > 1 else ""
        number = f"{chosen:,} topics or fewer" if chosen > 1 else "1 topic"
        return f"{number}: the smallest number tried {than}{fewer}"
    if chosen == best:
        return (
            f"{chosen:,} topics: the best held-out score, and no smaller number is within one "
            "standard error of it"
        )
    return (
        f"{chosen:,} topics: the smallest number whose held-out score is within one standard "
        f"error of the best ({best:,}{where})"
    )


def _still_rises(rows: Sequence[dict[str, Any]]) -> str:
    """Say that the best number may be larger than those tried, and what the last step gained."""
    most = rows[-1]["topics"]
    behind = [row["behind_best"]["mean"] for row in rows]
    gained = f" (the last step gained {behind[-2]:.3f} of {behind[0]:.3f} nats per token)"
    return (
        f"{most:,} topics or more: the held-out score still rises at the largest number tried"
        f"{gained if len(rows) > 2 else ''}; try more, such as {2 * most:,}"
    )


def _of_coherence(rows: Sequence[dict[str, Any]]) -> str:
    """Say from where on coherence is lower than its highest, beyond its error."""
    there = [row for row in rows if row["coherence_npmi"] is not None]
    if len(there) < len(rows) or any(row["coherence_npmi"]["error"] is None for row in rows):
        return ""
    values = [(row["coherence_npmi"]["mean"], row["coherence_npmi"]["error"]) for row in rows]
    top = max(values)
    good = [top[0] - mean <= math.hypot(error, top[1]) for mean, error in values]
    last = max(i for i, fine in enumerate(good) if fine)
    if last == len(rows) - 1:
        return ""
    return f"coherence falls beyond {rows[last]['topics']:,}"


def _of_seeds(rows: Sequence[dict[str, Any]]) -> str:
    if rows[0]["seeds"] > 1:
        return ""
    return "with one seed, how much training varies is not part of the error"
