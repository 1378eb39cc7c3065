"""Each benchmark program runs once, tiny, so that it cannot rot. Speed is not judged here."""

import gzip
import importlib.util
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import polyaurn
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


def test_single_cell_runs():
    out = run("single_cell.py", "--cells", "40", "--regions", "300", "--length", "60", "--topics",
              "5", "--burn-in", "2", "--timed", "1", "--rounds", "1", "--engines", "auto",
              "polya-urn", "polya-urn-rows", "tomotopy", "lda", "--device", "cpu")  # fmt: skip
    assert out.count("ns of CPU per token") == 5


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


def test_trend_runs():
    out = run("trend.py", "--chains", "tiny-3-0", "--annealed", "20", "--sweeps", "500",
              "--lengths", "40", "240", "300")  # fmt: skip
    assert out.count("tiny-3-0 after ") == 2
    assert '"comparisons": 2' in out


def test_topic_grid_runs():
    out = run("topic_grid.py", "--corpora", "1", "--documents", "40", "--words", "40", "--planted",
              "2", "--topics", "2", "4", "--seeds", "1", "--sweeps", "4", "6")  # fmt: skip
    assert out.count("topics are suggested; held-out scores") == 2
    out = run("topic_grid.py", "--named", "tiny", "--topics", "2", "4", "--seeds", "1", "--sweeps",
              "4")  # fmt: skip
    assert "corpus tiny, 4 sweeps: " in out


def test_warm_starts_runs():
    out = run("warm_starts.py", "--corpus", "tiny", "--topics", "4", "--no-save", "--threads", "1",
              "--starts", "grow:6", "collapsed:6")  # fmt: skip
    assert [line.split()[0] for line in out.splitlines()] == ["grow", "collapsed"]


def test_urn_priors_runs():
    out = run("urn_priors.py", "--cells", "tiny:4:16", "--seeds", "1", "--no-save", saves=False)
    chains = [line.split("seed 1 ")[1].split("  ")[0] for line in out.splitlines()]
    assert len(set(chains)) == len(chains) == 7
    assert out.count("score -") == 7


def test_defaults_run():
    out = run("defaults.py", "--corpus", "tiny", "--topics", "4", "--no-save", "--threads", "1",
              "--sweeps", "20", "10", "--every", "5")  # fmt: skip
    names = [line.split(" (")[0] for line in out.splitlines()]
    assert names == ["version 0.1", "fixed priors", "learned priors"]


def test_stale_counts_runs():
    out = run("stale_counts.py", "--corpus", "tiny", "--topics", "4", "--sweeps", "4",
              "--seeds", "1", "--no-save")  # fmt: skip
    assert out.count("collapsed, 1 threads") == 3
    assert out.count("held-out -") == 9


def test_phi_draws_runs():
    out = run("phi_draws.py", "--corpora", "tiny", "--topics", "4", "--samplers", "polya-urn",
              "--draws", "1", "2", "--sweeps", "6", "--threads", "1")  # fmt: skip
    assert out.count("draws per sweep (1 by 'auto')") == 2


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
    assert "bytes per token" in out


def test_cluster_runs():
    out = run("cluster.py", "--corpus", "generated:600:200:60", "--topics", "4", "--sweeps", "3",
              "--rounds", "1")  # fmt: skip
    assert "of the threads' time per sweep" in out
    assert "MB of them Phi" in out


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


def test_results_say_which_code_made_them(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARKS)
    common = importlib.import_module("common")
    monkeypatch.setattr(common, "HERE", tmp_path)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", tmp_path)
    assert common.machine()["commit"] is None, "not in a repository"
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    path = common.write_result("any", {}, tmp_path / "any.json")
    machine = json.loads(path.read_text())["machine"]
    assert machine["versions"]["polyaurn"] == polyaurn.__version__
    assert machine["commit"] == head.stdout.strip()
    monkeypatch.setenv("PATH", "")
    assert common.machine()["commit"] is None, "no git"


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
              "1", "--options", "defaults", "former")  # fmt: skip
    assert out.count("NPMI") == 2


def test_report_page_runs():
    found = shutil.which("chromedriver") and importlib.util.find_spec("selenium")
    out = run("report_page.py", "--corpus", "tiny", "--documents", "60", "--topics", "3",
              "--sweeps", "3", "--openings", "1" if found else "0")  # fmt: skip
    assert "60 documents" in out


def test_phrases_run():
    out = run("phrases.py", "--corpora", "tiny", "--best", "5")
    assert out.count("confirmed") == 2


def test_updates_run():
    pytest.importorskip("gensim", reason="gensim is not installed")
    out = run("updates.py", "--corpus", "tiny", "--topics", "3", "--batches", "3", "--sweeps", "4",
              "--update-sweeps", "2", "--together-sweeps", "2", "--retrainings", "1", "--betas",
              "0.01", "0.5", "--seeds", "0", "1")  # fmt: skip
    assert out.count("after passes") == 8
    assert out.count("at once, 4 sweeps: -") == 1
    assert out.count("best beta") == 2


def test_over_time_runs():
    out = run("over_time.py", "--large", "tiny", "--tokens", "3000", "--topics", "3", "--slices",
              "2", "--sweeps", "4", "--small", "drifting", "--documents", "40", "--small-topics",
              "2", "--small-slices", "2", "--em", "1",
              "--engines", "polyaurn", "polyaurn both ways")  # fmt: skip
    assert out.count("tokens in 2 slices") == 2
    assert out.count("(truth -") == 2


def test_values_of_carry_are_compared():
    out = run("over_time.py", "--carries", "0", "0.5", "--seeds", "2", "--small", "drifting",
              "abrupt", "tiny", "--documents", "60", "--small-topics", "2", "--small-slices", "2",
              "--sweeps", "3")  # fmt: skip
    assert out.count("below carry") == 6
    assert out.count("s of CPU") == 3


def test_clusters_run():
    out = run("clusters.py", "--texts", "200", "--words", "60", "--clusters", "4", "--sweeps", "4",
              "--most", "60", "--most-clusters", "5", "--seeds", "1", "--engines",
              "polyaurn:4", "polyaurn learned:10")  # fmt: skip
    assert "200 texts" in out
    assert out.count("adjusted Rand index") == 3


def test_cluster_priors_run():
    out = run("cluster_priors.py", "--shapes", "300:6:200", "subjects", "--priors", "default",
              "as a number", "0.1", "learned", "--times", "2", "--sweeps", "8", "--most", "60",
              "--subject-sweeps", "8", "--subject-clusters", "5",
              "--subject-seeds", "1")  # fmt: skip
    assert out.count("adjusted Rand index") == 8


def test_cluster_variants_run():
    out = run("cluster_variants.py", "--texts", "300", "--words", "60", "--clusters", "4",
              "--most-clusters", "8", "--sweeps", "3")  # fmt: skip
    assert out.count("of CPU, log posterior -") == 3


def test_cluster_traffic_runs():
    out = run("cluster_traffic.py", "--measure", "--corpus", "generated:1500:300:60", "--topics",
              "100", "--sweeps", "4", "--timed", "2", "--warm-start", "random")  # fmt: skip
    assert "K = 100: Rule(" in out
    ratio = float(out.split()[-4])
    assert out.endswith(f"{ratio:.3f} of the formula\n")
    assert 0.8 < ratio < 1.2
    out = run("cluster_traffic.py", "--histograms", "tiny", "--topics", "5", "--sweeps", "2",
              "--warm-start", "random")  # fmt: skip
    assert "'5': {'topics': 5, 'cells': " in out


def test_the_page_has_the_table_of_cluster_traffic():
    page = (BENCHMARKS.parent / "docs" / "cluster.md").read_text(encoding="utf-8")
    table = run("cluster_traffic.py", saves=False)
    assert table.count("|\n") == 2 + 30
    assert table in page


def test_hdp_runs():
    out = run("hdp.py", *TINY, "--topics", "20", "--seconds", "0.2", "--share", "1", "--every", "1",
              "--sweeps", "4", "--seeds", "1", "--chains", "reference", "default")  # fmt: skip
    assert out.count("topics") == 2


def test_hdp_planted_runs():
    out = run("hdp_planted.py", "--documents", "60", "--words", "100", "--planted", "5",
              "--length", "30", "--topics", "9", "--sweeps", "4", "--every", "2",
              "--chains", "lda", "hdp", "hdp, 500 start topics")  # fmt: skip
    assert out.count(" of 5 found, ") == 3 * 2


def test_hdp_race_runs():
    out = run("hdp_race.py", "--corpora", "tiny", "--seconds", "0.05", "--engines", "ours")
    assert "score -" in out


def test_hdp_sweeps_run():
    out = run("hdp_sweeps.py", *TINY, "--topics", "20", "--sweeps", "4", "--timed", "1",
              "--rounds", "1")  # fmt: skip
    assert out.count("ratio") == 2


def test_the_nearest_peer_of_a_cell_of_the_race_counts(race_modules):
    _, report = race_modules

    def result(peer, seconds, **cell):
        ours = [{"seconds": time, "score": -8 + 0.1 * time} for time in (1.0, 2.0, 4.0)]
        setting = {"corpus": "a", "topics": 2, "peer_sweeps": 9, "learn": True} | cell
        runs = {"peer": {"score": -7.8, "seconds": seconds}, "ours": {"auto": ours}}
        return {"setting": setting | {"peer": peer}, "shares": [1, 2, 4], "seeds": {"1": runs}}

    results = [result("slow", 8.0), result("quick", 3.0), result("quick", 5.0, topics=3)]
    rows = report.nearest(report.rows_of(results))
    assert [(row.setting["peer"], row.setting["topics"]) for row in rows] == [
        ("quick", 2), ("quick", 3),
    ]  # fmt: skip
    assert [row.ratio for row in rows] == [pytest.approx(1.5), pytest.approx(2.5)]
    assert "median ratio 2.00; sooner than the peer in 2 of 2 cells" in report.table(results)
