"""The folder of a run: where it resumes, when it is checkpointed, who may write."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polyaurn.base.errors import CheckpointWarning, InputError
from polyaurn.chain.state import WHOLE, Halt, State
from polyaurn.files.locks import locked
from polyaurn.files.names import CHECKPOINTS, HEADER, checkpoint_headers, sweep_of
from polyaurn.model.data import document_lengths
from polyaurn.model.storage import load
from polyaurn.model.top_level import as_in_chain
from polyaurn.training.averages import arrays_of_mean, arrays_of_sum
from polyaurn.training.checkpoints import (
    Checkpoints,
    Every,
    Extra,
    Saved,
    check_same_run,
    ended_smooth,
    nothing_extra,
    of_this_version,
    read_every,
    run_in,
)
from polyaurn.training.clusters import DRAWS, halt_of_clusters


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
    follows: dict[str, Any] | None = None,
) -> Iterator[RunFolder]:
    """Lock a run's folder and find where the run resumes; without a folder nothing is kept.

    `any_seed` takes the seed of the run that is resumed; `early` writes a checkpoint after the
    first sweep, too. `follows` is the run of the model that an update continues: if it is finished,
    the update takes its place in the folder.
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
        if saved is not None and follows is not None:
            if _is_end(saved, follows):
                saved, checkpoints.outdated = None, True
            elif not resume:
                raise InputError(
                    f"The folder '{folder}' holds a run at sweep {saved.halt.sweep:,} that is not "
                    "the finished run of this model. Set another 'checkpoint' folder before "
                    "update; one that was interrupted is resumed from the model that it began with."
                )
        if saved is not None:
            check_resumed(
                folder, saved.halt.sweep, saved.run, header, resume=resume, any_seed=any_seed
            )
            if saved.note:
                warnings.warn(saved.note, CheckpointWarning, stacklevel=3)
        yield RunFolder(checkpoints, saved)


@contextmanager
def open_shared_folder(
    folder: Path, header: dict[str, Any], *, resume: bool, any_seed: bool
) -> Iterator[dict[str, Any] | None]:
    """Lock the folder of a run on shards, whose workers read the checkpoint; yield whose run it is.

    None where there is none. A model that was finished becomes a checkpoint to continue from.
    """
    with locked(folder):
        inside = folder / CHECKPOINTS
        if resume and not checkpoint_headers(inside):
            ended = _finished(folder)
            if ended is not None:
                check_resumed(
                    folder, ended.halt.sweep, ended.run, header, resume=resume, any_seed=any_seed
                )
                Checkpoints(folder, ended.run, Every(1)).write(*ended[:2], ended.extra)
        headers = checkpoint_headers(inside)
        run = run_in(folder) if headers else None
        if run is not None:
            run = of_this_version(run)
            sweep = sweep_of(headers[0].name)
            check_resumed(folder, sweep, run, header, resume=resume, any_seed=any_seed)
        yield run


def check_resumed(
    folder: Path,
    sweep: int,
    begun: dict[str, Any],
    header: dict[str, Any],
    *,
    resume: bool,
    any_seed: bool,
) -> None:
    """Reject a run that is in the folder unless it is to be resumed, and is the same."""
    if not resume:
        raise InputError(
            f"The folder '{folder}' holds a run at sweep {sweep:,}. Resume it with --resume "
            "(resume=True), or choose another folder."
        )
    check_same_run(begun, header, free=("max_iter", "random_state")[: 1 + any_seed])
    if sweep > header["max_iter"]:
        raise InputError(
            f"The 'max_iter' parameter must be at least {sweep:,}, where the run that is resumed "
            f"stands. Got {header['max_iter']:,} instead; ask for more."
        )


def _is_end(saved: Saved, run: dict[str, Any]) -> bool:
    """Return whether a run that was saved is this one, and at its end."""
    return saved.run == of_this_version(run) and saved.halt.sweep == run.get("max_iter")


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
    if model.clusters is not None:
        lengths = document_lengths(model)
        halt = halt_of_clusters(
            model.clusters, lengths, model.parameters["sweeps"], model.priors.beta,
            learned=bool(run.get("learn_priors_every")),
        )  # fmt: skip
        draws = model.parameters.get(DRAWS, 1)
        extra = arrays_of_sum(model.clusters.draws, draws) if draws > 1 else {}
        return Saved(halt, model.trace, run, "", extra)
    learned = None
    if run.get("learn_priors_every") or model.priors.top is not None:
        learned = model.priors._replace(learned=True)
    sweep = model.parameters["sweeps"]
    smooth = ended_smooth(sweep, model.trace)
    halt = Halt(model.assignments.copy(), sweep, WHOLE, learned, smooth)
    draws = model.averaged_draws
    halt, mean = as_in_chain(halt, model.topic_word_counts)
    extra = arrays_of_mean(mean, draws, model.priors.top) if draws > 1 else {}
    return Saved(halt, model.trace, of_this_version(run), "", extra)
