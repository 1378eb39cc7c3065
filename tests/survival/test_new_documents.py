"""Updates and topics over time that are killed, or stopped, and resumed: the same bytes."""

import csv
import resource
import signal
import time

import numpy as np
import pytest

from polyaurn import load
from polyaurn.files.names import CONFIG, TIMINGS
from support.forks import ForkServer

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
KILLS = 4  # of each command
READING = ("--text-column", "text")
COMMANDS = {
    "update": (
        "update", "model", "new.csv", *READING, "--forget", 0.3, "--new-topics", 1,
        "--sweeps", 30,
    ),
    "update with earlier documents": (
        "update", "model", "new.csv", *READING, "--with", "old.csv", "--sweeps", 30,
    ),
    "over time": (
        "train", "old.csv", *READING, "--date-column", "date", "--by", "year", "--both-ways",
        "--topics", 3, "--sweeps", 30, "--slice-sweeps", 8,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forks")
    rng = np.random.default_rng(0)
    for name, low, n in (("old.csv", 0, 300), ("new.csv", 10, 150)):
        with (folder / name).open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["date", "text"])
            for d in range(n):
                words = low + 20 * (d % 2) + rng.integers(0, 20, 40)
                rows.writerow([2001 + d // 100, " ".join(f"w{v:02d}" for v in words)])
    home = ForkServer(folder)
    child = home.start("train", "old.csv", *READING, "-k", 3, "--sweeps", 30, "--out", "model")
    assert child.wait() == 0, child.text
    yield home
    home.close()


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (TIMINGS, CONFIG)
    }


def start(forks, command, out, *options, threads=1):
    return forks.start(
        *COMMANDS[command], "--out", out, "--threads", threads, "--checkpoint-every", 1, *options
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(forks, command):
    stem = command.replace(" ", "-")
    begin = time.perf_counter()
    child = start(forks, command, f"{stem}-whole")
    assert child.wait() == 0, child.text
    usual = time.perf_counter() - begin
    whole = contents(forks.folder / f"{stem}-whole")
    when, kills, runs, finished = np.random.default_rng(1), 0, 0, 0
    deadline = time.monotonic() + 120
    while kills < KILLS:
        assert time.monotonic() < deadline, f"{kills} kills"
        out = f"{stem}-{finished}"
        child = start(forks, command, out, "--resume", threads=1 + runs % 2)
        runs += 1
        time.sleep(usual * when.random())
        child.send(signal.SIGKILL)
        code = child.wait()
        kills += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), child.text
        if code == 0:
            assert contents(forks.folder / out) == whole
            finished += 1
    child = start(forks, command, f"{stem}-{finished}", "--resume", threads=2)
    assert child.wait() == 0, child.text
    assert contents(forks.folder / f"{stem}-{finished}") == whole


def test_an_update_that_is_stopped_resumes_to_the_same_bytes(forks):
    model = contents(forks.folder / "model")
    assert start(forks, "update", "not-stopped").wait() == 0
    child = start(forks, "update", "stopped")
    checkpoints = forks.folder / "stopped" / "checkpoints"
    child.wait_until(lambda: any(checkpoints.glob("sweep-*.json")))
    child.send(signal.SIGINT)
    code = child.wait()
    assert code in (0, 130), child.text
    if code == 130:
        assert "Continue with the same command and --resume" in child.text
        assert load(forks.folder / "stopped").n_topics == 4
    child = start(forks, "update", "stopped", "--resume", threads=2)
    assert child.wait() == 0, child.text
    assert contents(forks.folder / "stopped") == contents(forks.folder / "not-stopped")
    assert contents(forks.folder / "model") == model
