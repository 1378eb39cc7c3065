"""How many threads: what was asked for, or what the system and a container's limit allow."""

import os

import pytest

from polyaurn import InputError
from polyaurn.base import threads
from polyaurn.base.threads import count_cores, count_threads

HERE = 16


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Have 16 cores, and control groups made of files."""
    monkeypatch.setattr(os, "cpu_count", lambda: HERE)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(HERE)), raising=False)
    monkeypatch.setattr(os, "process_cpu_count", lambda: HERE, raising=False)
    monkeypatch.setattr(threads, "_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(threads, "_OWN_GROUPS", tmp_path / "own")

    def make(own="", **files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return make


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("", {}, HERE),
        ("0::/\n", {"cpu.max": "max 100000\n"}, HERE),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "10000 100000\n"}, 1),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/a\n", {"b/cpu.max": "100000 100000\n"}, HERE),
        ("", {"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ("", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, HERE),
        (
            "4:cpu,cpuacct:/docker/x\n3:memory:/y\n",
            {
                "cpu,cpuacct/docker/x/cpu.cfs_quota_us": "500000",
                "cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000",
            },
            5,
        ),
        ("0::/\n", {"cpu.max": "nonsense"}, HERE),
        ("0::/../..\n", {"cpu.max": "800000 100000\n"}, 8),
    ],
)
def test_a_container_limits_the_cores(groups, own, files, cores):
    groups(own, **files)
    assert count_cores() == count_threads(-1) == cores
    assert count_threads(-2) == max(1, cores - 1)
    assert count_threads(40) == 40  # what is asked for in numbers is taken


def test_the_system_limits_the_cores(groups, monkeypatch):
    groups()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3, 5}, raising=False)
    assert count_cores() == 3
    monkeypatch.setattr(os, "process_cpu_count", lambda: 2, raising=False)
    assert count_cores() == 2


def test_invalid_numbers_are_reported():
    assert count_threads(None) == 1
    for given in (0, 1.5, True, "all"):
        with pytest.raises(InputError, match="'n_jobs' parameter must be a positive number"):
            count_threads(given)
