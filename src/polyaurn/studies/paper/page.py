"""What a reproduction shows: a page that works offline, results as JSON, and a summary with SVG."""

import json
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from polyaurn.backends.registry import BACKENDS
from polyaurn.files.atomic import write_text
from polyaurn.pages.parts import charts_in_a_row, page
from polyaurn.studies.paper.claims import NOT_MEASURED, Verdict, judge_all
from polyaurn.studies.paper.figures import make_figures
from polyaurn.studies.paper.results import Figure, Results, Table, counted, pieces

PAGE, RESULTS, SUMMARY, PICTURES = "reproduction.html", "results.json", "summary.md", "figures"
LOADED = 1.5  # load over cores from which other programs are said to have been at work
_STYLE = """
td, th { vertical-align: top; } .claims td { text-align: left; padding-bottom: .6em; }
.claims th { text-align: left; } .agrees { color: #00704f; } .differs { color: #b04a00; }
.verdict { font-weight: 700; white-space: nowrap; } .missing { color: #888; }
.wide { overflow-x: auto; }
"""
_BODY = """<p>{facts}</p>{warnings}
<h2>Claims</h2>
<p>{tally}</p>
<div class="wide"><table class="claims"><tr><th>the paper says</th><th>rule</th><th>measured</th>
<th>verdict</th></tr>{claims}</table></div>
<p class="small">Where the paper gives no number, what is near enough is our choice, the same for
all runs; nothing was tuned to meet a rule. A verdict holds for the corpora, sizes and machine of
this run, and for no others.</p>
{figures}"""
TITLE = "The paper's experiments, run again"
_COLOUR = {"agrees": "agrees", "differs": "differs", NOT_MEASURED: "missing"}


def write_outputs(results: Results, setting: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Write the page, ``summary.md``, the figures as SVG and ``results.json``; return the last."""
    figures = make_figures(results)
    verdicts = judge_all({name: figure.data for name, figure in figures.items()})
    found = {
        "setting": setting, "seeds": results.plan.seeds, "provenance": _provenance(results),
        "cells_missing": {name: results.missing(name) for name in figures},
        "claims": [verdict._asdict() for verdict in verdicts],
        "figures": {
            name: {"title": f.title, "paper": f.paper, "found": f.found, "data": f.data}
            for name, f in figures.items()
        },
    }  # fmt: skip
    pictures = folder / PICTURES
    pictures.mkdir(exist_ok=True)
    for name, figure in figures.items():
        for chart, svg in figure.charts.items():
            whole = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
            write_text(pictures / f"{name}-{chart}.svg", whole + "\n")
    write_text(folder / RESULTS, json.dumps(found, indent=1) + "\n")
    write_text(folder / SUMMARY, summarise(results, figures, verdicts))
    write_text(folder / PAGE, render(results, figures, verdicts))
    return found


def render(results: Results, figures: dict[str, Figure], verdicts: list[Verdict]) -> str:
    """Return the page."""
    body = _BODY.format(
        facts=escape(_facts(results)),
        warnings="".join(f"<p><b>{escape(text)}</b></p>" for text in _warnings(results)),
        tally=escape(_tally(verdicts)),
        claims="".join(
            f'<tr><td>{escape(v.text)} <a href="#{v.figure}">{v.figure}</a></td>'
            f'<td>{escape(v.rule)}</td><td>{escape(v.measured)}</td>'
            f'<td class="verdict {_COLOUR[v.verdict]}">{v.verdict}</td></tr>'
            for v in verdicts
        ),
        figures="".join(_section(results, name, figure) for name, figure in figures.items()),
    )  # fmt: skip
    return page(TITLE, body, _STYLE)


def _section(results: Results, name: str, figure: Figure) -> str:
    tables = "".join(_html(table) for table in figure.tables if table.rows)
    return (
        f'<h2 id="{name}">{escape(figure.title)}</h2>'
        f"<p><b>The paper:</b> {escape(figure.paper)}</p>"
        f"<p><b>We find:</b> {escape(figure.found or 'nothing yet.')}</p>"
        f"{_missing_note(results, name)}{charts_in_a_row(figure.charts.values())}"
        f'<div class="wide">{tables}</div><p class="small">{escape(figure.notes)}</p>'
    )


def _missing_note(results: Results, name: str) -> str:
    missing, total = results.missing(name), len(results.plan.cells[name])
    return (
        f'<p class="missing">Missing: {missing} of {pieces(total)}; polyaurn reproduce {name} '
        "computes them.</p>"
        if missing
        else ""
    )


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in table.head)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in table.rows
    )
    return f"<table><tr>{head}</tr>{rows}</table>"


def summarise(results: Results, figures: dict[str, Figure], verdicts: list[Verdict]) -> str:
    """Return the same as Markdown, with the figures' files beside it."""
    lines = [f"# {TITLE}", "", _facts(results), ""]
    lines += [f"**{text}**\n" for text in _warnings(results)]
    lines += ["## Claims", "", _tally(verdicts), ""]
    lines += _markdown(
        Table(
            ("the paper says", "rule", "measured", "verdict"),
            [[v.text, v.rule, v.measured, v.verdict] for v in verdicts],
        )
    )
    for name, figure in figures.items():
        lines += [f"## {figure.title}", "", f"**The paper:** {figure.paper}", ""]
        lines += [f"**We find:** {figure.found or 'nothing yet.'}", ""]
        lines += [f"![{name}: {chart}]({PICTURES}/{name}-{chart}.svg)" for chart in figure.charts]
        lines += [""] * bool(figure.charts)
        for table in figure.tables:
            lines += _markdown(table) if table.rows else []
        if results.missing(name):
            lines += [f"Missing of it: {pieces(results.missing(name))}.", ""]
        lines += [figure.notes, ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(table: Table) -> list[str]:
    rows = [table.head, ["---"] * len(table.head), *table.rows]
    return [f"| {' | '.join(text.replace('|', '/') for text in row)} |" for row in rows] + [""]


def _facts(results: Results) -> str:
    plan, made = results.plan, _provenance(results)
    machines = "; ".join(
        ", ".join([m["cpu"], f"{m['cores']} cores", *([m["gpu"]] if "gpu" in m else [])])
        for m in made["machines"]
    )
    on_threads = BACKENDS[plan.device].on_threads
    where = "" if on_threads else f" for what the CPU does, chains on the {plan.device.upper()}"
    return (
        f"Scale {plan.scale}: corpora {', '.join(plan.sources)}; {counted(plan.seeds, 'seed')}, "
        f"{counted(plan.threads, 'thread')}{where}, alpha 0.1, beta 0.01, rare-word limit 10. "
        f"Machine: {machines or 'none yet'}. "
        f"polyaurn {', '.join(made['versions']) or '-'}; {pieces(made['cells'])} of work, "
        f"{made['seconds'] / 60:.0f} minutes in all."
    )


def _tally(verdicts: list[Verdict]) -> str:
    tally = Counter(verdict.verdict for verdict in verdicts)
    return f"{len(verdicts)} claims: " + ", ".join(
        f"{tally[name]} {name if name != 'agrees' else 'agree'}".replace("differs", "differ")
        for name in _COLOUR
    ) + "."  # fmt: skip


def _warnings(results: Results) -> list[str]:
    """Say what a reader must know before believing a number."""
    made, found = _provenance(results), []
    missing = sum(cell not in results.records for cell in results.plan.work())
    if missing:
        found.append(f"Missing: {pieces(missing)}; the same command continues.")
    generated = [source.name for source in results.plan.sources.values() if source.path is None]
    if generated:
        found.append(f"Generated, not real: {', '.join(generated)}.")
    if len(made["machines"]) > 1:
        found.append("Times come from several machines; ratios across them mean little.")
    if made["busy"]:
        found.append(
            f"Other programs were at work during {made['busy']} of {pieces(made['cells'])}; times "
            "of a quiet machine may differ."
        )
    if results.plan.scale != "full":
        found.append(
            f"Scale {results.plan.scale}: fewer sweeps, seeds and tokens than the paper's; "
            "verdicts on time and quality are provisional."
        )
    return found


def _provenance(results: Results) -> dict[str, Any]:
    """Return where the numbers come from."""
    records = results.records
    machines: dict[tuple[str, int], dict[str, Any]] = {}
    for found in (record["machine"] for record in records.values()):
        known = machines.setdefault((found["cpu"], found["cores"]), {})
        known |= {key: found[key] for key in ("cpu", "cores", "gpu") if key in found}
    busy = sum(
        (r["machine"]["load"] or 0.0) > LOADED * r["machine"]["cores"] for r in records.values()
    )
    return {
        "machines": list(machines.values()),
        "versions": sorted({r["version"] for r in records.values()}),
        "cells": len(records),
        "seconds": sum(r["wall_seconds"] for r in records.values()),
        "busy": busy,
    }
