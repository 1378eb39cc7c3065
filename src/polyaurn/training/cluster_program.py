"""The program of a worker: its part of a chain, from the last checkpoint to the end of the run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.registry import load_steps
from polyaurn.backends.sharded.group import Array, Caller, ExchangingGroup, Group, Record, Task
from polyaurn.backends.sharded.shards import (
    Piece,
    Shards,
    check_shards,
    cut_shards,
    piece_of,
)
from polyaurn.backends.sharded.steps import ShardedSteps
from polyaurn.base.errors import InputError
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain.hdp import HDP
from polyaurn.chain.loop import begin, chain, resume, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.chain.schedule import Plan, Schedule
from polyaurn.chain.state import WHOLE, Counts, Priors, State, check_share, topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.part import Part
from polyaurn.corpus.urn_file import MappedDocuments, map_documents
from polyaurn.files.npz import read_npz
from polyaurn.files.sealed import Damaged
from polyaurn.model.parts import Part as ModelPart
from polyaurn.model.parts import write_part
from polyaurn.model.top_level import read_top, write_top
from polyaurn.training.averages import Average
from polyaurn.training.checkpoints import COSTLY, Every, Saved
from polyaurn.training.shards import Own, ShardCheckpoints, gather_values
from polyaurn.training.sweeps import warm_up

PRIORS = {"alpha": "f", "beta": "f"}
PSEUDO = {"first": "i", "last": "i", "topic": "u", "number": "if"}


class TimedGroup:
    """A group that measures the seconds spent in it, waiting for others included."""

    def __init__(self, group: Group) -> None:
        self._group, self.seconds = group, 0.0
        self.rank, self.size, self.moved = group.rank, group.size, group.moved

    def total(self, array: Array) -> Array:
        """Return the elementwise sum over workers."""
        with self._timed():
            return self._group.total(array)

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Send piece j to worker j; item i of the answer came from worker i."""
        with self._timed():
            return self._group.exchange(pieces)

    def gather(self, array: Array) -> list[Array]:
        """Return the array of each worker, in the order of ranks."""
        with self._timed():
            return self._group.gather(array)

    def barrier(self) -> None:
        """Wait until all workers are here."""
        with self._timed():
            self._group.barrier()

    @contextmanager
    def _timed(self) -> Iterator[None]:
        begin = perf_counter()
        yield
        self.seconds += perf_counter() - begin
        self.moved = self._group.moved


class Single(ExchangingGroup):
    """A group of one worker."""

    rank, size = 0, 1

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Return the only piece."""
        return list(pieces)


class _Spent(NamedTuple):
    """What a worker has spent so far: seconds, those in the group, those of CPUs, bytes sent."""

    seconds: float
    together: float
    cpu: float
    moved: float

    @classmethod
    def by(cls, group: TimedGroup) -> "_Spent":
        """Return what the worker of a group has spent."""
        return cls(perf_counter(), group.seconds, process_time(), group.moved)


def train(given: Group, task: Task, caller: Caller) -> Record:
    """Run a chain on shards; the task is made by `polyaurn.training.cluster`."""
    group = TimedGroup(given)
    check_storage(group, task)
    task = task | {"n_jobs": count_threads(task["n_jobs"])}
    documents = map_documents(Path(task["corpus"]))
    _check_corpus(documents, task)
    with Workers(task["n_jobs"]) as workers:
        _warm_up(group, task, caller)
        shards = cut_shards(documents.doc_ptr, task["n_shards"])
        check_shards(shards, group.size)
        own = shards.of_worker(group.rank, group.size)
        piece = piece_of(documents.doc_ptr, shards, own, task["n_topics"], documents.part)
        del documents
        steps = _steps(task, piece, workers, group)
        return _run(group, task, caller, steps, _own(shards, own, steps))


def _run(group: TimedGroup, task: Task, caller: Caller, steps: ShardedSteps, own: Own) -> Record:
    """Sweep from where the run is until its end, or until the caller wants it to stop."""
    priors = read_priors(Path(task["priors"]), hdp=task["hdp"] is not None)
    schedule = Schedule(tuple(task["schedule"][0]), *task["schedule"][1:])
    checkpoints = ShardCheckpoints(Path(task["folder"]), task["run"], group, own)
    saved = checkpoints.newest()
    state, trace = _first_state(steps, priors, schedule, task["seed"], saved), []
    if saved is not None:
        trace = saved.trace
        schedule = schedule.continued(saved.halt.sweep, smooth=saved.halt.smooth)
    caller.report({"begins": state.sweep, "note": saved.note if saved else ""})
    kept = saved.extra if saved and saved.run.get("max_iter") == task["max_iter"] else None
    average = Average(task["average"], task["max_iter"], task["sizes"][0], kept)
    every, last = Every(*task["every"]), perf_counter()
    pause = every.seconds
    before = float(trace[-1].get("seconds", 0.0)) if trace else 0.0
    law = SAMPLERS[task["sampler"]].law_of(task["n_jobs"])
    spent = _Spent.by(group)
    stops = False
    sweeps = chain(
        None, steps, state, schedule, seed=task["seed"], law=law, max_iter=task["max_iter"],
        evaluate_every=task["evaluate_every"],
    )  # fmt: skip
    for state, info in sweeps:
        if average.takes(state):
            average.add(state)
        info = info._replace(seconds=before + info.seconds)
        now = _Spent.by(group)
        account = _account(group, spent, now)
        spent = now
        info = info._replace(
            bytes_sent=account["bytes"], slowest_worker=account["slowest"],
            busy_seconds=account["busy"], exchange_seconds=account["exchange"],
        )  # fmt: skip
        trace.append(info.record())
        caller.report({"info": trace[-1], "cluster": account})
        due = every.seconds and perf_counter() - last >= pause
        due = due or (every.sweeps and state.sweep % every.sweeps == 0)
        first = group.rank == 0
        flags = group.total(np.array([first and due, first and caller.stopping()], np.int64))
        stops = bool(flags[1])
        if flags[0] and not stops:
            begun = perf_counter()
            _checkpoint(checkpoints, caller, state, trace, average)
            last = perf_counter()
            pause = max(every.seconds, COSTLY * (last - begun))
        if stops:
            break
    if any(every) and state.sweep > 0:
        _checkpoint(checkpoints, caller, state, trace, average)
    if state.share != WHOLE:
        state = sweep(state, steps, Plan(), task["seed"])[0]
    mean = average.mean()
    counts = topic_word_matrix(state.counts, task["n_topics"]) if mean is None else mean
    lengths = np.diff(steps.corpus.doc_ptr)
    part = ModelPart(state.z, lengths, counts, state.priors.alpha, state.priors.beta)
    facts = write_part(Path(task["out"]), f"part-{task['run_id']}-{group.rank:05d}.npz", part)
    return {
        "parts": gather_values(group, facts), "trace": trace, "sweep": state.sweep,
        "draws": average.draws, "smooth": state.smooth, "learned": state.priors.learned,
        "top": _write_top(group, task, state.priors, average),
    }  # fmt: skip


def _write_top(group: Group, task: Task, priors: Priors, average: Average) -> str:
    """Write the top level, which all workers have, once; return the file's name, empty if none."""
    if priors.top is None:
        return ""
    name = f"top-{task['run_id']}.npz"
    if group.rank == 0:
        write_top(Path(task["out"]) / name, priors.top, average.weights)
    return name


def _first_state(
    steps: ShardedSteps, priors: Priors, schedule: Schedule, seed: int, saved: Saved | None
) -> State:
    """Return where the chain begins, or continues."""
    if saved is None:
        return begin(steps, priors, schedule, seed)
    state = resume(steps, priors, saved.halt)
    if state.share < WHOLE:
        check_share(steps.inner.layout, state)
    return state._replace(smooth=saved.halt.smooth)


def _checkpoint(
    checkpoints: ShardCheckpoints,
    caller: Caller,
    state: State,
    trace: list[dict[str, Any]],
    average: Average,
) -> None:
    trouble = checkpoints.write(state, trace, average.arrays())
    if trouble:
        at = f"No checkpoint was written at sweep {state.sweep:,}; the run continues"
        caller.report({"warning": f"{at}. {trouble}"})


def _account(group: Group, before: _Spent, now: _Spent) -> Record:
    """Return what a sweep took, of all workers: seconds, bytes, and the share spent exchanging."""
    own = np.array(now) - np.array(before)
    seconds, together, cpu, moved = np.array(group.gather(own)).T
    busy = seconds - together
    slowest = int(busy.argmax())  # waits least for others: its time in the group is exchange
    return {
        "bytes": int(moved.sum()), "slowest": slowest, "busy": float(busy[slowest]),
        "exchange": float(together[slowest]), "cpu": float(cpu.sum()),
    }  # fmt: skip


def _steps(task: Task, piece: Piece, workers: Workers, group: Group) -> ShardedSteps:
    return ShardedSteps(
        load_steps(task["sampler"]), piece, task["n_topics"], workers, group,
        mh_steps=task["mh_steps"], learn_every=task["learn_every"], hdp=_hdp(task),
    )  # fmt: skip


def _hdp(task: Task) -> HDP | None:
    return None if task["hdp"] is None else HDP(*task["hdp"])


def _own(shards: Shards, own: tuple[int, int], steps: ShardedSteps) -> Own:
    lo, hi = own
    tokens = (int(shards.tokens[lo]), int(shards.tokens[hi]))
    return Own(own, tokens, (steps.words.lo, steps.words.hi))


def _warm_up(group: Group, task: Task, caller: Caller) -> None:
    """Compile kernels on the first worker, and load them on the others."""

    def made(
        corpus: Corpus, n_topics: int, workers: Workers | None = None, **options: Any
    ) -> ShardedSteps:
        def part(lo: int, hi: int) -> Part:
            return Part(corpus.doc_ptr, corpus.word, corpus.n_words)

        shards = cut_shards(corpus.doc_ptr)
        piece = piece_of(corpus.doc_ptr, shards, (0, len(shards)), n_topics, part)
        return ShardedSteps(
            load_steps(task["sampler"]), piece, n_topics, workers or Workers(1), Single(), **options
        )

    compiling = lambda: caller.report({"compiling": True})  # noqa: E731
    for first in (True, False):
        if first == (group.rank == 0):
            warm_up(made, compiling, learns=task["learn_every"] > 0, hdp=_hdp(task))
        group.barrier()


def check_storage(group: Group, task: Task) -> None:
    """Raise the same error on all workers unless each sees the files of the run."""
    lacking = [name for name in ("corpus", "priors", "folder") if not Path(task[name]).exists()]
    for rank, lacks in enumerate(gather_values(group, lacking)):
        if lacks:
            raise InputError(
                f"The file '{task[lacks[0]]}' must be on storage that all workers share. Worker "
                f"{rank} does not see it; give a corpus and a folder on shared storage."
            )


def _check_corpus(documents: MappedDocuments, task: Task) -> None:
    found = [len(documents.word), len(documents.doc_ptr) - 1, documents.n_words]
    if found != task["sizes"]:
        raise InputError(
            f"The file '{task['corpus']}' must be the corpus of the run, with {task['sizes'][0]:,} "
            f"tokens. A worker found {found[0]:,}; give a corpus on shared storage."
        )


def read_priors(path: Path, *, hdp: bool = False) -> Priors:
    """Return the priors that the caller wrote, with the top level of a process that has one."""
    try:
        arrays = read_npz(path, PRIORS)
        K, V = len(arrays["alpha"]), len(arrays["beta"])
        priors = make_priors(arrays["alpha"], arrays["beta"], K, V)
        if hdp:
            priors = priors._replace(top=read_top(path, K)[0])
        try:
            pseudo = read_npz(path, PSEUDO)
        except Damaged:  # there are none
            return priors
    except Damaged as reason:
        raise InputError(f"The file '{path}' cannot be used ({reason}); train again.") from None
    return priors._replace(pseudo=Counts(**pseudo))
