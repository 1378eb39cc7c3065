"""Programs of workers that tests run."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.training import cluster_program

LOST, INSIDE = "worker-lost", "inside-sweep"  # files that say so, beside the corpus
PATIENCE = 120  # seconds


def wait_until(condition):
    """Wait for what must happen, however busy the machine is."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def wait_for_sweep_6(corpus, n_workers):
    """Wait until all workers of `train_until_lost` are in the middle of it."""
    wait_until(lambda: len(list(corpus.parent.glob(f"{INSIDE}-*"))) == n_workers)


def contract(group, task, caller):
    """Use each method of a group, and return what came of it."""
    r, w = group.rank, group.size
    pieces = [np.arange(100 * r + j, dtype=np.int32) for j in range(w)]
    came = group.exchange(pieces)
    assert [len(piece) for piece in came] == [100 * i + r for i in range(w)]
    assert all(piece.dtype == np.int32 for piece in came)
    assert group.exchange([np.full(1 << 20, r, np.uint8)] * w)[w - 1].sum() == (w - 1) << 20
    total = group.total(np.full((3, 2), r + 1))
    assert total.tolist() == [[w * (w + 1) // 2] * 2] * 3
    assert group.total(np.array([2**63], np.uint64)).dtype == np.uint64
    ends = group.gather(np.full(r, float(r)))
    assert [end.tolist() for end in ends] == [[float(i)] * i for i in range(w)]
    group.barrier()
    caller.report({"from": r})
    return {"rank": r, "moved": group.moved, "task": task}


def sentence(group, task, caller):
    """Fail as bad input does, on one worker; the others wait for it."""
    if group.rank == group.size - 1:
        raise InputError("The 'x' parameter must be another.")
    group.barrier()
    return {}


def broken(group, task, caller):
    """Fail as no program should."""
    raise ZeroDivisionError("of a program")


def killed_once(group, task, caller):
    """Lose a worker the first time; the file says which time it is."""
    with open(task["file"], "a") as file:  # noqa: PTH123
        file.write("x")
    group.barrier()
    times = os.path.getsize(task["file"]) // group.size  # noqa: PTH202
    if group.rank == 1 and times <= task["kills"]:
        os.kill(os.getpid(), signal.SIGKILL)
    group.barrier()
    return {"times": times}


def until_stopped(group, task, caller):
    """Continue until the caller wants an end."""
    rounds = 0
    while not group.total(np.array([group.rank == 0 and caller.stopping()], np.int64))[0]:
        rounds += 1
        caller.report({"round": rounds})
    return {"rounds": rounds}


def train_each(group, task, caller):
    """Train for several tasks one after another."""
    return {"results": [cluster_program.train(group, one, caller) for one in task["tasks"]]}


def train_until_lost(group, task, caller):
    """Train, but wait in the middle of sweep 6 until a worker is lost."""
    waiting = _Waiting(group, caller, Path(task["corpus"]).parent)
    return cluster_program.train(waiting, task, waiting)


class _Waiting:
    """A group and a caller; in sweep 6 the first worker keeps its counts until another is lost.

    By then all workers have drawn Phi and some topics of that sweep, and the others wait in their
    exchange for the counts. A file says of each worker that it is there.
    """

    def __init__(self, group, caller, folder):
        self._group, self._caller, self._folder = group, caller, folder
        self._done = 0
        self.stopping = caller.stopping

    def __getattr__(self, name):
        return getattr(self._group, name)

    def report(self, record):
        self._done = record.get("info", {}).get("sweep", self._done)
        self._caller.report(record)

    def exchange(self, pieces):
        if self._done == 5:
            (self._folder / f"{INSIDE}-{self._group.rank}").touch()
            if self._group.rank == 0:
                wait_until((self._folder / LOST).exists)
        return self._group.exchange(pieces)
