"""Threads that run compiled kernels over ranges of documents or words."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Any

from polyaurn.base.checks import is_whole, wrong

_CGROUP, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def count_threads(n_jobs: Any, name: str = "n_jobs") -> int:
    """Return a number of threads; None is one, -1 all cores of this process, -2 all but one.

    Cores are those that the system and the container's limit let this process have.
    """
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        expected = "a positive number of threads, or -1 for all cores"
        raise wrong(name, expected, n_jobs, "leave it out to use all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, count_cores() + 1 + int(n_jobs))


def count_cores() -> int:
    """Return how many cores this process may use at once."""
    found = [os.cpu_count() or 1]
    if hasattr(os, "sched_getaffinity"):
        found.append(len(os.sched_getaffinity(0)))
    if hasattr(os, "process_cpu_count"):  # of Python 3.13, which also heeds PYTHON_CPU_COUNT
        found.append(os.process_cpu_count() or 1)
    quota = _cpu_quota()
    if quota is not None:
        found.append(math.ceil(quota))
    return max(1, min(found))


def _cpu_quota() -> float | None:
    """Return the cores that control groups (of a container, say) allow; None without a limit."""
    found = []
    for hierarchy, path in _control_groups():
        group = _CGROUP / hierarchy / path
        for folder in (group, *group.parents):  # a limit holds for all groups inside
            if not folder.is_relative_to(_CGROUP):
                break
            found += [limit for limit in (_limit_2(folder), _limit_1(folder)) if limit]
    return min(found, default=None)


def _control_groups() -> Iterator[tuple[str, str]]:
    """Yield where the process's groups are: the folder of the hierarchy, and the path inside."""
    yield from (("", ""), ("cpu", ""), ("cpu,cpuacct", ""))  # as seen inside a container
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        ours = not controllers or "cpu" in controllers.split(",")
        if ours and ".." not in path:  # a path outside of what this process can see
            yield controllers, path.lstrip("/")


def _limit_2(folder: Path) -> float | None:
    """Return the cores that a group of version 2 may use: "max 100000", or "150000 100000"."""
    return _ratio(_text(folder / "cpu.max").split())


def _limit_1(folder: Path) -> float | None:
    """Return the cores that a group of version 1 may use; its quota is -1 without a limit."""
    return _ratio([_text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")])


def _ratio(parts: list[str]) -> float | None:
    try:
        quota, period = (int(part) for part in parts)
    except ValueError:
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


class Workers:
    """A pool of threads; with one thread, the calling thread itself.

    Kernels release Python's lock, so that `n_threads` of them run at once.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def run(
        self,
        kernel: Callable[..., Any],
        tasks: Iterable[tuple[Any, ...]],
        on_done: Callable[[tuple[Any, ...]], None] | None = None,
    ) -> list[Any]:
        """Call the kernel once for each tuple of arguments; return results in order of the tasks.

        `on_done` is called in this thread with each finished task, in order.
        """
        listed, results = list(tasks), []
        pool = self._pool
        futures = [] if pool is None else [pool.submit(kernel, *task) for task in listed]
        try:
            for i, task in enumerate(listed):
                results.append(futures[i].result() if futures else kernel(*task))
                if on_done is not None:
                    on_done(task)
            return results
        except BaseException:
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
