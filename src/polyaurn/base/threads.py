"""Threads that run compiled kernels over ranges of documents or words."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError


def count_threads(n_jobs: Any, name: str = "n_jobs") -> int:
    """Return how many threads are meant: None is one, -1 all this process may use, -2 all but one.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn and joblib.
    name : str
        The parameter's name, for the error message.

    Returns
    -------
    int
        At least 1.
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(
            f"The '{name}' parameter must be a positive number of threads, or -1 for all cores. "
            f"Got {n_jobs!r} instead; leave it out to take all cores."
        )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(n_jobs) if n_jobs > 0 else max(1, (cores or 1) + 1 + int(n_jobs))


class Workers:
    """A pool of threads; with one thread, the calling thread itself.

    Parameters
    ----------
    n_threads : int
        How many kernels run at once. Kernels release Python's lock.
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
        """Call the kernel once for each tuple of arguments; results in the order of the tasks.

        `on_done` is called in this thread with each task that is done, in their order.
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
