"""Progress events of long work, for a progress bar or any other function.

The handler is a context variable, so that no function in between has to pass it on: it receives
the events of all that runs inside its ``with`` block in the same thread. Without a handler,
nothing is reported.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

Handler = Callable[[str, int, int | None], None]
BYTES = "bytes"  # the step reported while files are read
_BUFFER = 1 << 20
_handler: ContextVar[Handler | None] = ContextVar("polyaurn_progress", default=None)
T = TypeVar("T")


@contextmanager
def progress_to(handler: Handler) -> Iterator[None]:
    """Send the progress of the work inside a ``with`` block to a function.

    Parameters
    ----------
    handler : callable
        Called with the step, how much of it has been done since the last call, and how much there
        is in all, None where that is not known.

    Examples
    --------
    >>> import polyaurn
    >>> from polyaurn.base.events import progress_to
    >>> corpus = polyaurn.datasets.generate(n_documents=50, n_words=40, n_topics=3)
    >>> model = polyaurn.LDA(3, max_iter=5, verbose=False).fit(corpus).model_
    >>> done = []
    >>> with progress_to(lambda step, more, total: done.append((step, more, total))):
    ...     theta = model.transform(corpus)
    >>> done[-1]
    ('finding topics of documents', 50, 50)
    """
    token = _handler.set(handler)
    try:
        yield
    finally:
        _handler.reset(token)


def is_followed() -> bool:
    """Return whether progress is reported to a handler."""
    return _handler.get() is not None


def report(step: str, more: int = 0, total: int | None = None) -> None:
    """Report that some more of a step is done, if there is a handler."""
    handler = _handler.get()
    if handler is not None:
        handler(step, more, total)


def range_reporter(step: str, total: int) -> Callable[[tuple[Any, ...]], None] | None:
    """Return a function that reports a finished task whose first arguments bound a range."""
    if _handler.get() is None:
        return None
    report(step, 0, total)
    return lambda task: report(step, task[1] - task[0], total)


def tracked(items: Iterable[T], step: str, total: int | None, every: int = 256) -> Iterator[T]:
    """Yield items, and report after every few of them."""
    if _handler.get() is None:
        yield from items
        return
    report(step, 0, total)
    since = 0
    for item in items:
        yield item
        since += 1
        if since == every:
            report(step, since, total)
            since = 0
    report(step, since, total)


def open_tracked(path: Path) -> BinaryIO:
    """Open a file for reading, and report the bytes that are read."""
    if _handler.get() is None:
        return path.open("rb")
    return io.BufferedReader(_TrackedFile(path, "rb"), _BUFFER)


class _TrackedFile(io.FileIO):
    def readinto(self, buffer: Any, /) -> int:
        n = super().readinto(buffer) or 0
        report(BYTES, n)
        return n

    def readall(self) -> bytes:
        rest = super().readall()
        report(BYTES, len(rest))
        return rest
