"""Trainings with workers: the bytes of one machine, whoever is killed, however many resume."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError, datasets
from polyaurn.backends.cpu.counts import no_counts
from polyaurn.backends.sharded import local
from polyaurn.backends.sharded.local import Local
from polyaurn.backends.sharded.shards import cut_shards
from polyaurn.base.errors import (
    CheckpointWarning,
    ClusterWarning,
    UnfinishedStartWarning,
    WorkerLostError,
)
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from polyaurn.corpus.urn_file import write_urn
from polyaurn.files.sealed import write_file
from polyaurn.model.folder import TIMED
from polyaurn.model.parts import read_topics
from polyaurn.training import cluster, shards
from polyaurn.training.checkpoints import newest
from polyaurn.training.cluster import _file_of, check_run
from polyaurn.training.run import make_run
from support import cluster_programs
from support.cluster_programs import LOST, train_until_lost, wait_for_sweep_6
from support.engines import environment
from support.thread_group import run_threads

K = 12


@pytest.fixture(scope="module")
def corpus():
    return datasets.generate(n_documents=1000, n_words=500, n_topics=9, mean_length=60.0)


@pytest.fixture(scope="module")
def large():
    """Return a corpus that a chain may grow on."""
    return datasets.generate(n_documents=5000, n_words=500, n_topics=9, mean_length=60.0)


def options(**more):
    return {
        "n_components": K, "max_iter": 12, "sampler": "polya-urn", "learn_priors_every": 3,
        "evaluate_every": 2, "verbose": False, "n_jobs": 1, "warm_start": "anneal",
    } | more  # fmt: skip


def fit(corpus, **more):
    with warnings.catch_warnings():
        for kind in (ClusterWarning, UnfinishedStartWarning):
            warnings.simplefilter("ignore", kind)
        return LDA(**options(**more)).fit(corpus)


def facts(lda):
    """Return all that two trainings should have in common."""
    trace = [{n: v for n, v in record.items() if n not in TIMED} for record in lda.trace_]
    arrays = (lda.assignments_, lda.topic_word_counts_.data, lda.topic_word_counts_.indices,
              lda.model_.priors.alpha, lda.model_.priors.beta)  # fmt: skip
    return [array.tobytes() for array in arrays], trace, lda.model_.parameters


@pytest.fixture(scope="module")
def single(corpus):
    return facts(fit(corpus))


def stop_at(sweep):
    return lambda state, info: info.sweep >= sweep


def test_two_workers_from_a_file_have_the_bytes_of_one_process(corpus, single, tmp_path):
    on_disk = polyaurn.read_corpus(write_urn(corpus, tmp_path / "corpus.urn"))
    seen = []
    together = fit(on_disk, cluster="local", n_workers=2,
                   callbacks=lambda state, info: seen.append((state, info.sweep)))  # fmt: skip
    assert facts(together) == single
    assert seen == [(None, sweep) for sweep in range(1, 13)]


def test_three_workers_grow_with_seeds_and_several_draws_of_phi(large):
    more = {"sampler": "sparse-dirichlet", "warm_start": "grow", "phi_refreshes": 3,
            "max_iter": 20, "seed_words": {0: ["w1", "w2"], 3: ["w7"]}}  # fmt: skip
    vocab = [f"w{v}" for v in range(large.n_words)]
    named = polyaurn.Corpus.from_matrix(large.to_matrix(), vocab)
    assert facts(fit(named, cluster="local", n_workers=3, **more)) == facts(fit(named, **more))


OF_SHARDS = {
    "urn": {"sampler": "polya-urn"},
    "sparse-dirichlet": {"sampler": "sparse-dirichlet"},
    "seeds": {"sampler": "polya-urn", "seed_words": {0: ["w1", "w2"], 3: ["w7"]}},
}


@pytest.fixture(scope="module")
def of_shards(large):
    """Return topics and scores of one process."""
    found = {name: fit(large, max_iter=6, **more) for name, more in OF_SHARDS.items()}
    return {name: (lda.assignments_.tobytes(), scores(lda.trace_)) for name, lda in found.items()}


def scores(trace):
    return [record["log_posterior"] for record in trace]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_processes_with_few_shards(large, of_shards, size, tmp_path, monkeypatch):
    expected, tasks = [], []
    for n_shards, (name, more) in product((4, 7), OF_SHARDS.items()):
        folder = tmp_path / f"{n_shards}-{name}"
        folder.mkdir()
        monkeypatch.setattr(cluster, "MOST_SHARDS", n_shards)
        run = make_run(LDA(**options(max_iter=6, **more)), large)
        tasks.append(cluster._task(run, Local(), size, folder, folder))
        expected.append(of_shards[name])
    assert {len(cut_shards(large.doc_ptr, task["n_shards"])) for task in tasks} == {4, 7}
    done = Local().run(size, cluster_programs.train_each, {"tasks": tasks})
    found = []
    for task, result in zip(tasks, done["results"], strict=True):
        files = [Path(task["out"]) / fact["file"] for fact in result["parts"]]
        assert len(files) == size
        found.append((read_topics(files)[1].tobytes(), scores(result["trace"])))
    assert found == expected


def test_a_run_moves_between_one_machine_and_clusters(corpus, single, tmp_path):
    folder = {"checkpoint": tmp_path / "run", "checkpoint_every": 100, "average_draws": 4}
    expected = facts(fit(corpus, average_draws=4))
    stopped = fit(corpus, **folder, callbacks=stop_at(3))
    assert stopped.n_iter_ == 3
    stopped = fit(corpus, **folder, resume=True, cluster="local", n_workers=2,
                  callbacks=stop_at(10))  # fmt: skip
    assert stopped.n_iter_ >= 10
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    sweep = f"sweep-{stopped.n_iter_:09d}"
    assert [name for name in names if name.startswith(sweep)][:2] == [
        f"{sweep}-shards-00000-00002.npz", f"{sweep}-shards-00002-00004.npz",
    ]  # fmt: skip
    further = fit(corpus, **folder, resume=True, cluster="local", n_workers=1,
                  callbacks=stop_at(11))  # fmt: skip
    assert further.n_iter_ >= 11
    assert facts(fit(corpus, **folder, resume=True)) == expected


@pytest.mark.parametrize(
    ("which", "more", "found"),
    [
        ("corpus", {}, ("sparse-dirichlet", "anneal")),
        ("corpus", {"learn_priors_every": 0}, ("polya-urn", "auto")),
        ("corpus", {"warm_start": "grow"}, ("sparse-dirichlet", "grow")),
        ("large", {"n_components": 20_000}, ("sparse-dirichlet", "auto")),
        ("corpus", {"cluster": None, "n_workers": None}, ("partitioned", "auto")),
    ],
)
def test_defaults_on_a_cluster_draw_phi_and_do_not_begin_collapsed(request, which, more, found):
    given = options(sampler="auto", warm_start="auto", cluster="local", n_workers=2) | more
    run = make_run(LDA(**given), request.getfixturevalue(which))
    assert (run.header["sampler"], run.header["warm_start"]) == found
    assert f"Sampler {found[0]!r}" in run.in_brief
    if run.settings.cluster:
        check_run(run)


def test_a_run_begun_by_defaults_on_a_cluster_keeps_them_elsewhere(corpus, tmp_path):
    expected = facts(fit(corpus, sampler="sparse-dirichlet", max_iter=60))
    given = {"sampler": "auto", "warm_start": "auto", "checkpoint": tmp_path / "run"}
    given |= {"max_iter": 60}
    fit(corpus, **given, cluster="local", n_workers=2, callbacks=stop_at(3))
    fit(corpus, **given, resume=True, callbacks=stop_at(30))
    assert facts(fit(corpus, **given, resume=True, cluster="local", n_workers=1)) == expected


def test_a_collapsed_start_is_not_resumed_on_a_cluster(corpus, tmp_path):
    given = {"sampler": "sparse-dirichlet", "warm_start": "auto", "checkpoint": tmp_path / "run"}
    fit(corpus, **given, callbacks=stop_at(3))
    with pytest.raises(InputError, match=r"The run that is resumed begins so; resume it without"):
        fit(corpus, **given, resume=True, cluster="local", n_workers=2)


def test_the_command_line_by_defaults(corpus, run, tmp_path):
    write_urn(corpus, tmp_path / "corpus.urn")
    command = ("train", "corpus.urn", "--sweeps", 8)
    on_cluster = run(*command, "--cluster", "local", "--workers", 2, "--out", "m")
    assert on_cluster[0] == 0, on_cluster
    asked = ("--sampler", "sparse-dirichlet", "--warm-start", "anneal")
    assert run(*command, *asked, "--out", "alone")[0] == 0
    together, alone = (polyaurn.load(tmp_path / name) for name in ("m", "alone"))
    assert together.assignments.tobytes() == alone.assignments.tobytes()
    assert together.parameters["run"] == alone.parameters["run"]
    assert run(*command, "--resume", "--out", "m")[0] == 0
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text())
    assert (config["sampler"], config["warm-start"]) == asked[1::2]  # as it repeats the run


@pytest.fixture
def started(monkeypatch):
    """Return a list that workers enter when they start."""
    processes, popen = [], subprocess.Popen

    def start(*arguments, **named):
        processes.append(popen(*arguments, **named))
        return processes[-1]

    monkeypatch.setattr(local.subprocess, "Popen", start)
    return processes


def test_a_worker_killed_in_mid_sweep(corpus, single, tmp_path, started, monkeypatch):
    monkeypatch.setattr(cluster, "train", train_until_lost)
    path = write_urn(corpus, tmp_path / "corpus.urn")
    seen = []

    def kill(state, info):
        seen.append(info.sweep)
        if len(seen) == 5:
            wait_for_sweep_6(path, 2)
            started[1].kill()
            path.with_name(LOST).touch()

    more = {"cluster": "local", "n_workers": 2, "checkpoint": tmp_path / "run",
            "checkpoint_every": 2, "callbacks": kill}  # fmt: skip
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        together = LDA(**options(**more)).fit(polyaurn.read_corpus(path))
    lost = (
        "A worker of the cluster was lost; all begin again from the last checkpoint (1 of 3 times)."
    )
    assert lost in [str(warning.message) for warning in said]
    assert seen == [1, 2, 3, 4, 5, *range(5, 13)]  # from the checkpoint of sweep 4 again
    assert len(started) == 4
    assert facts(together) == single
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["checkpoints"]


def test_workers_that_are_lost_too_often(corpus, tmp_path, started, monkeypatch):
    monkeypatch.setattr("polyaurn.training.cluster.RESTARTS", 0)
    more = {"cluster": "local", "n_workers": 2, "checkpoint": tmp_path / "run", "max_iter": 100_000,
            "checkpoint_every": 1, "callbacks": lambda state, info: started[0].kill()}  # fmt: skip
    with pytest.raises(WorkerLostError, match=r"ended .* The run is kept in .* any number of"):
        LDA(**options(**more)).fit(corpus)


WAITING = """
from polyaurn.cli.app import main
from polyaurn.training import cluster
from support.cluster_programs import train_until_lost
cluster.train = train_until_lost
main()
"""


def test_the_driver_killed_and_resumed_with_another_number(corpus, single, tmp_path):
    path = write_urn(corpus, tmp_path / "corpus.urn")
    command = [
        "train", path, "--out", tmp_path / "model", "--topics", K, "--sweeps", 12, "--sampler",
        "polya-urn", "--learn-priors-every", 3, "--eval-every", 2, "--threads", 1, "--warm-start",
        "anneal", "--cluster", "local", "--checkpoint-every", 2, "--json",
    ]  # fmt: skip
    command = list(map(str, command))
    begun = subprocess.Popen([sys.executable, "-c", WAITING, *command, "--workers", "2"],
                             env=environment(), stdout=subprocess.DEVNULL)  # fmt: skip
    wait_for_sweep_6(path, 2)
    begun.kill()
    begun.wait()
    inside = tmp_path / "model" / "checkpoints"
    assert list(inside.glob("*.json"))
    assert list((tmp_path / "model").glob(".polyaurn.cluster-*"))
    ended = subprocess.run(
        [sys.executable, "-m", "polyaurn", *command, "--workers", "3", "--resume"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(ended.stdout)["sweeps"] == 12
    model = polyaurn.load(tmp_path / "model")
    assert model.assignments.tobytes() == single[0][0]
    assert model.topic_word_counts.data.tobytes() == single[0][1]
    assert not inside.exists()
    assert not list((tmp_path / "model").glob(".polyaurn*"))


def test_ctrl_c_ends_the_run_after_the_sweep(corpus, tmp_path):
    path = write_urn(corpus, tmp_path / "corpus.urn")
    command = [
        sys.executable, "-m", "polyaurn", "train", path, "--out", tmp_path / "model", "--topics", K,
        "--sweeps", 100_000, "--sampler", "polya-urn", "--threads", 1, "--checkpoint-every", 3,
        "--cluster", "local", "--workers", 2,
    ]  # fmt: skip
    begun = subprocess.Popen(
        [*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    inside = tmp_path / "model" / "checkpoints"
    while not list(inside.glob("*.json")):
        assert begun.poll() is None
        time.sleep(0.01)
    os.killpg(begun.pid, signal.SIGINT)
    _, said = begun.communicate()
    assert begun.returncode == 130
    assert b"Stopping after this sweep" in said
    assert b"the model so far and a checkpoint are in" in said
    assert polyaurn.load(tmp_path / "model").parameters["sweeps"] >= 3
    assert list(inside.glob("*.json"))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"sampler": "partitioned"}, "'sampler' parameter must be one that draws Phi"),
        ({"sampler": "sparse-dirichlet", "warm_start": "collapsed"}, "take 'anneal'"),
        ({"cluster": "locl"}, "'cluster' parameter must be"),
        ({"cluster": None}, "'n_workers' parameter must be left out without a cluster"),
        ({"cluster_address": "auto"}, "'cluster_address' parameter must be left out"),
        ({"n_workers": 9}, "'n_workers' parameter must be at most 4"),
        ({"n_workers": 0}, "'n_workers' parameter must be"),
        ({"resume": True}, "'checkpoint' parameter must be a folder when 'resume' is True"),
    ],
)
def test_sentences(corpus, more, sentence):
    with pytest.raises(InputError, match=sentence):
        fit(corpus, **{"cluster": "local", "n_workers": 2} | more)


def test_a_tiny_corpus_has_fewer_workers_by_default(monkeypatch, started):
    tiny = datasets.generate(n_documents=20, n_words=30, n_topics=3)
    monkeypatch.setattr(local, "count_cores", lambda: 3)
    assert len(cut_shards(tiny.doc_ptr)) == 1
    assert fit(tiny, n_components=3, max_iter=1, cluster="local").n_iter_ == 1
    assert len(started) == 1
    with pytest.raises(InputError, match=r"must be at most 1, .* Got 2 instead"):
        fit(tiny, n_components=3, cluster="local", n_workers=2)


def test_a_damaged_part_of_a_checkpoint(corpus, single, tmp_path):
    folder = {"checkpoint": tmp_path / "run", "checkpoint_every": 2, "cluster": "local"}
    fit(corpus, **folder, n_workers=2, callbacks=stop_at(8))
    parts = sorted((tmp_path / "run" / "checkpoints").glob("*-shards-*.npz"))
    assert len(parts) == 4
    damaged = bytearray(parts[-1].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    parts[-1].write_bytes(damaged)
    with pytest.warns(CheckpointWarning, match="newer checkpoint is damaged"):
        resumed = fit(corpus, **folder, n_workers=1, resume=True)
    assert facts(resumed) == single


def test_a_model_in_parts_is_the_model_in_one_piece(corpus, run, tmp_path):
    write_urn(corpus, tmp_path / "corpus.urn")
    command = ["train", "corpus.urn", "--topics", K, "--sweeps", 12, "--sampler", "polya-urn", "-q"]
    assert run(*command, "--out", "whole") == (0, "", "")
    assert run(*command, "--out", "m", "--cluster", "local", "--workers", 2)[0] == 0
    header = json.loads((tmp_path / "m" / "model.json").read_text())
    assert len(header["parts"]) == 2
    assert set(header["parts"]) < {path.name for path in (tmp_path / "m").iterdir()}
    names = {path.name for path in (tmp_path / "whole").iterdir()}
    assert {path.name for path in (tmp_path / "m").iterdir()} == names | set(header["parts"])
    whole, parted = (polyaurn.load(tmp_path / name) for name in ("whole", "m"))
    for name in ("whole", "m"):
        polyaurn.load(tmp_path / name).save(tmp_path / f"{name}-saved")
    for name in ("arrays.npz", "trace.jsonl", "vocab.txt"):
        a, b = ((tmp_path / f"{n}-saved" / name).read_bytes() for n in ("whole", "m"))
        assert a == b, name
    assert parted.parameters == whole.parameters
    assert run("topics", "m", "-n", 3)[1] == run("topics", "whole", "-n", 3)[1]
    again = run(*command, "--out", "m", "--force")
    assert again == (0, "", "")
    assert not list((tmp_path / "m").glob("part-*"))
    part = tmp_path / "m2" / header["parts"][0]
    assert run(*command, "--out", "m2", "--cluster", "local", "--workers", 1)[0] == 0
    part = next((tmp_path / "m2").glob("part-*"))
    part.write_bytes(part.read_bytes()[:-100])
    with pytest.raises(InputError, match="holds a damaged model"):
        polyaurn.load(tmp_path / "m2")


def test_a_finished_model_of_another_run_stays_finished(corpus, tmp_path):
    model = fit(corpus, max_iter=3).save(tmp_path / "m")
    before = sorted(path.name for path in model.iterdir())
    with pytest.raises(InputError, match="must be as in the run that is resumed"):
        fit(corpus, max_iter=3, n_components=K + 1, checkpoint=model, resume=True,
            cluster="local", n_workers=2)  # fmt: skip
    assert sorted(path.name for path in model.iterdir()) == before


def test_what_has_no_shards(corpus):
    lda = fit(corpus, max_iter=2)
    lda.set_params(cluster="local", n_workers=2)
    with pytest.raises(InputError, match="must be left out for posterior draws"):
        lda.sample_posterior(corpus, chains=1, draws=1, thin=1)
    with pytest.raises(InputError, match="must be left out for a model that is continued"):
        lda.update(corpus)
    over_time = polyaurn.TopicsOverTime(K, cluster="local")
    with pytest.raises(InputError, match="must be left out for topics over time"):
        over_time.fit(corpus, slices=[d % 2 for d in range(corpus.n_documents)])


def test_only_a_whole_file_is_read_by_workers(corpus, tmp_path):
    path = write_urn(corpus, tmp_path / "corpus.urn")
    there = polyaurn.read_corpus(path)
    assert _file_of(there) == path
    ptr = there.doc_ptr[:11]
    assert _file_of(polyaurn.Corpus(ptr, there.word[: ptr[-1]], there.vocab)) is None
    assert _file_of(corpus) is None


def test_a_checkpoint_that_one_worker_cannot_write(tmp_path, monkeypatch):
    def write(folder, name, action):
        if "-00001-" in name:
            raise InputError("The folder is full.")
        return write_file(folder, name, action)

    monkeypatch.setattr(shards, "write_file", write)
    priors = make_priors(0.1, 0.1, 2, 4)

    def work(group):
        r = group.rank
        own = shards.Own((r, r + 1), (3 * r, 3 * r + 3), (2 * r, 2 * r + 2))
        checkpoints = shards.ShardCheckpoints(tmp_path, {"a": 1}, group, own)
        state = State(np.full(3, r, np.uint16), no_counts(4), priors, 7)
        first = checkpoints.write(state, [], {})
        group.barrier()
        there = list((tmp_path / "checkpoints").iterdir())
        group.barrier()
        monkeypatch.setattr(shards, "write_file", write_file)
        group.barrier()
        return first, there, checkpoints.write(state, [], {}), checkpoints.newest()

    for r, (first, there, second, saved) in enumerate(run_threads(2, work)):
        assert (first, there, second) == ("The folder is full.", [], "")
        assert saved.halt.z.tolist() == [r] * 3
        assert (saved.halt.sweep, saved.run["a"]) == (7, 1)
    assert newest(tmp_path / "checkpoints").halt.z.tolist() == [0, 0, 0, 1, 1, 1]
