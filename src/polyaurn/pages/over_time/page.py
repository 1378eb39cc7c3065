"""The page of topics over time: one HTML file that works offline."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.printable import printable
from polyaurn.files.stamps import stamped
from polyaurn.model.data import ModelData
from polyaurn.model.distance import row_quality
from polyaurn.model.labels import given_labels, labels_of
from polyaurn.model.leading_words import leading_words
from polyaurn.model.slices.slices import Slices
from polyaurn.model.slices.tables import entering, scores_of_slices, sizes_of_slices
from polyaurn.model.snippets import snippets
from polyaurn.model.tables.documents import leading_documents
from polyaurn.pages.over_time import streams
from polyaurn.pages.parts import cell, page

WORDS = 10  # of a topic in a slice
SHOWN_FIRST = 3  # topics whose tables are open
MOST_SNIPPETS = 3_000  # documents that are shown on a page
LEAST_SHARE = 0.1  # of a document that is shown for a topic
Texts = Callable[[I64], Sequence[str]]

_STYLE = (
    streams.STYLE
    + """
.wide { overflow-x: auto; }
details { border-top: 1px solid #ddd; padding: .45em 0; } summary { cursor: pointer; }
summary b { margin: 0 .5em 0 .3em; } summary .small { margin-left: .6em; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
.topic td, .topic th { text-align: left; vertical-align: top; }
.topic td.n { text-align: right; white-space: nowrap; } .topic td.list { min-width: 13em; }
ins { text-decoration: none; font-weight: 700; color: #00664a; }
del { color: #767676; }
.doc { color: #444; font-size: .9em; min-width: 16em; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
body { background: #16181c; color: #dcdcdc; } .small { color: #a5a5a5; } a { color: #7db8e8; }
td { border-color: #333; } th { border-color: #777; } svg, svg text { fill: #d0d0d0; }
svg path[stroke="#e3e3e3"] { stroke: #3a3d42; } details { border-color: #3a3d42; }
.streams path.band { stroke: #16181c; } .streams text.in { fill: #fff; }
ins { color: #4fd1a5; } del { color: #949494; } .doc { color: #b8b8b8; }
}
"""
)
_BODY = """<p>{facts}</p>
{picture}
<p class="legend">{legend}</p>
<p class="small">Shares of the tokens of each slice. The {own} topics that are largest in some slice
have colours{others}; point at a band for its words and shares.</p>
<h2>Slices</h2>
<div class="wide" tabindex="0" role="region" aria-label="Table of slices"><table>
<tr><th>slice</th><th>documents</th><th>tokens</th>{heads}</tr>{rows}</table></div>
{reading}
<h2>Topics</h2>
<p class="small">In the order of how much their words changed from the first slice to the last: the
number says how alike the two are, 1 for the same words in the same shares and 0 for none in
common. In each slice, the words that set a topic apart; <ins>+ bold</ins> ones entered, and
<del>struck</del> ones left: they are among its first {n} here, and were not among its first {twice}
in the slice before, or the other way round.</p>
{topics}"""


def render(slices: Slices, title: str = "Topics over time", texts: Texts | None = None) -> str:
    """Return the page; `texts` gives the texts of documents by their numbers in the corpus."""
    T, K = len(slices.models), slices.models[0].n_topics
    share: F64 = np.asarray(sizes_of_slices(slices, None)["share"], np.float64).reshape(T, K).T
    colours = streams.colours_of(share)
    names = labels_of(slices.models[-1])
    scores = scores_of_slices(slices)
    held_out = bool(scores["held_out_tokens"].any())
    own = sum(colour != streams.REST for colour in colours)
    body = _BODY.format(
        facts=_facts(slices),
        picture=streams.streams(share, slices.labels, names, colours),
        legend=streams.legend(names, colours),
        own=own,
        others=", and the others are grey" if own < K else "",
        heads="<th>held out</th><th>score</th><th>error</th>" if held_out else "",
        rows=_rows(scores, held_out=held_out),
        reading=_READING if held_out else "",
        n=WORDS,
        twice=2 * WORDS,
        topics=_topics(slices, share, colours, texts),
    )
    return stamped(page(escape(printable(title)), body, _STYLE))


_READING = """<p class="small">Score: log likelihood per token of documents that were held out, of
half of each document's tokens given the others, with its standard error over documents. Slices
have different documents: compare scores of the same slice between trainings.</p>"""


def _facts(slices: Slices) -> str:
    n = len(slices.models)
    documents = sum(len(model.doc_names) for model in slices.models)
    tokens = sum(len(model.assignments) for model in slices.models)
    first, last = (escape(printable(slices.labels[i])) for i in (0, -1))
    spans = f"{n:,} slices, from {first} to {last}" if n > 1 else f"One slice, {first}"
    missing = len(slices.cut.labels) - n
    unfinished = f" {missing:,} more slices are not trained yet." if missing else ""
    back = (
        ", and of later ones, faded alike, in a second pass" if slices.setting["both_ways"] else ""
    )
    return (
        f"{spans}: {documents:,} documents, {tokens:,} tokens, "
        f"{len(slices.models[0].vocab):,} words, {slices.models[0].n_topics:,} topics. The "
        f"prior of each slice has the counts of the slice before times "
        f"{slices.setting['carry']:g}, of the one before that times its square, and so "
        f"on{back}.{unfinished}"
    )


def _rows(scores: dict[str, Any], *, held_out: bool) -> str:
    rows = []
    for i, label in enumerate(scores["slice"]):
        cells = [cell(int(scores[name][i]), "{:,}") for name in ("documents", "tokens")]
        if held_out:
            there = scores["held_out_tokens"][i] > 0
            cells.append(cell(int(scores["held_out_documents"][i]), "{:,}"))
            cells += [
                cell(float(scores[n][i]) if there else None, "{:.4f}") for n in ("score", "error")
            ]
        rows.append(f"<tr><td>{escape(printable(label))}</td>{''.join(cells)}</tr>")
    return "".join(rows)


def _topics(slices: Slices, share: F64, colours: list[str], texts: Texts | None) -> str:
    models = slices.models
    alike = row_quality(models[0].topic_word_mass, models[-1].topic_word_mass)
    order = np.lexsort((-share.max(axis=1), alike)).tolist()
    given = given_labels(models[-1])
    behind = _documents(slices, order, texts)
    found = []
    for place, k in enumerate(order):
        words = " ".join(_words(slices, -1, k)[:6])
        name = f"{given[k]}: {words}" if given[k] else words
        found.append(
            f'<details id="topic-{k}"{" open" if place < SHOWN_FIRST else ""}><summary>'
            f'<span class="swatch" style="background:{colours[k]}"></span> <b>{k}</b>'
            f"{streams.small_stream(share[k], float(share[k].max()), colours[k], slices.labels)} "
            f'{escape(printable(name))}<span class="small">{share[k][0]:.1%} to {share[k][-1]:.1%} '
            f"of tokens; alike {alike[k]:.2f}</span></summary>"
            f'<div class="wide" tabindex="0" role="region" aria-label="Topic {k}">'
            '<table class="topic"><tr><th>slice</th><th>share</th><th>words</th><th>document</th>'
            f"</tr>{_slices_of_topic(slices, share[k], k, behind)}</table></div></details>"
        )
    return "".join(found)


def _slices_of_topic(slices: Slices, share: F64, k: int, behind: dict[Any, str]) -> str:
    rows = []
    for t, (label, model) in enumerate(zip(slices.labels, slices.models, strict=True)):
        new: set[str] = set()
        left: list[str] = []
        if t:
            last = slices.models[t - 1]
            new = {model.vocab[v] for v, _ in entering(last, model, k, WORDS)}
            left = [model.vocab[v] for v, _ in entering(model, last, k, WORDS)]
        words = [
            f"<ins>+{escape(printable(w))}</ins>" if w in new else escape(printable(w))
            for w in _words(slices, t, k)
        ]
        words += [f"<del>{escape(printable(w))}</del>" for w in left]
        rows.append(
            f'<tr><td>{escape(printable(label))}</td><td class="n">{share[t]:.1%}</td>'
            f'<td class="list">{" ".join(words)}</td>'
            f'<td class="doc">{behind.get((k, t), "&ndash;")}</td></tr>'
        )
    return "".join(rows)


def _words(slices: Slices, t: int, k: int) -> list[str]:
    model = slices.models[t]
    return [model.vocab[v] for v in leading_words(model, k, WORDS)[0].tolist()]


def _documents(slices: Slices, order: list[int], texts: Texts | None) -> dict[Any, str]:
    """Return the document with the largest share of each topic in each slice, as HTML.

    Where a topic rests, no document is of it.
    Topics come in `order` as far as the page has room for documents.
    """
    shown = np.array(order[: max(1, MOST_SNIPPETS // len(slices.models))], np.int64)
    leading: dict[Any, int] = {}
    for t, model in enumerate(slices.models):
        for k, found in zip(shown.tolist(), leading_documents(model, shown, 1), strict=True):
            if len(found) and _share(model, int(found[0]), k) >= LEAST_SHARE:
                leading[k, t] = int(found[0])
    said: dict[int, str] = {}
    numbers = {at: int(slices.documents_of(at[1])[d]) for at, d in leading.items()}
    if texts is not None:
        wanted = np.array(sorted(set(numbers.values())), np.int64)
        said = dict(zip(wanted.tolist(), texts(wanted), strict=True))
    html = {}
    for (k, t), d in leading.items():
        model = slices.models[t]
        text = said.get(numbers[k, t], "")
        name = f"<b>{escape(printable(model.doc_names[d]))}</b>"
        snippet = escape(printable(snippets(model, k, [text], 160)[0])) if text else ""
        html[k, t] = f"{name} {snippet}".strip()
    return html


def _share(model: ModelData, document: int, k: int) -> float:
    """Return the share of a topic in a document."""
    row = model.doc_topic_counts[[document]]
    return float(row[0, k]) / max(1.0, float(row.sum()))
