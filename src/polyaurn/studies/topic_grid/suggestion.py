"""Which number of topics to take: by held-out scores, as long as topics are found again.

All models are scored on the same held-out documents. Differences between two numbers of topics
are therefore taken document by document, which removes what makes one document harder than another;
what is left is the error that decides.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64

LEAST_DOCUMENTS = 5  # for each topic
TOLERANCE = 0.05  # of what the best held-out score gains over the smallest number tried
FALLING = ("stability", "diversity")  # from 1 down to 0
FALL = 0.1  # that is a clear one


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


def suggest(
    rows: Sequence[dict[str, Any]], *, documents: int, held_out: bool = True
) -> dict[str, Any]:
    """Return the number of topics that is suggested, and the sentence that says why.

    The held-out score asks for the smallest number that is below the best by no more than one
    standard error or `TOLERANCE` of the gain over the smallest number tried. Where both stability
    and diversity are clearly lower there than with fewer topics, the measures disagree, and the
    largest number before that fall is suggested. More topics than one for each `LEAST_DOCUMENTS` of
    the `documents` are never suggested. Without any document `held_out` nothing is suggested.

    Returns
    -------
    dict
        "topics", None where nothing is suggested; "predicts", the number that the held-out score
        asks for, which is another one where the measures disagree; "best", the number with the
        highest score; "still_rises" and "still_falls", whether "predicts" is the largest or
        smallest number tried, or as large as the documents allow; "sentence".
    """
    tried = [row["topics"] for row in rows]
    measured = [row for row in rows if row["behind_best"] is not None]
    most = most_topics(documents)
    allowed = [n for n in tried if n <= most]
    nothing: dict[str, Any] = {
        "topics": None, "predicts": None, "best": None, "still_rises": False, "still_falls": False,
    }  # fmt: skip
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
    if not allowed:
        return nothing | {
            "best": best,
            "sentence": f"No suggestion: {_too_many(documents)}, and all numbers tried are larger; "
            "try fewer.",
        }
    gain = measured[0]["behind_best"]["mean"]
    near = min(row["topics"] for row in measured if _is_near(row["behind_best"], gain))
    predicts = min(near, allowed[-1])
    rises, falls = near == tried[-1] or near > predicts, predicts == tried[0]
    parts = [_why(predicts, near, rows, documents, best)]
    reads, fell = min(predicts, _before_the_fall(rows)), _falls(rows, predicts)
    if reads < predicts:
        disagree = f"{reads:,} topics to read, {predicts:,} to predict: the measures disagree, as "
        parts, fell = [disagree + " and ".join(fell), *parts], []
    parts += [*fell, *(part for part in (_of_coherence(rows), _of_seeds(rows)) if part)]
    return {
        "topics": reads, "predicts": predicts, "best": best,
        "still_rises": rises, "still_falls": falls and not rises,
        "sentence": "; ".join(parts) + ".",
    }  # fmt: skip


def most_topics(documents: int) -> int:
    """Return the largest number of topics that is suggested for so many documents."""
    return documents // LEAST_DOCUMENTS


def _is_near(behind: dict[str, float], gain: float) -> bool:
    return behind["mean"] <= max(behind["error"], TOLERANCE * gain)


def _why(chosen: int, near: int, rows: Sequence[dict[str, Any]], documents: int, best: int) -> str:
    """Say what the held-out score asks for."""
    tried = [row["topics"] for row in rows]
    behind = {row["topics"]: row["behind_best"] for row in rows}
    if near > chosen:
        return f"{chosen:,} topics: the held-out score rises beyond, but {_too_many(documents)}"
    if chosen == tried[-1]:
        return _still_rises(rows, documents)
    where = ", the largest number tried" if best == tried[-1] else ""
    within = "within one standard error of the best held-out score"
    if chosen == tried[0]:
        than = f"is {within} ({best:,}{where})" if chosen != best else "has the best held-out score"
        fewer = f"; try fewer, such as {chosen // 2:,}" if chosen > 1 else ""
        number = f"{chosen:,} topics or fewer" if chosen > 1 else "1 topic"
        return f"{number}: the smallest number tried {than}{fewer}"
    if chosen == best:
        return (
            f"{chosen:,} topics: the best held-out score, and no smaller number is within one "
            f"standard error of it, or has {1 - TOLERANCE:.0%} of its gain over {tried[0]:,}"
        )
    if behind[chosen]["mean"] <= behind[chosen]["error"]:
        return (
            f"{chosen:,} topics: the smallest number whose held-out score is within one standard "
            f"error of the best ({best:,}{where})"
        )
    return (
        f"{chosen:,} topics: the smallest number with at least {1 - TOLERANCE:.0%} of what the "
        f"best held-out score ({best:,}{where}) gains over {tried[0]:,} topics"
    )


def _still_rises(rows: Sequence[dict[str, Any]], documents: int) -> str:
    """Say that the best number may be larger than those tried, and what the last step gained."""
    most = rows[-1]["topics"]
    behind = [row["behind_best"]["mean"] for row in rows]
    gained = f" (the last step gained {behind[-2]:.3f} of {behind[0]:.3f} nats per token)"
    more = min(2 * most, most_topics(documents))
    return (
        f"{most:,} topics or more: the held-out score still rises at the largest number tried"
        f"{gained if len(rows) > 2 else ''}; "
        f"{f'try more, such as {more:,}' if more > most else _too_many(documents)}"
    )


def _too_many(documents: int) -> str:
    return (
        f"{documents:,} documents are too few for more than {most_topics(documents):,} topics, one "
        f"for each {LEAST_DOCUMENTS} documents"
    )


def _before_the_fall(rows: Sequence[dict[str, Any]]) -> int:
    """Return the largest number at which not both stability and diversity are clearly lower.

    Diversity alone falls with more topics even where these are true, since topics share words, and
    stability alone may be low at one number and high again at the next.
    """
    if any(row[name] is None for row in rows for name in FALLING):
        return int(rows[-1]["topics"])
    fallen = [all(_fell(rows[: i + 1], name) for name in FALLING) for i in range(len(rows))]
    return int(rows[max(i for i, low in enumerate(fallen) if not low)]["topics"])


def _fell(rows: Sequence[dict[str, Any]], name: str) -> bool:
    """Return whether a measure is clearly lower in the last row than at its highest before."""
    top, last = _highest(rows, name)[name], rows[-1][name]
    error = math.hypot(top["spread"] or 0.0, last["spread"] or 0.0) / math.sqrt(rows[-1]["seeds"])
    return bool(top["mean"] - last["mean"] > max(FALL, 2 * error))


def _highest(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    return max(rows, key=lambda row: row[name]["mean"])


def _falls(rows: Sequence[dict[str, Any]], number: int) -> list[str]:
    """Say which of stability and diversity are clearly lower there than with fewer topics."""
    until = [row for row in rows if row["topics"] <= number]
    said = []
    for name in FALLING:
        if all(row[name] is not None for row in until) and _fell(until, name):
            top, last = _highest(until, name), until[-1][name]["mean"]
            said.append(
                f"{name} falls from {top[name]['mean']:.2f} ({top['topics']:,} topics) to "
                f"{last:.2f} ({number:,})"
            )
    return said


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
