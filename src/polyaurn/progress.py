"""A live line for long work: how far, how good, how fast, how long. Silent without a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from polyaurn.state import Info

WIDE, NARROW = 100, 70  # columns of a terminal


class Report(Protocol):
    """What a training loop tells a progress line."""

    def sweep(self, info: Info) -> None:
        """Take note of a sweep."""

    def compiling(self) -> None:
        """Say that kernels are being compiled."""


class Silence:
    """A progress line that says nothing."""

    def sweep(self, info: Info) -> None:
        """Ignore a sweep."""

    def compiling(self) -> None:
        """Ignore the compiler."""


class TrainingLine:
    """A line on the terminal with sweep, log posterior a token, tokens a second and time left."""

    def __init__(self, progress: Any, n_sweeps: int, n_tokens: int) -> None:
        self._progress = progress
        self._tokens = n_tokens
        self._score = ""
        self._task = progress.add_task("sweep", total=n_sweeps, score="", speed="")

    def sweep(self, info: Info) -> None:
        """Move the line to this sweep."""
        if info.log_posterior is not None:
            self._score = f"log posterior {info.log_posterior / self._tokens:.4f} a token"
            if self._progress.console.width < WIDE:
                self._score = f"lp/token {info.log_posterior / self._tokens:.4f}"
        self._progress.update(
            self._task,
            completed=info.sweep,
            score=self._score,
            speed=f"{info.tokens_per_second / 1e6:.1f} M tokens/s",
        )

    def compiling(self) -> None:
        """Say what the wait is for."""
        self._progress.console.print("compiling kernels (once on this machine) ...")


@contextmanager
def training_line(n_sweeps: int, n_tokens: int, *, show: bool = True) -> Iterator[Report]:
    """Show a live line on standard error while training, if there is a terminal.

    Parameters
    ----------
    n_sweeps : int
        How many sweeps there will be.
    n_tokens : int
        Tokens of the corpus.
    show : bool
        False keeps silent in any case.

    Yields
    ------
    Report
        To be told of each sweep.
    """
    if not show:
        yield Silence()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft
    from rich.table import Column

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Silence()
        return
    columns: list[ProgressColumn] = [
        TextColumn(text, table_column=Column(no_wrap=True))
        for text in (
            "{task.description} {task.completed:,.0f}/{task.total:,.0f}",
            "{task.fields[score]}",
            "{task.fields[speed]}",
            "left",
        )
    ]
    columns.append(TimeLeft())
    if console.width >= WIDE:
        columns.insert(1, BarColumn(bar_width=20))
    if console.width < NARROW:
        del columns[1:3]  # keep how far, and how long
    with Progress(*columns, console=console, refresh_per_second=5) as progress:
        yield TrainingLine(progress, n_sweeps, n_tokens)


@contextmanager
def status(message: str, *, show: bool = True) -> Iterator[Any]:
    """Show a spinner with a message on standard error, if there is a terminal.

    Parameters
    ----------
    message : str
        What goes on.
    show : bool
        False keeps silent in any case.

    Yields
    ------
    callable
        Call it with a new message.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not (show and console.is_terminal):
        yield lambda text: None
        return
    with console.status(message) as live:
        yield live.update
