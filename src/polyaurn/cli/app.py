"""The command line. Heavy imports are deferred into the commands, so that help is fast."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, NoReturn

import typer

from polyaurn.base.errors import CompilationWarning, InputError
from polyaurn.cli.corpus import import_, info
from polyaurn.cli.diff import diff
from polyaurn.cli.documents import documents
from polyaurn.cli.drift import drift
from polyaurn.cli.evaluate import compare, evaluate, infer
from polyaurn.cli.exchange import export, import_model
from polyaurn.cli.label import label
from polyaurn.cli.options import INTERRUPTED
from polyaurn.cli.plots import plot
from polyaurn.cli.report import report, serve
from polyaurn.cli.reproduce import reproduce
from polyaurn.cli.steps import note
from polyaurn.cli.theory import theory
from polyaurn.cli.topic_grid import choose_topics, sweep
from polyaurn.cli.topics import topics
from polyaurn.cli.train import demo, train
from polyaurn.cli.update import update
from polyaurn.training.settings import OPTIONS

UsageError: Any = typer.BadParameter.__bases__[0]  # of click, or of the copy typer brings
NAMES = OPTIONS | {  # what the command line calls the parameters of Python
    "n_words": "--words",
    "ngram_range": "--ngrams",
    "timestamps": "--dates",
    "llm": "--model",
    "n_documents": "--documents",
    "slice_iter": "--slice-sweeps",
    "n_clusters": "--topics",
    "cluster_prior": "--alpha",
    "word_prior": "--beta",
    "model_kind": "--model",
}
FAULT = 70  # exit code of a fault of ours: 1 is what drift says of a batch that differs
ARGUMENTS = {"model": "MODEL", "models": "MODEL", "study": "STUDY", "labels": "LABELS"}

app = typer.Typer(
    name="polyaurn",
    help="Topic models by the Pólya urn sampler: parallel, doubly sparse, reproducible.",
    epilog="Exit codes: 0 done; 1 drift found; 2 bad input, said in one sentence; 70 a fault of "
    "polyaurn; 130 stopped (Ctrl-C, SIGTERM).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Stopped(Exception):  # noqa: N818
    """Ctrl-C came before there was anything to keep."""


def stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """Let Ctrl-C out of a command as `Stopped`, which typer does not take for its own.

    A reader that has seen enough (``| head``) ends a command quietly; a disk that is full, and
    the like, is one sentence.
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            raise Stopped from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            what = f"'{error.filename}'" if error.filename else "The output"
            raise InputError(
                f"{what} cannot be read or written: {error.strerror or error}. Check the disk and "
                "the permissions."
            ) from None

    return run


for command in (train, update, topics, label, documents, info):
    app.command()(stoppable(command))
app.command(name="import")(stoppable(import_))
for command in (
    infer,
    evaluate,
    diff,
    drift,
    compare,
    choose_topics,
    export,
    import_model,
    plot,
    report,
    serve,
):
    app.command()(stoppable(command))
app.command(hidden=True)(stoppable(sweep))
for command in (demo, theory, reproduce):
    app.command()(stoppable(command))


def _version(wanted: bool) -> None:
    if wanted:
        from polyaurn.base.version import __version__

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
        with _compilation_noted():
            code = app(prog_name="polyaurn", standalone_mode=False)
    except InputError as error:
        _fail(_in_options(str(error)))
    except UsageError as error:
        if not error.format_message() or type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        name = error.ctx.command_path if error.ctx else "polyaurn"
        said = error.format_message().rstrip(".")
        _fail(f"{said}{' See' if said.endswith('?') else '; see'} '{name} --help'.")
    except (Stopped, KeyboardInterrupt, typer.Abort):
        note("polyaurn: stopped; nothing was written.")
        code = INTERRUPTED
    except Exception:
        sys.excepthook(*sys.exc_info())
        code = FAULT
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _compilation_noted() -> Iterator[None]:
    """Say as a note that compiled code is not kept, whichever step compiles first."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", CompilationWarning)
        plain = warnings.showwarning

        def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if issubclass(category, CompilationWarning):
                note(f"Note: {message}")
            else:
                plain(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _fail(message: str) -> NoReturn:
    note(f"polyaurn: {message}")
    sys.exit(2)


def _in_options(message: str) -> str:
    """Write '--min-count' where a message says 'min_count', as the user typed it."""

    def rename(found: re.Match[str]) -> str:
        name = found.group(1)
        if name in ARGUMENTS:
            return f"'{ARGUMENTS[name]}' argument"
        return f"'{NAMES.get(name, '--' + name.replace('_', '-'))}' option"

    message = re.sub(r"'(--[a-z-]+)' parameter", r"'\1' option", message)
    return re.sub(r"'([a-z_]+)' parameter", rename, message)


if __name__ == "__main__":
    main()
