"""A topic grid in brief: means, spreads, and which number of topics is best by each measure."""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from polyaurn.evaluate.number_of_topics import harmonic_mean

LITERATURE = ("arun_2010", "cao_juan_2009", "mimno_2011", "griffiths_2004")
MEASURES = ("held_out", "completion", "coherence_npmi", "diversity", "stability", *LITERATURE)
OF_PAIRS = "stability"  # of two seeds
LOWER = ("arun_2010", "cao_juan_2009")  # is better
LIKELIHOOD = "griffiths_2004"


def summarise(
    cells: Sequence[dict[str, Any]], matches: Callable[[int, list[int]], list[float]]
) -> list[dict[str, Any]]:
    """Return a row for each number of topics, from the records of its cells.

    A row has "topics", "seeds", "matches" (one for each pair of seeds, from ``matches(topics,
    seeds)``), and for each measure the mean and the spread: the standard deviation over seeds, for
    stability over pairs of seeds; None where there is only one value. That of coherence also has
    its standard error over topics and seeds.
    """
    rows = []
    for K in sorted({cell["topics"] for cell in cells}):
        mine = [cell for cell in cells if cell["topics"] == K]
        row: dict[str, Any] = {"topics": K, "seeds": len(mine)}
        for name in (*MEASURES, "train_seconds", "seconds"):
            if name != OF_PAIRS:
                row[name] = _mean_and_spread([c[name] for c in mine if c[name] is not None])
        if row[LIKELIHOOD] is not None:
            row[LIKELIHOOD]["mean"] = harmonic_mean([c[LIKELIHOOD] for c in mine])
        if row["coherence_npmi"] is not None:
            row["coherence_npmi"]["error"] = _error(row["coherence_npmi"], mine)
        row["matches"] = matches(K, [c["seed"] for c in mine])
        row["stability"] = _mean_and_spread(row["matches"])
        rows.append(row)
    return rows


def _mean_and_spread(values: list[float]) -> dict[str, float | None] | None:
    if not values:
        return None
    spread = statistics.stdev(values) if len(values) > 1 else None
    return {"mean": statistics.fmean(values), "spread": spread}


def _error(coherence: dict[str, Any], cells: list[dict[str, Any]]) -> float | None:
    """Return the standard error of a mean over topics and seeds: the larger of the two kinds."""
    over_topics = [c["coherence_npmi_error"] for c in cells]
    if None in over_topics:
        return None
    root = math.sqrt(len(cells))
    spread = coherence["spread"] or 0.0
    return max(math.sqrt(statistics.fmean(e**2 for e in over_topics)), spread) / root


def best(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return which number of topics has the best mean of each measure, and which equal it.

    The best is the highest, but for those of `LOWER`.
    "equal" lists the numbers whose mean is worse by no more than the larger spread of the two, or
    is None where there are no spreads. A measure without values has None.
    """
    found: dict[str, Any] = {}
    for name in MEASURES:
        there = {row["topics"]: row[name] for row in rows if row[name] is not None}
        if not there:
            found[name] = None
            continue
        sign = -1 if name in LOWER else 1
        top = max(there, key=lambda K: sign * there[K]["mean"])
        spreads = {K: value["spread"] for K, value in there.items()}
        equal = None
        if None not in spreads.values():
            equal = [
                K
                for K, value in there.items()
                if abs(there[top]["mean"] - value["mean"]) <= max(spreads[K], spreads[top])
            ]
            equal.remove(top)
        found[name] = {"topics": top, "equal": equal}
    return found
