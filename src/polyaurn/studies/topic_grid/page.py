"""The page of a topic grid: one HTML file that works offline, and its table."""

import csv
import io
import json
from html import escape
from pathlib import Path
from typing import Any

from polyaurn.files.atomic import write_text
from polyaurn.pages.charts import line_chart
from polyaurn.pages.parts import charts_in_a_row, page
from polyaurn.studies.topic_grid.summary import MEASURES

TITLES = {
    "held_out": "Held-out log likelihood per token",
    "completion": "Completion, log likelihood per token",
    "coherence_npmi": "Coherence of top words (NPMI)",
    "diversity": "Diversity of top words",
    "stability": "Stability between seeds",
}
ABOUT = {
    "held_out": "How probable the held-out documents are, by the left-to-right estimate. It says "
    "how well a model predicts words; readers may still prefer another number.",
    "completion": "How well half of the words of a held-out document predict the other half. "
    "Cheaper, on all held-out documents, and not the probability of a document.",
    "coherence_npmi": "Mean over topics of NPMI, from -1 to 1: whether the ten top words of a "
    "topic occur in the same training documents. It says nothing about topics that resemble each "
    "other.",
    "diversity": "Share of different words among the ten top words of all topics. 1 is easy to "
    "have with few topics; a fall shows topics that repeat each other.",
    "stability": "Topics of two seeds are paired one to one; the mean over pairs of their "
    "Bhattacharyya coefficient, 1 where all topics come back and 0 where they share no word. "
    "Few topics come back more easily, and topics that all resemble each other do so, too.",
}
COLUMNS = {
    "held_out": ("held-out", 4),
    "completion": ("completion", 4),
    "coherence_npmi": ("NPMI", 3),
    "diversity": ("diversity", 3),
    "stability": ("stability", 3),
    "seconds": ("seconds", 1),
}
PANELS = ("held_out", "coherence_npmi", "diversity", "stability")
_BODY = """<p>{facts}</p>
<table><tr><th>topics</th><th>seeds</th>{heads}</tr>{rows}</table>
<p class="small">{reading}</p>
{charts}
<p class="small">{rings}</p>
<h2>What each measure says, and where it is highest</h2>
<dl>{measures}</dl>
<p class="small">{rule} No measure here asks what the topics are for: read the topics of the
models that do well, with <code>polyaurn topics {folder}/models/NAME</code>, before you
choose.</p>"""


def render(found: dict[str, Any], folder: str) -> str:
    """Return the page of a grid; `folder` is where its models are, as users call it."""
    corpus, setting, seeds = (found[name] for name in ("corpus", "setting", "seeds"))
    several = len(seeds) > 1
    versions = ", ".join(sorted({cell["version"] for cell in found["cells"]}))
    facts = (
        f"{corpus['documents']:,} documents, {corpus['words']:,} words, {corpus['tokens']:,} "
        f"tokens. Trained on {corpus['train_documents']:,} documents, scored on the other "
        f"{corpus['test_documents']:,}, the same for all models; {setting['sweeps']:,} sweeps, "
        f"sampler {escape(setting['sampler'])}, alpha {setting['alpha']:g}, beta "
        f"{_number(setting['beta'])}, seeds {', '.join(map(str, seeds))}; polyaurn {versions}."
    )
    reading = (
        "Means over seeds; &plusmn; is the standard deviation between seeds, for stability between "
        "pairs of seeds. "
        if several
        else "One seed: how much results vary between seeds is not known. "
    )
    reading += (
        "Bold: the highest, and all that equal it. Seconds: of a model, training and scoring. "
        f"Held-out is left-to-right with {setting['particles']} particles on "
        f"{corpus['scored_documents']:,} of the documents held out ({corpus['scored_tokens']:,} "
        f"tokens); {_monte_carlo(found['cells'])}"
    )
    body = _BODY.format(
        facts=facts,
        heads="".join(f"<th>{COLUMNS[name][0]}</th>" for name in COLUMNS),
        rows="".join(_row(row, found["best"]) for row in found["topics"]),
        reading=reading,
        charts=charts_in_a_row(_chart(found, name) for name in PANELS),
        rings="Lines: means. Rings: single seeds; of stability, pairs of seeds." if several else "",
        measures="".join(
            f"<dt><b>{TITLES[name]}</b></dt><dd>{ABOUT[name]} {_verdict(found, name)}</dd>"
            for name in MEASURES
        ),
        rule="A number of topics counts as equal to the highest if its mean is lower by no more "
        "than the larger of the two standard deviations; with few seeds that is a rough guide."
        if several
        else "",
        folder=escape(folder),
    )
    return page("How many topics", body, "dd { margin-bottom: .6em; }")


def _number(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else "one for each word"


def _monte_carlo(cells: list[dict[str, Any]]) -> str:
    errors = [cell["held_out_error"] for cell in cells if cell["held_out_error"] is not None]
    if not errors:
        return "one particle has no Monte Carlo error."
    return f"its Monte Carlo error is at most {max(errors):.4f} for a model."


def _row(row: dict[str, Any], best: dict[str, Any]) -> str:
    cells = [f"<td>{row['topics']:,}</td><td>{row['seeds']}</td>"]
    for name in COLUMNS:
        high = best.get(name)
        among = high is not None and row["topics"] in (high["topics"], *(high["equal"] or ()))
        looks = ' class="best"' if among else ""
        cells.append(f"<td{looks}>{in_brief(row, name)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def in_brief(row: dict[str, Any], name: str, *, between: str = " &plusmn; ") -> str:
    """Return the mean and the spread of a measure as they are shown; a dash where there is none."""
    value, decimals = row[name], COLUMNS[name][1]
    if value is None:
        return "–"
    text = f"{value['mean']:,.{decimals}f}"
    return text if value["spread"] is None else f"{text}{between}{value['spread']:,.{decimals}f}"


def _chart(found: dict[str, Any], name: str) -> str:
    line = [(row["topics"], row[name]["mean"]) for row in found["topics"] if row[name]]
    single = (
        [(row["topics"], match) for row in found["topics"] for match in row["matches"]]
        if name == "stability"
        else [(c["topics"], c[name]) for c in found["cells"] if c[name] is not None]
    )
    return line_chart(
        {"mean over seeds": line},
        title=TITLES[name],
        x_label="topics",
        y_label=COLUMNS[name][0],
        points=single,
        log_x=True,
    )


def _verdict(found: dict[str, Any], name: str) -> str:
    """Say in a sentence where a measure is highest."""
    best, tried = found["best"][name], [row["topics"] for row in found["topics"]]
    if best is None:
        return "Not measured" + (": it takes two seeds." if name == "stability" else ".")
    top, equal = best["topics"], best["equal"]
    if len(tried) == 1:
        return ""
    edges = {tried[0]: ", the smallest number tried", tried[-1]: ", the largest number tried"}
    said = f"Highest with {top:,} topics{edges.get(top, '')}"
    if equal is None:
        why = "two seeds are one pair" if name == "stability" else "there is one seed"
        return f"{said}; {why}, so that differences cannot be compared with random variation."
    if not equal:
        return f"{said}; no other equals it within the spread between seeds."
    others = _listed(equal)
    return f"{said}; within the spread between seeds, {others} cannot be distinguished from it."


def _listed(numbers: list[int]) -> str:
    *first, last = (f"{n:,}" for n in numbers)
    return f"{', '.join(first)} and {last}" if first else last


def table(found: dict[str, Any]) -> list[list[Any]]:
    """Return the table as rows of values, the first one names; means, and spreads beside them."""
    names = [*COLUMNS, "train_seconds"]
    rows: list[list[Any]] = [
        ["topics", "seeds", *(name + end for name in names for end in ("", "_spread"))]
    ]
    for row in found["topics"]:
        values = [row[name] or {"mean": None, "spread": None} for name in names]
        pairs = [number for value in values for number in (value["mean"], value["spread"])]
        rows.append([row["topics"], row["seeds"], *pairs])
    return rows


def write_page(found: dict[str, Any], folder: Path) -> None:
    """Write ``sweep.html``, the table as ``sweep.csv`` and all numbers as ``sweep.json``."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(table(found))
    write_text(folder / "sweep.json", json.dumps(found, indent=1) + "\n")
    write_text(folder / "sweep.csv", lines.getvalue())
    write_text(folder / "sweep.html", render(found, str(folder)))
