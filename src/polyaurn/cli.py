"""The command line. Heavy imports wait inside the commands, so that help is immediate."""

import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from polyaurn.cli_options import (
    CorpusPath,
    Encoding,
    Format,
    MaxDocFraction,
    MaxWords,
    MinCount,
    ModelPath,
    NameColumn,
    Ngrams,
    Quiet,
    Separator,
    StopWords,
    TextColumn,
    TokenPattern,
    Transpose,
    Vocabulary,
    Words,
)
from polyaurn.errors import InputError

if TYPE_CHECKING:
    from polyaurn.corpus import Corpus
    from polyaurn.model import TopicModel

INTERRUPTED = 130
UsageError: Any = typer.BadParameter.__bases__[0]  # of click, or of the copy typer brings
DEMO_FOLDER = Path("polyaurn-demo")
OPTIONS = {  # what the command line calls the parameters of Python
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
        str, typer.Option(help="'polya-urn' (fast) or 'partially-collapsed' (exact, dense).")
    ] = "polya-urn",
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    threads: Annotated[
        int, typer.Option("--threads", "-t", help="-1 takes all cores; the model is the same.")
    ] = -1,
    eval_every: Annotated[
        int, typer.Option(help="Compute the log posterior every so many sweeps; 0 never.")
    ] = 10,
    trace: Annotated[
        Path | None, typer.Option(help="Also write the trace here, a JSON record a sweep.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model in the folder.")] = False,
    words: Words = 10,
    quiet: Quiet = False,
    min_count: MinCount = None,
    max_doc_fraction: MaxDocFraction = 1.0,
    max_words: MaxWords = None,
    stop_words: StopWords = None,
    ngrams: Ngrams = None,
    token_pattern: TokenPattern = None,
    text_column: TextColumn = None,
    name_column: NameColumn = None,
    separator: Separator = None,
    vocabulary: Vocabulary = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    transpose: Transpose = False,
) -> None:
    """Train a topic model.

    Example: polyaurn train reviews.csv --text-column review --topics 50 --min-count 5 --out model

    Ctrl-C ends the training after the sweep and keeps the model so far.
    """
    from polyaurn.kernels import check_sampler
    from polyaurn.state import check_topics
    from polyaurn.store import check_target

    check_topics(topics, "--topics")
    check_sampler(sampler, "--sampler")
    check_target(out, force=force, name="--out")
    _check_words(words)
    _check_trace(trace, corpus, force)
    documents = _read(
        corpus,
        quiet=quiet,
        min_count=min_count,
        max_doc_fraction=max_doc_fraction,
        max_words=max_words,
        vocabulary=vocabulary,
        text_column=text_column,
        name_column=name_column,
        separator=separator,
        format=format,
        encoding=encoding,
        transpose=transpose,
        text={"stop_words": stop_words, "token_pattern": token_pattern, "ngrams": ngrams},
    )
    model, stopped = _fit(
        documents,
        out=out,
        force=force,
        trace=trace,
        quiet=quiet,
        n_components=topics,
        max_iter=sweeps,
        doc_topic_prior=_prior(alpha, "--alpha"),
        topic_word_prior=_prior(beta, "--beta"),
        sampler=sampler,
        random_state=seed,
        n_jobs=threads,
        evaluate_every=eval_every,
    )
    if not quiet:
        _show_topics(model, words, by_size=True, most=20)
        _note(f"Model written to {out}; see all topics with: polyaurn topics {out}")
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
        _print_json(
            [
                {"topic": k, "tokens": sizes[k], "words": [list(pair) for pair in listed[k]]}
                for k in _order(loaded, by_size)
            ]
        )
    else:
        _show_topics(loaded, words, by_size=by_size)


@app.command()
@stoppable
def info(
    corpus: CorpusPath,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    min_count: MinCount = None,
    max_doc_fraction: MaxDocFraction = 1.0,
    max_words: MaxWords = None,
    stop_words: StopWords = None,
    ngrams: Ngrams = None,
    token_pattern: TokenPattern = None,
    text_column: TextColumn = None,
    name_column: NameColumn = None,
    separator: Separator = None,
    vocabulary: Vocabulary = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    transpose: Transpose = False,
) -> None:
    """Describe a corpus: sizes, sparsity, Heaps' law.

    Example: polyaurn info docword.kos.txt.gz --min-count 10
    """
    from polyaurn.diagnostics import summarise

    documents = _read(
        corpus,
        quiet=json,
        min_count=min_count,
        max_doc_fraction=max_doc_fraction,
        max_words=max_words,
        vocabulary=vocabulary,
        text_column=text_column,
        name_column=name_column,
        separator=separator,
        format=format,
        encoding=encoding,
        transpose=transpose,
        text={"stop_words": stop_words, "token_pattern": token_pattern, "ngrams": ngrams},
    )
    summary = summarise(documents)
    if json:
        _print_json(summary._asdict())
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
        _note(f"Docstrings of Python, numpy, scipy and scikit-learn: {corpus!r}")
    model, stopped = _fit(
        corpus,
        out=out,
        force=replace,
        trace=None,
        quiet=quiet,
        n_components=topics,
        max_iter=sweeps,
        random_state=seed,
        n_jobs=threads,
    )
    if not quiet:
        _show_topics(model, 10, by_size=True)
        _note(f"Model written to {out}; try: polyaurn topics {out} --words 20")
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
        _note(f"Written: {picture} and {numbers}")


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


def _read(path: Path, *, quiet: bool, text: dict[str, Any], **options: Any) -> "Corpus":
    from polyaurn.progress import status
    from polyaurn.readers import read_corpus, recognise

    for name in ("text_column", "name_column"):
        if options[name] is not None and options[name].lstrip("-").isdigit():
            options[name] = int(options[name])
    chosen = {name: value for name, value in text.items() if value is not None}
    if "ngrams" in chosen:
        most = chosen.pop("ngrams")
        if most < 1:
            raise InputError(f"The '--ngrams' option must be at least 1. Got {most} instead.")
        chosen["ngram_range"] = (1, most)
    with status(f"reading {path}", show=not quiet):
        corpus = read_corpus(path, **options, **chosen)
    if not quiet:
        _note(f"{path}, read as {options['format'] or recognise(path)}: {corpus!r}")
        if corpus.n_empty:
            _note(f"Note: {corpus.note_of_empty_documents()}")
    return corpus


def _fit(
    corpus: "Corpus", *, out: Path, force: bool, trace: Path | None, quiet: bool, **parameters: Any
) -> tuple["TopicModel", bool]:
    """Train, stop on Ctrl-C, save; return the model and whether it was stopped early."""
    import warnings

    from polyaurn.estimator import LDA
    from polyaurn.stopping import StopOnSignal
    from polyaurn.store import save
    from polyaurn.tracefile import TraceFile

    with StopOnSignal() as stop, TraceFile(trace) as trace_file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # empty documents were noted already
        lda = LDA(
            **parameters,
            verbose=not quiet,
            callbacks=[trace_file.write, lambda state, info: stop.asked],
        )
        lda.fit(corpus)
        save(lda.model_, out, force=force)
    stopped = bool(stop.asked and lda.n_iter_ < lda.max_iter)
    if stopped:
        _note(f"Stopped after sweep {lda.n_iter_:,} of {lda.max_iter:,}; the model so far is kept.")
    elif not quiet:
        last = lda.trace_[-1]
        score = last["log_posterior"]
        per_token = (
            "" if score is None else f", log posterior {score / corpus.n_tokens:.4f} a token"
        )
        _note(f"{lda.n_iter_:,} sweeps in {last['seconds']:.1f} s of sampling{per_token}")
    return lda.model_, stopped


def _show_topics(
    model: "TopicModel", n_words: int, *, by_size: bool, most: int | None = None
) -> None:
    sizes = model.topic_sizes
    listed = model.topics(n_words)
    order = _order(model, by_size)[:most]
    if not sys.stdout.isatty():
        for k in order:
            typer.echo(f"{k}\t{sizes[k]}\t{' '.join(listed[k])}")
        return
    from rich.console import Console
    from rich.table import Table

    shown = "" if len(order) == model.n_topics else f", the {len(order)} largest"
    table = Table(title=f"{model.n_topics} topics{shown}", box=None, header_style="bold")
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("tokens", justify="right")
    table.add_column("most probable words")
    for k in order:
        table.add_row(str(k), f"{sizes[k]:,}", " ".join(listed[k]))
    Console().print(table)


def _order(model: "TopicModel", by_size: bool) -> list[int]:
    sizes = model.topic_sizes
    return sorted(range(model.n_topics), key=lambda k: -sizes[k] if by_size else k)


def _prior(value: str, name: str) -> Any:
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return [float(number) for number in Path(value).read_text(encoding="utf-8").split()]
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it holds something else"
        raise InputError(
            f"The '{name}' option must be a positive number, or a file of numbers. Got {value!r}, "
            f"which cannot be read as one ({why}); give a number such as 0.1."
        ) from None


def _check_words(words: int) -> None:
    if words < 1:
        raise InputError(f"The '--words' option must be at least 1. Got {words} instead.")


def _check_trace(path: Path | None, corpus: Path, force: bool) -> None:
    if path is not None and path.exists() and (not force or path.resolve() == corpus.resolve()):
        raise InputError(
            f"The '--trace' option must name a new file. '{path}' is there already; choose another "
            "name, or replace an old trace with --force."
        )
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InputError(
            f"The '--trace' option must name a file in a folder that exists. Got '{path}'; create "
            "the folder or choose another name."
        )


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _note(message: str) -> None:
    typer.echo(message, err=True)


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
        _note("polyaurn: stopped; nothing was written.")
        code = INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    _note(f"polyaurn: {message}")
    sys.exit(2)


def _in_options(message: str) -> str:
    """Say '--min-count' where the message says 'min_count', as the user typed it."""

    def rename(found: re.Match[str]) -> str:
        name = found.group(1)
        return f"'{OPTIONS.get(name, '--' + name.replace('_', '-'))}' option"

    return re.sub(r"'([a-z_]+)' parameter", rename, message)


if __name__ == "__main__":
    main()
