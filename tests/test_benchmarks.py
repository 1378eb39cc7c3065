"""Each benchmark program runs once, tiny, so that it cannot rot. Speed is not judged here."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def run(program, *arguments):
    done = subprocess.run(
        [sys.executable, BENCHMARKS / program, "--corpus", "tiny", "--no-save", *arguments],
        capture_output=True, text=True, check=False, cwd=BENCHMARKS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_throughput_runs():
    engines = ("--engines", "polya-urn", "partially-collapsed")
    out = run("throughput.py", "--topics", "5", "--burn-in", "2", "--timed", "2", "--rounds", "1",
              *engines)  # fmt: skip
    assert out.count("M tokens/s") == 2


def test_agreement_runs():
    out = run("agreement.py", "--topics", "3", "--seeds", "2", "--marks", "2", "4")
    assert out.count("sweep") == 2 * 5


def test_scaling_runs_and_sees_the_same_bytes():
    out = run(
        "scaling.py", "--topics", "3", "--threads", "1", "2", "--burn-in", "1", "--timed", "2"
    )
    assert out.count("threads") == 2
