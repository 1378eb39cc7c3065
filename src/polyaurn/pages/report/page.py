"""The page: a template, a style and scripts, with the data escaped inside."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from polyaurn.corpus.corpus import Corpus
from polyaurn.files.atomic import check_new_file, write_text
from polyaurn.files.stamps import is_stamped, stamped
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.packing import pack

SCRIPTS = (
    "dom", "data", "theme", "address", "tabs", "downloads", "chart", "map", "topics", "documents",
    "time", "classes", "similar", "training", "search", "try", "edit", "start",
)  # fmt: skip
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # in JSON, only inside strings


def write_report(
    model: Any,
    out: str | Path,
    *,
    corpus: Corpus | None = None,
    texts: Sequence[str] | None = None,
    dates: Iterable[Any] | None = None,
    classes: Iterable[Any] | None = None,
    title: str = "Topics",
    force: bool = False,
) -> Path:
    """Write a page about a model: one HTML file that works offline.

    A page that this function wrote, and nobody changed, is replaced, so that a cell of a notebook
    can be run again.

    Parameters
    ----------
    model : TopicModel or LDA
        The model.
    out : str or Path
        The file, NAME.html.
    corpus : Corpus, optional
        What the model was trained on; documents then show their words, coloured by topic.
    texts : sequence of str, optional
        The texts that the model was trained on, one for each document; those that a topic explains
        best, and a sample of the others, can then be read in the page, their words coloured by
        topic. The corpus need not be given with them.
    dates : iterable, optional
        A date for each document: 2024, 2024-05, 2024-05-17 or a date object; None or empty where
        there is none. The page then shows topics over time and, with a corpus, words.
    classes : iterable, optional
        A string or a number for each document, such as its section or author; None or empty where
        there is none. The page then shows topics by class.
    title : str
        The page's heading.
    force : bool
        Replace any file that is there.

    Returns
    -------
    Path
        The file. The same model gives the same bytes.

    Examples
    --------
    >>> import tempfile, polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=30, n_words=40, n_topics=3)
    >>> lda = polyaurn.LDA(3, max_iter=20, verbose=False).fit(corpus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = polyaurn.write_report(lda, f"{folder}/report.html", corpus=corpus)
    ...     page.name
    'report.html'
    """
    force = force or (isinstance(out, str | Path) and is_stamped(Path(out)))
    target = check_new_file(out, force=force, what="'out' parameter", suffixes=(".html",))
    data = gather(model, corpus, dates, title=title, texts=texts, classes=classes)
    write_text(target, stamped(render(data)))
    return target


def render(data: dict[str, Any], *, served: bool = False, editable: bool = False) -> str:
    """Return the page as HTML, from the data of `gather`.

    `served` says that a server takes texts, and `editable` that it takes changes of the model.

    Its policy lets only its own script run and nothing be loaded.
    """
    style, script, packs = _read("page.css"), _script(), data["packs"]
    parts = {
        "policy": _policy(style, script, served=served),
        "title": escape(_plain(data["title"])),
        "style": style,
        "script": script,
        "data": as_json(
            {name: value for name, value in data.items() if name != "packs"}
            | {"served": served, "editable": editable}
            | {"packs": {name: len(blocks) for name, blocks in packs.items()}}
        ),
        "packs": "".join(
            f'<script type="text/plain" id="{name}-{i}">{pack(block)}</script>\n'
            for name, blocks in packs.items()
            for i, block in enumerate(blocks)
        ),
    }
    first, *rest = _read("page.html").split("{{")
    filled = [first]
    for piece in rest:
        name, after = piece.split("}}", 1)
        filled += [parts[name], after]
    return "".join(filled)


def as_json(value: Any) -> str:
    """Return JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _plain(text).translate(_UNSAFE)


def _plain(text: str) -> str:
    """Return text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def _policy(style: str, script: str, *, served: bool) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'; connect-src "
        + ("'self'" if served else "'none'")
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _script() -> str:
    body = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _read(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")
