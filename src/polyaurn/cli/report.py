"""Commands that put a model on a page: report, serve. Heavy imports wait inside."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.options import READING, Json, ModelPath, Quiet, reads_corpus
from polyaurn.cli.steps import as_trained, note, print_json, read, reading_options

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.model.model import TopicModel

_Corpus = Annotated[
    Path | None,
    typer.Option(
        help="What the model was trained on: shows words of documents.",
        show_default=False,
    ),
]
_Dates = Annotated[
    Path | None,
    typer.Option(
        help="File with a date a line, one for each document: shows topics over time.",
        show_default=False,
    ),
]
_DateColumn = Annotated[
    str | None, typer.Option(help="The dates, as a column of the corpus' table.")
]
_Title = Annotated[str | None, typer.Option(help="Heading; the folder's name if not given.")]


@reads_corpus
def report(
    model: ModelPath,
    out: Annotated[Path, typer.Option(help="The page, NAME.html.")] = Path("report.html"),
    corpus: _Corpus = None,
    dates: _Dates = None,
    date_column: _DateColumn = None,
    title: _Title = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Put a model on a page: a map, words, documents, training; one file that works offline.

    Example: polyaurn report model --corpus reviews.csv --text-column review --out report.html
    """
    from polyaurn.files.atomic import check_new_file, write_text
    from polyaurn.pages.report.page import render

    check_new_file(out, force=force, what="'--out' option", suffixes=(".html",))
    _check_options(corpus, dates, date_column, reading)
    _, data = _gather(model, corpus, dates, date_column, title, reading, quiet=quiet or json)
    write_text(out, render(data))
    if json:
        print_json({"page": str(out), "bytes": out.stat().st_size})
    elif not quiet:
        note(f"{out}, {out.stat().st_size / 1e6:.1f} MB; open it in a browser")


@reads_corpus
def serve(
    model: ModelPath,
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8765,
    corpus: _Corpus = None,
    dates: _Dates = None,
    date_column: _DateColumn = None,
    title: _Title = None,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Show the page of a model, with live inference for pasted text, on this machine only.

    Example: polyaurn serve model
    """
    from polyaurn.pages.report.page import render
    from polyaurn.pages.report.serve import Server, mix_text
    from polyaurn.training.signals import interrupted_by_signals

    _check_options(corpus, dates, date_column, reading)
    loaded, data = _gather(model, corpus, dates, date_column, title, reading, quiet=quiet)
    with Server(loaded, render(data, served=True), port) as server:
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


def _check_options(
    corpus: Path | None, dates: Path | None, date_column: str | None, reading: dict[str, Any]
) -> None:
    """Reject options that have nothing to work on, before long work."""
    if dates is not None and date_column is not None:
        raise InputError(
            "The '--dates' option must stand without '--date-column'. Got both; give one of them."
        )
    if corpus is not None:
        return
    given = ["--date-column"] if date_column is not None else []
    given += [
        f"--{name.replace('_', '-')}"
        for name, (_, default) in READING.items()
        if reading[name] != default
    ]
    if given:
        raise InputError(
            f"The '{given[0]}' option is for reading a corpus. Got it without one; add --corpus."
        )


def _gather(
    model: Path,
    corpus: Path | None,
    dates: Path | None,
    date_column: str | None,
    title: str | None,
    reading: dict[str, Any],
    *,
    quiet: bool,
) -> tuple["TopicModel", dict[str, Any]]:
    """Return the model and what its page shows."""
    from polyaurn.model.storage import load
    from polyaurn.pages.report.data import gather
    from polyaurn.pages.report.dates import read_dates
    from polyaurn.training.progress import status

    loaded = load(model)
    given, source = None, f"file '{dates}', line"
    if dates is not None:
        given = read_dates(dates)
    documents: Corpus | None = None
    if corpus is not None:
        options = as_trained(loaded, corpus, reading, model)
        documents = _in_words_of(loaded, read(corpus, options, quiet=quiet))
        if reading["name_column"] is not None and len(documents) == len(loaded.doc_names):
            loaded = replace(loaded, doc_names=documents.doc_names)
        if date_column is not None:
            given = _column(corpus, date_column, options)
            source = f"column '{date_column}', document"
    with status("laying out topics", show=not quiet):
        data = gather(
            loaded, documents, given, title=title or model.resolve().name, dates_source=source
        )
    return loaded, data


def _in_words_of(model: "TopicModel", corpus: "Corpus") -> "Corpus":
    """Return a corpus with only the model's words, so that pruning need not be asked for again."""
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.corpus.known_words import in_words_of

    known = in_words_of(model.vocab, corpus)
    return Corpus(known.doc_ptr, known.word, model.vocab, known.doc_names)


def _column(corpus: Path, date_column: str, reading: dict[str, Any]) -> list[str]:
    """Return a column of the table that the corpus was read from, a value for each document."""
    from polyaurn.corpus.readers import TABLE_FORMATS, check_options, recognise, stream_texts

    options = reading_options(reading | {"name_column": date_column})
    kind = check_options(corpus, reading["format"] or recognise(corpus), reading)
    if kind not in TABLE_FORMATS:
        raise InputError(
            f"The '--date-column' option is for tables, but '{corpus}' was read as {kind}. Give "
            "--dates, a file with a date a line."
        )
    wanted = ("encoding", "text_column", "name_column", "separator")
    try:
        rows = stream_texts(corpus, kind, **{name: options[name] for name in wanted})
        return [str(value) for value, _ in rows]
    except InputError as error:
        raise InputError(str(error).replace("name_column", "date_column")) from None
