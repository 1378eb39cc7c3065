"""The engine whose workers are processes of this machine."""

import json
import time
from multiprocessing import Pipe

import pytest

from polyaurn.backends.sharded.group import load_program, name_of
from polyaurn.backends.sharded.local import Local, _cause
from polyaurn.backends.sharded.registry import load_engine
from polyaurn.base.errors import InputError, WorkerLostError
from polyaurn.base.threads import count_cores
from support import cluster_programs
from support.thread_group import run_threads


class Silent:
    def report(self, record):
        """Say nothing."""

    def stopping(self):
        return False


@pytest.mark.parametrize("size", [1, 2, 5])
def test_threads_keep_the_contract_of_a_group(size):
    found = run_threads(size, lambda group: cluster_programs.contract(group, {}, Silent()))
    assert [one["rank"] for one in found] == list(range(size))
    assert (found[0]["moved"] == 0) == (size == 1)


def test_processes_keep_it_and_only_the_first_is_heard():
    heard = []
    found = Local().run(3, cluster_programs.contract, {"a": [1, "b"]},
                        on_record=heard.append)  # fmt: skip
    assert (found["rank"], found["task"]) == (0, {"a": [1, "b"]})
    assert found["moved"] > 2 << 20
    assert heard == [{"from": 0}]


def test_another_process_finds_a_program_by_its_name():
    name = name_of(cluster_programs.contract)
    assert name == "support.cluster_programs:contract"
    assert load_program(name) is cluster_programs.contract


def test_errors_of_programs():
    with pytest.raises(InputError, match="The 'x' parameter must be another"):
        Local().run(2, cluster_programs.sentence, {})
    with pytest.raises(RuntimeError, match="ZeroDivisionError: of a program"):
        Local().run(1, cluster_programs.broken, {})


def test_a_worker_that_is_killed(tmp_path):
    heard = []
    task = {"file": str(tmp_path / "times"), "kills": 1}
    run = (2, cluster_programs.killed_once, task)
    assert Local().run(*run, restarts=1, on_record=heard.append) == {"times": 2}
    assert heard == [{"lost": 1}]
    (tmp_path / "times").unlink()
    with pytest.raises(WorkerLostError, match="of the cluster ended"):
        Local().run(2, run[1], task)


def test_a_program_ends_when_it_is_asked_to():
    rounds = []
    found = Local().run(
        2, cluster_programs.until_stopped, {},
        on_record=lambda record: rounds.append(record["round"]),
        stopping=lambda: len(rounds) >= 3,
    )  # fmt: skip
    assert found["rounds"] == rounds[-1] >= 3


def test_a_program_that_has_ended_may_be_asked_to():
    heard = []

    def late():
        if heard:
            time.sleep(1.0)  # in which the worker ends
        return bool(heard)

    found = Local().run(1, cluster_programs.contract, {}, on_record=heard.append, stopping=late)
    assert found["rank"] == 0


def test_the_engine_says_what_it_needs():
    assert Local().check(7) == 7
    assert Local().check(None) == count_cores()
    assert load_engine("local").name == "local"
    with pytest.raises(InputError, match="'cluster_address' parameter must be left out"):
        load_engine("local", "auto")


def test_the_error_of_a_worker_comes_before_the_news_that_it_is_gone():
    gone = {"gone": "Worker 1 of the cluster ended."}
    (ours, theirs), (first, worker_0) = Pipe(), Pipe()
    for said in ({"record": 1}, {"sentence": "The error of one."}):
        theirs.send_bytes(json.dumps(said).encode())
    theirs.close()
    worker_0.close()
    assert _cause(0, gone, {first: 0, ours: 1}) == (1, {"sentence": "The error of one."})
    assert _cause(0, gone, {first: 0, ours: 1}) == (0, gone)  # nothing more is said
    known = {"sentence": "The error of all."}
    assert _cause(0, known, {first: 0, ours: 1}) == (0, known)
