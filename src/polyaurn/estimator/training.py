"""The training of an estimator: sweeps until they are done, kept in a folder, stopped by Ctrl-C."""

import warnings
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any

from polyaurn.base.errors import DeviceError, InputError, UnfinishedStartWarning
from polyaurn.chain.schedule import FULL, note_of_unfinished_start
from polyaurn.chain.state import State
from polyaurn.estimator.fitted import Trained
from polyaurn.training.averages import Average
from polyaurn.training.folder import RunFolder, open_folder
from polyaurn.training.memory import check_memory
from polyaurn.training.progress import Report, training_line
from polyaurn.training.run import Run, gathered
from polyaurn.training.signals import InterruptsWait, asks_to_stop


class Training(Trained):
    """Base of the estimators that run a chain; each says what it keeps of the last state."""

    random_state: Any

    def _keep(
        self,
        run: Run,
        state: State,
        trace: list[dict[str, Any]],
        average: Average | None = None,
    ) -> None:
        """Keep the model of a state."""
        raise NotImplementedError

    def _train_in_folder(self, run: Run) -> None:
        """Train, in the run's folder if there is one."""
        settings, in_place = run.settings, run.backend.in_place
        check_memory(run)
        with (
            open_folder(settings.checkpoint, settings.checkpoint_every, run.header,
                        resume=settings.resume, any_seed=self.random_state is None,
                        early=in_place,
                        follows=run.earlier.run if run.earlier else None) as folder,
            training_line(settings.max_iter, run.corpus.n_tokens, show=settings.verbose) as line,
            InterruptsWait(wanted=in_place) as interrupts,
        ):  # fmt: skip
            try:
                self._train(run, folder, line, interrupts)
            except DeviceError as error:
                raise DeviceError(error.what, folder.remedy()) from error

    def _train(self, run: Run, folder: RunFolder, line: Report, interrupts: InterruptsWait) -> None:
        """Sweep from where the run is; keep its last state, whatever happens."""
        trace: list[dict[str, Any]] = []
        state: State | None = None
        before, start = 0.0, None
        if folder.saved is not None:
            start, trace = folder.saved.halt, folder.saved.trace
            before = float(trace[-1].get("seconds", 0.0)) if trace else 0.0
            run = run.with_seed(folder.saved.run["random_state"])
        average = run.average(folder.saved)
        if start is not None and start.sweep == run.settings.max_iter:
            state = run.state_of(start)
            self._keep(run, state, trace, average)
            return
        for sentence in (run.in_brief, run.note):
            if sentence:
                line.note(sentence)
        start = run.start() if start is None else start
        chain = run.sweeps(start, line.compiling)
        del start
        folder.forget()
        try:
            for state, info in chain:
                if average.takes(state):
                    begin = perf_counter()
                    average.add(state, partial(gathered, run, n_jobs=self.n_jobs))
                    before += perf_counter() - begin
                info = run.with_topics(info._replace(seconds=before + info.seconds), state)
                trace.append(info.record())
                line.sweep(info)
                if any([asks_to_stop(call(state, info)) for call in run.settings.callbacks]):
                    break
                del info  # frees its Phi while the next is drawn
                folder.after(state, trace, average.arrays)
                interrupts.look()
        except BaseException:
            with suppress(InputError):  # a GPU that failed may have lost the state
                self._end(run, state, trace, folder, average)
            raise
        self._end(run, state, trace, folder, average)
        self._warn_of_unfinished_start()

    def _warn_of_unfinished_start(self) -> None:
        trace = self.model_.trace
        if trace and trace[-1]["phase"] != FULL:
            note = note_of_unfinished_start(trace[-1])
            warnings.warn(note, UnfinishedStartWarning, stacklevel=4)

    def _end(
        self,
        run: Run,
        state: State | None,
        trace: list[dict[str, Any]],
        folder: RunFolder,
        average: Average,
    ) -> None:
        if state is not None:
            folder.write(state, trace, average.arrays)
            self._keep(run, state, trace, average)
