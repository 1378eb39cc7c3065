"""Appendix A's two Gibbs samplers, and the urn's convergence to the Dirichlet."""

import math
from typing import Any

from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper.results import Figure, Results, Table

DISTANCE = "kolmogorov_largest_coordinate"


def make(results: Results) -> Figure:
    """Show both studies."""
    found = {cell.study: measured for cell, measured in results.of("theory").items()}
    charts, tables, parts = dict[str, str](), list[Table](), list[str]()
    urn, appendix = found.get("urn"), found.get("appendix-a")
    data: dict[str, Any] = {"slopes": None, "appendix": None}
    if urn:
        families = urn["families"]
        charts["urn"] = line_chart(
            {
                name: [(float(row["weight"]), math.log10(row[DISTANCE])) for row in f["rows"]]
                for name, f in families.items()
            },
            title="Urn against Dirichlet, largest coordinate", x_label="weight w", log_x=True,
            y_label="log10 of the Kolmogorov distance", key=True,
        )  # fmt: skip
        data["slopes"] = {name: f["slopes"][DISTANCE] for name, f in families.items()}
        data["distances"] = {name: [row[DISTANCE] for row in f["rows"]]
                             for name, f in families.items()}  # fmt: skip
        tables.append(
            Table(
                ("means F", "distance at the smallest weight", "at the largest", "power of w"),
                [[name, f"{f['rows'][0][DISTANCE]:.4f}", f"{f['rows'][-1][DISTANCE]:.4f}",
                  f"{f['slopes'][DISTANCE]:.2f}"] for name, f in families.items()],
            )
        )  # fmt: skip
        powers = [f"{value:.2f} ({name})" for name, value in data["slopes"].items()]
        parts.append(f"The distance falls as w to the power {', '.join(powers)}.")
    if appendix:
        for row in appendix["rows"]:
            charts[f"appendix-a-{row['rho']}"] = line_chart(
                {name: [(x, y) for x, y in row[name]["path"]]
                 for name in ("collapsed", "uncollapsed")},
                title=f"25 steps, rho = {row['rho']}", x_label="z1", y_label="z2", key=True,
            )  # fmt: skip
        data["appendix"] = [
            {"rho": row["rho"], "collapsed": row["collapsed"]["ess_z1"],
             "uncollapsed": row["uncollapsed"]["ess_z1"], "iterations": appendix["iterations"]}
            for row in appendix["rows"]
        ]  # fmt: skip
        tables.append(
            Table(
                ("rho", "effective size, collapsed", "uncollapsed", "of iterations"),
                [[str(r["rho"]), f"{r['collapsed']:,.0f}", f"{r['uncollapsed']:,.0f}",
                  f"{r['iterations']:,}"] for r in data["appendix"]],
            )
        )  # fmt: skip
        ratios = [f"{r['uncollapsed'] / r['collapsed']:,.0f} (rho = {r['rho']})"
                  for r in data["appendix"]]  # fmt: skip
        parts.append(
            "The uncollapsed chain's effective sample size is larger by a factor of "
            f"{', '.join(ratios)}."
        )
    return Figure(
        "Appendix A (Figure 9), and the urn's convergence (theorem of Section 3)",
        "A collapsed Gibbs sampler can be arbitrarily slower than an uncollapsed one; the urn "
        "tends to the Dirichlet as counts grow, likely at least as fast as one over the root.",
        " ".join(parts),
        charts,
        tables,
        data,
        "As polyaurn theory computes them. The distances of the urn are computed and not "
        "simulated; the samplers of Appendix A are run as printed there.",
    )
