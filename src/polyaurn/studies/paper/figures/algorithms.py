"""Urn, partially collapsed, sparse AD-LDA and Light AD-LDA by time, and our default."""

import statistics
from typing import Any

from polyaurn.studies.paper.figures.traces import Curve, mean_curve, trace_chart
from polyaurn.studies.paper.plan import LIGHT, PARTLY, SPARSE, URN
from polyaurn.studies.paper.results import Figure, Measured, Results, Table

NAMES = {
    (URN, False): "urn",
    (PARTLY, False): "partially collapsed",
    (SPARSE, False): "sparse AD-LDA",
    (LIGHT, False): "Light AD-LDA",
    (URN, True): "our default (urn, burn-in aids on)",
}
DEFAULT = NAMES[URN, True]


def make(results: Results) -> Figure:
    """Compare the algorithms by time."""
    runs: dict[int, dict[str, list[Measured]]] = {}
    for cell, measured in results.of("algorithms").items():
        name = NAMES[cell.sampler, cell.aids]
        runs.setdefault(cell.topics, {}).setdefault(name, []).append(measured)
    rows, charts = [], {}
    for K, found in runs.items():
        curves = {name: mean_curve(found[name]) for name in NAMES.values() if name in found}
        plain = [c["level"][-1] for name, c in curves.items() if name != DEFAULT]
        level = min(plain) if plain else None
        row: dict[str, Any] = {
            "corpus": results.plan.main, "topics": K, "level": level, "samplers": {
                name: {
                    "seconds_to_level": None if level is None else time_to(curve, level),
                    "end": curve["level"][-1], "seconds": curve["seconds"][-1],
                    "sweep_seconds": statistics.median(m["sweep_seconds"] for m in found[name]),
                    "law": found[name][0]["law"], "seeds": len(found[name]),
                }
                for name, curve in curves.items()
            },
        }  # fmt: skip
        rows.append(row)
        title = f"{results.plan.main}, K = {K:,}: algorithms by time"
        charts[f"k{K}"] = trace_chart(curves, "seconds", title)
    listed = [
        [f"{row['topics']:,}", name, s["law"], str(s["seeds"]), f"{1e3 * s['sweep_seconds']:,.1f}",
         f"{s['end']:.4f}", _seconds(s["seconds_to_level"])]
        for row in rows for name, s in row["samplers"].items()
    ]  # fmt: skip
    return Figure(
        "Algorithms by time (Figure 5)",
        "The urn is faster than partially collapsed, sparse AD-LDA and Light AD-LDA, at K = 100 "
        "and at K = 1000, on the New York Times.",
        _found(rows),
        charts,
        [Table(("K", "algorithm", "posterior", "seeds", "ms per sweep",
                "log posterior per token at the end", "seconds to the common level"), listed)],
        {"rows": rows},
        f"Corpus {results.plan.main}, {results.plan.threads} threads, all from random topics with "
        "burn-in aids off except in our default. The common level is the lowest of the levels that "
        "the four reach at the end of their sweeps; times to it are interpolated. AD-LDA on "
        "several threads is approximate; Light takes two pairs of proposals per token and is made "
        "exact on one thread, which costs it time.",
    )  # fmt: skip


def time_to(curve: Curve, level: float) -> float | None:
    """Return when a curve first has a level, by interpolation; None if it never has."""
    before = None
    for seconds, now in zip(curve["seconds"], curve["level"], strict=True):
        if now >= level:
            if before is None:
                return seconds
            share = (level - before[1]) / (now - before[1])
            return float(before[0] + share * (seconds - before[0]))
        before = (seconds, now)
    return None


def _found(rows: list[dict[str, Any]]) -> str:
    parts = []
    for row in rows:
        times = {n: s["seconds_to_level"] for n, s in row["samplers"].items()}
        listed = ", ".join(f"{name} {_seconds(value)}" for name, value in times.items())
        parts.append(f"To the common level at K = {row['topics']:,}: {listed}.")
    return " ".join(parts)


def _seconds(value: float | None) -> str:
    return "not reached" if value is None else f"{value:.2f} s"
