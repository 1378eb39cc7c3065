"""Commands that train: train, demo. Heavy imports wait inside."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.cli.checks import check_not_both, check_settings, check_trace, check_words
from polyaurn.cli.config import Config, run_as_config
from polyaurn.cli.options import (
    INTERRUPTED,
    ClassColumn,
    CorpusPath,
    DateColumn,
    Json,
    Quiet,
    Words,
    reads_corpus,
    takes_settings,
)
from polyaurn.cli.sources import check_columns
from polyaurn.cli.steps import fit_and_save, note, print_json, read
from polyaurn.cli.tables import show_topics, topics_for_machines

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

DEMO_FOLDER = Path("polyaurn-demo")
DEMO = "demo"  # a fact of models that the command of this name made, which it may replace


@reads_corpus
@takes_settings()
def train(
    context: typer.Context,
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(help="Folder for the model.", show_default=False)],
    config: Config = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume from the last checkpoint; start if there is none."),
    ] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Also write the trace here, one JSON record per sweep.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a model or a run in the folder.")
    ] = False,
    date_column: DateColumn = None,
    class_column: ClassColumn = None,
    words: Words = 10,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Train a topic model.

    Example: polyaurn train reviews.csv --text-column review --topics 50 --min-count 5 --out model

    The run is kept in the folder while it lasts. Ctrl-C ends it after the sweep; it, and a run
    that was killed, are resumed with the same command and --resume, to the same model in every
    byte. Options may be stored in a TOML file. The model's folder has one that repeats the run, and
    from which 'polyaurn report' knows the corpus, dates and classes:

    Example: polyaurn train --config model/config.toml --out same-model
    """
    from polyaurn.model.folder import check_target

    parameters = check_settings(settings, quiet=quiet)
    check_not_both(resume, force)
    check_words(words)
    check_target(out, force=force or resume, name="--out")
    check_trace(trace, corpus, force or resume)
    check_columns(corpus, reading, date_column=date_column, class_column=class_column)
    documents = read(corpus, reading, quiet=quiet or json, bars=not quiet)
    model, stopped = fit_and_save(
        documents,
        out=out,
        trace=trace,
        quiet=quiet or json,
        bars=not quiet,
        resume=resume,
        config=run_as_config(context, documents.tokenization),
        **parameters,
    )
    _show(
        model, out, 20, words, stopped, f"see all topics with: polyaurn topics {out}", json, quiet
    )


@takes_settings(
    "n_components", "max_iter", "random_state", "n_jobs", "device", n_components=40, max_iter=300
)
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model.")] = DEMO_FOLDER,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Train on the docstrings of Python, numpy, scipy and scikit-learn, offline.

    Example: polyaurn demo --topics 20
    """
    from polyaurn.datasets import python_docs
    from polyaurn.model.folder import check_target
    from polyaurn.training.progress import status

    parameters = check_settings(settings, quiet=quiet)
    check_target(out, force=_is_demo(out), name="--out")
    with status("reading docstrings", show=not quiet) as say:
        corpus = python_docs(on_file=lambda i, n: say(f"reading docstrings, file {i} of {n}"))
    if not (quiet or json):
        note(f"Docstrings of Python, numpy, scipy and scikit-learn: {corpus!r}")
    model, stopped = fit_and_save(
        corpus, out=out, quiet=quiet or json, bars=not quiet, facts={DEMO: True}, **parameters
    )
    _show(model, out, None, 10, stopped, f"try: polyaurn topics {out} --words 20", json, quiet)


def _is_demo(folder: Path) -> bool:
    """Return whether a folder holds a model of an earlier demo; raise an error for another one."""
    from polyaurn.base.errors import InputError
    from polyaurn.files.names import HEADER
    from polyaurn.files.sealed import Damaged, read_header

    if not (folder / HEADER).exists():
        return False
    try:
        facts = read_header(folder / HEADER).get("parameters")
    except Damaged:
        facts = None
    if isinstance(facts, dict) and facts.get(DEMO) is True:
        return True
    raise InputError(
        f"The folder '{folder}' holds a model that this command did not make, and is left alone. "
        "Choose another folder with --out, or move the model."
    )


def _show(
    model: "TopicModel",
    out: Path,
    most: int | None,
    words: int,
    stopped: bool,
    next_step: str,
    json: bool,
    quiet: bool,
) -> None:
    """Show what was trained, and end with the exit code."""
    if json:
        scores = [r["log_posterior"] for r in model.trace if r["log_posterior"] is not None]
        print_json(
            {
                "model": str(out),
                "documents": len(model.doc_names),
                "vocabulary": len(model.vocab),
                "tokens": len(model.assignments),
                "sweeps": model.parameters["sweeps"],
                "averaged_draws": model.averaged_draws,
                "stopped": stopped,
                "seconds": model.trace[-1].get("seconds"),
                "log_posterior": scores[-1] if scores else None,
                "topics": topics_for_machines(model, words, by_size=True),
            }
        )
    elif not quiet:
        show_topics(model, words, by_size=True, most=most)
        note(f"Model written to {out}; {next_step}")
    if stopped:
        raise typer.Exit(INTERRUPTED)
