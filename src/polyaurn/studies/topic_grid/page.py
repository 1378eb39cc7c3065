"""The page of a topic grid: one HTML file that works offline; the suggestion, and why."""

import csv
import io
import json
import math
from collections.abc import Collection
from html import escape
from pathlib import Path
from typing import Any

from polyaurn.files.atomic import write_text
from polyaurn.pages.charts import line_chart
from polyaurn.pages.parts import charts_in_a_row, page
from polyaurn.studies.topic_grid.flow_chart import STYLE, flow_chart, flow_tables
from polyaurn.studies.topic_grid.setting import COMPLETION
from polyaurn.studies.topic_grid.summary import LOWER, MEASURES
from polyaurn.studies.topic_grid.table import (
    LITERATURE,
    behind_in_brief,
    columns,
    in_brief,
    table,
)

TITLES = {
    "held_out": "Held-out log likelihood per token",
    "completion": "Completion, log likelihood per token",
    "coherence_npmi": "Coherence of top words (NPMI)",
    "diversity": "Diversity of top words",
    "stability": "Stability between seeds",
    "arun_2010": "Arun et al. (2010)",
    "cao_juan_2009": "Cao et al. (2009)",
    "mimno_2011": "Mimno et al. (2011)",
    "griffiths_2004": "Griffiths and Steyvers (2004)",
}
ABOUT = {
    "held_out": "How well a model predicts the words of documents that it was not trained on{how}. "
    "Readers may still prefer another number.",
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
    "arun_2010": "Divergence of the singular values of topics from the shares of tokens that "
    "topics have.",
    "cao_juan_2009": "Mean cosine between topics.",
    "mimno_2011": "Mean over topics of the coherence of their 20 most probable words, by the "
    "documents that have both of two words.",
    "griffiths_2004": "log p(w | z), the probability of all words given the topics of tokens after "
    "the last sweep; of several seeds the harmonic mean of likelihoods.",
}
PANELS = ("held_out", "coherence_npmi", "diversity", "stability")
_HOW = {
    True: ": each document's second half, given its first",
    False: ": the probability of a whole document, by the left-to-right estimate",
}
_DARK = """
.answer { font-size: 1.25em; border-left: 4px solid #0072b2; padding: .4em .8em; margin: 1em 0; }
dd { margin-bottom: .6em; } .numbers td, .numbers th { white-space: nowrap; }
@media (prefers-color-scheme: dark) {
body { background: #16181c; color: #dcdcdc; } .small { color: #a5a5a5; } a { color: #7db8e8; }
td { border-color: #333; } th { border-color: #777; } svg, svg text { fill: #d0d0d0; }
svg path[stroke="#e3e3e3"] { stroke: #3a3d42; } svg circle { stroke: #bbb; }
svg path[stroke="#777"] { stroke: #aaa; } .answer { border-color: #56b4e9; }
.charts [stroke="#0072b2"] { stroke: #56b4e9; } .charts [fill="#0072b2"] { fill: #56b4e9; }
.flows path { fill-opacity: .45; } .flows path:hover { fill-opacity: .8; }
}
"""
_BODY = """<p class="answer"><strong>{answer}</strong></p>
<p>{facts}</p>
<div class="wide numbers" tabindex="0" role="region" aria-label="Table of measures">
<table><tr><th>topics</th><th>seeds</th>{heads}</tr>{rows}</table></div>
<p class="small">{reading}</p>
<h2>Measures of the literature</h2>
<div class="wide numbers" tabindex="0" role="region" aria-label="Measures of the literature">
<table><tr><th>topics</th><th>seeds</th>{other_heads}</tr>{other_rows}</table></div>
{charts}
<p class="small">{drawn}</p>
{flows}
<h2>What each measure says, and where it is best</h2>
<dl>{measures}</dl>
<p class="small">{rule} No measure here asks what the topics are for: read the topics of the
models that do well, with <code>polyaurn topics {folder}/models/NAME</code>, before you
choose.</p>"""
_FLOWS = """<h2>Topics side by side</h2>
<p>Each column is the model with so many topics from seed {seed}, each bar a topic, as high as it
has tokens, and each flow the tokens that two topics share; flows of less than a tenth of both are
left out. Point at a bar or a flow for its words.</p>
{picture}{tables}
<p class="small">A topic splits if it is the one most alike to two or more topics of the larger
number, and merges if another topic is most alike to the same one. Likeness is the Bhattacharyya
coefficient of their words, 1 for the same and 0 for no shared word.</p>"""


def render(found: dict[str, Any], folder: str) -> str:
    """Return the page of a grid; `folder` is where its models are, as users call it."""
    seeds = found["seeds"]
    several = len(seeds) > 1
    shown = columns(found)
    heads = [title for title, _ in shown.values()]
    if "held_out" in shown:
        heads.insert(1, "below the best")
    body = _BODY.format(
        answer=escape(found["suggestion"]["sentence"]),
        facts=_facts(found),
        heads="".join(f"<th>{title}</th>" for title in heads),
        rows="".join(_row(row, found, shown) for row in found["topics"]),
        other_heads="".join(f"<th>{title}</th>" for title, _ in LITERATURE.values()),
        other_rows="".join(_row(row, found, LITERATURE) for row in found["topics"]),
        reading=_reading(found),
        charts=charts_in_a_row(_chart(found, name) for name in PANELS if name in shown),
        drawn=_drawn(several),
        flows=_flows(found),
        measures="".join(
            f"<dt><b>{TITLES[name]}</b></dt><dd>{_about(found, name)} {_verdict(found, name)}</dd>"
            for name in MEASURES
            if name in shown or name in LITERATURE
        ),
        rule="A number of topics counts as equal to the best if its mean is worse by no more "
        "than the larger of the two standard deviations; with few seeds that is a rough guide."
        if several
        else "",
        folder=escape(folder),
    )
    return page("How many topics", body, STYLE + _DARK)


def _facts(found: dict[str, Any]) -> str:
    corpus, setting, seeds = (found[name] for name in ("corpus", "setting", "seeds"))
    versions = ", ".join(sorted({cell["version"] for cell in found["cells"]}))
    priors = f"alpha {_number(setting['alpha'])}, beta {_number(setting['beta'])}"
    every = setting.get("learn_priors_every")
    if every:
        priors = f"priors learned every {every:,} sweeps from {priors}"
    return (
        f"{corpus['documents']:,} documents, {corpus['words']:,} words, {corpus['tokens']:,} "
        f"tokens. {_trained(corpus)}; {setting['sweeps']:,} sweeps, "
        f"sampler {escape(setting['sampler'])}, {priors}, seeds {', '.join(map(str, seeds))}; "
        f"polyaurn {versions}."
    )


def _trained(corpus: dict[str, int]) -> str:
    """Say which documents models were trained and scored on."""
    if not corpus["test_documents"]:
        return "Trained on all of them, none held out"
    return (
        f"Trained on {corpus['train_documents']:,} documents, scored on the other "
        f"{corpus['test_documents']:,}, the same for all models"
    )


def _reading(found: dict[str, Any]) -> str:
    """Say how to read the table."""
    corpus, scoring = found["corpus"], found["scoring"]
    said = (
        "Means over seeds; &plusmn; is the standard deviation between seeds, for stability between "
        "pairs of seeds. "
        if len(found["seeds"]) > 1
        else "One seed: how much results vary between seeds is not known. "
    )
    said += (
        "Below the best: how much lower a held-out score is than the highest one, with the "
        "standard error of that difference over documents and seeds. "
        "Bold: the highest (of Arun 2010 and Cao Juan 2009 the lowest), and all that equal it. "
        "Seconds: of a model, training and scoring. "
    )
    if not corpus["test_documents"]:
        return said
    if scoring["score"] == COMPLETION:
        return said + "Held-out is completion, in nats per token, on all documents held out."
    return said + (
        f"Held-out is left-to-right with {scoring['particles']} particles on "
        f"{corpus['scored_documents']:,} of the documents held out ({corpus['scored_tokens']:,} "
        f"tokens); {_monte_carlo(found['cells'])}"
    )


def _drawn(several: bool) -> str:
    """Say how to read the charts."""
    said = (
        "Band of the held-out score: one standard error of its difference from the best one, which "
        "is the dashed line; where the band reaches that line, a number of topics is as good. Band "
        "of coherence: one standard error over topics and seeds."
    )
    if several:
        said += (
            " Of diversity: over seeds. Lines: means. Rings: single seeds; of stability, pairs of "
            "seeds."
        )
    return said


def _flows(found: dict[str, Any]) -> str:
    flows = found["flows"]
    if not flows["steps"]:
        return ""
    picture = flow_chart(flows)
    return _FLOWS.format(seed=found["seeds"][0], picture=picture, tables=flow_tables(flows))


def _about(found: dict[str, Any], name: str) -> str:
    return ABOUT[name].format(how=_HOW[found["scoring"]["score"] == COMPLETION])


def _number(prior: float | str) -> str:
    if isinstance(prior, float):
        return f"{prior:g}"
    return prior if prior.endswith("/K") else "one for each word"


def _monte_carlo(cells: list[dict[str, Any]]) -> str:
    errors = [cell["held_out_error"] for cell in cells if cell["held_out_error"] is not None]
    if not errors:
        return "one particle has no Monte Carlo error."
    return f"its Monte Carlo error is at most {max(errors):.4f} for a model."


def _row(row: dict[str, Any], found: dict[str, Any], shown: Collection[str]) -> str:
    cells = []
    for name in shown:
        high = found["best"].get(name)
        among = high is not None and row["topics"] in (high["topics"], *(high["equal"] or ()))
        looks = ' class="best"' if among else ""
        cells.append(f"<td{looks}>{in_brief(row, name)}</td>")
    if "held_out" in shown:
        cells.insert(1, f"<td>{behind_in_brief(row)}</td>")
    number = f"{row['topics']:,}"
    suggested = found["suggestion"]
    if row["topics"] == suggested["predicts"]:
        end = "best so far" if suggested["still_rises"] else "suggested"
        if suggested["topics"] != suggested["predicts"]:
            end = "to predict"
        number = f"<b>{number}</b> ({end})"
    elif row["topics"] == suggested["topics"]:
        number = f"<b>{number}</b> (to read)"
    return f"<tr><td>{number}</td><td>{row['seeds']}</td>{''.join(cells)}</tr>"


def _chart(found: dict[str, Any], name: str) -> str:
    rows = [row for row in found["topics"] if row[name]]
    line = [(row["topics"], row[name]["mean"]) for row in rows]
    single = (
        [(row["topics"], match) for row in found["topics"] for match in row["matches"]]
        if name == "stability"
        else [(c["topics"], c[name]) for c in found["cells"] if c[name] is not None]
    )
    errors = [_error(row, name) for row in rows]
    return line_chart(
        {"mean over seeds": line},
        title=TITLES[name],
        x_label="topics",
        y_label=columns(found)[name][0],
        points=single,
        band=[(K, y - e, y + e) for (K, y), e in zip(line, errors, strict=True) if e is not None],
        level=max((y for _, y in line), default=None) if name == "held_out" else None,
        log_x=True,
    )


def _error(row: dict[str, Any], name: str) -> float | None:
    """Return the standard error that is drawn around the mean of a measure."""
    error: float | None = None
    if name == "held_out":
        error = (row["behind_best"] or {}).get("error")
    elif name == "coherence_npmi":
        error = row[name]["error"]
    elif name == "diversity" and row[name]["spread"] is not None:
        error = row[name]["spread"] / math.sqrt(row["seeds"])
    return error


def _verdict(found: dict[str, Any], name: str) -> str:
    """Say in a sentence where a measure is best."""
    best, tried = found["best"][name], [row["topics"] for row in found["topics"]]
    if best is None:
        return "Not measured" + (": it takes two seeds." if name == "stability" else ".")
    top, equal = best["topics"], best["equal"]
    if len(tried) == 1:
        return ""
    edges = {tried[0]: ", the smallest number tried", tried[-1]: ", the largest number tried"}
    extreme = "Lowest (best)" if name in LOWER else "Highest"
    said = f"{extreme} with {top:,} topics{edges.get(top, '')}"
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


def write_page(found: dict[str, Any], folder: Path) -> None:
    """Write ``sweep.html``, the table as ``sweep.csv`` and all numbers as ``sweep.json``."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(table(found))
    write_text(folder / "sweep.json", json.dumps(found, indent=1) + "\n")
    write_text(folder / "sweep.csv", lines.getvalue())
    write_text(folder / "sweep.html", render(found, str(folder)))
