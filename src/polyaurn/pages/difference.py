"""The page of what changed between two models, or several: one HTML file that works offline."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.base.printable import printable
from polyaurn.evaluate.difference import Difference, Differences
from polyaurn.files.atomic import check_new_file, write_text
from polyaurn.files.stamps import is_stamped, stamped
from polyaurn.pages.parts import page, wide
from polyaurn.pages.slopes import STYLE as SLOPES
from polyaurn.pages.slopes import Slope, slope_chart

DRAWN = 24  # topics in the chart
_BOUNDS = ("least_share", "most_share")
STYLE = (
    """
:root { color-scheme: light dark; --up: #00795a; --down: #b8490a; --moved: #0b62a8;
  --faint: #767676; --line: #ddd; --back: #fff; --text: #222; }
@media (prefers-color-scheme: dark) { :root { --up: #4fd1a5; --down: #f79a5e; --moved: #7db8f5;
  --faint: #9a9a9a; --line: #444; --back: #16181c; --text: #e6e6e6; } }
body { background: var(--back); color: var(--text); } .small { color: var(--faint); }
td, th { border-color: var(--line); vertical-align: top; } td.words { text-align: left; }
th.words { text-align: left; } .wide { overflow-x: auto; }
td.grew, td.new { color: var(--up); } td.shrank, td.died { color: var(--down); }
td.moved { color: var(--moved); } .summary { font-size: 1.1em; max-width: 60em; }
td.words { min-width: 9em; overflow-wrap: anywhere; }
td.change { min-width: 0; } .snippet { min-width: 16em; }
.key span { margin-right: 1em; } .key .up { color: var(--up); } .key .down { color: var(--down); }
.key .moved { color: var(--moved); } .key { white-space: normal; }
"""
    + SLOPES
)
_BODY = """<p class="summary">{summary}</p>
<p class="small">Topics are matched by {match}; {sizes}. {shared} of the new model's tokens are of
words that the old one has.</p>
<h2>Sizes before and after</h2>
<p class="small key"><span class="up">grew or new</span><span class="down">shrank or died</span>
<span class="moved">moved only</span><span>as before</span></p>
{chart}
<p class="small">Shares of the documents' tokens. {drawn}</p>
<h2>Topics</h2>
<div class="wide" tabindex="0" role="region" aria-label="Topics"><table>
<tr><th class="words">topic</th><th class="words">change</th>
<th>before</th><th>after</th><th>distance</th><th class="words">words gained</th>
<th class="words">words lost</th></tr>{rows}</table></div>
<p class="small">Largest changes first. Distance: Hellinger distance between the words before and
after, from 0 to 1, with what two samples of one topic differ by taken out; above 0.5 a topic has
moved. Words gained and lost are leading words that became at least twice as probable, or at most
half.</p>{documents}"""
_DOCUMENTS = """<h2>Documents that no old topic explains</h2>{table}
<p class="small">Those whose score the new model raises most. Scores are log likelihoods per token,
in nats, of every second token given the mixture inferred from the others. The new model may have
been trained on these documents, which raises its score a little for all of them.</p>"""
_SEVERAL = """<p class="summary">{summary}</p>
{table}
<p class="small">Topics of the first model, those that most others have first. Shares are of the
documents' tokens: in the first model, and the least and the most in any. The distance is the mean
over the models that have the topic: the Hellinger distance between its words, from 0 to 1, with
what two samples of one topic differ by taken out.</p>"""


def write_diff(
    difference: Difference | Differences,
    out: str | Path,
    *,
    title: str = "What changed",
    names: tuple[str, str] = ("before", "after"),
    force: bool = False,
) -> Path:
    """Write a page about what changed between models: one HTML file that works offline.

    A page that this function wrote, and nobody changed, is replaced, so that a cell of a notebook
    can be run again.

    Parameters
    ----------
    difference : Difference or Differences
        From `polyaurn.diff`, of two models or of more.
    out : str or Path
        The file, NAME.html.
    title : str
        The page's heading.
    names : tuple of two str
        What two models are called in the picture.
    force : bool
        Replace any file that is there.

    Returns
    -------
    Path
        The file. The same difference gives the same bytes.

    Examples
    --------
    >>> import tempfile, polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=60, n_words=60, n_topics=3)
    >>> old, new = (polyaurn.LDA(k, max_iter=20, verbose=False).fit(corpus) for k in (3, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     polyaurn.write_diff(polyaurn.diff(old, new), f"{folder}/diff.html").name
    'diff.html'
    """
    if not isinstance(difference, Difference | Differences):
        raise InputError(
            "The 'difference' parameter must be a Difference of models. Got "
            f"{type(difference).__name__} instead; polyaurn.diff returns one."
        )
    force = force or (isinstance(out, str | Path) and is_stamped(Path(out)))
    target = check_new_file(out, force=force, what="'out' parameter", suffixes=(".html",))
    if isinstance(difference, Difference):
        html = render(difference, title, names)
    else:
        html = _render_several(difference, title)
    write_text(target, stamped(html))
    return target


def render(difference: Difference, title: str, names: tuple[str, str]) -> str:
    """Return the page as HTML."""
    table = difference.topic_table(as_frame=False)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    rows.sort(key=lambda row: -abs(row["share_after"] - row["share_before"]))
    few = sorted(
        rows, key=lambda r: (-(r["change"] != "same"), -max(r["share_before"], r["share_after"]))
    )[:DRAWN]
    before, after = difference.n_topics
    drawn = "" if len(few) == len(rows) else (
        f"Shown are {len(few)} of {len(rows):,} topics: those that changed first, then the largest."
    )  # fmt: skip
    body = _BODY.format(
        summary=_safe(difference.summary),
        match="number" if difference.match == "number" else "their words",
        sizes=f"{before:,} before, {after:,} after",
        shared=f"{difference.shared_words:.0%}",
        chart=slope_chart([_slope(row) for row in few], names),
        drawn=drawn,
        rows="".join(map(_row, rows)),
        documents=_documents(difference),
    )
    return page(_safe(title), body, STYLE)


def _render_several(differences: Differences, title: str) -> str:
    """Return the page of several models as HTML: a table of the first one's topics."""
    table, n = differences.topic_table(as_frame=False), len(differences.pairs)
    rows = ""
    for i in np.lexsort((-table["share"], -table["found_in"])).tolist():
        far = table["distance"][i]
        shares = "".join(f"<td>{table[c][i]:.2%}</td>" for c in ("share", *_BOUNDS))
        rows += (
            f'<tr><td class="words">{table["topic"][i]}: {_safe(table["label"][i])}</td>'
            f"<td>{table['found_in'][i]} of {n}</td>{shares}"
            f"<td>{'&ndash;' if far != far else f'{far:.2f}'}</td></tr>"
        )
    head = (
        '<tr><th class="words">topic</th><th>found in</th><th>share</th><th>least</th>'
        "<th>most</th><th>distance</th></tr>"
    )
    shown = wide(f"<table>{head}{rows}</table>", "Topics")
    body = _SEVERAL.format(summary=_safe(differences.summary), table=shown)
    return page(_safe(title), body, STYLE)


def _slope(row: dict[str, Any]) -> Slope:
    return Slope(
        printable(row["label_before"]),
        printable(row["label_after"]),
        float(row["share_before"]) if row["topic_before"] >= 0 else None,
        float(row["share_after"]) if row["topic_after"] >= 0 else None,
        row["change"].split(", ")[0],
    )


def _row(row: dict[str, Any]) -> str:
    numbers = [str(row[name]) for name in ("topic_before", "topic_after") if row[name] >= 0]
    number = numbers[0] if len(set(numbers)) == 1 else " → ".join(numbers)
    label = row["label_after"] or row["label_before"]
    if row["label_before"] and row["label_before"] != label:
        label = f"{label} (was: {row['label_before']})"
    shares = "".join(
        f"<td>{row[share]:.2%}</td>" if row[topic] >= 0 else "<td>&ndash;</td>"
        for share, topic in (("share_before", "topic_before"), ("share_after", "topic_after"))
    )
    far = row["distance"]
    kind = row["change"].split(", ")[0]
    return (
        f'<tr><td class="words">{number}: {_safe(label)}</td>'
        f'<td class="words change {kind}">{escape(row["change"])}</td>{shares}'
        f"<td>{'&ndash;' if far != far else f'{far:.2f}'}</td>"
        f'<td class="words">{_safe(row["words_gained"])}</td>'
        f'<td class="words">{_safe(row["words_lost"])}</td></tr>'
    )


def _documents(difference: Difference) -> str:
    if not difference.has_documents:
        return ""
    table = difference.document_table(as_frame=False)
    snippets = table.get("snippet", [""] * len(table["document"]))
    rows = "".join(
        f'<tr><td class="words">{_safe(str(table["document"][i]))}</td>'
        f"<td>{table['score_before'][i]:.2f}</td><td>{table['score_after'][i]:.2f}</td>"
        f"<td>{table['unknown_before'][i]:.0%}</td>"
        f'<td class="words">{table["topic_after"][i]}: {_safe(table["label_after"][i])}</td>'
        f'<td class="words snippet">{_safe(snippet)}</td></tr>'
        for i, snippet in enumerate(snippets)
    )
    if not rows:
        return "<h2>Documents that no old topic explains</h2><p>There are none.</p>"
    head = (
        '<tr><th class="words">document</th><th>score before</th><th>after</th>'
        '<th>unknown words</th><th class="words">topic now</th><th class="words">text</th></tr>'
    )
    return _DOCUMENTS.format(table=wide(f"<table>{head}{rows}</table>", "Documents"))


def _safe(text: str) -> str:
    """Return text from anywhere, escaped; its direction does not change that of others."""
    return f"<bdi>{escape(printable(text).encode('utf-8', 'replace').decode())}</bdi>"
