"""Checkpoints around a training: where it goes on, when it is kept, who may write."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.backends.registry import THREAD_FREE
from polyaurn.base.errors import CheckpointWarning, InputError
from polyaurn.chain.state import WHOLE, Halt, State
from polyaurn.files.locks import locked
from polyaurn.files.names import HEADER
from polyaurn.model.storage import load
from polyaurn.training.checkpoints import (
    Checkpoints,
    Saved,
    check_same_run,
    describe_prior,
    read_every,
)


class Keeper:
    """Keeps a run, or nothing at all.

    Parameters
    ----------
    checkpoints : Checkpoints, optional
        Where to; nothing is kept without.
    saved : Saved, optional
        Where to go on from.
    """

    def __init__(self, checkpoints: Checkpoints | None = None, saved: Saved | None = None) -> None:
        self._checkpoints = checkpoints
        self.saved = saved

    def after(self, state: State, trace: list[dict[str, Any]]) -> None:
        """Write a checkpoint if it is time; training goes on if that fails."""
        if self._checkpoints is not None:
            trouble = self._checkpoints.after(state, trace)
            if trouble:
                warnings.warn(trouble, CheckpointWarning, stacklevel=2)

    def write(self, state: State, trace: list[dict[str, Any]]) -> None:
        """Write a checkpoint of the end, or of where the run was interrupted."""
        if self._checkpoints is not None and trace[-1]["sweep"] == state.sweep:
            trouble = self._checkpoints.at_the_end(state, trace)
            if trouble:
                warnings.warn(trouble, CheckpointWarning, stacklevel=2)

    def remedy(self) -> str:
        """Say how a run goes on whose GPU failed."""
        on_cpu = "device='cpu' (--device cpu)"
        if self._checkpoints is None:
            return f"Train again with {on_cpu}; with a 'checkpoint' folder it could go on."
        sweep = self._checkpoints.newest_sweep()
        if sweep is None:
            return f"There is no checkpoint yet; train again with {on_cpu}."
        return (
            f"The run is kept in '{self._checkpoints.place}' as it was after sweep {sweep:,}; go "
            f"on from there with resume=True (--resume) and {on_cpu}."
        )

    def forget(self) -> None:
        """Let go of what the run went on from."""
        self.saved = None


@contextmanager
def keeping(
    folder: Any,
    every: Any,
    run: dict[str, Any],
    *,
    resume: bool,
    any_seed: bool,
    early: bool = False,
) -> Iterator[Keeper]:
    """Lock a run's folder and find where the run goes on.

    Parameters
    ----------
    folder : str or Path, or None
        The model's folder; None keeps nothing.
    every : int or str
        How often; see `polyaurn.training.checkpoints.read_every`.
    run : dict
        What fixes the chain.
    resume : bool
        Go on from the newest checkpoint, where there is one.
    any_seed : bool
        Take the seed of the run that is resumed.
    early : bool
        Keep it after the first sweep, too.

    Yields
    ------
    Keeper
        For the training loop.
    """
    often = read_every(every)
    if folder is None:
        if resume:
            raise InputError(
                "The 'checkpoint' parameter must be a folder when 'resume' is True. Got None "
                "instead; name the folder of the run."
            )
        yield Keeper()
        return
    if not isinstance(folder, str | Path):
        raise InputError(f"The 'checkpoint' parameter must be a path. Got {folder!r} instead.")
    with locked(Path(folder).absolute()):
        checkpoints = Checkpoints(Path(folder).absolute(), run, often, early=early)
        saved = checkpoints.newest()
        if saved is None and resume:
            saved = _finished(Path(folder))
        if saved is not None and not resume:
            raise InputError(
                f"The folder '{folder}' holds a run at sweep {saved.halt.sweep:,}. Go on with it "
                "with --resume (resume=True), or choose another folder."
            )
        if saved is not None:
            check_same_run(saved.run, run, free=("max_iter", "random_state")[: 1 + any_seed])
            if saved.halt.sweep > run["max_iter"]:
                raise InputError(
                    f"The 'max_iter' parameter must be at least {saved.halt.sweep:,}, where the "
                    f"run that is resumed stands. Got {run['max_iter']:,} instead; ask for more."
                )
            if saved.note:
                warnings.warn(saved.note, CheckpointWarning, stacklevel=3)
        yield Keeper(checkpoints, saved)


def _finished(folder: Path) -> Saved | None:
    """Return where a run ended whose model is in the folder."""
    if not (folder / HEADER).exists():
        return None
    model = load(folder)
    run = model.parameters.get("run")
    if not isinstance(run, dict):
        raise InputError(
            f"The folder '{folder}' must hold a run that can be resumed. It holds a model that "
            "does not say how it was trained; start anew with --force (force=True)."
        )
    learned = model.priors if run.get("learn_priors_every") else None
    halt = Halt(model.assignments.copy(), model.parameters["sweeps"], WHOLE, learned)
    return Saved(halt, model.trace, run, "")


def describe_run(parameters: dict[str, Any], corpus: Any, threads: int) -> dict[str, Any]:
    """Return what fixes a chain, ready for JSON.

    Parameters
    ----------
    parameters : dict
        Of the estimator.
    corpus : Corpus
        The documents.
    threads : int
        How many; they are told where they change the result.

    Returns
    -------
    dict
        Compared when a run is resumed.
    """
    run = {name: v.item() if isinstance(v, np.generic) else v for name, v in parameters.items()}
    for name in ("doc_topic_prior", "topic_word_prior"):
        run[name] = describe_prior(run[name])
    if run["sampler"] not in THREAD_FREE:
        run["n_jobs"] = threads
    return run | {"corpus": repr(corpus), "corpus_sha256": corpus.fingerprint}
