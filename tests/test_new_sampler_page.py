"""docs/new_sampler.md, carried out: its file, list entry and fault, in a copy of the package."""

import json
import os
import subprocess
import sys

import pytest

from support.new_sampler import NAME, blocks, carry_out, files_named
from support.p_values import UNLIKELY

FILE = "src/polyaurn/backends/cpu/plain_gibbs.py"


def run_in(copy):
    carry_out(copy)
    path = os.pathsep.join(str(copy / folder) for folder in ("src", "tests"))
    return subprocess.run(
        [sys.executable, "-m", "support.new_sampler"],
        cwd=copy, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return what the sampler of the page did in a copy of the package."""
    copy = tmp_path_factory.mktemp("copy")
    done = run_in(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["package"].startswith(str(copy))
    return found


def test_the_page_has_a_file_an_entry_and_a_fault():
    entries = ["src/polyaurn/chain/samplers.py, in SAMPLERS", "tests/support/faults.py, in FAULTS"]
    assert list(blocks()) == [FILE, *entries]


def test_the_sampler_runs_from_python_and_from_the_command_line(said):
    assert said["same"]
    assert said["other"]
    assert said["trained"] == NAME


def test_the_tests_that_the_page_names_find_the_sampler(said):
    assert len(files_named()) == 6
    for file in files_named():
        assert any(node.startswith(file) for node in said["found"]), file


def test_the_contract_holds(said):
    assert set(said["ended"].values()) == {"passed"}
    assert {name.partition("[")[0] for name in said["ended"]} == {
        "test_any_number_of_threads_gives_the_same_bytes",
        "test_continuing_from_a_state_gives_the_same_bytes",
        "test_a_state_is_left_as_it_is",
        "test_vector_priors_are_taken_by_all",
    }


def test_a_sweep_keeps_the_enumerated_posterior_and_one_with_the_fault_does_not(said):
    assert said["p_values"]["right"] > UNLIKELY
    assert said["p_values"]["alpha_doubled"] < UNLIKELY**2
