"""Long work tells how far it is, and whoever wants to know listens.

Nothing is passed through functions for it: a listener is there for all that is called inside its
``with`` block, in the same thread, and without one nothing is told.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

Listener = Callable[[str, int, int | None], None]
BYTES = "bytes"  # the step told while files are read
_BUFFER = 1 << 20
_listener: ContextVar[Listener | None] = ContextVar("polyaurn_listener", default=None)
T = TypeVar("T")


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function know how far long work is.

    Parameters
    ----------
    listener : callable
        Called with the step, how much of it has been done since the last call, and how much there
        is in all, None where that is not known.

    Examples
    --------
    >>> import polyaurn
    >>> from polyaurn.base.events import listening
    >>> corpus = polyaurn.datasets.generate(n_documents=50, n_words=40, n_topics=3)
    >>> model = polyaurn.LDA(3, max_iter=5, verbose=False).fit(corpus).model_
    >>> done = []
    >>> with listening(lambda step, more, total: done.append((step, more, total))):
    ...     theta = model.transform(corpus)
    >>> done[-1]
    ('finding topics of documents', 50, 50)
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(step: str, more: int = 0, total: int | None = None) -> None:
    """Tell the listener, if there is one, that some more of a step is done."""
    listener = _listener.get()
    if listener is not None:
        listener(step, more, total)


def telling_of_ranges(step: str, total: int) -> Callable[[tuple[Any, ...]], None] | None:
    """Return what tells of a finished task whose first arguments are the ends of a range."""
    if _listener.get() is None:
        return None
    tell(step, 0, total)
    return lambda task: tell(step, task[1] - task[0], total)


def told(items: Iterable[T], step: str, total: int | None, every: int = 256) -> Iterator[T]:
    """Yield items, and tell of them now and then."""
    if _listener.get() is None:
        yield from items
        return
    tell(step, 0, total)
    since = 0
    for item in items:
        yield item
        since += 1
        if since == every:
            tell(step, since, total)
            since = 0
    tell(step, since, total)


def open_told(path: Path) -> BinaryIO:
    """Open a file for reading; a listener hears of its bytes."""
    if _listener.get() is None:
        return path.open("rb")
    return io.BufferedReader(_Told(path, "rb"), _BUFFER)


class _Told(io.FileIO):
    def readinto(self, buffer: Any, /) -> int:
        n = super().readinto(buffer) or 0
        tell(BYTES, n)
        return n

    def readall(self) -> bytes:
        rest = super().readall()
        tell(BYTES, len(rest))
        return rest
