"""Progress over many slices: one bar of sweeps, and a sentence for each slice."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from polyaurn.corpus.corpus import Corpus
from polyaurn.training.progress import Report, training_line
from polyaurn.training.slices import BACK, Step


class SliceLine:
    """The progress of slices, on the line of a training whose sweeps are those of all slices."""

    def __init__(self, line: Report, sweeps: dict[Step, int], n_slices: int, n_tokens: int) -> None:
        self._line, self._of, self._slices, self._tokens = line, sweeps, n_slices, n_tokens
        self._done, self._sweeps, self._scale = 0, 0, 1.0

    def begin(self, step: Step, documents: Corpus) -> None:
        """Say which slice comes next."""
        self.skip(step)
        self._scale = self._tokens / max(1, documents.n_tokens)
        back = ", second pass" if step.direction == BACK else ""
        self._line.note(
            f"slice {step.number + 1:,} of {self._slices:,}: {step.label}, "
            f"{documents.n_documents:,} documents, {documents.n_tokens:,} tokens{back}"
        )

    def skip(self, step: Step) -> None:
        """Take note of a slice, such as one that was finished before."""
        self._done += self._sweeps
        self._sweeps = self._of[step]

    def sweep(self, state: Any, info: Any) -> None:
        """Move the line; a callback of the training of a slice."""
        level = info.log_posterior
        self._line.sweep(
            info._replace(
                sweep=self._done + info.sweep,
                log_posterior=None if level is None else level * self._scale,
            )
        )


@contextmanager
def slice_line(
    steps: Sequence[tuple[Step, int]], n_slices: int, n_tokens: int, *, show: bool
) -> Iterator[SliceLine]:
    """Show a live line while slices are trained, given the sweeps of each step."""
    sweeps = dict(steps)
    with training_line(sum(sweeps.values()), n_tokens, show=show) as line:
        yield SliceLine(line, sweeps, n_slices, n_tokens)
