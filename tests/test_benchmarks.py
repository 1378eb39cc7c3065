"""Each benchmark program runs once, tiny, so that it cannot rot. Speed is not judged here."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
TINY = ("--corpus", "tiny")


def run(program, *arguments, saves=True):
    done = subprocess.run(
        [sys.executable, BENCHMARKS / program, *["--no-save"] * saves, *arguments],
        capture_output=True, text=True, check=False, cwd=BENCHMARKS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_throughput_runs():
    engines = ("--engines", "polyaurn-plain", "partially-collapsed")
    out = run("throughput.py", *TINY, "--topics", "5", "--burn-in", "2", "--timed", "2",
              "--rounds", "1", *engines)  # fmt: skip
    assert out.count("M tokens/s") == 2
    assert "of it" in out


def test_agreement_runs():
    out = run("agreement.py", *TINY, "--topics", "3", "--seeds", "2", "--marks", "2", "4")
    assert out.count("sweep") == 2 * 5


def test_held_out_runs():
    out = run("held_out.py", *TINY, "--topics", "3", "--seeds", "2", "--sweeps", "5",
              "--documents", "8", "--particles", "2")  # fmt: skip
    assert out.count("Welch's test: p = ") == 2


def test_gpu_inference_runs():
    out = run("gpu_inference.py", "--tiny", "--devices", "cpu", "--topics", "4", saves=False)
    (found,) = json.loads(out)["results"]
    assert found["transform_cpu_seconds"] > 0
    assert found["left_to_right_cpu_seconds"] > 0


def test_spread_runs():
    out = run("spread.py", *TINY, "--topics", "3", "--seeds", "2", "--sweeps", "3",
              "--engines", "collapsed", "collapsed-dense")  # fmt: skip
    assert "Welch's test: p = " in out


def test_sparse_dirichlet_runs():
    out = run("sparse_dirichlet.py", *TINY, "--topics", "4", "--sweeps", "6", "--seeds", "2",
              "--samplers", "polya-urn", "sparse-dirichlet:0.3")  # fmt: skip
    assert out.count("ms of CPU per sweep") == 2


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("tomotopy", "gensim")),
    reason="tomotopy or gensim is not installed",
)
def test_evaluation_runs():
    out = run("evaluation.py", *TINY, "--topics", "4", "--sweeps", "5", "--documents", "10",
              "--rounds", "1")  # fmt: skip
    assert "documents/s against" in out
    assert "of gensim" in out
    assert "left to right, 20 particles, 10 documents" in out


def test_scaling_runs_and_sees_the_same_bytes():
    out = run("scaling.py", *TINY, "--topics", "3", "--values", "1", "2", "--burn-in", "1",
              "--timed", "2")  # fmt: skip
    assert out.count(" threads  ") == 2
    out = run("scaling.py", "--vary", "topics", "--values", "2", "8", "--tokens", "4000",
              "--words", "50", "--burn-in", "1", "--timed", "2")  # fmt: skip
    assert "seconds grow as topics^" in out


def test_memory_runs():
    out = run("memory.py", "--documents", "300", "--words", "70", "--length", "20", "--topics", "4",
              "--sweeps", "3")  # fmt: skip
    assert (out.count(", smooth"), out.count(", full")) == (1, 2)
    assert "bytes a token" in out


def test_checkpoints_runs():
    out = run("checkpoints.py", *TINY, "--topics", "4", "--sweeps", "6", "--every", "2")
    assert "of training at one a minute" in out


PEERS = [
    "polyaurn-plain",
    *(
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                importlib.util.find_spec(name) is None, reason=f"{name} is not installed"
            ),
        )
        for name in ("tomotopy", "topica")
    ),
]


@pytest.mark.parametrize("peer", PEERS)
def test_time_to_quality_runs(peer):
    out = run("time_to_quality.py", *TINY, "--topics", "4", "--peer", peer, "--peer-sweeps", "6",
              "--sweeps", "40", "--every", "2", "--rounds", "1")  # fmt: skip
    assert out.count("median of 1") == 2
