"""Ctrl-C and SIGTERM ask for a stop; the training loop looks and ends after the sweep."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import numpy as np

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM interrupt as Ctrl-C does, and Ctrl-C where a shell had it ignored."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {n: signal.signal(n, signal.default_int_handler) for n in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class StopOnSignal:
    """While active, the first Ctrl-C or SIGTERM sets `asked`; a second one ends the process."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopOnSignal":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            print("\nStopped at once; the last checkpoint is kept.", file=sys.stderr, flush=True)
            os._exit(130)  # what is half done is thrown away when the run is resumed
        self.asked = True
        print("\nStopping after this sweep; again to stop at once.", file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class InterruptsWait:
    """While active, Ctrl-C waits for the next `look`; a second one does not.

    On a GPU topics are changed in place: a sweep that is left in the middle takes the last whole
    one with it.

    Parameters
    ----------
    wanted : bool
        False changes nothing.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._asked = False
        self._wanted = wanted and threading.current_thread() is threading.main_thread()
        self._held: list[int] = []

    def __enter__(self) -> "InterruptsWait":
        if self._wanted:
            plain = signal.default_int_handler
            self._held = [number for number in SIGNALS if signal.getsignal(number) is plain]
            for number in self._held:
                signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    @property
    def asked(self) -> bool:
        """Whether an interruption is pending."""
        return self._asked

    def look(self) -> None:
        """Let an interruption through that has waited."""
        if self._asked:
            raise KeyboardInterrupt

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in self._held:
            signal.signal(number, signal.default_int_handler)
        if kind is None:
            self.look()


def asks_to_stop(answer: Any) -> bool:
    """Return whether a callback asks to end the training."""
    return isinstance(answer, bool | np.bool_) and bool(answer)
