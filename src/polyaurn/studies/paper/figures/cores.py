"""Runtime on one core against the others, and the urn's by number of cores."""

from typing import Any

from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper.plan import PARTLY, SCALES, SPARSE, URN
from polyaurn.studies.paper.results import Figure, Measured, Results, Table, lines_chart, median

ON_ONE_CORE = (URN, PARTLY, SPARSE)


def make(results: Results) -> Figure:
    """Compare one core, and count cores."""
    plan = results.plan
    times: dict[tuple[int, int], list[Measured]] = {}
    on_one_core: dict[int, dict[str, list[Measured]]] = {}
    size = SCALES[plan.scale]
    for cell, measured in results.of("cores").items():
        assert cell.corpus is not None
        corpus, K = cell.corpus.source, cell.topics
        if cell.sampler == URN and corpus == plan.main and K in size.scaling:
            times.setdefault((K, cell.threads), []).append(measured)
        if cell.threads == 1 and corpus == plan.least and K in size.single:
            on_one_core.setdefault(K, {}).setdefault(cell.sampler, []).append(measured)
    single = [
        {"corpus": plan.least, "topics": K, "samplers": {
            name: median(runs[name], "sweep_seconds")
            for name in ON_ONE_CORE if name in runs}}
        for K, runs in sorted(on_one_core.items())
    ]  # fmt: skip
    scaling = [_scaling(plan.main, K, times) for K in sorted({K for K, _ in times})]
    return Figure(
        "Single-core runtime, and runtime by cores (Figure 7)",
        "On one core the urn outperforms fully collapsed sparse LDA and partially collapsed LDA; "
        "with more cores it scales close to linearly, with overhead at high levels of parallelism.",
        _found(single, scaling),
        _charts(single, scaling),
        _tables(single, scaling),
        {"single": single, "scaling": scaling},
        f"Median sweep of the second half of short chains from random topics, median over seeds. "
        f"One core: corpus {plan.least}. Several: corpus {plan.main}, for as many cores as this "
        "machine has of those asked for. Efficiency is the speedup over one core divided by the "
        "number of cores. Other programs at work, or cores that share caches and clock, spoil it.",
    )


def _scaling(corpus: str, K: int, times: dict[tuple[int, int], list[Measured]]) -> dict[str, Any]:
    cores = sorted(n for k, n in times if k == K)
    seconds = [median(times[K, n], "sweep_seconds") for n in cores]
    speedup = [seconds[0] / s for s in seconds] if cores[0] == 1 else None
    return {
        "corpus": corpus, "topics": K, "cores": cores, "sweep_seconds": seconds,
        "speedup": speedup,
        "efficiency": [s / n for s, n in zip(speedup, cores, strict=True)] if speedup else None,
    }  # fmt: skip


def _charts(single: list[dict[str, Any]], scaling: list[dict[str, Any]]) -> dict[str, str]:
    charts = {}
    if single:
        lines = {
            name: [(float(r["topics"]), 1e3 * r["samplers"][name]) for r in single
                   if name in r["samplers"]]
            for name in ON_ONE_CORE
        }  # fmt: skip
        charts["single"] = lines_chart(
            lines, title=f"{single[0]['corpus']}: one core", x_label="topics K",
            y_label="ms per sweep", y_from=0.0, log_x=True,
        )  # fmt: skip
    for row in scaling:
        if row["speedup"]:
            measured = [(float(n), s) for n, s in zip(row["cores"], row["speedup"], strict=True)]
            charts[f"scaling-k{row['topics']}"] = line_chart(
                {"measured": measured, "linear": [(float(n), float(n)) for n in row["cores"]]},
                title=f"{row['corpus']}, K = {row['topics']:,}: urn by cores", x_label="cores",
                y_label="times as fast as one core", y_from=0.0, points=measured, key=True,
            )  # fmt: skip
    return charts


def _tables(single: list[dict[str, Any]], scaling: list[dict[str, Any]]) -> list[Table]:
    rows = [
        [f"{r['topics']:,}", *(f"{1e3 * r['samplers'][n]:,.1f}" if n in r["samplers"] else "–"
                               for n in ON_ONE_CORE)]
        for r in single
    ]  # fmt: skip
    more = [
        [f"{r['topics']:,}", str(n), f"{1e3 * s:,.1f}",
         f"{r['speedup'][i]:.2f}" if r["speedup"] else "–",
         f"{r['efficiency'][i]:.0%}" if r["efficiency"] else "–"]
        for r in scaling
        for i, (n, s) in enumerate(zip(r["cores"], r["sweep_seconds"], strict=True))
    ]  # fmt: skip
    return [
        Table(("K, one core", *(f"{name}, ms per sweep" for name in ON_ONE_CORE)), rows),
        Table(("K", "cores", "ms per sweep", "speedup", "efficiency"), more),
    ]


def _found(single: list[dict[str, Any]], scaling: list[dict[str, Any]]) -> str:
    parts = []
    for row in single:
        ours = row["samplers"].get(URN)
        others = [f"{row['samplers'][n] / ours:.2f} times as long with {n}"
                  for n in ON_ONE_CORE[1:] if ours and n in row["samplers"]]  # fmt: skip
        if others:
            parts.append(f"On one core at K = {row['topics']:,} a sweep takes {', '.join(others)}.")
    for row in scaling:
        if row["speedup"] and len(row["cores"]) > 1:
            parts.append(
                f"With {row['cores'][-1]} cores the urn is {row['speedup'][-1]:.2f} times as fast "
                f"as with one at K = {row['topics']:,}."
            )
    return " ".join(parts)
