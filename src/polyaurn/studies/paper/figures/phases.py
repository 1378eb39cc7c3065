"""Runtime of Phi and z: against the partially collapsed sampler, and as shares of the urn's."""

from typing import Any

from polyaurn.studies.paper.plan import PARTLY, URN
from polyaurn.studies.paper.results import Figure, Results, Table, lines_chart, median, pairs, ratio


def make(results: Results) -> Figure:
    """Compare the two steps of a sweep."""
    rows: list[dict[str, Any]] = []
    for cell, (urn, partly) in pairs(results.of("phases"), URN, PARTLY).items():
        assert cell.corpus is not None
        phi, z = median(urn, "phi_seconds"), median(urn, "z_seconds")
        rows.append(
            {
                "corpus": cell.corpus.key, "topics": cell.topics, "seeds": len(urn),
                "phi_ratio": ratio(urn, partly, "phi_seconds"),
                "z_ratio": ratio(urn, partly, "z_seconds"),
                "phi_share": phi / (phi + z), "z_share": z / (phi + z),
                "nonzero_share": median(urn, "phi_nonzeros") / (cell.topics * urn[0]["words"]),
            }
        )  # fmt: skip
    charts = {}
    for corpus in dict.fromkeys(r["corpus"] for r in rows):
        mine = [r for r in rows if r["corpus"] == corpus]
        for name, title, fields in (
            ("ratio", "urn, % of partially collapsed", ("phi_ratio", "z_ratio")),
            ("share", "% of the urn's runtime", ("phi_share", "z_share")),
        ):
            lines = {
                step: [(float(r["topics"]), 100.0 * r[field]) for r in mine]
                for step, field in zip(("Phi", "z"), fields, strict=True)
            }
            charts[f"{corpus}-{name}"] = lines_chart(
                lines, title=f"{corpus}: runtime, {title}", x_label="topics K", y_label="percent",
                y_from=0.0, log_x=True,
            )  # fmt: skip
    listed = [
        [r["corpus"], f"{r['topics']:,}", f"{r['phi_ratio']:.1%}", f"{1 / r['phi_ratio']:.1f}",
         f"{r['z_ratio']:.1%}", f"{1 / r['z_ratio']:.2f}", f"{r['phi_share']:.1%}",
         f"{r['z_share']:.1%}", f"{r['nonzero_share']:.2%}"]
        for r in rows
    ]  # fmt: skip
    return Figure(
        "Runtime of Phi and z (Figure 4)",
        "Phi is uniformly faster by a factor of four to eight; the relative speedup of z "
        "increases with the number of topics.",
        _found(rows),
        charts,
        [Table(("corpus", "K", "Phi, of partially collapsed", "Phi, times faster",
                "z, of partially collapsed", "z, times faster", "Phi, share of the urn",
                "z, share of the urn", "nonzeros of Phi"), listed)],
        {"rows": rows},
        "Median sweep of the second half of each chain; ratios of chains with the same seed, "
        "median over seeds. Both samplers share compiled code, so that ratios are of the samplers "
        "and not of languages; the paper's are of two Java programs.",
    )  # fmt: skip


def _found(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    phi = [1.0 / r["phi_ratio"] for r in rows]
    z = ", ".join(f"{1 / r['z_ratio']:.2f} (K = {r['topics']:,}, {r['corpus']})" for r in rows)
    return f"Phi is {min(phi):.1f} to {max(phi):.1f} times faster. z is faster by a factor of {z}."
