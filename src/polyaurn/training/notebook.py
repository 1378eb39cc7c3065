"""Progress in the output of a notebook's cell: one display, updated in place.

HTML's own progress element under one display id, which every front end shows that shows HTML.
rich's bars, and tqdm's, need ipywidgets in the kernel and its extension in the browser.
"""

import sys
from html import escape
from time import monotonic
from typing import Any

from polyaurn.chain.state import Info

PAUSE = 0.2  # seconds between two updates


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook; imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class Display:
    """One output of a cell: shown at first, then changed in place, not too often."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._next = 0.0
        self._above: list[str] = []

    def show(self, text: str, done: float | None = None, *, now: bool = False) -> None:
        """Show a text, and a bar of which a part from 0 to 1 is done; `now` does so in any case."""
        if not now and monotonic() < self._next:
            return
        self._next = monotonic() + PAUSE
        lines = [*self._above, text]
        bar = "" if done is None else f'<progress value="{done:.4f}" max="1"></progress> '
        above = "".join(f"{escape(line)}<br>" for line in self._above)
        html = f'<div style="font-family:monospace">{above}{bar}{escape(text)}</div>'
        self._send({"text/plain": "\n".join(lines).rstrip("\n"), "text/html": html})

    def note(self, sentence: str) -> None:
        """Keep a sentence above whatever is shown from now on."""
        self._above.append(sentence)
        self.show("", now=True)

    def clear(self) -> None:
        """Remove what is shown."""
        if self._handle is not None:
            self._send({"text/plain": "", "text/html": ""})

    def _send(self, data: dict[str, str]) -> None:
        if self._handle is None:
            from IPython.display import display

            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class NotebookLine:
    """The progress of a training: sweep, log posterior per token, tokens per second, time left."""

    def __init__(self, n_sweeps: int, n_tokens: int) -> None:
        self._display = Display()
        self._sweeps, self._tokens = n_sweeps, n_tokens
        self._score = ""
        self._clock: Clock | None = None

    def sweep(self, info: Info, beside: str = "") -> None:
        """Move the bar to this sweep."""
        if info.log_posterior is not None:
            self._score = f", log posterior {info.log_posterior / self._tokens:.4f} per token"
        if self._clock is None:  # the first sweep compiles, and resumed runs begin later
            self._clock = Clock(info.sweep)
        last = info.sweep >= self._sweeps
        ends = (
            f"in {self._clock.gone()}"
            if last
            else f"left {self._clock.left(info.sweep, self._sweeps)}"
        )
        speed = f"{info.tokens_per_second / 1e6:.1f} M tokens/s{beside}"
        text = f"sweep {info.sweep:,}/{self._sweeps:,}{self._score}, {speed}, {ends}"
        self._display.show(text, min(1.0, info.sweep / self._sweeps), now=last)

    def compiling(self) -> None:
        """Say what the wait is for."""
        self._display.show("compiling kernels (once on this machine) ...", 0.0, now=True)

    def note(self, text: str) -> None:
        """Keep a sentence above the bar."""
        self._display.note(text)


class NotebookBars:
    """One bar at a time; `begin` puts another in its place."""

    seen = True

    def __init__(self) -> None:
        self._display = Display()

    def begin(self, message: str, total: int | None = None) -> None:
        """Begin a step."""
        self._message, self._total, self._done = message, total, 0
        self._clock = Clock(0)

    def advance(self, more: int) -> None:
        """Show that some more is done."""
        self._done += more
        if not self._total:
            self._display.show(f"{self._message} ... {self._clock.gone()}")
            return
        part = min(1.0, self._done / self._total)
        left = self._clock.left(self._done, self._total)
        self._display.show(f"{self._message} {part:.0%}, left {left}", part)

    def clear(self) -> None:
        """Remove the bar."""
        self._display.clear()


class Clock:
    """How long something has taken since a first step, and how long it will at this speed."""

    def __init__(self, first: int) -> None:
        self._first, self._start = first, monotonic()

    def gone(self) -> str:
        """Return the time since the first step."""
        return _time(monotonic() - self._start)

    def left(self, done: int, total: int) -> str:
        """Return the time left, "-:--" where nothing is known yet."""
        if done <= self._first:
            return "-:--"
        return _time((monotonic() - self._start) * (total - done) / (done - self._first))


def _time(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
