"""The command that says what changed between models. Heavy imports are deferred."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_settings
from polyaurn.cli.options import (
    READING,
    EscapeFormulas,
    Force,
    Json,
    Quiet,
    takes_settings,
)
from polyaurn.cli.sources import find_source, has_texts, read_source, stream
from polyaurn.cli.steps import note, noting_warnings, print_json
from polyaurn.cli.tables import show_table

if TYPE_CHECKING:
    from polyaurn.evaluate.difference import Difference, Differences
    from polyaurn.model.model import TopicModel


@takes_settings("random_state", "n_jobs", "device")
def diff(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Model folders: the old one and the new one; with more than two, each is compared "
            "with the first.",
            show_default=False,
        ),
    ],
    match: Annotated[
        str,
        typer.Option(
            help="How topics are matched: 'number', 'words', or 'auto', which is by number if the "
            "second model was updated from the first.",
            autocompletion=lambda: ["auto", "number", "words"],
        ),
    ] = "auto",
    out: Annotated[Path | None, typer.Option(help="A page, NAME.html.", show_default=False)] = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="The table of topics, NAME.csv or NAME.parquet.", show_default=False),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="What the new model was trained on, if it has moved; shows documents that no old "
            "topic explains.",
            show_default=False,
        ),
    ] = None,
    number: Annotated[int, typer.Option("--number", "-n", help="How many documents.")] = 10,
    escape_formulas: EscapeFormulas = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Say what changed between two models: topics that grew, shrank, moved, are new or died.

    The models may differ in words and in numbers of topics. Documents that no old topic explains
    are shown if the new model's corpus is found. For several models, such as those of several
    seeds, the topics of the first are listed with how many of the others have them.

    Example: polyaurn diff model newer --out changes.html
    """
    from polyaurn.evaluate.difference import check_match
    from polyaurn.evaluate.difference import diff as compare
    from polyaurn.exchange.tables import check_table_file, write_table
    from polyaurn.files.atomic import check_new_file
    from polyaurn.model.storage import load
    from polyaurn.pages.difference import write_diff
    from polyaurn.training.progress import following

    check_match(match, number)
    if len(models) < 2:
        raise InputError("The 'models' parameter must name two model folders or more. Got one.")
    if len(models) > 2 and corpus:
        raise InputError(
            f"The '--corpus' option is for two models. Got {len(models)}; compare the first with "
            "one of the others."
        )
    if out is not None:
        check_new_file(out, force=force, what="'--out' option", suffixes=(".html",))
    if csv is not None:
        check_table_file(csv, force=force, what="'--csv' option")
    options = check_settings(settings, quiet=quiet)
    loaded = [load(folder) for folder in models]
    shown: dict[str, Any] = {}
    if len(models) == 2:
        shown = _documents(loaded[1], models[1], corpus, quiet=quiet, json=json)
        shown |= {"n_documents": number} | options
    with noting_warnings(quiet=quiet), following("comparing", show=not quiet):
        found = compare(*loaded, match=match, **shown)
    table = found.topic_table(as_frame=False)
    if csv is not None:
        write_table(table, csv, escape_formulas=escape_formulas, force=force)
    if out is not None:
        names = (models[0].resolve().name, models[1].resolve().name)
        write_diff(found, out, names=names, force=force)
    if json:
        print_json(_for_machines(found))
    elif not quiet:
        _show(found)
        for file in filter(None, (out, csv)):
            note(f"Written: {file}")


def _documents(
    model: "TopicModel", folder: Path, corpus: Path | None, *, quiet: bool, json: bool
) -> dict[str, Any]:
    """Return the new model's documents, and their texts where there are any."""
    reading = {name: default for name, (_, default) in READING.items()}
    source, missing = find_source(model, folder, corpus, reading)
    if source is None:
        if not (quiet or json):
            missing = missing or (
                f"The folder '{folder}' does not say which corpus it was trained on. Name it with "
                "--corpus."
            )
            note(f"Note: {missing} Until then, no documents are shown.")
        return {}
    documents = read_source(source, quiet=True, bars=not quiet)
    texts = [text for _, text in stream(source)] if has_texts(source) else None
    return {"documents": documents, "texts": texts}


def _for_machines(found: "Difference | Differences") -> dict[str, Any]:
    from polyaurn.evaluate.difference import Difference

    said: dict[str, Any] = {"summary": found.summary}
    if isinstance(found, Difference):
        said |= {
            "match": found.match,
            "counts": found.counts,
            "shared_words": found.shared_words,
            "n_topics": list(found.n_topics),
        }
        if found.has_documents:
            said["documents"] = _rows(found.document_table(as_frame=False))
    return said | {"topics": _rows(found.topic_table(as_frame=False))}


def _rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    columns = [c if isinstance(c, list) else c.tolist() for c in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def _show(found: "Difference | Differences") -> None:
    """Show the summary, the table of topics, and the documents."""
    from polyaurn.evaluate.difference import Difference

    typer.echo(found.summary)
    rows = _rows(found.topic_table(as_frame=False))
    if not isinstance(found, Difference):
        columns = ("topic", "label", "share", "found in", "distance", "least share", "most share")
        show_table(
            columns,
            [
                (
                    str(r["topic"]), r["label"], f"{r['share']:.4f}", int(r["found_in"]),
                    _brief(r["distance"]), f"{r['least_share']:.4f}", f"{r['most_share']:.4f}",
                )
                for r in rows
            ],
            left=("label",),
        )  # fmt: skip
        return
    rows.sort(key=lambda r: -abs(r["share_after"] - r["share_before"]))
    show_table(
        ("before", "after", "label", "change", "share before", "share after", "distance",
         "gained", "lost"),
        [
            (
                *("-" if r[name] < 0 else str(r[name]) for name in ("topic_before", "topic_after")),
                r["label_after"] or r["label_before"], r["change"], f"{r['share_before']:.4f}",
                f"{r['share_after']:.4f}", _brief(r["distance"]), r["words_gained"],
                r["words_lost"],
            )
            for r in rows
        ],
        left=("label", "change", "gained", "lost"),
    )  # fmt: skip
    if not found.has_documents:
        return
    listed = _rows(found.document_table(as_frame=False))
    show_table(
        ("document", "before", "after", "topic now", "text"),
        [
            (
                str(r["document"]), f"{r['score_before']:.2f}", f"{r['score_after']:.2f}",
                r["label_after"], r.get("snippet", ""),
            )
            for r in listed
        ],
        title="Documents that no old topic explains",
        left=("document", "topic now", "text"),
    )  # fmt: skip


def _brief(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
