"""Programs that workers of every engine run, to see whether their group keeps its contract."""

import os
import signal
from pathlib import Path

import numpy as np

from polyaurn.backends.sharded import mpi
from polyaurn.backends.sharded.versions import check_versions
from polyaurn.base.errors import InputError

DTYPES = (np.uint8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float64)
LENGTHS = (0, 3, 40, 1000, 200_000)  # the last goes through an object store
EVERYONE = 99  # in place of a worker's number, for what is sent to all


def piece(sender, to, number):
    """Return what a worker sends to another: some pieces are empty, one is large."""
    length = LENGTHS[(2 * sender + 3 * to + number) % len(LENGTHS)]
    if number > 1:  # large pieces in few rounds only, to keep the tests short
        length = min(length, 1000)
    draws = np.random.default_rng([sender, to, number]).integers(0, 250, length)
    return draws.astype(DTYPES[number])


def numbers(sender, dtype):
    """Return whole numbers of 64 bits; the sum of three workers' just fits."""
    large = 1 << (60 if dtype is np.int64 else 61)
    draws = np.random.default_rng(sender).integers(0, large, (5, 1001), dtype=dtype)
    return draws if dtype is np.uint64 else draws - (large >> 1)


def keeps_contract(group, task, caller):
    """Exchange, gather and add up arrays that every worker can compute for the others."""
    mpi.MESSAGE = task.get("message", mpi.MESSAGE)
    wrong = task.get("fault") == group.rank
    for number, dtype in enumerate(DTYPES):
        pieces = [piece(group.rank, j, number) for j in range(group.size)]
        expect_bytes(group, sum(p.nbytes for j, p in enumerate(pieces) if j != group.rank))
        if wrong:
            pieces = [p[::-1].copy() for p in pieces]
        received = group.exchange(pieces)
        for i, got in enumerate(received):
            expect(got, piece(i, group.rank, number), f"piece {number} from {i}")
        own = piece(group.rank, EVERYONE, number)
        expect_bytes(group, own.nbytes * (group.size - 1))
        for i, got in enumerate(group.gather(own)):
            expect(got, piece(i, EVERYONE, number), f"array {number} of {i}")
        caller.report({"dtype": np.dtype(dtype).name, "rank": group.rank})
    for dtype in (np.int64, np.uint64):
        own = numbers(group.rank, dtype)
        before = group.moved
        total = group.total(own)
        least = 2 * own.nbytes * (group.size - 1) / group.size
        if abs(group.moved - before - least) > 64 * group.size:
            raise InputError(f"A sum moved {group.moved - before} bytes, and not {least:.0f}.")
        expect(total, sum(numbers(i, dtype) for i in range(group.size)), "sum")
        expect(group.total(own[:0]), own[:0], "sum of nothing")
    group.barrier()
    return {"rank": group.rank, "size": group.size}


def expect_bytes(group, more):
    """Reject a count of bytes that differs from the payload of the calls before this one."""
    expected = getattr(group, "expected", group.moved)
    if group.moved != expected:
        raise InputError(f"Bytes moved: {group.moved} in place of {expected}.")
    group.expected = group.moved + more


def expect(got, expected, what):
    good = got.dtype == expected.dtype and got.shape == expected.shape
    if not good or not np.array_equal(got, expected):
        raise InputError(f"The {what} is {got!r} in place of {expected!r}.")
    if not (got.flags.writeable and got.flags.aligned and got.flags.c_contiguous):
        raise InputError(f"The {what} is no plain array: {got.flags}.")


def loses_one(group, task, caller):
    """End the last worker without grace, once or always, while the others wait for it."""
    marker = Path(task["folder"]) / "lost"
    group.barrier()
    if group.rank == group.size - 1 and (task.get("always") or not marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    sizes = [int(n[0]) for n in group.gather(np.array([group.size]))]
    return {"sizes": sizes}


def waits(group, task, caller):
    """Go round until the caller wants an end, or the folder has a file that ends it."""
    rounds = np.zeros(1, np.int64)
    while not group.total(np.array([int(caller.stopping())]))[0]:
        rounds += group.total(np.ones(1, np.int64))
        caller.report({"rounds": int(rounds[0])})
    return {"rounds": int(rounds[0])}


def fails(group, task, caller):
    """Raise an error on the workers that the task names."""
    group.barrier()
    if group.rank in task["failing"]:
        raise (InputError if task["known"] else ZeroDivisionError)(f"The error of {task['what']}.")
    group.barrier()
    return {}


def differ_in_version(group, task, caller):
    """Say another version than the others on the last worker."""
    check_versions(group, f"0.{3 if group.rank == group.size - 1 else 2}.0")
    return {}
