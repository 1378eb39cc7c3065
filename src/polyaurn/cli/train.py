"""Commands that train: train, demo. Heavy imports are deferred."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.cli.checks import (
    check_not_both,
    check_settings,
    check_trace,
    check_words,
    estimator_of,
    was_worker,
)
from polyaurn.cli.clusters import CLUSTERS, HDP, check_model, cluster_parameters, is_given
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
from polyaurn.cli.over_time import (
    NAMES,
    BothWays,
    By,
    Carry,
    HeldOut,
    SliceSweeps,
    check_folder,
    check_over_time,
    cut,
    train_over_time,
    with_defaults,
)
from polyaurn.cli.sources import Source, check_columns
from polyaurn.cli.steps import fit_and_save, note, print_json, read
from polyaurn.cli.tables import show_topics, topics_for_machines

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

DEMO_FOLDER = Path("polyaurn-demo")
MOST_TOPICS = 1000  # of --model hdp, when not given
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
    by: By = None,
    carry: Carry = None,
    both_ways: BothWays = False,
    held_out: HeldOut = None,
    slice_sweeps: SliceSweeps = None,
    words: Words = 10,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Train a topic model.

    Example: polyaurn train reviews.csv --text-column review --topics 50 --min-count 5 --out model

    The run is kept in the folder until it ends. Ctrl-C stops it after the current sweep; a run that
    was stopped or killed is resumed by the same command with --resume, and gives the same model,
    byte for byte. Options may be stored in a TOML file. The model's folder has one that repeats the
    run, from which 'polyaurn report' takes the corpus, dates and classes:

    Example: polyaurn train --config model/config.toml --out same-model

    With --by, each span of time has a model, whose prior is the faded counts of earlier spans. The
    folder has a model folder for each, and 'polyaurn report' shows how topics change:

    Example: polyaurn train reviews.csv --text-column review --date-column date --by year --out time

    With --model clusters, each document has one topic, as suits titles and messages:

    Example: polyaurn train titles.txt --model clusters --topics 200 --out clusters
    """
    from polyaurn.model.folder import check_target

    kind = check_model(settings["model"], by)
    if was_worker(settings):
        return
    if kind == CLUSTERS:
        parameters = cluster_parameters(context, settings)
    else:
        if kind == HDP and not is_given(context, "topics"):
            settings["topics"] = context.params["topics"] = MOST_TOPICS
        parameters = check_settings(settings, quiet=quiet)
    check_not_both(resume, force)
    check_words(words)
    of_slices = {"carry": carry, "both_ways": both_ways, "held_out": held_out,
                 "slice_iter": slice_sweeps}  # fmt: skip
    check_over_time(by, date_column, trace, of_slices)
    if by is None:
        check_target(out, force=force or resume, name="--out")
    else:
        check_folder(out, resume=resume, force=force)
    check_trace(trace, corpus, force or resume)
    check_columns(corpus, reading, date_column=date_column, class_column=class_column)
    slices = None
    if by is not None:
        slices = cut(Source(corpus, reading, date_column, None), by)
    documents = read(corpus, reading, quiet=quiet or json, bars=not quiet)
    if not (quiet or json or is_given(context, "topics")):
        of = "n_clusters" if kind == CLUSTERS else "n_components"
        what = "clusters" if kind == CLUSTERS else "topics"
        at_most = "at most " * (kind in (CLUSTERS, HDP))
        note(f"{at_most}{parameters[of]:,} {what}, the default; --topics chooses")
    if slices is not None:
        of_slices = with_defaults(of_slices)
        context.params.update({NAMES.get(n, n): value for n, value in of_slices.items()})
        train_over_time(
            documents, slices, out=out, words=words, given=of_slices, parameters=parameters,
            config=run_as_config(context, documents.tokenization), resume=resume, force=force,
            json=json, quiet=quiet,
        )  # fmt: skip
        return
    make, parameters = estimator_of(parameters)
    if resume:
        _say_as_begun(context, out)
    trained, stopped = fit_and_save(
        documents,
        make=make,
        out=out,
        trace=trace,
        quiet=quiet or json,
        bars=not quiet,
        resume=resume,
        config=run_as_config(context, documents.tokenization),
        **parameters,
    )
    following = f"see all topics with: polyaurn topics {out}"
    show(trained, out, 20, words, stopped, following, json, quiet)


def _say_as_begun(context: typer.Context, out: Path) -> None:
    """Give the options of a resumed run what "auto" stood for when it began."""
    from polyaurn.training.checkpoints import run_in
    from polyaurn.training.settings import SETTINGS

    begun = run_in(out) or {}
    for name in ("sampler", "warm_start"):
        if context.params[name] == "auto" and begun.get(name) in SETTINGS[name].choices:
            context.params[name] = begun[name]


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
    show(model, out, None, 10, stopped, f"try: polyaurn topics {out} --words 20", json, quiet)


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


def show(
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
    from polyaurn.model.top_level import count_topics

    if json:
        scores = [r["log_posterior"] for r in model.trace if r["log_posterior"] is not None]
        print_json(
            {
                "model": str(out),
                "documents": model.parameters["n_documents"],
                "vocabulary": len(model.vocab),
                "tokens": model.parameters["n_tokens"],
                "sweeps": model.parameters["sweeps"],
                "averaged_draws": model.averaged_draws,
                "stopped": stopped,
                "seconds": model.trace[-1].get("seconds"),
                "log_posterior": scores[-1] if scores else None,
                **_number_of_topics(model),
                "topics": topics_for_machines(model, words, by_size=True),
            }
        )
    elif not quiet:
        show_topics(model, words, by_size=True, most=most)
        if model.priors.top is not None:
            note(f"{count_topics(model)}")
        note(f"Model written to {out}; {next_step}")
    if stopped:
        raise typer.Exit(INTERRUPTED)


def _number_of_topics(model: "TopicModel") -> dict[str, Any]:
    """Return the number of topics of a hierarchical Dirichlet process; nothing for another."""
    from polyaurn.model.top_level import count_topics

    top = model.priors.top
    if top is None:
        return {}
    return {"n_topics": count_topics(model)._asdict(), "alpha": top.alpha, "gamma": top.gamma}
