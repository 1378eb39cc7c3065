"""Topic quality: held-out likelihood and coherence, urn and partially collapsed."""

import statistics
from typing import Any

from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper.plan import BOTH, PARTLY, URN
from polyaurn.studies.paper.results import Figure, Results, Table, counted, pairs, spread

MEASURES = {
    "held_out": "held-out log likelihood per token",
    "coherence": "coherence (Mimno et al.) on held-out documents",
}


def make(results: Results) -> Figure:
    """Compare the topics of the two samplers."""
    rows: list[dict[str, Any]] = []
    for cell, runs in pairs(results.of("quality"), URN, PARTLY).items():
        row: dict[str, Any] = {
            "corpus": results.plan.main, "topics": cell.topics, "seeds": len(runs[0]),
            "sweeps": cell.sweeps, "scored_documents": runs[0][0]["scored_documents"],
        }  # fmt: skip
        for measure in MEASURES:
            values = [[m[measure] for m in side if m[measure] is not None] for side in runs]
            row[measure] = _compare(*values) if all(values) else None
        rows.append(row)
    charts = {}
    for measure, title in MEASURES.items():
        some = [r for r in rows if r[measure] is not None]
        if some:
            charts[measure] = line_chart(
                {s: [(float(r["topics"]), r[measure][s]["mean"]) for r in some] for s in BOTH},
                title=f"{results.plan.main}: {title}", x_label="topics K", y_label=title,
                log_x=True, key=True,
                points=[(float(r["topics"]), v) for r in some for s in BOTH
                        for v in r[measure][s]["values"]],
            )  # fmt: skip
    listed = [
        [f"{r['topics']:,}", str(r["seeds"]), title, *(_level(r[measure][s]) for s in BOTH),
         f"{r[measure]['difference']:+.2%}", _p(r[measure]["p"])]
        for r in rows for measure, title in MEASURES.items() if r[measure] is not None
    ]  # fmt: skip
    return Figure(
        "Topic quality (Figure 6)",
        "Both produced similar test set log likelihoods and, but for one outlier, similar "
        "coherence.",
        _found(rows),
        charts,
        [Table(("K", "seeds", "measure", *BOTH, "difference", "Welch's p"), listed)],
        {"rows": rows},
        "Trained on four fifths of the documents, plain sweeps; left-to-right with 20 particles "
        "on held-out documents, a sample of them; coherence of Mimno et al., ten top words, "
        "counted on all held-out documents, over topics whose top words all occur there. Rings: "
        "single seeds. The difference is relative to the partially collapsed mean, positive where "
        "the urn is higher.",
    )


def _compare(ours: list[float], theirs: list[float]) -> dict[str, Any]:
    """Return means, spreads, the relative difference, and Welch's p of two sets of numbers."""
    from scipy import stats

    a, b = statistics.fmean(ours), statistics.fmean(theirs)
    tested = min(len(ours), len(theirs)) > 1 and len(set(ours + theirs)) > 1
    p = float(stats.ttest_ind(ours, theirs, equal_var=False).pvalue) if tested else None
    return {
        URN: {"mean": a, "spread": spread(ours), "values": ours},
        PARTLY: {"mean": b, "spread": spread(theirs), "values": theirs},
        "difference": (a - b) / abs(b) if b else 0.0,
        "p": p,
    }


def _found(rows: list[dict[str, Any]]) -> str:
    return " ".join(
        f"At K = {r['topics']:,} the urn's {title} is {r[measure]['difference']:+.2%} from the "
        f"partially collapsed sampler's ({counted(r['seeds'], 'seed')}, Welch's p "
        f"{_p(r[measure]['p'])})."
        for r in rows for measure, title in MEASURES.items() if r[measure] is not None
    )  # fmt: skip


def _level(side: dict[str, Any]) -> str:
    deviation = "" if side["spread"] is None else f" ± {side['spread']:.4f}"
    return f"{side['mean']:.4f}{deviation}"


def _p(value: float | None) -> str:
    return "not known" if value is None else f"{value:.3f}"
