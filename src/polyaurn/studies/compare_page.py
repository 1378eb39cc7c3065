"""The page of a comparison: one HTML file, with its charts inside, that works offline."""

import json
from html import escape
from pathlib import Path
from typing import Any

from polyaurn.chain.samplers import SAMPLERS
from polyaurn.files.atomic import check_new_file, write_text
from polyaurn.pages.charts import legend, line_chart
from polyaurn.pages.parts import cell, charts_in_a_row, page

POSTERIORS = {
    "exact": "converges to the posterior",
    "asymptotic": "converges to a distribution that tends to the posterior as counts grow",
    "approximate": "converges to a distribution near the posterior (documents split over threads)",
}
_BODY = """<p>{facts}</p>{stopped}
<p>{legend}</p>
{charts}
<h2>In numbers</h2>
<table><tr><th>sampler</th><th class="law">posterior</th><th>sweeps</th><th>M tokens/s</th>
<th>log posterior per token</th><th>coherence (Mimno)</th><th>diversity</th><th>accepted</th>
<th>peak memory</th></tr>{rows}</table>
<p class="small">Same corpus, priors and seed; each sampler had the same time of sampling, in a
process of its own. Tokens per second: median over the second half of the sweeps. Coherence: mean
over topics of Mimno et al. (2011), ten top words; nearer to zero is better. Diversity: share of
different words among all top words. Accepted: share of Metropolis-Hastings proposals, in the last
sweep. Memory: the most the process had, corpus, Python and compiled code included. One seed says
little about differences of a few thousandths: run other seeds before you believe them.</p>
<h2>Largest topics</h2>{topics}"""


def render(comparison: dict[str, Any]) -> str:
    """Return the page of a comparison, which is as `polyaurn.compare` returns it."""
    corpus, setting, samplers = (comparison[name] for name in ("corpus", "setting", "samplers"))
    steps = f"Metropolis-Hastings steps {setting['mh_steps']}, " if setting["mh_steps"] else ""
    facts = (
        f"{corpus['documents']:,} documents, {corpus['words']:,} words, "
        f"{corpus['tokens']:,} tokens; "
        f"{setting['topics']:,} topics, {setting['seconds']:g} seconds each, "
        f"{setting['threads']} threads, seed {setting['seed']}, warm start "
        f"{escape(repr(setting['warm_start']))}, Phi refreshes {setting['phi_refreshes']}, "
        f"{steps}alpha {setting['alpha']}, "
        f"beta {setting['beta']}; polyaurn {setting['version']}."
    )
    stopped = (
        ""
        if comparison["complete"]
        else "<p><b>Stopped before all had their time: the last one listed had less.</b></p>"
    )
    body = _BODY.format(
        facts=facts,
        stopped=stopped,
        legend=legend(list(samplers)),
        charts=_charts(samplers, corpus["tokens"]),
        rows=_rows(samplers, corpus["tokens"]),
        topics="".join(_topics(name, found) for name, found in samplers.items()),
    )
    return page("Samplers compared", body)


def _charts(samplers: dict[str, Any], tokens: int) -> str:
    """Return the log posterior against time and against sweeps, from where chains have settled."""
    levels = {
        name: [p for p in found["points"] if p["log_posterior"] is not None]
        for name, found in samplers.items()
    }
    settled = [
        p["log_posterior"] / tokens
        for points in levels.values()
        for p in points[len(points) // 5 :]
    ]
    charts = []
    for x, label in (("seconds", "seconds of sampling"), ("sweep", "sweeps")):
        series = {
            name: [(p[x], p["log_posterior"] / tokens) for p in points]
            for name, points in levels.items()
        }
        charts.append(
            line_chart(
                series,
                title=f"Log posterior against {'time' if x == 'seconds' else 'sweeps'}",
                x_label=label,
                y_label="log posterior per token",
                y_from=min(settled, default=None),
            )
        )
    return charts_in_a_row(charts)


def _rows(samplers: dict[str, Any], tokens: int) -> str:
    rows = []
    for name, found in samplers.items():
        levels = [p["log_posterior"] for p in found["points"] if p["log_posterior"] is not None]
        coherence = found.get("coherence_mimno") or []
        cells = [
            f'<td title="{escape(SAMPLERS[name].about)}">{escape(name)}</td>',
            f'<td class="law" title="{POSTERIORS[found["law"]]}">{found["law"]}</td>',
            cell(found.get("sweeps"), "{:,}"),
            cell(found.get("tokens_per_second"), "{:.1f}", 1e6),
            cell(levels[-1] if levels else None, "{:.4f}", tokens),
            cell(sum(coherence) / len(coherence) if coherence else None, "{:.1f}"),
            cell(found.get("diversity"), "{:.2f}"),
            cell(found.get("acceptance"), "{:.0%}"),
            cell(found.get("peak_bytes"), "{:,.0f} MB", 1e6),
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return "".join(rows)


def _topics(name: str, found: dict[str, Any]) -> str:
    lines = "".join(
        f'<tr><td class="words">{escape(" ".join(words))}</td></tr>'
        for words in found["topics"] or []
    )
    return f"<details><summary>{escape(name)}</summary><table>{lines}</table></details>"


def check_page(path: Path, *, force: bool) -> None:
    """Reject a page that cannot be written, or may not be replaced, before long work."""
    for target, suffix in ((path, ".html"), (path.with_suffix(".json"), ".json")):
        check_new_file(target, force=force, what="'--out' option", suffixes=(suffix,))


def write_page(comparison: dict[str, Any], path: Path) -> tuple[Path, Path]:
    """Write the page NAME.html and, beside it, the numbers as NAME.json; return both paths."""
    numbers = path.with_suffix(".json")
    write_text(numbers, json.dumps(comparison, indent=1) + "\n")
    write_text(path, render(comparison))
    return path, numbers
