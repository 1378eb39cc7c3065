"""The contract of groups and engines, for every engine in a list: `support/group_programs.py`."""

import os
import signal
import socket
import threading

import numpy as np
import pytest

from polyaurn.backends.sharded import ray as ray_engine
from polyaurn.backends.sharded.group import name_of
from polyaurn.backends.sharded.local import Local
from polyaurn.backends.sharded.mpi import MPI
from polyaurn.backends.sharded.ray import Ray
from polyaurn.base.errors import InputError, WorkerLostError
from support import group_programs
from support.engines import SIZE, OnEngine, OnMPI, mpiexec
from support.group_programs import DTYPES

# Ray leaves files and sockets to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.xdist_group("engines"),
]


@pytest.fixture(scope="module")
def on_mpi():
    mpiexec()
    return OnMPI()


@pytest.fixture(scope="module")
def on_ray(ray_nodes):
    return OnEngine(Ray(ray_nodes.address))


@pytest.fixture(scope="module")
def on_local():
    return OnEngine(Local())


@pytest.fixture(params=["local", "mpi", "ray"])
def engine(request):
    return request.getfixturevalue(f"on_{request.param}")


def test_groups_keep_their_contract(engine):
    found = engine.run("keeps_contract", {})
    assert found.get("result") == {"rank": 0, "size": SIZE}, found
    expected = [{"dtype": np.dtype(dtype).name, "rank": 0} for dtype in DTYPES]
    assert found["records"] == expected


def test_one_rank_without_mpiexec(on_mpi):
    records = []
    found = MPI().run(1, group_programs.keeps_contract, {}, on_record=records.append)
    assert (found, len(records)) == ({"rank": 0, "size": 1}, len(DTYPES))
    assert not MPI().serve()


def test_one_actor_as_its_process_sees_it(on_ray):
    worker = ray_engine.Worker()
    answer = worker.work(0, [None], name_of(group_programs.keeps_contract), {})
    assert answer == {"result": {"rank": 0, "size": 1}}
    assert len(worker.news(0.0)) == len(DTYPES)
    task = {"failing": [0], "known": True, "what": "one"}
    assert worker.work(0, [None], name_of(group_programs.fails), task) == {
        "error": "The error of one."
    }
    worker.deliver(1, 2, np.arange(3))
    assert worker._mail.take(1, 2).tolist() == [0, 1, 2]
    worker.stop()
    assert worker.stopping()


def test_a_planted_fault_is_seen(engine):
    """A worker sends its pieces backwards: the contract's program sees it."""
    found = engine.run("keeps_contract", {"fault": 1})
    assert "result" not in found
    assert "in place of" in found.get("error", found["said"])


def test_long_arrays_pass_in_several_messages(on_mpi):
    found = on_mpi.run("keeps_contract", {"message": 50_000})
    assert found.get("result") == {"rank": 0, "size": SIZE}, found
    found = on_mpi.run("keeps_contract", {"message": 50_000, "fault": 2})
    assert "in place of" in found.get("error", found["said"])


def test_the_caller_may_end_a_program(engine):
    found = engine.run("waits", {})
    assert found["result"]["rounds"] >= 3
    assert [record["rounds"] // SIZE for record in found["records"]][:3] == [1, 2, 3]


def test_an_error_of_all_workers_is_one_sentence(engine):
    found = engine.run("fails", {"failing": [0, 1, 2], "known": True, "what": "all"})
    assert found["error"] == "The error of all."
    assert found["code"] == 2
    assert "The error" not in found["said"]


def test_an_error_of_one_worker_ends_all(engine):
    found = engine.run("fails", {"failing": [1], "known": True, "what": "one"})
    assert "The error of one." in found.get("error", "") + found["said"]
    assert found["code"] == 2


def test_workers_of_other_versions_are_rejected(engine):
    found = engine.run("differ_in_version", {})
    assert found["error"].startswith(
        "All workers must run the same version of polyaurn. Got 0.2.0 on "
    )
    assert " and 0.3.0 on " in found["error"]


def test_a_program_that_breaks_ends_all_ranks(on_mpi):
    found = on_mpi.run("fails", {"failing": [2], "known": False, "what": "a fault"})
    assert found["code"] != 0
    assert "ZeroDivisionError" in found["said"]
    assert "polyaurn: Worker 2 failed: The error of a fault." in found["said"]


def test_a_lost_rank_ends_the_job(on_mpi, tmp_path):
    found = on_mpi.run("loses_one", {"folder": str(tmp_path)})
    assert "result" not in found
    assert found["code"] != 0


def test_a_lost_actor_is_started_again(on_ray, tmp_path):
    found = on_ray.run("loses_one", {"folder": str(tmp_path)}, restarts=1)
    assert found.get("result") == {"sizes": [SIZE] * SIZE}, found
    assert found["records"] == [{"lost": 1}]


def test_actors_lost_more_often_than_allowed_are_a_sentence(on_ray, tmp_path):
    task = {"folder": str(tmp_path), "always": True}
    found = on_ray.run("loses_one", task, restarts=1, size=1)
    assert found["kind"] is WorkerLostError
    assert "Workers were lost 2 times, and 1 are allowed" in found["error"]
    assert found["records"] == [{"lost": 1}]


def test_more_workers_than_the_cluster_has_room_for(on_ray):
    with pytest.raises(InputError, match=r"one or more: 3 on 3 nodes here\. Got 4 inst"):
        on_ray.engine.check(4)
    assert on_ray.engine.check(None) == SIZE
    with pytest.raises(InputError, match=r"3 workers, each with 2 CPU of one node\. .* room for 0"):
        _impatiently(on_ray.engine, {"n_jobs": 2})


def _impatiently(engine, task):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_engine, "PATIENCE", 0.5)
        engine.run(SIZE, group_programs.waits, task)


class Broken(ray_engine.Worker):
    def __init__(self):
        raise ModuleNotFoundError("No module named 'polyaurn'")


def test_a_node_without_polyaurn(on_ray, monkeypatch):
    monkeypatch.setattr(ray_engine, "Worker", Broken)
    with pytest.raises(InputError, match=r"must have polyaurn .* No module named 'polyaurn'"):
        on_ray.engine.run(1, group_programs.waits, {})


def test_an_address_for_programs_outside_of_the_cluster():
    with pytest.raises(InputError, match=r"Got 'ray://head:10001' instead, .* start it on a node"):
        Ray("ray://head:10001")


def test_no_cluster_at_the_address(monkeypatch):
    pytest.importorskip("ray", reason="ray is not installed")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(InputError, match=r"'cluster_address' .* Got '127.0.0.1:9' instead"):
        Ray("127.0.0.1:9")._connect()


@pytest.fixture
def never_answered(monkeypatch, tmp_path):
    """Yield an address where something listens that is not Ray; Ray remembers it, too."""
    pytest.importorskip("ray", reason="ray is not installed")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", lambda *_, **__: pytest.fail("tried for a quarter of an hour"))
    monkeypatch.setattr(ray_engine, "ANSWER", 1.0)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text(address)
        yield address


@pytest.mark.parametrize("given", ["auto", None])
def test_what_is_at_the_address_is_not_ray(never_answered, given, monkeypatch):
    if given == "auto":  # for which Ray would find any cluster of this machine
        monkeypatch.setattr(ray_engine, "PROBE", "import time; time.sleep(60)")
    given = given or never_answered
    with pytest.raises(InputError, match=f"Got '{given}' instead .no cluster answers within 1 s"):
        Ray(given)._connect()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_for_an_answer(never_answered, monkeypatch, number):
    monkeypatch.setattr(ray_engine, "ANSWER", 60.0)
    asked = []
    before = signal.signal(number, lambda *_: asked.append(number))  # as while a run can be stopped
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
        with pytest.raises(KeyboardInterrupt):
            Ray("auto")._connect()
        os.kill(os.getpid(), number)
    finally:
        signal.signal(number, before)
    assert asked == [number]  # by the second: the handler is back


def test_engines_that_are_not_installed(monkeypatch):
    for module, engine in ((ray_engine, Ray()), (MPI.__module__, MPI())):
        monkeypatch.setattr(f"{getattr(module, '__name__', module)}.find_spec", lambda name: None)
        assert "is not installed (pip install 'polyaurn[" in engine.missing()


def test_an_address_is_not_for_mpi(on_mpi):
    with pytest.raises(InputError, match=r"must be left out with cluster='mpi'"):
        MPI("auto")
