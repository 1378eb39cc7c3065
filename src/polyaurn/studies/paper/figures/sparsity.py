"""Where the speed comes from: rare-word limits, vocabulary sizes and data sizes."""

from typing import Any

from polyaurn.studies.paper.corpora import LIMIT
from polyaurn.studies.paper.plan import PARTLY, SCALES, URN
from polyaurn.studies.paper.results import Figure, Results, Table, lines_chart, median, pairs, ratio

QUESTIONS = {
    "limit": "rare-word limit",
    "words": "vocabulary size",
    "size": "tokens",
}


def make(results: Results) -> Figure:
    """Compare the two samplers while the corpus changes."""
    plan = results.plan
    whole = SCALES[plan.scale].share
    asked: dict[str, list[dict[str, Any]]] = {question: [] for question in QUESTIONS}
    for cell, (urn, partly) in pairs(results.of("sparsity"), URN, PARTLY).items():
        variant = cell.corpus
        assert variant is not None
        row = {
            "words": urn[0]["words"], "tokens": urn[0]["tokens"], "limit": variant.min_count,
            "urn_seconds": median(urn, "sweep_seconds"),
            "partly_seconds": median(partly, "sweep_seconds"),
            "ratio": ratio(partly, urn, "sweep_seconds"),
            "z_ratio": ratio(partly, urn, "z_seconds"),
        }  # fmt: skip
        if variant.share == whole and variant.max_words is None:
            asked["limit"].append(row | {"value": variant.min_count})
        if variant.share == whole and variant.min_count == LIMIT:
            asked["words"].append(row | {"value": row["words"]})
        if variant.max_words is None and variant.min_count == LIMIT:
            asked["size"].append(row | {"value": row["tokens"]})
    for question, rows in asked.items():
        rows.sort(key=lambda row: float(row["value"]))
        different = {row["words"] if question == "limit" else row["value"]: row for row in rows}
        asked[question] = list(different.values())
    place = f"{plan.sparse}, K = {SCALES[plan.scale].sparse:,}"
    charts = {}
    for question, title in QUESTIONS.items():
        rows = asked[question]
        if rows:
            lines = {
                name: [(float(r["value"]), 1e3 * r[field]) for r in rows]
                for name, field in ((URN, "urn_seconds"), (PARTLY, "partly_seconds"))
            }
            charts[question] = lines_chart(
                lines, title=f"{place}: by {title}", x_label=title, y_label="ms per sweep",
                y_from=0.0, log_x=True,
            )  # fmt: skip
    listed = [
        [title, f"{r['value']:,}", f"{r['words']:,}", f"{r['tokens']:,}",
         f"{1e3 * r['urn_seconds']:,.1f}", f"{1e3 * r['partly_seconds']:,.1f}",
         f"{r['ratio']:.2f}", f"{r['z_ratio']:.2f}"]
        for question, title in QUESTIONS.items() for r in asked[question]
    ]  # fmt: skip
    left = "" if plan.sources[plan.sparse].rare else (
        " This corpus comes without words seen fewer than about ten times, so that low limits "
        "cannot be tried."
    )  # fmt: skip
    return Figure(
        "Where the speed comes from (Figure 8)",
        "The relative difference between the urn and the partially collapsed sampler is larger "
        "for high vocabulary sizes and lower rare-word limits.",
        _found(asked),
        charts,
        [Table(("changed", "value", "V", "N", "urn, ms per sweep",
                "partially collapsed, ms per sweep", "ratio", "ratio of z"), listed)],
        asked,
        f"Corpus {plan.sparse}, {whole:.0%} of its documents, K = {SCALES[plan.scale].sparse:,}, "
        "median sweep of the second half of short chains from random topics. Vocabularies hold "
        "the words of highest TF-IDF; data sizes are shares of the documents, drawn at random "
        f"before the rare-word limit of {LIMIT}.{left}",
    )  # fmt: skip


def _found(asked: dict[str, list[dict[str, Any]]]) -> str:
    parts = [
        f"By {title}, the partially collapsed sampler takes {rows[0]['ratio']:.2f} times the "
        f"urn's time at {rows[0]['value']:,} and {rows[-1]['ratio']:.2f} times at "
        f"{rows[-1]['value']:,}."
        for question, title in QUESTIONS.items() if len(rows := asked[question]) > 1
    ]  # fmt: skip
    return " ".join(parts)
