"""The log of the tests on a GPU speaks for the sources that it was made with, and for no others."""

import subprocess
import sys
from pathlib import Path

import pytest

from polyaurn.backends.registry import BACKENDS
from support import gpu_log


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "gpu"
    folder.mkdir()
    (folder / "phi.py").write_text("K = 1\n")
    return folder


@pytest.fixture
def log(tmp_path, sources):
    path = tmp_path / "log.txt"
    path.write_text(f"sources: {gpu_log.digest(sources)}\npassed: yes\n\n3 passed\n")
    return path


def test_a_log_of_these_sources_stands(log, sources):
    assert gpu_log.complaint(log, sources) is None


@pytest.mark.parametrize("change", ["edit", "rename", "new"])
def test_a_change_of_the_sources_is_seen(log, sources, change):
    path = sources / "phi.py"
    if change == "edit":
        path.write_text("K = 2\n")
    elif change == "rename":
        path.rename(sources / "z.py")
    else:
        (sources / "z.py").write_text("")
    assert "have changed since" in gpu_log.complaint(log, sources)


def test_no_log_and_a_failed_one(log, sources, tmp_path):
    assert "make test-gpu" in gpu_log.complaint(tmp_path / "none.txt", sources)
    log.write_text(log.read_text().replace("passed: yes", "passed: no"))
    assert "failed when" in gpu_log.complaint(log, sources)


@pytest.mark.skipif(BACKENDS["gpu"].missing() is None, reason="would run all tests on this GPU")
def test_without_a_gpu_a_sentence_and_2():
    run = subprocess.run(
        [sys.executable, Path(gpu_log.__file__)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert run.stderr.startswith("The tests on a GPU cannot run: ")
    assert not run.stdout
