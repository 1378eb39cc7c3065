"""A process that is one worker of the local engine."""

import json
import os
import socket
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import numpy as np

from polyaurn.backends.sharded.group import Array, ExchangingGroup, Record, load_program
from polyaurn.base.errors import InputError, WorkerLostError

BUFFER = 1 << 20  # bytes that a socket takes before the sender waits


class SocketGroup(ExchangingGroup):
    """The workers of this machine, each joined to each by a socket."""

    def __init__(self, rank: int, peers: list[socket.socket | None]) -> None:
        self.rank, self.size, self.moved = rank, len(peers), 0
        self._peers = peers
        self._sender = ThreadPoolExecutor(1)

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Send piece j to worker j; item i of the answer came from worker i.

        Round s sends to the worker s places on, and receives from the one s places before.
        """
        dtype = pieces[self.rank].dtype
        came = [pieces[self.rank]] * self.size
        sending = self._sender.submit(self._send, pieces)
        for step in range(1, self.size):
            other = (self.rank - step) % self.size
            came[other] = self._receive(other).view(dtype)
        sending.result()
        return came

    def _send(self, pieces: list[Array]) -> None:
        for step in range(1, self.size):
            other = (self.rank + step) % self.size
            data = np.ascontiguousarray(pieces[other]).view(np.uint8)
            try:
                peer = self._peer(other)
                peer.sendall(len(data).to_bytes(8, "little"))
                if len(data):  # who has got the header of nothing may have ended
                    peer.sendall(data.data)
            except OSError as error:
                raise _lost(other) from error
            self.moved += len(data)

    def _receive(self, other: int) -> Array:
        n_bytes = int.from_bytes(self._fill(other, np.empty(8, np.uint8)).tobytes(), "little")
        return self._fill(other, np.empty(n_bytes, np.uint8))

    def _fill(self, other: int, buffer: Array) -> Array:
        """Fill a buffer with what another worker sends."""
        view, done = memoryview(buffer.data), 0
        while done < len(buffer):
            try:
                got = self._peer(other).recv_into(view[done:])
            except OSError:
                got = 0
            if not got:
                raise _lost(other)
            done += got
        return buffer

    def _peer(self, other: int) -> socket.socket:
        peer = self._peers[other]
        assert peer is not None
        return peer


class PipeCaller:
    """The process that started this one."""

    def __init__(self, control: Connection) -> None:
        self._control = control
        self._stop = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def report(self, record: Record) -> None:
        """Pass a record on to the caller."""
        self.send({"record": record})

    def stopping(self) -> bool:
        """Return whether the caller wants the program to end early."""
        return self._stop.is_set()

    def send(self, message: Record) -> None:
        """Send a message as JSON."""
        self._control.send_bytes(json.dumps(message).encode())

    def _listen(self) -> None:
        """Wait for the wish to stop; end when the caller is gone."""
        try:
            while self._control.recv_bytes():
                self._stop.set()
        except (EOFError, OSError):
            os._exit(1)


class _Mute(PipeCaller):
    """The caller as workers other than the first see it."""

    def report(self, record: Record) -> None:
        """Say nothing."""


def main(own: str) -> None:
    """Run the program that the caller names, and send what it returns."""
    given = json.loads(own)
    rank, control = given["rank"], Connection(given["control"])
    peers = [None if fd < 0 else socket.socket(fileno=fd) for fd in given["peers"]]
    for peer in peers:
        if peer is not None:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    asked = json.loads(control.recv_bytes())
    caller = (_Mute if rank else PipeCaller)(control)
    try:
        program = load_program(asked["program"])
        caller.send({"result": program(SocketGroup(rank, peers), asked["task"], caller)})
    except WorkerLostError as error:
        caller.send({"gone": str(error)})
    except InputError as error:
        caller.send({"sentence": str(error)})
    except Exception:
        caller.send({"traceback": traceback.format_exc()})
    control.close()
    os._exit(0)  # without waiting for threads


def _lost(other: int) -> WorkerLostError:
    return WorkerLostError(f"Worker {other} of the cluster ended.")
