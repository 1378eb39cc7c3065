"""The folder of a run: where it resumes, when it is checkpointed, who may write."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polyaurn.base.errors import CheckpointWarning, InputError
from polyaurn.chain.state import WHOLE, Halt, State
from polyaurn.files.locks import locked
from polyaurn.files.names import HEADER
from polyaurn.model.storage import load
from polyaurn.training.averages import arrays_of_mean
from polyaurn.training.checkpoints import (
    Checkpoints,
    Extra,
    Saved,
    check_same_run,
    ended_smooth,
    nothing_extra,
    of_this_version,
    read_every,
)


class RunFolder:
    """A run's folder, or none at all; `saved` is where the run resumes."""

    def __init__(self, checkpoints: Checkpoints | None = None, saved: Saved | None = None) -> None:
        self._checkpoints = checkpoints
        self.saved = saved

    def after(
        self, state: State, trace: list[dict[str, Any]], extra: Extra = nothing_extra
    ) -> None:
        """Write a checkpoint if it is time; training continues if that fails."""
        if self._checkpoints is not None:
            trouble = self._checkpoints.after(state, trace, extra)
            if trouble:
                warnings.warn(trouble, CheckpointWarning, stacklevel=2)

    def write(
        self, state: State, trace: list[dict[str, Any]], extra: Extra = nothing_extra
    ) -> None:
        """Write a checkpoint of the end, or of where the run was interrupted."""
        if self._checkpoints is not None and trace[-1]["sweep"] == state.sweep:
            trouble = self._checkpoints.at_the_end(state, trace, extra)
            if trouble:
                warnings.warn(trouble, CheckpointWarning, stacklevel=2)

    def remedy(self) -> str:
        """Say how to resume a run whose device failed."""
        on_cpu = "device='cpu' (--device cpu)"
        if self._checkpoints is None:
            return f"Train again with {on_cpu}; with a 'checkpoint' folder it could be resumed."
        sweep = self._checkpoints.newest_sweep()
        if sweep is None:
            return f"There is no checkpoint yet; train again with {on_cpu}."
        return (
            f"The run is kept in '{self._checkpoints.place}' as it was after sweep {sweep:,}; "
            f"resume it with resume=True (--resume) and {on_cpu}."
        )

    def forget(self) -> None:
        """Free the memory of what the run resumed from."""
        self.saved = None


@contextmanager
def open_folder(
    folder: Path | None,
    every: Any,
    header: dict[str, Any],
    *,
    resume: bool,
    any_seed: bool,
    early: bool = False,
) -> Iterator[RunFolder]:
    """Lock a run's folder and find where the run resumes; without a folder nothing is kept.

    `any_seed` takes the seed of the run that is resumed; `early` writes a checkpoint after the
    first sweep, too.
    """
    often = read_every(every)
    if folder is None:
        if resume:
            raise InputError(
                "The 'checkpoint' parameter must be a folder when 'resume' is True. Got None "
                "instead; name the folder of the run."
            )
        yield RunFolder()
        return
    with locked(folder.absolute()):
        checkpoints = Checkpoints(folder.absolute(), header, often, early=early)
        saved = checkpoints.newest()
        if saved is None and resume:
            saved = _finished(folder)
        if saved is not None and not resume:
            raise InputError(
                f"The folder '{folder}' holds a run at sweep {saved.halt.sweep:,}. Resume it "
                "with --resume (resume=True), or choose another folder."
            )
        if saved is not None:
            check_same_run(saved.run, header, free=("max_iter", "random_state")[: 1 + any_seed])
            if saved.halt.sweep > header["max_iter"]:
                raise InputError(
                    f"The 'max_iter' parameter must be at least {saved.halt.sweep:,}, where the "
                    f"run that is resumed stands. Got {header['max_iter']:,} instead; ask for more."
                )
            if saved.note:
                warnings.warn(saved.note, CheckpointWarning, stacklevel=3)
        yield RunFolder(checkpoints, saved)


def _finished(folder: Path) -> Saved | None:
    """Return where a run ended whose model is in the folder."""
    if not (folder / HEADER).exists():
        return None
    model = load(folder)
    run = model.parameters.get("run")
    if not isinstance(run, dict):
        raise InputError(
            f"The folder '{folder}' must hold a run that can be resumed. It holds a model that "
            "does not say how it was trained; start again with --force (force=True)."
        )
    learned = None
    if run.get("learn_priors_every"):
        learned = model.priors._replace(learned=True)
    sweep = model.parameters["sweeps"]
    smooth = ended_smooth(sweep, model.trace)
    halt = Halt(model.assignments.copy(), sweep, WHOLE, learned, smooth)
    draws = model.averaged_draws
    extra = arrays_of_mean(model.topic_word_counts, draws) if draws > 1 else {}
    return Saved(halt, model.trace, of_this_version(run), "", extra)
