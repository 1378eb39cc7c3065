"""Tests of one group run in one process: two clusters would not fit on a small machine at once."""

import os
import subprocess
import sys

import pytest

TESTS = """
import os

import pytest


@pytest.mark.parametrize("number", range(10))
@pytest.mark.xdist_group("engines")
def test_of_the_group(number, tmp_path_factory):
    with open("workers", "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


@pytest.mark.parametrize(("dist", "n_workers"), [("loadgroup", 1), ("load", 2)])
def test_a_group_has_one_worker_unless_groups_are_not_asked_for(tmp_path, dist, n_workers):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # for the time that plugins take to be imported
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-n", "2", "--dist", dist]
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    workers = (tmp_path / "workers").read_text().split()
    assert (len(workers), len(set(workers))) == (10, n_workers)
