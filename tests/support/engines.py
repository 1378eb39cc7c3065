"""Engines of clusters on this machine, called alike by tests: three workers of each."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from support import group_programs
from support.cluster_programs import wait_until

TESTS = Path(__file__).resolve().parents[1]
SIZE = 3
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
LIMIT = 120  # seconds after which a run is ended


def environment():
    """Return the environment in which workers find the package and the tests."""
    import polyaurn

    paths = [str(Path(polyaurn.__file__).parents[1]), str(TESTS)]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths), "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",
        "RAY_memory_monitor_refresh_ms": "0",  # or it ends workers when other programs take memory
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # loopback only; read when Ray is imported
    }  # fmt: skip


def mpiexec():
    """Return the program that starts ranks; skip the test where there is none."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec")
    return found


@contextmanager
def start_ranks(*command, size=SIZE):
    """Run Python with these arguments on ranks while a with block lasts; yield their mpiexec."""
    words = [mpiexec(), "-n", str(size), sys.executable, *map(str, command)]
    with subprocess.Popen(
        words, env=environment(), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()  # which ends the ranks, too


def run_ranks(*command, size=SIZE):
    """Run Python with these arguments on ranks; return what ended."""
    with start_ranks(*command, size=size) as process:
        out, error = process.communicate(timeout=LIMIT)
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


class OnMPI:
    """Calls programs as the caller of an engine would."""

    name = "mpi"
    restarts = False

    def run(self, program, task, **options):
        done = run_ranks("-m", "support.on_mpi", program, json.dumps(task))
        try:
            found = json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            found = {"records": []}
        return found | {"code": done.returncode, "said": done.stderr}


class OnEngine:
    """Calls programs on an engine in this process."""

    def __init__(self, engine):
        self.engine, self.name, self.restarts = engine, engine.name, engine.restarts

    def run(self, program, task, *, restarts=0, stop_after=4, size=SIZE):
        from polyaurn.base.errors import InputError

        records = []
        found = {"records": records, "code": 0, "said": ""}
        try:
            found["result"] = self.engine.run(
                self.engine.check(size), getattr(group_programs, program), task,
                restarts=restarts, on_record=records.append,
                stopping=lambda: len(records) >= stop_after,
            )  # fmt: skip
        except InputError as error:
            found |= {"error": str(error), "code": 2, "kind": type(error)}
        return found


@contextmanager
def ray_cluster():
    """Start a Ray cluster of three small nodes on this machine's loopback."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    before = dict(os.environ)
    os.environ.update(environment())
    import ray
    from ray._private import services
    from ray.cluster_utils import Cluster

    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 300,
             "health_check_timeout_ms": 10_000, "health_check_failure_threshold": 3}  # fmt: skip
    head = NODE | {"_system_config": quick, "wait": False}
    with patch.object(services, "get_node", patient(services.get_node)):
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            await_nodes(cluster)
            ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
            add_nodes(cluster, SIZE - 1)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            os.environ.clear()
            os.environ.update(before)


def patient(look):
    """Return a function that looks until it finds; Ray itself looks for a new node for 30 s."""

    def find(*where):
        found = []

        def finds():
            with suppress(RuntimeError):
                found.append(look(*where))
            return found

        wait_until(finds)
        return found[0]

    return find


def add_nodes(cluster, number):
    """Add nodes of one core, and wait until they are there."""
    for _ in range(number):
        cluster.add_node(wait=False, **NODE)
    await_nodes(cluster)


def await_nodes(cluster):
    """Wait until the nodes that have been added, and not lost, are those alive."""
    expected = len(cluster.list_all_nodes())
    wait_until(lambda: sum(n["Alive"] for n in cluster.global_state.node_table()) == expected)


def lose_node(cluster):
    """End all processes of one node at once; its workers would outlive their raylet by a second."""
    node = next(iter(cluster.worker_nodes))
    processes = descendants(node.all_processes["raylet"][0].process.pid)
    names = [name_of(process) for process in processes]
    assert any(name.startswith("ray::Worker") for name in names), names
    cluster.remove_node(node, allow_graceful=False)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    await_nodes(cluster)


def name_of(process):
    """Return the command line of a process, which Ray sets to what it works on; "" if it ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text()
    return ""


def descendants(process):
    """Return the processes that a process has started, those that these have started, and so on."""
    children = []
    with suppress(OSError):  # it has ended
        for task in Path(f"/proc/{process}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children + [further for child in children for further in descendants(child)]
