"""A live line for long work: how far, how good, how fast, how long.

At a terminal and in notebooks; silent elsewhere.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Any, Protocol

from polyaurn.base.events import BYTES, is_followed, progress_to
from polyaurn.chain.state import Info
from polyaurn.training.notebook import Display, NotebookBars, NotebookLine, in_notebook

WIDE, NARROW = 100, 70  # columns of a terminal


class Report(Protocol):
    """What a training loop reports to a progress line."""

    def sweep(self, info: Info, beside: str = "") -> None:
        """Take note of a sweep; `beside` is shown next to its speed."""

    def compiling(self) -> None:
        """Say that kernels are being compiled."""

    def note(self, text: str) -> None:
        """Show a sentence about the run."""


class Silence:
    """A progress line that says nothing."""

    def sweep(self, info: Info, beside: str = "") -> None:
        """Ignore a sweep."""

    def compiling(self) -> None:
        """Ignore the compiler."""

    def note(self, text: str) -> None:
        """Ignore the sentence."""


class TrainingLine:
    """A line on the terminal: sweep, log posterior per token, tokens per second, time left."""

    def __init__(self, progress: Any, n_sweeps: int, n_tokens: int) -> None:
        self._progress = progress
        self._tokens = n_tokens
        self._score = ""
        self._task = progress.add_task("sweep", total=n_sweeps, score="", speed="")

    def sweep(self, info: Info, beside: str = "") -> None:
        """Move the line to this sweep."""
        if info.log_posterior is not None:
            self._score = f"log posterior {info.log_posterior / self._tokens:.4f} per token"
            if self._progress.console.width < WIDE:
                self._score = f"lp/token {info.log_posterior / self._tokens:.4f}"
        self._progress.update(
            self._task,
            completed=info.sweep,
            score=self._score,
            speed=f"{info.tokens_per_second / 1e6:.1f} M tokens/s{beside}",
        )

    def compiling(self) -> None:
        """Say what the wait is for."""
        self.note("compiling kernels (once on this machine) ...")

    def note(self, text: str) -> None:
        """Write a sentence above the line."""
        self._progress.console.print(text, markup=False, highlight=False)


@contextmanager
def training_line(n_sweeps: int, n_tokens: int, *, show: bool = True) -> Iterator[Report]:
    """Show a live line while training: in a notebook, or on standard error at a terminal.

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
        Called with each sweep.
    """
    if show and in_notebook():
        yield NotebookLine(n_sweeps, n_tokens)
        return
    console = _terminal(show)
    if console is None:
        yield Silence()
        return
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft
    from rich.table import Column

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
    """Show a message, with a spinner at a terminal, while something is done.

    Parameters
    ----------
    message : str
        What is being done.
    show : bool
        False keeps silent in any case.

    Yields
    ------
    callable
        Call it with a new message.
    """
    if show and in_notebook():
        display = Display()
        display.show(message)
        try:
            yield display.show
        finally:
            display.clear()
        return
    console = _terminal(show)
    if console is None:
        yield lambda text: None
        return
    with console.status(message) as live:
        yield live.update


@contextmanager
def bar(
    message: str, total: int | None = None, *, show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Show a bar with the time left, in a notebook or at a terminal.

    Parameters
    ----------
    message : str
        What is being done.
    total : int, optional
        How much there is to do; without it only a sign of life is shown.
    show : bool
        False keeps silent in any case.

    Yields
    ------
    callable
        Call it with how much more was done.
    """
    with _bars(show) as bars:
        bars.begin(message, total)
        yield bars.advance


@contextmanager
def following(
    message: str, n_bytes: int | None = None, *, show: bool = True, after: float = 0.0
) -> Iterator[None]:
    """Show how far the work inside is, a bar for each step that it reports.

    Where the progress is reported to somebody else already, nothing is shown.

    Parameters
    ----------
    message : str
        What is being done until it reports, and while files are read.
    n_bytes : int, optional
        How much there is to read.
    show : bool
        False keeps silent in any case.
    after : float
        Seconds before anything is shown, so that short work shows nothing.

    Examples
    --------
    >>> import polyaurn
    >>> from polyaurn.training.progress import following
    >>> corpus = polyaurn.datasets.generate(n_documents=50, n_words=40, n_topics=3)
    >>> model = polyaurn.LDA(3, max_iter=5, verbose=False).fit(corpus).model_
    >>> with following("scoring"):
    ...     score = polyaurn.evaluate.left_to_right(model, corpus)
    """
    if is_followed() or not (show and (in_notebook() or _terminal(show))):
        yield
        return
    with ExitStack() as stack:
        bars = _LateBars(lambda: stack.enter_context(_bars(show)), after)
        now = message
        bars.begin(message)

        def hear(step: str, more: int, total: int | None) -> None:
            nonlocal now
            if step != now:
                now = step
                reading = step == BYTES
                bars.begin(message if reading else step, n_bytes if reading else total)
            bars.advance(more)

        with progress_to(hear):
            yield


class _LateBars:
    """Bars that appear only after some time."""

    def __init__(self, make: Callable[[], Any], after: float) -> None:
        self._make, self._at = make, monotonic() + after
        self._bars: Any = None
        self._step: tuple[str, int | None] = ("", None)
        self._done = 0

    def begin(self, message: str, total: int | None = None) -> None:
        self._step, self._done = (message, total), 0
        if self._bars is None and monotonic() >= self._at:
            self._bars = self._make()
        if self._bars is not None:
            self._bars.begin(*self._step)

    def advance(self, more: int) -> None:
        self._done += more
        if self._bars is not None:
            self._bars.advance(more)
        elif monotonic() >= self._at:
            self._bars = self._make()
            self._bars.begin(*self._step)
            self._bars.advance(self._done)


class _Bars:
    """One bar at a time; `begin` puts another in its place."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None
        self.seen = progress is not None

    def begin(self, message: str, total: int | None = None) -> None:
        if self.seen:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(
                message, total=total, left="left" * (total is not None)
            )

    def advance(self, more: int) -> None:
        if self.seen and more:
            self._progress.advance(self._task, more)


@contextmanager
def _bars(show: bool) -> Iterator[_Bars | NotebookBars]:
    if show and in_notebook():
        bars = NotebookBars()
        try:
            yield bars
        finally:
            bars.clear()
        return
    console = _terminal(show)
    if console is None:
        yield _Bars(None)
        return
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
    )
    from rich.progress import TimeRemainingColumn as TimeLeft
    from rich.table import Column

    drawn = 20 if console.width >= NARROW else 0
    whole = Column(no_wrap=True)
    cut = Column(no_wrap=True, overflow="ellipsis", max_width=max(10, console.width - drawn - 24))
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        TextColumn("{task.description}", table_column=cut, markup=False),
        TaskProgressColumn(table_column=whole),
        TextColumn("{task.fields[left]}", table_column=whole),
        TimeLeft(table_column=whole),
    ]
    if drawn:
        columns.insert(2, BarColumn(bar_width=drawn))
    with Progress(*columns, console=console, refresh_per_second=5, transient=True) as progress:
        yield _Bars(progress)


def _terminal(show: bool) -> Any:
    """Return the terminal that notes go to, None where there is none or none is wanted."""
    if not show:
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None
