"""Log posterior against time and against iterations, urn and partially collapsed."""

import statistics
from typing import Any

from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper.plan import BOTH, PARTLY, URN
from polyaurn.studies.paper.results import Figure, Measured, Results, Table, pairs, spread

Curve = dict[str, list[float]]
SETTLED = 0.1  # share of the sweeps before which curves are not compared


def make(results: Results) -> Figure:
    """Compare the two samplers' traces."""
    rows, charts = list[dict[str, Any]](), dict[str, str]()
    for cell, runs in pairs(results.of("traces"), URN, PARTLY).items():
        assert cell.corpus is not None
        curves = dict(zip(BOTH, map(mean_curve, runs), strict=True))
        row = {"corpus": cell.corpus.key, "topics": cell.topics, "seeds": len(runs[0]),
               "sweeps": cell.sweeps, "curves": curves} | compare(*runs)  # fmt: skip
        rows.append(row)
        place = f"{row['corpus']}, K = {cell.topics:,}"
        charts |= {
            f"{row['corpus']}-k{cell.topics}-{x}": trace_chart(
                curves, x, f"{place}: by {'time' if x == 'seconds' else 'iteration'}"
            )
            for x in ("seconds", "sweeps")
        }  # fmt: skip
    listed = [
        [r["corpus"], f"{r['topics']:,}", f"{r['sweeps']:,}", str(r["seeds"]),
         f"{r['time_ratio']:.2f}", f"{r['end_gap']:+.4f}", _sd(r["end_spread"]), f"{r['gap']:.1%}"]
        for r in rows
    ]  # fmt: skip
    return Figure(
        "Log posterior by time and by iteration (Figures 2 and 3)",
        "The urn was faster in all cases, nearly identical at K = 10, and by iteration both "
        "look identical, so that the urn mixes as quickly.",
        _found(rows),
        charts,
        [Table(("corpus", "K", "sweeps", "seeds", "time, partially collapsed / urn",
                "urn minus partially collapsed at the end, per token", "spread between seeds",
                "largest gap, of the climb"), listed)],
        {"rows": rows},
        "Means over seeds; rings mark the end of the sweeps asked for. Burn-in aids are off: "
        "random start, one Phi per sweep. Time is that of sampling, log posteriors left out. The "
        "gap is the largest difference of the two mean curves after the first tenth of the "
        "sweeps, as a share of the partially collapsed curve's climb from its first point.",
    )  # fmt: skip


def trace_chart(curves: dict[str, Curve], x: str, title: str) -> str:
    """Draw log posteriors against time or sweeps, from where a tenth of the points is passed."""
    return line_chart(
        {name: list(zip(c[x], c["level"], strict=True)) for name, c in curves.items()},
        title=title, x_label=x, y_label="log posterior per token", key=True,
        points=[(c[x][-1], c["level"][-1]) for c in curves.values()],
        y_from=min((c["level"][len(c["level"]) // 10] for c in curves.values()), default=None),
    )  # fmt: skip


def mean_curve(runs: list[Measured]) -> Curve:
    """Return sweeps, median seconds and mean log posterior per token over seeds."""
    columns = list(zip(*(run["points"] for run in runs), strict=True))
    return {
        "sweeps": [column[0][0] for column in columns],
        "seconds": [statistics.median(p[1] for p in column) for column in columns],
        "level": [statistics.fmean(p[2] for p in column) / runs[0]["tokens"] for column in columns],
    }


def compare(ours: list[Measured], theirs: list[Measured]) -> dict[str, Any]:
    """Return how far two samplers' traces are apart, and how their times compare."""
    a, b = mean_curve(ours)["level"], mean_curve(theirs)["level"]
    climb = max(b[-1] - b[0], 1e-12)
    gaps = [abs(x - y) for x, y in zip(a, b, strict=True)][int(len(a) * SETTLED) :]
    ends = [[run["points"][-1][2] / run["tokens"] for run in runs] for runs in (ours, theirs)]
    spreads = [s for s in map(spread, ends) if s is not None]
    return {
        "time_ratio": statistics.median(
            y["seconds"] / x["seconds"] for x, y in zip(ours, theirs, strict=True)
        ),
        "end_gap": a[-1] - b[-1],
        "end_spread": max(spreads) if spreads else None,
        "gap": max(gaps) / climb,
    }


def _found(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    times = [r["time_ratio"] for r in rows]
    worst = max(rows, key=lambda r: float(r["gap"]))
    return (
        f"The same sweeps took the partially collapsed sampler {min(times):.2f} to "
        f"{max(times):.2f} times as long as the urn. By iteration the curves differ most at "
        f"K = {worst['topics']:,} on {worst['corpus']}, by {worst['gap']:.1%} of the climb."
    )


def _sd(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
