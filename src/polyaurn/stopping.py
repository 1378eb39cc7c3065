"""Ctrl-C and SIGTERM ask for a stop; the training loop looks and ends after the sweep."""

import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any


class StopOnSignal:
    """While active, the first Ctrl-C or SIGTERM sets `asked`; a second one ends the process."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopOnSignal":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            print("\nStopped at once; the last checkpoint is kept.", file=sys.stderr, flush=True)
            os._exit(130)  # what is half done is thrown away when the run goes on
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
