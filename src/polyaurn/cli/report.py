"""Commands that show a page about a model: report, serve. Heavy imports are deferred."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.options import ClassColumn, DateColumn, Json, ModelPath, Quiet, reads_corpus
from polyaurn.cli.steps import note, print_json

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.model.model import TopicModel

_Corpus = Annotated[
    Path | None,
    typer.Option(
        help="What the model was trained on, to show its documents; found unless it has moved.",
        show_default=False,
    ),
]
_Dates = Annotated[
    Path | None,
    typer.Option(
        help="File with a date per line, one for each document: shows topics over time.",
        show_default=False,
    ),
]
_Title = Annotated[str | None, typer.Option(help="Heading; the folder's name if not given.")]


@reads_corpus
def report(
    model: ModelPath,
    out: Annotated[Path, typer.Option(help="The page, NAME.html.")] = Path("report.html"),
    corpus: _Corpus = None,
    dates: _Dates = None,
    date_column: DateColumn = None,
    class_column: ClassColumn = None,
    title: _Title = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Write a page about a model: map, words, documents, training; one file that works offline.

    The documents are those of the file that the model was trained on, if it is still there. For a
    folder of 'polyaurn train --by', the page shows how topics change from slice to slice.

    Example: polyaurn report model --date-column published --title "Two years of reviews"
    """
    from polyaurn.cli.over_time import page_of
    from polyaurn.files.atomic import check_new_file, write_text
    from polyaurn.model.slices.folder import holds_slices
    from polyaurn.pages.report.page import render

    check_new_file(out, force=force, what="'--out' option", suffixes=(".html",))
    _check_options(dates, date_column)
    if holds_slices(model):
        text = page_of(model, corpus, reading, title, quiet=quiet or json)
    else:
        loaded, shown = _gather(
            model, corpus, dates, date_column, class_column, title, reading, quiet=quiet or json
        )
        text = render(shown(loaded))
    write_text(out, text)
    if json:
        print_json({"page": str(out), "bytes": out.stat().st_size})
    elif not quiet:
        note(f"{out}, {out.stat().st_size / 1e6:.1f} MB; open it in a browser")


@reads_corpus
def serve(
    model: ModelPath,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8765,
    corpus: _Corpus = None,
    dates: _Dates = None,
    date_column: DateColumn = None,
    class_column: ClassColumn = None,
    title: _Title = None,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Serve the page of a model on this machine only, to try your own texts and to edit topics.

    Pasted text gets its topics. Topics can be named and merged; both are saved to the model.

    Example: polyaurn serve model
    """
    from polyaurn.pages.report.edits import Edits
    from polyaurn.pages.report.page import render
    from polyaurn.pages.report.serve import Server, mix_text
    from polyaurn.training.signals import interrupted_by_signals

    _check_options(dates, date_column)
    loaded, shown = _gather(
        model, corpus, dates, date_column, class_column, title, reading, quiet=quiet
    )
    page = render(shown(loaded), served=True, editable=True)
    with Server(loaded, page, port, edits=Edits(model, shown)) as server:
        mix_text(loaded, loaded.vocab[0])  # compile before the first reader waits
        typer.echo(server.url)
        if not quiet:
            note(
                "Open this address in a browser on this machine; its token keeps other users out. "
                "Ctrl-C ends."
            )
        try:
            with interrupted_by_signals():
                server.serve_forever()
        except KeyboardInterrupt:
            note("Ended.")


def _check_options(dates: Path | None, date_column: str | None) -> None:
    """Reject options that contradict each other, before long work."""
    if dates is not None and date_column is not None:
        raise InputError(
            "The '--dates' option must stand without '--date-column'. Got both; give one of them."
        )


def _line(document: int) -> str:
    return f"line {document + 1:,}"


def _gather(
    folder: Path,
    corpus: Path | None,
    dates: Path | None,
    date_column: str | None,
    class_column: str | None,
    title: str | None,
    reading: dict[str, Any],
    *,
    quiet: bool,
) -> tuple["TopicModel", Callable[["TopicModel"], dict[str, Any]]]:
    """Return the model, and a function that says what the page of such a model shows."""
    from polyaurn.cli import sources as of
    from polyaurn.model.storage import load
    from polyaurn.pages.report.data import DATES, gather
    from polyaurn.pages.report.dates import read_dates
    from polyaurn.training.progress import status

    loaded = load(folder)
    given = None if dates is None else read_dates(dates)
    source_of_dates = DATES if dates is None else f"file '{dates}'"
    dates_at: Callable[[int], str] = _line
    source, moved = of.find_source(loaded, folder, corpus, reading, date_column, class_column)
    if moved and not quiet:
        note(f"Note: {moved} Until then, documents are shown without their words.")
    documents: Corpus | None = None
    classes: list[str] | None = None
    if source is not None:
        documents = (
            of.read_documents(loaded, source, quiet=quiet)
            if corpus is not None
            else of.read_found_documents(loaded, source, quiet=quiet)
        )
    if source is not None and documents is not None:
        if reading["name_column"] is not None and len(documents) == len(loaded.doc_names):
            loaded = replace(loaded, doc_names=documents.doc_names)
        if source.date_column is not None and dates is None:
            given = of.column(source, source.date_column, "date_column")
            source_of_dates = f"column '{source.date_column}'"
            dates_at = partial(of.place_in, source)
        if source.class_column is not None:
            classes = of.column(source, source.class_column, "class_column")
    texts = None
    if source is not None and documents is not None and of.has_texts(source):
        texts = partial(of.texts_at, source)

    def shown(model: "TopicModel") -> dict[str, Any]:
        with status("laying out topics", show=not quiet):
            return gather(
                model, documents, given, texts=texts, classes=classes,
                title=title or folder.resolve().name, dates_source=source_of_dates,
                dates_at=dates_at,
            )  # fmt: skip

    return loaded, shown
