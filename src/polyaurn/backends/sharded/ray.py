"""Ray: workers are long-lived actors, spread over the nodes, that send pieces to each other.

A piece goes from the sender's object store to the receiver's mailbox, where it is copied, so that
nothing stays in the store. When an actor or its node is lost, all actors are started again, fewer
of them where no other node takes its place; the program continues from its last checkpoint.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from polyaurn.backends.sharded.group import (
    Array,
    ExchangingGroup,
    Program,
    Record,
    Task,
    load_program,
    name_of,
)
from polyaurn.backends.sharded.versions import check_versions
from polyaurn.base.errors import InputError, WorkerLostError, first_line
from polyaurn.base.version import __version__

EXTRA = "pip install 'polyaurn[ray]'"
SMALL = 64 << 10  # bytes up to which a piece is part of the message, and not of the store
LOOK = 0.5  # seconds until the caller is asked again whether it wants an end
PATIENCE = 60.0  # seconds for the nodes to have room for the workers
ANSWER = 20.0  # seconds for a cluster to answer
PROBE = "import sys, ray; ray.init(sys.argv[1], log_to_driver=False, logging_level='ERROR')"
_MAIL, _CALLS = "mail", "calls"  # threads of an actor beside the one of its program


class Mailbox:
    """Pieces that have arrived, by step and sender."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[int, int], Array] = {}
        self._arrived = threading.Condition()

    def put(self, step: int, sender: int, piece: Array) -> None:
        """Keep a copy of a piece, which belongs to the object store."""
        with self._arrived:
            self._pieces[step, sender] = np.array(piece)
            self._arrived.notify_all()

    def take(self, step: int, sender: int) -> Array:
        """Wait for a piece, and return it."""
        with self._arrived:
            self._arrived.wait_for(lambda: (step, sender) in self._pieces)
            return self._pieces.pop((step, sender))


class RayGroup(ExchangingGroup):
    """The actors of one program, as one of them sees them."""

    def __init__(self, rank: int, peers: list[Any], mail: Mailbox) -> None:
        self.rank, self.size, self.moved = rank, len(peers), 0
        self._peers, self._mail, self._step = peers, mail, 0

    def exchange(self, pieces: list[Array]) -> list[Array]:
        """Send piece j to worker j; item i of the answer came from worker i."""
        import ray

        self._step += 1
        others = [j for j in range(self.size) if j != self.rank]
        try:
            large = {id(pieces[j]): pieces[j] for j in others if pieces[j].nbytes > SMALL}
            stored = {key: ray.put(piece) for key, piece in large.items()}
            sent = []
            for j in others:
                deliver = self._peers[j].deliver.options(concurrency_group=_MAIL)
                piece = stored.get(id(pieces[j]), pieces[j])
                sent.append(deliver.remote(self._step, self.rank, piece))
                self.moved += pieces[j].nbytes
            ray.get(sent)  # those that receive have their copies now
        except ray.exceptions.RayError as error:
            raise WorkerLostError(f"A worker cannot be reached: {first_line(error)}") from None
        own = pieces[self.rank]
        return [own if i == self.rank else self._mail.take(self._step, i) for i in range(self.size)]


class Worker:
    """An actor: one thread runs the program, one takes mail, one answers the caller."""

    def __init__(self) -> None:
        self._mail = Mailbox()
        self._records: list[Record] = []
        self._arrived = threading.Condition()
        self._stopping = False

    def deliver(self, step: int, sender: int, piece: Array) -> None:
        """Take a piece of another worker."""
        self._mail.put(step, sender, piece)

    def news(self, seconds: float) -> list[Record]:
        """Return what the program has said since the last call; wait a while for it."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._records, seconds)
            records, self._records = self._records, []
            return records

    def report(self, record: Record) -> None:
        """Keep a record for the caller."""
        with self._arrived:
            self._records.append(record)
            self._arrived.notify_all()

    def stop(self) -> None:
        """Let the program know that it should end early."""
        self._stopping = True

    def stopping(self) -> bool:
        """Return whether the program should end early."""
        return self._stopping

    def work(self, rank: int, peers: list[Any], program: str, task: Task) -> Record:
        """Run the program; return its result, or the sentence with which it ended."""
        group = RayGroup(rank, peers, self._mail)
        try:
            check_versions(group)
            return {"result": load_program(program)(group, task, self)}
        except WorkerLostError as error:
            return {"lost": str(error)}
        except InputError as error:
            return {"error": str(error)}


class Ray:
    """The engine of clusters whose nodes may come and go."""

    name = "ray"
    restarts = True

    def __init__(self, address: str | None = None) -> None:
        if (address or "").startswith("ray://"):
            raise InputError(
                "The 'cluster_address' parameter must be 'auto' or HOST:PORT, and the command must "
                f"run on a node of the Ray cluster. Got {address!r} instead, which is for programs "
                "elsewhere; start it on a node, for instance with 'ray exec' or 'ray job submit'."
            )
        self._address = address
        self._connected = False

    def missing(self) -> str | None:
        """Return what has to be installed, as a clause with its remedy; None when nothing is."""
        if find_spec("ray") is None:
            return f"the package ray is not installed ({EXTRA} brings it)"
        return None

    def serve(self) -> bool:
        """Do nothing: Ray starts the workers."""
        return False

    def check(self, size: int | None) -> int:
        """Return how many workers to start, one per node if None; reject more than CPUs."""
        self._connect()
        rooms = _rooms({"CPU": 1.0})
        room = sum(rooms)
        size = size or max(1, sum(room > 0 for room in rooms))
        if room < size:
            self._disconnect()
            raise InputError(
                "The 'n_workers' parameter must be at most the number of CPUs of the Ray cluster, "
                f"of which each worker takes one or more: {room} on {len(rooms)} nodes here. Got "
                f"{size} instead; start more nodes, or take fewer workers."
            )
        return size

    def run(
        self,
        size: int,
        program: Program,
        task: Task,
        *,
        restarts: int = 0,
        on_record: Callable[[Record], None] = lambda record: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> Record:
        """Run the program on `size` actors and return what the first returned."""
        self._connect()
        name, least, lost = name_of(program), size, 0
        try:
            while True:
                place, size = _place(size, least, _needs(task))
                try:
                    return _run_once(place, size, name, task, on_record, stopping)
                except WorkerLostError as error:
                    lost, least = lost + 1, 1
                    if lost > restarts:
                        often = f"Workers were lost {lost} times, and {restarts} are allowed"
                        why = error.what if restarts == 0 else f"{often}: {error.what}"
                        raise WorkerLostError(why) from None
                on_record({"lost": lost})
        finally:
            self._disconnect()

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if self._address is None:  # read when Ray is imported: keep to the loopback interface
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        import ray

        if ray.is_initialized():
            return
        try:
            with _signals_end_the_wait():
                if self._address:
                    _check_answers(self._address)
                ray.init(
                    self._address or "local", log_to_driver=False, logging_level="ERROR",
                    **({} if self._address else {"include_dashboard": False}),
                )  # fmt: skip
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(
                "The 'cluster_address' parameter must be that of a running Ray cluster, such as "
                f"'auto' on one of its nodes. Got {self._address!r} instead ({first_line(error)}); "
                "start one with 'ray start --head', or leave it out for one on this machine."
            ) from None
        self._connected = True

    def _disconnect(self) -> None:
        import ray

        if self._connected:
            ray.shutdown()
            self._connected = False


@contextmanager
def _signals_end_the_wait() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM interrupt at once; afterwards handlers are ours, and not Ray's."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        plain = signal.default_int_handler
        before = {n: signal.signal(n, plain) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _check_answers(address: str) -> None:
    """Raise OSError unless a cluster of Ray answers; Ray itself tries for a quarter of an hour.

    Another process tries, which can be given up; Ray finds there what "auto" stands for.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROBE, address], capture_output=True, text=True, timeout=ANSWER,
            check=False, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"no cluster answers within {ANSWER:g} seconds") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["Ray ended without a word"]
        raise ConnectionError(said[-1].strip())


def _needs(task: Task) -> dict[str, float]:
    """Return what a worker takes of its node."""
    threads = task.get("n_jobs")
    return {"CPU": float(threads) if isinstance(threads, int) and threads > 0 else 1.0}


def _rooms(needs: dict[str, float]) -> list[int]:
    """Return how many workers each node that is alive has room for."""
    import ray

    found = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [min(int(has.get(kind, 0.0) // n) for kind, n in needs.items()) for has in found]


def _place(size: int, least: int, needs: dict[str, float]) -> tuple[Any, int]:
    """Return a placement group for `size` workers, or for fewer, and their number."""
    from ray.util import placement_group, remove_placement_group

    wanted = size
    while size >= least:
        place = placement_group([needs] * size, strategy="SPREAD")
        if place.wait(PATIENCE):
            return place, size
        remove_placement_group(place)
        size = min(size - 1, sum(_rooms(needs)))
    each = " and ".join(f"{n:g} {kind}" for kind, n in needs.items())
    raise InputError(
        f"The Ray cluster must have room for {wanted} workers, each with {each} of one node. After "
        f"{PATIENCE:g} seconds it has not; with nothing else running its nodes have room for "
        f"{sum(_rooms(needs))}. End other jobs, start nodes, or take fewer workers or threads."
    )


def _run_once(
    place: Any,
    size: int,
    program: str,
    task: Task,
    on_record: Callable[[Record], None],
    stopping: Callable[[], bool],
) -> Record:
    """Start actors, let them run the program, and end them."""
    import ray
    from ray.util import remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    remote = ray.remote(concurrency_groups={_MAIL: 1, _CALLS: 1})(Worker)
    actors = []
    try:
        for bundle in range(size):
            strategy = PlacementGroupSchedulingStrategy(place, placement_group_bundle_index=bundle)
            actors.append(
                remote.options(
                    num_cpus=place.bundle_specs[0]["CPU"], max_restarts=0,
                    scheduling_strategy=strategy,
                ).remote()
            )  # fmt: skip
        works = [actor.work.remote(i, actors, program, task) for i, actor in enumerate(actors)]
        return _follow(actors[0], works, on_record, stopping)
    except ray.exceptions.RayTaskError:
        raise  # an error in the program, with the worker's traceback
    except ray.exceptions.RayError as error:
        if getattr(error, "actor_init_failed", False):
            why = str(error).strip().splitlines()[-1]
            raise InputError(
                f"All nodes of the Ray cluster must have polyaurn {__version__}. A worker could "
                f"not start ({why}); install it, and what it needs, on every node."
            ) from None
        raise WorkerLostError(f"A worker or its node was lost: {first_line(error)}") from None
    finally:
        for actor in actors:
            ray.kill(actor)
        remove_placement_group(place)


def _follow(
    first: Any,
    works: list[Any],
    on_record: Callable[[Record], None],
    stopping: Callable[[], bool],
) -> Record:
    """Pass on what the first worker reports until all have ended; return its result."""
    import ray

    def call(method: Any, *arguments: Any) -> Any:
        return method.options(concurrency_group=_CALLS).remote(*arguments)

    running, asked = list(works), False
    news = call(first.news, LOOK)
    while running:
        done, _ = ray.wait([news, *running], num_returns=1)
        for ref in done:
            if ref == news:
                for record in ray.get(news):
                    on_record(record)
                news = call(first.news, LOOK)
                continue
            answer = ray.get(ref)
            if "lost" in answer:
                raise WorkerLostError(answer["lost"])
            if "error" in answer:
                raise InputError(answer["error"])
            running.remove(ref)
        if not asked and stopping():
            asked = True
            ray.get(call(first.stop))
    for record in [*ray.get(news), *ray.get(call(first.news, 0.0))]:
        on_record(record)
    result: Record = ray.get(works[0])["result"]
    return result
