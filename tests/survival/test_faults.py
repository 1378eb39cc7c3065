"""Faults tried for real: processes killed, disks full, folders shared; nothing is lost."""

import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from polyaurn import load
from polyaurn.files.names import CONFIG, TIMINGS
from support.forks import ForkServer

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
KILLS = 50
SWEEPS = 40
OPTIONS = (
    "-k", 5, "--sweeps", SWEEPS, "--eval-every", 7, "--learn-priors-every", 5,
    "--sampler", "polya-urn",
)  # fmt: skip


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forks")
    X = np.random.default_rng(0).poisson(1.0, (400, 50))
    rows = (" ".join(f"w{v}" for v in np.repeat(np.arange(50), row)) for row in X)
    (folder / "t.txt").write_text("\n".join(rows))
    home = ForkServer(folder)
    yield home
    home.close()


@pytest.fixture(scope="module")
def whole(forks):
    """The model of a run that was never interrupted."""
    child = forks.start("train", "t.txt", *OPTIONS, "--out", "whole", "--threads", 1)
    assert child.wait() == 0, child.text
    return contents(forks.folder / "whole")


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in (TIMINGS, CONFIG)}


def train(forks, name, *options, threads=1, every=1):
    return forks.start(
        "train", "t.txt", *OPTIONS, "--out", name, "--threads", threads,
        "--checkpoint-every", every, *options,
    )  # fmt: skip


def checkpoint_of(forks, name, sweep=1):
    """Return whether there is a checkpoint of this sweep or a later one."""
    folder = forks.folder / name / "checkpoints"

    def there():
        found = [int(p.stem[6:]) for p in folder.glob("sweep-*.json")] if folder.exists() else []
        return max(found, default=0) >= sweep

    return there


@pytest.mark.slow
def test_runs_that_are_killed_again_and_again_end_with_the_same_bytes(forks, whole):
    rng = np.random.default_rng(1)
    kills, runs, finished = 0, 0, 0
    begin = time.perf_counter()
    train(forks, "timed").wait()
    usual = time.perf_counter() - begin
    deadline = time.monotonic() + 240
    while kills < KILLS:
        assert time.monotonic() < deadline, f"{kills} kills"
        name = f"killed-{finished}"
        child = train(forks, name, "--resume", threads=1 + runs % 2)
        runs += 1
        time.sleep(usual * rng.random())
        child.send(signal.SIGKILL)
        code = child.wait()
        kills += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), child.text
        if code == 0:
            assert contents(forks.folder / name) == whole
            finished += 1
    child = train(forks, f"killed-{finished}", "--resume")
    assert child.wait() == 0, child.text
    assert contents(forks.folder / f"killed-{finished}") == whole


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_that_is_asked_for_writes_a_checkpoint_and_says_how_to_resume(forks, whole, number):
    name = f"asked-{number}"
    child = train(forks, name, every="1s", threads=2)
    part = forks.folder / name / ".polyaurn.lock"
    child.wait_until(part.exists)
    child.send(number)
    code = child.wait()
    assert code in (0, 130), child.text
    if code == 130:
        assert "Continue with the same command and --resume" in child.text
        assert load(forks.folder / name).n_topics == 5
        rejected = train(forks, name)
        assert rejected.wait() == 2
        assert "holds a run that was not finished" in rejected.text
    child = train(forks, name, "--resume")
    assert child.wait() == 0
    assert contents(forks.folder / name) == whole


def test_a_second_stop_ends_the_process_at_once():
    program = (
        "import os, signal, time\n"
        "from polyaurn.training.signals import StopOnSignal\n"
        "with StopOnSignal():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30
    )
    assert ended.returncode == 130
    assert "Stopping after this sweep; again to stop at once." in ended.stderr
    assert "the last checkpoint is kept" in ended.stderr


def test_a_full_disk_loses_nothing(forks, whole):
    """A limit on the size of files stands for the disk; it comes in the middle of a run."""
    child = train(forks, "full")
    child.wait_until(checkpoint_of(forks, "full", 3))
    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (30_000, 30_000))
    assert child.wait() == 2
    assert child.text.count("No checkpoint was written") == 1
    assert "File too large" in child.text
    assert "Traceback" not in child.text
    folder = forks.folder / "full"
    assert not (folder / "model.json").exists()
    assert not list(folder.rglob(".*.new"))
    assert len(list(folder.glob("checkpoints/*.json"))) in (1, 2)
    child = train(forks, "full", "--resume")
    assert child.wait() == 0, child.text
    assert contents(folder) == whole


@pytest.fixture
def small_disk(forks):
    """A disk in memory of less than a megabyte."""
    place = forks.folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=800k", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this process may not mount a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full_loses_nothing(forks, whole, small_disk):
    child = train(forks, "disk/m")
    child.wait_until(checkpoint_of(forks, "disk/m", 3))
    child.send(signal.SIGSTOP)
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "filler").write_bytes(bytes(1 << 20))
    child.send(signal.SIGCONT)
    assert child.wait() == 2
    assert child.text.splitlines()[-1] == (
        f"polyaurn: The folder '{small_disk / 'm'}' cannot be written: No space left on device. "
        "Free some space or choose another folder."
    )
    assert not list(small_disk.rglob(".*.new"))
    (small_disk / "filler").unlink()
    child = train(forks, "disk/m", "--resume")
    assert child.wait() == 0, child.text
    assert contents(small_disk / "m") == whole


def test_two_processes_and_one_folder(forks):
    first = train(forks, "shared")
    first.wait_until(checkpoint_of(forks, "shared"))
    first.send(signal.SIGSTOP)
    second = train(forks, "shared", "--resume")
    assert second.wait() == 2
    assert f"is being written to by another process ({first.pid})" in second.text
    assert second.text.count("\n") == 4  # what was read, its language and words, and one sentence
    first.send(signal.SIGKILL)
    first.wait()
    third = train(forks, "shared", "--resume")
    assert third.wait() == 0, third.text


def test_a_checkpoint_that_was_cut_off_or_changed_is_not_used(forks, whole):
    child = train(forks, "bad")
    child.wait_until(checkpoint_of(forks, "bad", 4))
    child.send(signal.SIGKILL)
    child.wait()
    folder = forks.folder / "bad" / "checkpoints"
    newest = max(folder.glob("sweep-*.json")).with_suffix(".npz")
    content = newest.read_bytes()
    for case, damage in (("cut", content[:-900]), ("flip", b"\x00" + content[1:])):
        copy = forks.folder / f"bad-{case}"
        shutil.copytree(forks.folder / "bad", copy)
        (copy / "checkpoints" / newest.name).write_bytes(damage)
        child = train(forks, copy.name, "--resume")
        assert child.wait() == 0, child.text
        assert "A newer checkpoint is damaged" in child.text
        assert contents(copy) == whole
    for header in folder.glob("*.json"):
        header.write_text("{}")
    child = train(forks, "bad", "--resume")
    assert child.wait() == 2
    assert "holds damaged checkpoints only" in child.text


def test_another_corpus_is_rejected(forks):
    child = train(forks, "corpus")
    child.wait_until(checkpoint_of(forks, "corpus"))
    child.send(signal.SIGKILL)
    child.wait()
    before = {p: p.read_bytes() for p in (forks.folder / "corpus").rglob("*.npz")}
    child = train(forks, "corpus", "--resume", "--min-count", 430)
    assert child.wait() == 2
    assert "The corpus must be the one of the run that is resumed" in child.text
    assert {p: p.read_bytes() for p in (forks.folder / "corpus").rglob("*.npz")} == before


def test_a_folder_that_cannot_be_written(forks):
    child = train(forks, "/proc/model")
    assert child.wait() == 2
    assert "cannot be written" in child.text
    assert "Traceback" not in child.text
