"""Chains on Ray and MPI: the bytes of one process, with nodes lost and ranks changed in between."""

import hashlib
import re
import signal
import tomllib
import warnings

import pytest

from polyaurn import LDA, load, read_corpus
from polyaurn.backends.sharded import ray as ray_engine
from polyaurn.base.errors import ClusterWarning
from polyaurn.corpus.urn_file import write_urn
from polyaurn.training import cluster
from support.cluster_programs import (
    INSIDE,
    LOST,
    train_until_lost,
    wait_for_sweep_6,
    wait_until,
)
from support.engines import LIMIT, add_nodes, lose_node, run_ranks, start_ranks

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.xdist_group("engines"),
]
OPTIONS = {"n_components": 8, "random_state": 5, "n_jobs": 1, "evaluate_every": 4,
           "warm_start": "random", "phi_refreshes": 2, "learn_priors_every": 3}  # fmt: skip


@pytest.fixture(scope="module")
def urn(medium, tmp_path_factory):
    """Return the path of an imported corpus."""
    return write_urn(medium, tmp_path_factory.mktemp("shared") / "corpus.urn")


def digest(lda):
    return hashlib.sha256(lda.assignments_.tobytes()).hexdigest()


def single(urn, **options):
    return digest(LDA(verbose=False, **OPTIONS | options).fit(read_corpus(urn)))


def on_ray(ray_nodes, urn, folder, **options):
    given = OPTIONS | {"cluster": "ray", "cluster_address": ray_nodes.address, "n_workers": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterWarning)  # of the time for exchange
        return LDA(verbose=False, checkpoint=folder, **given | options).fit(read_corpus(urn))


def train(urn, out, *more):
    """Return the words of a command line that trains as `single` does."""
    named = {
        "topics": "n_components", "seed": "random_state", "threads": "n_jobs",
        "eval-every": "evaluate_every", "warm-start": "warm_start",
        "phi-refreshes": "phi_refreshes", "learn-priors-every": "learn_priors_every",
    }  # fmt: skip
    options = [word for option, name in named.items() for word in (f"--{option}", OPTIONS[name])]
    return ["train", urn, "--out", out, "--sampler", "sparse-dirichlet", *options, *more]


def of_model(folder):
    return hashlib.sha256(load(folder).assignments.tobytes()).hexdigest()


def test_three_actors_of_ray_with_seeds(ray_nodes, urn, tmp_path):
    seeds = {"seed_words": {0: list(read_corpus(urn).vocab[:3])}, "seed_strength": 20}
    options = {"sampler": "polya-urn", "max_iter": 6} | seeds
    assert digest(on_ray(ray_nodes, urn, tmp_path / "run", **options)) == single(urn, **options)


def test_a_node_of_ray_lost_in_the_middle_of_a_sweep(ray_nodes, urn, tmp_path, monkeypatch):
    for file in (LOST, f"{INSIDE}-*"):  # of an earlier time
        for path in urn.parent.glob(file):
            path.unlink()
    monkeypatch.setattr(cluster, "train", train_until_lost)
    seen = []

    def lose(state, info):
        seen.append(info.sweep)
        if len(seen) == 5:
            wait_for_sweep_6(urn, 3)
            lose_node(ray_nodes)
            monkeypatch.setattr(ray_engine, "PATIENCE", 1.0)  # for a third node that will not come
            urn.with_name(LOST).touch()

    def count_rooms(needs):
        monkeypatch.setattr(ray_engine, "PATIENCE", LIMIT)
        return rooms(needs)

    rooms = ray_engine._rooms
    monkeypatch.setattr(ray_engine, "_rooms", count_rooms)

    options = {"sampler": "sparse-dirichlet", "max_iter": 12}
    try:
        lda = on_ray(
            ray_nodes, urn, tmp_path / "run", checkpoint_every=2, callbacks=lose, **options
        )
    finally:
        add_nodes(ray_nodes, 3 - len(ray_nodes.list_all_nodes()))
    assert seen == [1, 2, 3, 4, 5, *range(5, 13)]  # from the checkpoint of sweep 4 again
    assert digest(lda) == single(urn, **options)


def test_ranks_of_mpi_resumed_by_another_number_and_by_one_process(urn, run, tmp_path):
    out = tmp_path / "model"
    on_ranks = ("-m", "polyaurn", *train(urn, out, "--cluster", "mpi", "--resume"))
    done = run_ranks(*on_ranks, "--sweeps", 4, size=2)
    assert done.returncode == 0, done.stderr
    done = run_ranks(*on_ranks, "--sweeps", 8, size=3)
    assert of_model(out) == single(urn, sampler="sparse-dirichlet", max_iter=8), done.stderr
    assert done.stderr.count("Model written") == 1  # only rank 0 prints
    code, _, error = run(*train(urn, out, "--resume", "--sweeps", 10))
    assert code == 0, error
    assert of_model(out) == single(urn, sampler="sparse-dirichlet", max_iter=10)


def test_one_rank_of_mpi_is_noted(urn, run, tmp_path):
    out, again = tmp_path / "model", tmp_path / "again"
    one = "There is one MPI rank only"
    words = train(urn, out, "--cluster", "mpi", "--sweeps", 1)
    done = run_ranks("-m", "polyaurn", *words, size=2)
    assert (done.returncode, one in done.stderr) == (0, False), done.stderr
    config = tomllib.loads((out / "config.toml").read_text())
    assert config["cluster"] == "mpi"  # and so this line, repeated without mpiexec
    code, _, error = run("train", "--config", out / "config.toml", "--out", again, "--quiet")
    assert (code, one in error) == (0, True), error


def test_three_ranks_of_mpi_with_seeds(urn, tmp_path):
    seeded = list(read_corpus(urn).vocab[:3])
    (tmp_path / "seeds").write_text(f"0: {' '.join(seeded)}\n")
    words = train(urn, tmp_path / "model", "--sampler", "polya-urn", "--sweeps", 6, "--seed-words",
                  tmp_path / "seeds", "--seed-strength", 20, "--cluster", "mpi")  # fmt: skip
    done = run_ranks("-m", "polyaurn", *words, size=3)
    seeds = {"seed_words": {0: seeded}, "seed_strength": 20}
    expected = single(urn, sampler="polya-urn", max_iter=6, **seeds)
    assert of_model(tmp_path / "model") == expected, done.stderr


def test_mixtures_and_scores_on_ranks_of_mpi(small, run, tmp_path):
    LDA(4, max_iter=3, verbose=False).fit(small).save(tmp_path / "model")
    write_urn(small.select(range(40)), tmp_path / "new.urn")
    on_model = ("model", "new.urn", "--threads", 1, "--quiet")
    on_ranks = (*on_model, "--cluster", "mpi")
    infer, score = ("infer", "--out"), ("evaluate", "--particles", 2, "--json")
    assert run(*infer, "alone.npz", *on_model)[0] == 0
    done = run_ranks("-m", "polyaurn", *infer, "ranks.npz", *on_ranks, size=2)
    files = [tmp_path / name for name in ("alone.npz", "ranks.npz")]
    assert files[1].exists(), done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    done = run_ranks("-m", "polyaurn", *score, *on_ranks, size=2)
    assert done.stdout == run(*score, *on_model)[1], done.stderr


def test_ctrl_c_to_mpiexec_ends_the_run_after_the_sweep(urn, tmp_path):
    out = tmp_path / "model"
    words = train(urn, out, "--sampler", "polya-urn", "--cluster", "mpi", "--sweeps", 100_000,
                  "--checkpoint-every", 2)  # fmt: skip
    with start_ranks("-m", "polyaurn", *words, size=2) as process:
        wait_until(lambda: list(out.glob("checkpoints/*.json")) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    sweep = int(re.search(r"Stopped after sweep (\d+) of 100,000", error)[1])
    assert of_model(out) == single(urn, sampler="polya-urn", max_iter=sweep, average_draws=1)


def test_bad_input_on_ranks_of_mpi_is_one_sentence(urn, tmp_path):
    command = train(urn, tmp_path / "model", "--cluster", "mpi", "--workers", 5, "--quiet")
    done = run_ranks("-m", "polyaurn", *command, size=2)
    assert done.returncode == 2
    sentence = (
        "polyaurn: The '--workers' option must be the number of MPI ranks, 2 here. Got 5 instead; "
        "start with 'mpiexec -n 5 polyaurn ...'."
    )
    assert done.stderr.count(sentence) == 1
    assert not (tmp_path / "model").exists()
