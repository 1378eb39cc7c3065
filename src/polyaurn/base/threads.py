"""Threads that run compiled kernels over ranges of documents or words."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any

from polyaurn.base.checks import is_whole, wrong


def count_threads(n_jobs: Any, name: str = "n_jobs") -> int:
    """Return a number of threads; None is one, -1 all cores of this process, -2 all but one."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        expected = "a positive number of threads, or -1 for all cores"
        raise wrong(name, expected, n_jobs, "leave it out to use all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(n_jobs) if n_jobs > 0 else max(1, (cores or 1) + 1 + int(n_jobs))


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
