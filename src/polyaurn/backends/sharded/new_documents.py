"""New documents on a cluster: each worker has some of them, which do not depend on the others.

What a document gets depends on its words and the seed only, so that results of ranges of documents
are put one after another. Arrays pass through files of a folder that workers share.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.backends.cpu import new_documents
from polyaurn.backends.cpu.layout import even_ranges
from polyaurn.backends.documents import OnDone, Part, Topics
from polyaurn.backends.sharded.group import Caller, Engine, Group, Record, Task
from polyaurn.backends.sharded.registry import (
    LOCAL,
    check_address,
    check_cluster,
    check_workers,
    load_engine,
)
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Key
from polyaurn.base.threads import Workers, count_cores, count_threads
from polyaurn.files.npz import read_npz, write_npz
from polyaurn.files.sealed import Damaged

GIVEN = "documents.npz"
DOCUMENTS = {"doc_ptr": "i", "word": "i"}
OF_TOPICS = {"first": "i", "topic": "u"} | dict.fromkeys(Topics._fields[2:], "f")
FOLDED = {"lengths": "i", "found": "u", "mean": "f"}
SCORED = {"level": "f", "error": "f"}


def cluster_of(cluster: Any, n_workers: Any, cluster_address: Any) -> "Cluster | None":
    """Return the cluster that a user asks for, or None."""
    name = check_cluster(cluster, n_workers, cluster_address)
    if name is None:
        return None
    return Cluster(name, check_workers(n_workers), check_address(cluster_address))


class Cluster:
    """Workers in place of a device: what `Backend.new_documents` returns, on many processes."""

    def __init__(self, name: str, n_workers: int | None, address: str | None) -> None:
        self._engine: Engine = load_engine(name, address)
        if self._engine.serve():
            raise SystemExit(0)
        self._size = self._engine.check(n_workers)

    def mean_counts(
        self,
        doc_ptr: I64,
        word: I32,
        topics: Topics,
        sweeps: tuple[int, int],
        address: Key,
        workers: Workers,
        on_done: OnDone = None,
    ) -> list[Part]:
        """Return mean counts of new documents; `sweeps` are those left out and those averaged."""
        task = {"sweeps": list(sweeps)}
        parts = self._run(doc_ptr, word, topics, task, address, workers, on_done, FOLDED)
        return [(part["lengths"], part["found"], part["mean"]) for part in parts]

    def left_to_right(
        self,
        doc_ptr: I64,
        word: I32,
        topics: Topics,
        particles: int,
        address: Key,
        workers: Workers,
        on_done: OnDone = None,
    ) -> tuple[F64, F64]:
        """Return log p(w) of new documents, left to right, and their errors."""
        task = {"particles": particles}
        parts = self._run(doc_ptr, word, topics, task, address, workers, on_done, SCORED)
        level, error = (np.concatenate([part[name] for part in parts]) for name in SCORED)
        return level, error

    def _run(
        self, doc_ptr: I64, word: I32, topics: Topics, task: Task, address: Key, workers: Workers,
        on_done: OnDone, kinds: dict[str, str],
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Run workers on the documents; return their results in the order of documents."""
        local = self._engine.name == LOCAL
        with tempfile.TemporaryDirectory(
            prefix=".polyaurn.cluster-", dir=None if local else Path.cwd()
        ) as folder:
            with (Path(folder) / GIVEN).open("wb") as file:
                write_npz(file, {"doc_ptr": doc_ptr, "word": word} | topics._asdict())
            n_jobs = workers.n_threads
            if local:
                n_jobs = max(1, min(n_jobs, count_cores() // self._size))
            task = task | {
                "folder": folder, "address": [int(part) for part in address], "n_jobs": n_jobs,
            }  # fmt: skip
            self._engine.run(
                self._size, work, task, restarts=1,
                on_record=lambda record: _report(record, on_done),
            )  # fmt: skip
            found = sorted(Path(folder).glob("part-*.npz"))
            return [_read(path, kinds) for path in found]


def work(group: Group, task: Task, caller: Caller) -> Record:
    """Do what is asked with a worker's range of the documents."""
    folder = Path(task["folder"])
    if not (folder / GIVEN).exists():
        raise InputError(
            f"The folder '{folder.parent}' must be on storage that all workers share. Worker "
            f"{group.rank} does not see it; start in a folder on shared storage."
        )
    given = _read(folder / GIVEN, DOCUMENTS | OF_TOPICS)
    topics = Topics(*(given[name] for name in Topics._fields))
    size = given["doc_ptr"] + np.arange(len(given["doc_ptr"]))
    ranges = even_ranges(size, group.size)
    if group.rank + 1 >= len(ranges):  # there are more workers than documents
        group.barrier()
        return {}
    lo, hi = ranges[group.rank : group.rank + 2].tolist()
    doc_ptr = given["doc_ptr"][lo : hi + 1]
    word = given["word"][doc_ptr[0] : doc_ptr[-1]]
    key = Key(*(np.uint64(part) for part in task["address"]))

    def done(task: tuple[Any, ...]) -> None:
        caller.report({"documents": int(task[1] - task[0]) * group.size})

    with Workers(count_threads(task["n_jobs"])) as workers:
        documents = (doc_ptr - doc_ptr[0], word, topics)
        if "particles" in task:
            level, error = new_documents.left_to_right(
                *documents, task["particles"], key, workers, done
            )
            arrays = {"level": level, "error": error}
        else:
            sweeps = (task["sweeps"][0], task["sweeps"][1])
            parts = new_documents.mean_counts(*documents, sweeps, key, workers, done)
            joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
            arrays = dict(zip(FOLDED, joined, strict=True))
    with (folder / f"part-{group.rank:05d}.npz").open("wb") as file:
        write_npz(file, arrays)
    group.barrier()
    return {}


def _report(record: Record, on_done: OnDone) -> None:
    if on_done is not None and "documents" in record:
        on_done((0, record["documents"]))


def _read(path: Path, kinds: dict[str, str]) -> dict[str, Any]:
    try:
        return read_npz(path, kinds)
    except Damaged as reason:
        raise InputError(f"The file '{path}' cannot be used ({reason}); try again.") from None
