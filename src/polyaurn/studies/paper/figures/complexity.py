"""The complexity claim: work per token against min(K_d, K_v), and its growth."""

from typing import Any

import numpy as np

from polyaurn.backends.registry import BACKENDS
from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper.results import Figure, Results, Table, lines_chart, median


def make(results: Results) -> Figure:
    """Compare counted work with the sum of minima and with time, and let the corpus grow."""
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    study: dict[str, Any] | None = None
    for cell, measured in results.of("complexity").items():
        if cell.kind == "study":
            study = measured
        elif cell.corpus is not None:
            runs.setdefault((cell.corpus.key, cell.topics), []).append(measured)
    on_threads = BACKENDS[results.plan.device].on_threads
    threads = results.plan.threads if on_threads else 1
    unit = "core ns per token" if on_threads else "ns per token"
    rows = [
        {
            "corpus": corpus, "topics": K, "counted": median(found, "work_per_token"),
            "minimum": median(found, "mean_min"), "K_d": median(found, "mean_K_d"),
            "K_v": median(found, "mean_K_v"), "shorter": median(found, "share_word_shorter"),
            "nanoseconds": 1e9 * threads * median(found, "z_seconds")
            / found[0]["tokens"],
        }
        for (corpus, K), found in runs.items()
    ]  # fmt: skip
    data: dict[str, Any] = {"rows": rows, "time_power": _power(rows), "growth": None}
    charts, parts = dict[str, str](), list[str]()
    tables = [
        Table(
            ("corpus", "K", "work per token, counted", "mean min(K_d, K_v)", "mean K_d",
             "mean K_v", "tokens with K_v < K_d", f"z, {unit}"),
            [[r["corpus"], f"{r['topics']:,}", f"{r['counted']:.2f}", f"{r['minimum']:.2f}",
              f"{r['K_d']:.1f}", f"{r['K_v']:.1f}", f"{r['shorter']:.0%}",
              f"{r['nanoseconds']:.3g}"] for r in rows],
        )
    ]  # fmt: skip
    if rows:
        charts["time"] = lines_chart(
            {corpus: [(r["minimum"], r["nanoseconds"]) for r in rows if r["corpus"] == corpus]
             for corpus in dict.fromkeys(r["corpus"] for r in rows)},
            title="z time against work", x_label="mean min(K_d, K_v)", y_from=0.0, y_label=unit,
        )  # fmt: skip
        worst = max(abs(r["counted"] / r["minimum"] - 1.0) for r in rows)
        parts.append(f"Counted work and the mean of min(K_d, K_v) differ by at most {worst:.1%}.")
    if data["time_power"] is not None:
        parts.append(f"The time of z grows as the work to the power {data['time_power']:.2f}.")
    if study:
        data["growth"] = {
            name: {"power": rule["exponent_of_total_work"],
                   "rows": [{key: row[key] for key in ("N", "V", "K", "work")}
                            for row in rule["rows"]]}
            for name, rule in study["rules"].items()
        }  # fmt: skip
        charts["growth"] = line_chart(
            {name: [(float(row["N"]), row["work"]) for row in g["rows"]]
             for name, g in data["growth"].items()},
            title="Work per token as the corpus grows, V = 12 N^0.5", x_label="tokens N",
            y_label="work per token", log_x=True, y_from=0.0, key=True,
        )  # fmt: skip
        tables.append(
            Table(
                ("topics", "N", "V", "K", "work per token"),
                [[name, f"{row['N']:,}", f"{row['V']:,}", f"{row['K']:,}", f"{row['work']:.2f}"]
                 for name, g in data["growth"].items() for row in g["rows"]],
            )
        )  # fmt: skip
        parts.extend(
            f"With {name}, total work grows as N^{g['power']:.2f}."
            for name, g in data["growth"].items()
        )
    return Figure(
        "Computational complexity (theorem and corollary of Section 3)",
        "An iteration costs the sum over tokens of min(K_d, K_v), the topics of the document and "
        "those of the word's column of Phi, also when K grows as gamma ln(1 + N/gamma).",
        " ".join(parts),
        charts,
        tables,
        data,
        "Counted in the kernel during the last sweep, and independently from the state after that "
        "sweep. The kernel counts the minimum but often walks the word's whole column, which is "
        "faster in practice; so the time is compared with the work, too. Growth is on generated "
        "corpora, K = 100 or gamma = 12.",
    )


def _power(rows: list[dict[str, Any]]) -> float | None:
    """Return the power of work by which the time of z grows; None with fewer than two sizes."""
    work = [r["minimum"] for r in rows]
    if len(set(work)) < 2:
        return None
    return float(np.polyfit(np.log(work), np.log([r["nanoseconds"] for r in rows]), 1)[0])
