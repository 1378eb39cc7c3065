"""Workers as threads of this process: the contract of a group without processes or sockets."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from polyaurn.backends.sharded.group import Array, ExchangingGroup


class _Board:
    """What all threads see: a place for each worker's pieces, and a barrier before each use."""

    def __init__(self, size: int) -> None:
        self.pieces: list[list[Array]] = [[] for _ in range(size)]
        self.barrier = threading.Barrier(size, timeout=120)


class ThreadGroup(ExchangingGroup):
    """One of several threads that exchange arrays."""

    def __init__(self, rank: int, size: int, board: _Board) -> None:
        self.rank, self.size, self.moved, self._board = rank, size, 0, board

    def exchange(self, pieces: list[Array]) -> list[Array]:
        assert len(pieces) == self.size
        assert len({piece.dtype for piece in pieces}) == 1
        assert all(piece.ndim == 1 for piece in pieces)
        self.moved += sum(p.nbytes for i, p in enumerate(pieces) if i != self.rank)
        self._board.pieces[self.rank] = [np.array(piece) for piece in pieces]
        self._board.barrier.wait()
        came = [sent[self.rank] for sent in self._board.pieces]
        assert {piece.dtype for piece in came} == {pieces[0].dtype}, "workers send different types"
        self._board.barrier.wait()
        return came


def run_threads(size: int, program: Callable[[ThreadGroup], Any], made: type = ThreadGroup) -> list:
    """Run a function of a group in as many threads; return what each returned."""
    board, results, errors = _Board(size), [None] * size, []

    def work(rank: int) -> None:
        try:
            results[rank] = program(made(rank, size, board))
        except BaseException as error:  # the others must not wait for this one
            errors.append(error)
            board.barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    real = [error for error in errors if not isinstance(error, threading.BrokenBarrierError)]
    if real or errors:
        raise (real or errors)[0]
    return results
