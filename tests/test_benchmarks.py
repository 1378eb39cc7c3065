"""Each benchmark program runs once, tiny, so that it cannot rot. Speed is not judged here."""

import gzip
import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA
from polyaurn.base.errors import InputError

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


def test_forecast_runs():
    out = run("forecast.py", "--corpora", "tiny", "--topics", "3", "--annealed", "20",
              "--sweeps", "500", "--lengths", "40", "240")  # fmt: skip
    assert out.count("tiny, 3 topics, after 240 sweeps, 200 more") == 1
    assert "of 1 forecasts within 0.25% of the log posterior" in out


def test_warm_starts_runs():
    out = run("warm_starts.py", "--corpus", "tiny", "--topics", "4", "--no-save", "--threads", "1",
              "--starts", "grow:6", "auto:6")  # fmt: skip
    assert [line.split()[0] for line in out.splitlines()] == ["grow", "auto"]


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
    assert (out.count(", anneal"), out.count(", full")) == (2, 1)
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


def test_race_runs_resumes_and_reports(tmp_path):
    cells = tmp_path / "cells.json"
    cell = {"corpus": "tiny", "topics": 4, "peer_sweeps": 3}
    peers = [name for name in ("tomotopy", "topica") if importlib.util.find_spec(name)]
    if not peers:
        pytest.skip("tomotopy and topica are not installed")
    cells.write_text(json.dumps([cell | {"peer": peer, "learn": True} for peer in peers]))
    call = ("race.py", "--cells", cells, "--seeds", "1", "--out", tmp_path, "--parallel", "2")
    out = run(*call, saves=False)
    assert f"{len(peers)} of {len(peers)} cells are complete" in out
    files = [tmp_path / f"race-tiny-4-{peer}-3-learned.json" for peer in peers]
    before = [json.loads(file.read_text()) for file in files]
    for result in before:
        runs = result["seeds"]["1"]
        assert runs["peer"]["sweeps"] == 3
        assert [point["share"] for point in runs["ours"]["auto"]] == [0.25, 0.5, 1.0, 2.0]
        for point in (runs["peer"], *runs["ours"]["auto"]):
            assert -math.log(300) < point["score"] < 0
            assert point["log_joint"] < point["score"]
            assert point["nonzeros"] > 0
            assert point["seconds"] > 0

    before[0]["seeds"]["1"]["ours"]["auto"].pop()  # as if the limit had come before the last run
    files[0].write_text(json.dumps(before[0]))
    kept = before[0]["seeds"]["1"]
    out = run(*call, "--resume", saves=False)
    assert out.count(" sweeps  ") == 1
    after = json.loads(files[0].read_text())["seeds"]["1"]
    assert after["peer"] == kept["peer"]
    assert after["ours"]["auto"][:3] == kept["ours"]["auto"]
    assert len(after["ours"]["auto"]) == 4

    picture = tmp_path / "race.png"
    out = run("race.py", "--table", *files, "--plot", *files, "--picture", picture, saves=False)
    assert out.count("| tiny | 4 | learned |") == len(peers)
    assert "median ratio" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_race_abandons_cells_at_the_limit(tmp_path):
    cells = tmp_path / "cells.json"
    peer = next((p for p in ("tomotopy", "topica") if importlib.util.find_spec(p)), None)
    if peer is None:
        pytest.skip("tomotopy and topica are not installed")
    cell = {"corpus": "tiny", "topics": 4, "peer": peer, "peer_sweeps": 10**8}
    cells.write_text(json.dumps([cell, cell | {"topics": 5}]))
    out = run("race.py", "--cells", cells, "--limit", "1", "--out", tmp_path, saves=False)
    assert out.count("abandoned: race-tiny-") == 2
    assert "0 of 2 cells are complete" in out
    assert list(tmp_path.iterdir()) == [cells]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({}, "must have a list of cells"),
        ([{"corpus": "kos"}], "missing: topics, peer, peer_sweeps"),
        ([{"corpus": "kos", "topics": 0, "peer": "topica", "peer_sweeps": 1}], "'topics' must be"),
        ([{"corpus": "kos", "topics": 2, "peer": "topica", "peer_sweeps": 1}] * 2, "twice"),
    ],
)
def test_race_rejects_cells_in_a_sentence(tmp_path, entries, sentence):
    cells = tmp_path / "cells.json"
    cells.write_text(json.dumps(entries))
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "race.py", "--cells", cells, "--out", tmp_path],
        capture_output=True, text=True, check=False, cwd=BENCHMARKS,
    )  # fmt: skip
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("tomotopy") is None, reason="no tomotopy")
def test_held_out_scores_runs():
    out = run("held_out_scores.py", *TINY, "--topics", "3", "--peer-sweeps", "3", "--sweeps", "10",
              "--seeds", "1")  # fmt: skip
    assert out.count("difference") == 4
    assert out.count("Gibbs sampling") == 1


def test_race_says_which_package_is_missing(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    race = importlib.import_module("race")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="Got 'topica', which is not; run pip install topica"):
        race.check_peer("topica")


def test_corpora_are_read_with_and_without_their_words(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARKS)
    common = importlib.import_module("common")
    with gzip.open(tmp_path / "docword.two.txt.gz", "wt") as lines:
        lines.write("2\n3\n3\n1 1 2\n1 3 1\n2 3 4\n")
    counts = [[2, 0, 1], [0, 0, 4]]
    corpus = common.open_corpus("two", tmp_path)
    assert corpus.to_matrix().toarray().tolist() == counts
    (tmp_path / "vocab.two.txt").write_text("a\nb\nc\n")
    corpus = common.open_corpus("two", tmp_path)
    assert (corpus.to_matrix().toarray().tolist(), corpus.vocab[2]) == (counts, "c")


@pytest.fixture
def race_modules(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("race_score"), importlib.import_module("race_report")


def test_race_score_of_two_topics_that_share_no_word(race_modules):
    score, _ = race_modules
    n = sp.csr_matrix([[6, 2, 0, 0], [0, 0, 3, 5]])
    alpha, beta = np.array([0.3, 0.2]), 1e-9
    test = sp.csr_matrix([[40, 20, 0, 0]])
    rng = np.random.default_rng(0)
    rng.choice(1, 1, replace=False)
    seen = rng.binomial([40, 20], 0.5)
    scored = np.array([40, 20]) - seen
    theta = (seen.sum() + 0.3) / (seen.sum() + 0.5)  # all seen tokens are of topic 0
    expected = scored @ np.log(theta * np.array([6 / 8, 2 / 8])) / scored.sum()
    assert score.completion(n, test, alpha, beta) == pytest.approx(expected, abs=1e-6)


def test_race_log_joint_is_the_log_posterior(race_modules, small):
    score, _ = race_modules
    lda = LDA(4, max_iter=3, doc_topic_prior=0.2, topic_word_prior=0.05, average_draws=1).fit(small)
    level = score.log_joint(lda.topic_word_counts_, lda.doc_topic_counts_, np.full(4, 0.2), 0.05)
    assert level * small.n_tokens == pytest.approx(lda.trace_[-1]["log_posterior"], rel=1e-9)


def test_race_interpolates_in_log_time(race_modules):
    _, report = race_modules
    points = [{"seconds": 1.0, "score": -8.0}, {"seconds": 4.0, "score": -7.0}]
    assert report.time_to(points, -7.5) == (pytest.approx(2.0), False)
    assert report.time_to(points, -8.5) == (1.0, True)
    assert report.time_to(points, -6.9).seconds == math.inf
    assert report.score_at(points, 2.0) == pytest.approx(-7.5)
    assert report.score_at(points, 9.0) == -7.0
    assert report.score_at(points, 0.5) == -math.inf
    peers = [{"seconds": 4.0, "score": -7.5}, {"seconds": 2.0, "score": -7.4}] * 2
    seeds = {str(i): {"peer": p, "ours": {"auto": points}} for i, p in enumerate(peers[:3])}
    seeds["unfinished"] = {"peer": peers[0], "ours": {"auto": points[:1]}}
    row = report.summarise({"setting": {}, "shares": [0.5, 1.0], "seeds": seeds}, "auto")
    assert (row.ratio, row.seconds, row.seeds) == (pytest.approx(2.0), pytest.approx(2.0), 3)
    assert row.difference == pytest.approx(0.5)


def test_text_defaults_run():
    out = run("text_defaults.py", "--corpora", "tiny", "--topics", "3", "--sweeps", "3", "--seeds",
              "1", "--options", "old defaults", "defaults")  # fmt: skip
    assert out.count("NPMI") == 2


def test_phrases_run():
    out = run("phrases.py", "--corpora", "tiny", "--best", "5")
    assert out.count("confirmed") == 2
