"""The command line. Heavy imports wait inside the commands, so that help is immediate."""

import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from polyaurn.cli_evaluation import compare, evaluate, infer
from polyaurn.cli_exchange import export, import_model
from polyaurn.cli_grid import sweep
from polyaurn.cli_options import (
    INTERRUPTED,
    CorpusPath,
    MhSteps,
    ModelPath,
    Quiet,
    Words,
    reads_corpus,
)
from polyaurn.cli_reproduce import reproduce
from polyaurn.cli_steps import (
    check_not_both,
    check_trace,
    check_words,
    fit_and_save,
    in_order,
    note,
    number_or_word,
    print_json,
    prior,
    read,
    reading_options,
    show_topics,
)
from polyaurn.errors import InputError

UsageError: Any = typer.BadParameter.__bases__[0]  # of click, or of the copy typer brings
DEMO_FOLDER = Path("polyaurn-demo")
OPTIONS = {  # what the command line calls the parameters of Python
    "n_components": "--topics",
    "max_iter": "--sweeps",
    "doc_topic_prior": "--alpha",
    "topic_word_prior": "--beta",
    "random_state": "--seed",
    "n_jobs": "--threads",
    "evaluate_every": "--eval-every",
    "n_words": "--words",
    "ngram_range": "--ngrams",
}

app = typer.Typer(
    name="polyaurn",
    help="Topic models by the Pólya urn sampler: parallel, doubly sparse, reproducible.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Stopped(Exception):  # noqa: N818
    """Ctrl-C came before there was anything to keep."""


def stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """Let Ctrl-C out of a command as `Stopped`, which typer does not take for its own."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            raise Stopped from None

    return run


@app.command()
@stoppable
@reads_corpus
def train(
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(help="Folder for the model.", show_default=False)],
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
            "'polya-urn-mh', 'collapsed', 'light', 'collapsed-dense'."
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
    eval_every: Annotated[
        int, typer.Option(help="Compute the log posterior every so many sweeps; 0 never.")
    ] = 10,
    warm_start: Annotated[
        str,
        typer.Option(
            help="'grow' begins on few documents, 'smooth' with larger priors, 'random' with "
            "neither; 'auto' chooses."
        ),
    ] = "auto",
    phi_refreshes: Annotated[
        str, typer.Option(help="Draws of Phi in a sweep, 1 to 8; 'auto' chooses.")
    ] = "auto",
    mh_steps: MhSteps = None,
    learn_priors_every: Annotated[
        int, typer.Option(help="Learn alpha and beta every so many sweeps; 0 keeps them.")
    ] = 0,
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
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Train a topic model.

    Example: polyaurn train reviews.csv --text-column review --topics 50 --min-count 5 --out model

    The run is kept in the folder while it goes on. Ctrl-C ends it after the sweep; it, and a run
    that was killed, go on with the same command and --resume, to the same model in every byte.
    """
    from polyaurn.kernels import check_proposals, check_sampler
    from polyaurn.state import check_topics
    from polyaurn.store import check_target
    from polyaurn.store.checkpoints import read_every

    check_topics(topics, "--topics")
    check_proposals([check_sampler(sampler, "--sampler")], mh_steps)
    check_not_both(resume, force)
    check_target(out, force=force or resume, name="--out")
    check_words(words)
    check_trace(trace, corpus, force or resume)
    read_every(checkpoint_every)
    documents = read(corpus, reading, quiet=quiet)
    model, stopped = fit_and_save(
        documents,
        out=out,
        trace=trace,
        quiet=quiet,
        resume=resume,
        checkpoint_every=checkpoint_every,
        n_components=topics,
        max_iter=sweeps,
        doc_topic_prior=prior(alpha, "--alpha"),
        topic_word_prior=prior(beta, "--beta"),
        sampler=sampler,
        random_state=seed,
        n_jobs=threads,
        evaluate_every=eval_every,
        warm_start=warm_start,
        phi_refreshes=number_or_word(phi_refreshes),
        mh_steps=mh_steps,
        learn_priors_every=learn_priors_every,
    )
    if not quiet:
        show_topics(model, words, by_size=True, most=20)
        note(f"Model written to {out}; see all topics with: polyaurn topics {out}")
    if stopped:
        raise typer.Exit(INTERRUPTED)


@app.command()
def topics(
    model: ModelPath,
    words: Words = 10,
    by_size: Annotated[bool, typer.Option("--by-size", help="Largest topics first.")] = False,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show the topics of a model.

    Example: polyaurn topics model --words 15 --by-size
    """
    from polyaurn.store import load

    loaded = load(model)
    if json:
        sizes = loaded.topic_sizes.tolist()
        listed = loaded.topics(words, weights=True)
        print_json(
            [
                {"topic": k, "tokens": sizes[k], "words": [list(pair) for pair in listed[k]]}
                for k in in_order(loaded, by_size)
            ]
        )
    else:
        show_topics(loaded, words, by_size=by_size)


@app.command(name="import")
@stoppable
@reads_corpus
def import_(
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(help="The file, NAME.urn.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Convert a corpus into a file that train uses where it lies, however large.

    Text and UCI files are read piece by piece, so that they may be larger than memory.

    Example: polyaurn import docword.pubmed.txt.gz --min-count 10 --out pubmed.urn
    """
    from polyaurn.importing import check_out, import_corpus
    from polyaurn.progress import status

    check_out(out, force=force)
    with status(f"reading {corpus}", show=not quiet) as say:
        documents = import_corpus(
            corpus,
            out,
            on_piece=lambda n: say(f"reading {corpus}, {n:,} documents"),
            **reading_options(reading),
        )
    if not quiet:
        note(f"{documents!r} written to {out}; train on it with: polyaurn train {out} --out MODEL")


@app.command()
@stoppable
@reads_corpus
def info(
    corpus: CorpusPath,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Describe a corpus: sizes, sparsity, Heaps' law.

    Example: polyaurn info docword.kos.txt.gz --min-count 10
    """
    from polyaurn.diagnostics import summarise

    documents = read(corpus, reading, quiet=json)
    summary = summarise(documents)
    if json:
        print_json(summary._asdict())
        return
    rows = [
        ("documents", f"{summary.documents:,} ({summary.empty_documents:,} empty)"),
        ("vocabulary", f"{summary.vocabulary:,} ({summary.words_used:,} occur)"),
        ("tokens", f"{summary.tokens:,}"),
        ("document-word pairs", f"{summary.distinct_pairs:,}"),
        ("sparsity", f"{1 - summary.density:.4%} of document-word cells are zero"),
        (
            "document length",
            f"{summary.shortest:,} to {summary.longest:,}, median {summary.median_length:,.0f}, "
            f"mean {summary.mean_length:,.1f}",
        ),
        ("Heaps' law", f"V = {summary.heaps_xi:.3g} N^{summary.heaps_psi:.3f}"),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        typer.echo(f"{name:<{width}}  {value}")


for command in (infer, evaluate, compare, sweep, export, import_model, reproduce):
    app.command()(stoppable(command))


@app.command()
@stoppable
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model.")] = DEMO_FOLDER,
    topics: Annotated[int, typer.Option("--topics", "-k", help="Number of topics.")] = 40,
    sweeps: Annotated[int, typer.Option(help="Sweeps over the corpus.")] = 300,
    seed: Annotated[int, typer.Option(help="The seed.")] = 0,
    threads: Annotated[int, typer.Option("--threads", "-t", help="-1 takes all cores.")] = -1,
    quiet: Quiet = False,
) -> None:
    """Train on the docstrings of Python, numpy, scipy and scikit-learn, offline.

    Example: polyaurn demo --topics 20
    """
    from polyaurn.datasets import python_docs
    from polyaurn.progress import status
    from polyaurn.state import check_topics
    from polyaurn.store import check_target

    check_topics(topics, "--topics")
    replace = out == DEMO_FOLDER  # an earlier demo may go, a model of the user's may not
    check_target(out, force=replace, name="--out")
    with status("reading docstrings", show=not quiet) as say:
        corpus = python_docs(on_file=lambda i, n: say(f"reading docstrings, file {i} of {n}"))
    if not quiet:
        note(f"Docstrings of Python, numpy, scipy and scikit-learn: {corpus!r}")
    model, stopped = fit_and_save(
        corpus,
        out=out,
        quiet=quiet,
        n_components=topics,
        max_iter=sweeps,
        random_state=seed,
        n_jobs=threads,
    )
    if not quiet:
        show_topics(model, 10, by_size=True)
        note(f"Model written to {out}; try: polyaurn topics {out} --words 20")
    if stopped:
        raise typer.Exit(INTERRUPTED)


@app.command()
@stoppable
def theory(
    study: Annotated[
        str, typer.Argument(help="appendix-a, urn or complexity.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the picture and the numbers.")] = Path(
        "polyaurn-theory"
    ),
    quiet: Quiet = False,
) -> None:
    """Make the paper's theory visible: a PNG and a JSON for each study.

    appendix-a: a collapsed Gibbs sampler that is slower than an uncollapsed one.
    urn: the distance between the urn and the Dirichlet as counts grow.
    complexity: work of a token against the size of the corpus.

    Example: polyaurn theory urn --out theory
    """
    from polyaurn.progress import status
    from polyaurn.theory import run

    with status(f"computing {study}", show=not quiet):
        numbers, picture, _ = run(study, out)
    if not quiet:
        note(f"Written: {picture} and {numbers}")


def _version(wanted: bool) -> None:
    if wanted:
        from polyaurn._version import __version__

        typer.echo(f"polyaurn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; bad input is one sentence and exit code 2."""
    try:
        code = app(prog_name="polyaurn", standalone_mode=False)
    except InputError as error:
        _fail(_in_options(str(error)))
    except UsageError as error:
        if not error.format_message() or type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        name = error.ctx.command_path if error.ctx else "polyaurn"
        _fail(f"{error.format_message().rstrip('.')}; see '{name} --help'.")
    except (Stopped, KeyboardInterrupt, typer.Abort):
        note("polyaurn: stopped; nothing was written.")
        code = INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    note(f"polyaurn: {message}")
    sys.exit(2)


def _in_options(message: str) -> str:
    """Say '--min-count' where the message says 'min_count', as the user typed it."""

    def rename(found: re.Match[str]) -> str:
        name = found.group(1)
        return f"'{OPTIONS.get(name, '--' + name.replace('_', '-'))}' option"

    return re.sub(r"'([a-z_]+)' parameter", rename, message)


if __name__ == "__main__":
    main()
