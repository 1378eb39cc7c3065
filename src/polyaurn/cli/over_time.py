"""Topics over time at the command line: trained by 'train --by', shown by 'report'."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.options import INTERRUPTED
from polyaurn.cli.steps import note, print_json

if TYPE_CHECKING:
    from polyaurn.base.arrays import I64
    from polyaurn.cli.sources import Source
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.estimator.over_time import TopicsOverTime
    from polyaurn.model.slices.cutting import Cut
    from polyaurn.model.slices.slices import Slices

_TIME = "Topics over time"
By = Annotated[
    str | None,
    typer.Option(
        help="Train a model for each span of the dates in --date-column: 'day', 'week', 'month', "
        "'quarter', 'year' or 'decade'; topics keep their numbers.",
        autocompletion=lambda: ["day", "week", "month", "quarter", "year", "decade"],
        rich_help_panel=_TIME,
    ),
]
Carry = Annotated[
    float | None,
    typer.Option(
        help="Share of a slice's counts that the prior of the next one has, from 0 to 1; 0.5 when "
        "not given.",
        rich_help_panel=_TIME,
    ),
]
BothWays = Annotated[
    bool,
    typer.Option(
        "--both-ways",
        help="Train a second time, from the last slice back, with counts of later slices as well.",
        rich_help_panel=_TIME,
    ),
]
HeldOut = Annotated[
    float | None,
    typer.Option(
        help="Share of each slice's documents that is held out and scored; 0.1 when not given.",
        rich_help_panel=_TIME,
    ),
]
SliceSweeps = Annotated[
    int | None,
    typer.Option(
        help="Sweeps of each slice after the first; 60 when not given.", rich_help_panel=_TIME
    ),
]
NAMES = {"slice_iter": "slice_sweeps"}
_SHOWN = 20  # topics


def check_over_time(
    by: str | None, date_column: str | None, trace: Path | None, given: dict[str, Any]
) -> None:
    """Reject options that do not belong together."""
    from polyaurn.base.checks import check_one_of
    from polyaurn.model.slices.cutting import BY
    from polyaurn.training.slices import check_carry, check_held_out, check_slice_iter

    if by is None:
        wanted = [name for name, value in given.items() if value not in (None, False)]
        if wanted:
            raise InputError(
                f"The '--{NAMES.get(wanted[0], wanted[0]).replace('_', '-')}' option is for topics "
                "over time. Got it without '--by'; add '--by year', or leave it out."
            )
        return
    check_one_of(by, "by", BY)
    if date_column is None:
        raise InputError(
            "The '--by' option cuts documents by their dates. Got it without '--date-column'; name "
            "the column of the table that has them."
        )
    if trace is not None:
        raise InputError(
            "The '--trace' option is for one run. Got it with '--by'; each slice's folder has its "
            "own trace.jsonl."
        )
    checks: dict[str, Callable[[Any], Any]] = {
        "carry": check_carry, "held_out": check_held_out, "slice_iter": check_slice_iter,
    }  # fmt: skip
    for name, check in checks.items():
        if given[name] is not None:
            check(given[name])


def with_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Return options of slices with the defaults of those that were not given."""
    from inspect import signature

    from polyaurn.estimator.over_time import TopicsOverTime

    plain = signature(TopicsOverTime).parameters
    return {n: plain[n].default if value is None else value for n, value in given.items()}


def check_folder(out: Path, *, resume: bool, force: bool) -> None:
    """Reject a folder in which slices cannot be kept, before long work."""
    from polyaurn.model.slices.folder import check_new, holds_slices

    if not ((resume or force) and holds_slices(out)):
        check_new(out, name="out")


def cut(source: "Source", by: str) -> "Cut":
    """Return the slices of documents by their column of dates, and note those without one."""
    from polyaurn.cli.sources import column, place_in
    from polyaurn.cli.steps import noting_warnings
    from polyaurn.model.slices.cutting import cut_by_date

    dates = column(source, str(source.date_column), "date_column")
    try:
        with noting_warnings(quiet=False):
            return cut_by_date(dates, by, len(dates), partial(place_in, source))
    except InputError as error:
        said = str(error).replace("'dates' parameter", "'--date-column' option")
        raise InputError(said) from None


def train_over_time(
    documents: "Corpus",
    cut: "Cut",
    *,
    out: Path,
    words: int,
    config: str,
    given: dict[str, Any],
    parameters: dict[str, Any],
    resume: bool,
    force: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Train a model for each slice, stop on Ctrl-C, and show what changed."""
    import warnings

    from polyaurn.estimator.over_time import TopicsOverTime
    from polyaurn.files.atomic import write_text
    from polyaurn.files.locks import locked
    from polyaurn.files.names import CONFIG
    from polyaurn.model.slices.cutting import check_words
    from polyaurn.model.slices.folder import holds_slices, remove_slices
    from polyaurn.training.signals import StopOnSignal
    from polyaurn.training.slices import lengths_of

    check_words(cut, lengths_of(documents))
    with StopOnSignal() as stop, locked(out.absolute()), warnings.catch_warnings():
        if force and holds_slices(out):
            remove_slices(out)
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: note(f"Note: {message}")
        topics = TopicsOverTime(
            checkpoint=out,
            resume=resume,
            verbose=not quiet,
            callbacks=lambda state, info: stop.asked,
            **given,
            **parameters,
        )
        topics.fit_cut(documents, cut)
        write_text(out / CONFIG, config)
    slices = topics.__dict__.get("slices_")
    if slices is None or not slices.models:
        note(f"Stopped in the first slice. Continue with the same command and --resume: {out}")
        raise typer.Exit(INTERRUPTED)
    _show(topics, out, words, json=json, quiet=quiet)
    if not slices.complete:
        note(
            f"Stopped after {len(slices.models):,} of {len(cut.labels):,} slices, which are kept "
            f"in {out}. Continue with the same command and --resume."
        )
        raise typer.Exit(INTERRUPTED)


def _show(topics: "TopicsOverTime", out: Path, words: int, *, json: bool, quiet: bool) -> None:
    """Show the slices, and the words of topics in the first and the last one."""
    scores = topics.held_out_scores(as_frame=False)
    columns = {n: c if isinstance(c, list) else c.tolist() for n, c in scores.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if json:
        for row in rows:
            row["topics"] = topics.topics(row["slice"], words)
        print_json({"folder": str(out), "complete": topics.slices_.complete, "slices": rows})
        return
    if quiet:
        return
    from polyaurn.cli.tables import show_table

    show_table(
        ("slice", "documents", "tokens", "held-out score"),
        [(r["slice"], r["documents"], r["tokens"], f"{r['score']:.4f} ± {r['error']:.4f}"
          if r["held_out_tokens"] else "") for r in rows],
        left=("slice",),
    )  # fmt: skip
    first, last = topics.topics(0, words), topics.topics(topics.n_slices_ - 1, words)
    share = topics.topic_sizes(as_frame=False)["share"].reshape(topics.n_slices_, -1)
    order = (-share.mean(axis=0)).argsort(kind="stable")[:_SHOWN].tolist()
    labels = topics.slices_.labels
    show_table(
        ("topic", "share", f"words in {labels[0]}", f"words in {labels[-1]}"),
        [
            (str(k), f"{share[0, k]:.1%} to {share[-1, k]:.1%}", " ".join(first[k]),
             " ".join(last[k]))
            for k in order
        ],
        left=("share", f"words in {labels[0]}", f"words in {labels[-1]}"),
    )  # fmt: skip
    note(f"Slices written to {out}; see how they change with: polyaurn report {out}")


def page_of(
    folder: Path, corpus: Path | None, reading: dict[str, Any], title: str | None, *, quiet: bool
) -> str:
    """Return the page of a folder of slices."""
    from polyaurn.estimator.over_time import TopicsOverTime
    from polyaurn.pages.over_time import render

    slices = TopicsOverTime.load(folder).slices_
    texts = _texts(slices, folder, corpus, reading, quiet=quiet)
    return render(slices, title or folder.resolve().name, texts)


def _texts(
    slices: "Slices", folder: Path, corpus: Path | None, reading: dict[str, Any], *, quiet: bool
) -> "Callable[[I64], list[str]] | None":
    """Return a function that gives texts of documents; None, with a note, where there are none."""
    from polyaurn.cli import sources as of

    source, moved = of.find_source(slices.models[-1], folder, corpus, reading, cut=False)
    if moved and not quiet:
        note(f"Note: {moved} Until then, documents are shown by their names.")
    if source is None or not of.has_texts(source):
        return None
    n = sum(1 for _ in of.stream(source))
    if n != len(slices.cut.number):
        if not quiet:
            note(
                f"Note: '{source.path}' has {n:,} documents and the slices were cut from "
                f"{len(slices.cut.number):,}, so documents are shown by their names."
            )
        return None
    return lambda numbers: of.texts_at(source, numbers)
