"""Commands that train: train, demo. Heavy imports wait inside."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.cli.checks import (
    check_not_both,
    check_trace,
    check_training,
    check_words,
    choose_device,
)
from polyaurn.cli.config import Config, run_as_config
from polyaurn.cli.options import (
    INTERRUPTED,
    CorpusPath,
    Device,
    Json,
    MhSteps,
    Quiet,
    Threads,
    Words,
    reads_corpus,
    sampler_names,
)
from polyaurn.cli.steps import fit_and_save, note, number_or_word, print_json, read, read_seeds
from polyaurn.cli.tables import show_topics, topics_for_machines

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

DEMO_FOLDER = Path("polyaurn-demo")


@reads_corpus
def train(
    context: typer.Context,
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(help="Folder for the model.", show_default=False)],
    config: Config = None,
    topics: Annotated[int, typer.Option("--topics", "-k", help="Number of topics, K.")] = 100,
    sweeps: Annotated[int, typer.Option(help="Sweeps over the corpus.")] = 1000,
    alpha: Annotated[
        str, typer.Option(help="Prior of topics in a document: a number, or a file of K numbers.")
    ] = "0.1",
    beta: Annotated[
        str, typer.Option(help="Prior of words in a topic: a number, or a file of V numbers.")
    ] = "0.01",
    sampler: Annotated[
        str,
        typer.Option(
            help="'polya-urn' (fast), 'partially-collapsed' (exact, dense), or a rival: "
            "'polya-urn-mh', 'collapsed', 'light', 'collapsed-dense'.",
            autocompletion=sampler_names,
        ),
    ] = "polya-urn",
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            "-t",
            help="-1 takes all cores; the model is the same, but for 'collapsed' and 'light'.",
        ),
    ] = -1,
    device: Device = "cpu",
    eval_every: Annotated[
        int, typer.Option(help="Compute the log posterior every so many sweeps; 0 never.")
    ] = 10,
    warm_start: Annotated[
        str,
        typer.Option(
            help="'grow' begins on few documents, 'smooth' with larger priors, 'random' with "
            "neither; 'auto' chooses.",
            autocompletion=lambda: ["auto", "grow", "smooth", "random"],
        ),
    ] = "auto",
    phi_refreshes: Annotated[
        str, typer.Option(help="Draws of Phi in a sweep, 1 to 8; 'auto' chooses.")
    ] = "auto",
    mh_steps: MhSteps = None,
    learn_priors_every: Annotated[
        int, typer.Option(help="Learn alpha and beta every so many sweeps; 0 keeps them.")
    ] = 0,
    seed_words: Annotated[
        Path | None,
        typer.Option(help="File of words that topics should hold; lines such as '3: orbit nasa'."),
    ] = None,
    seed_strength: Annotated[
        str, typer.Option(help="Tokens of a topic's seed words; 'auto' is a tenth of a topic.")
    ] = "auto",
    checkpoint_every: Annotated[
        str,
        typer.Option(
            help="Sweeps between checkpoints, or a time: '30s', '5min', '1h'; 'auto' is a minute."
        ),
    ] = "auto",
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the last checkpoint; start if there is none."),
    ] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Also write the trace here, a JSON record a sweep.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a model or a run in the folder.")
    ] = False,
    words: Words = 10,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Train a topic model.

    Example: polyaurn train reviews.csv --text-column review --topics 50 --min-count 5 --out model

    The run is kept in the folder while it goes on. Ctrl-C ends it after the sweep; it, and a run
    that was killed, go on with the same command and --resume, to the same model in every byte.
    Options may lie in a TOML file. The model's folder has one that repeats the run:

    Example: polyaurn train --config model/config.toml --out same-model
    """
    from polyaurn.model.folder import check_target
    from polyaurn.training.checkpoints import read_every

    parameters = check_training(
        topics, sweeps, alpha, beta, sampler, seed, threads, eval_every, warm_start, phi_refreshes,
        mh_steps, learn_priors_every,
    ) | {"device": choose_device(device, sampler, quiet=quiet)}  # fmt: skip
    strength = number_or_word(seed_strength)
    seeds = None if seed_words is None else read_seeds(seed_words, strength, sampler)
    read_every(checkpoint_every)
    check_not_both(resume, force)
    check_words(words)
    check_target(out, force=force or resume, name="--out")
    check_trace(trace, corpus, force or resume)
    documents = read(corpus, reading, quiet=quiet or json, bars=not quiet)
    model, stopped = fit_and_save(
        documents,
        out=out,
        trace=trace,
        quiet=quiet or json,
        bars=not quiet,
        resume=resume,
        checkpoint_every=checkpoint_every,
        config=run_as_config(context),
        seed_words=seeds,
        seed_strength=strength,
        **parameters,
    )
    _show(
        model, out, 20, words, stopped, f"see all topics with: polyaurn topics {out}", json, quiet
    )


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model.")] = DEMO_FOLDER,
    topics: Annotated[int, typer.Option("--topics", "-k", help="Number of topics.")] = 40,
    sweeps: Annotated[int, typer.Option(help="Sweeps over the corpus.")] = 300,
    seed: Annotated[int, typer.Option(help="The seed.")] = 0,
    threads: Threads = -1,
    device: Device = "cpu",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on the docstrings of Python, numpy, scipy and scikit-learn, offline.

    Example: polyaurn demo --topics 20
    """
    from polyaurn.datasets import python_docs
    from polyaurn.model.folder import check_target
    from polyaurn.training.progress import status

    parameters = check_training(topics, sweeps, seed=seed, threads=threads)
    parameters["device"] = choose_device(device, parameters["sampler"], quiet=quiet)
    replace = out == DEMO_FOLDER  # an earlier demo may go, a model of the user's may not
    check_target(out, force=replace, name="--out")
    with status("reading docstrings", show=not quiet) as say:
        corpus = python_docs(on_file=lambda i, n: say(f"reading docstrings, file {i} of {n}"))
    if not (quiet or json):
        note(f"Docstrings of Python, numpy, scipy and scikit-learn: {corpus!r}")
    model, stopped = fit_and_save(
        corpus, out=out, quiet=quiet or json, bars=not quiet, **parameters
    )
    _show(model, out, None, 10, stopped, f"try: polyaurn topics {out} --words 20", json, quiet)


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
