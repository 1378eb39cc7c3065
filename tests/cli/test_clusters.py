"""Document clusters at the command line: train --model clusters, and commands on what it wrote."""

import json
import tomllib

import pytest

from polyaurn import DocumentClusters, load

TRAIN = ("train", "texts.txt", "--model", "clusters", "--topics", 9, "--sweeps", 20, "--out", "m")


def test_clusters_are_trained_shown_and_repeated(run, texts, tmp_path):
    code, out, err = run(*TRAIN, "--json", "--min-count", 1)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["documents"], found["sweeps"]) == (40, 20)
    assert len(found["topics"]) == load("m").n_topics < 9
    loaded = DocumentClusters.load("m")
    assert (loaded.n_clusters, loaded.max_iter, loaded.word_prior) == (9, 20, None)
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text())
    assert config["model"] == "clusters"
    assert "beta" not in config
    assert "sampler" not in config
    code, _, err = run("train", "--config", "m/config.toml", "--out", "again", "-q")
    assert (code, err) == (0, "")
    first, again = ((tmp_path / name / "arrays.npz").read_bytes() for name in ("m", "again"))
    assert first == again
    code, out, _ = run("infer", "m", "texts.txt", "--out", "shares.csv")
    assert code == 0
    assert (tmp_path / "shares.csv").exists()
    code, out, err = run("evaluate", "m", "texts.txt", "--json")
    assert code == 0, err
    assert -3 < json.loads(out)["log_likelihood_a_token"] < -0.5
    for command in (("topics", "m"), ("documents", "m", "--topic", 0),
                    ("report", "m", "--out", "page.html")):  # fmt: skip
        code, _, err = run(*command)
        assert code == 0, err


def test_defaults_are_those_of_the_estimator(run, texts):
    code, _, err = run("train", texts, "--model", "clusters", "--out", "d", "--sweeps", 3)
    assert code == 0
    assert "at most 100 clusters, the default; --topics chooses" in err
    assert DocumentClusters.load("d").get_params()["learn_priors_every"] == 0


def test_a_run_is_resumed(run, texts, tmp_path):
    assert run(*TRAIN, "-q")[0] == 0
    code, _, err = run(*TRAIN, "--resume")
    assert code == 0
    assert "was complete already" in err
    code, _, err = run("train", texts, "--out", "m", "--resume", "-q")
    assert code == 2
    assert "The run that is resumed is of another model, 'clusters'. Got 'lda'" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "hard"), "The '--model' option must be one of 'lda', 'hdp', 'clusters'"),
        (("--model", "clusters", "--sampler", "light"), "The '--sampler' option is for topics in"),
        (("--model", "clusters", "--device", "gpu"), "The '--device' option is for topics in mix"),
        (("--model", "clusters", "--beta", 0), "The '--beta' option must be a number from 1e-06"),
        (("--model", "clusters", "--topics", 0), "The '--topics' option must be an integer"),
        (
            ("--model", "clusters", "--by", "year", "--date-column", "d"),
            "The '--by' option must be left out",
        ),
    ],
)
def test_bad_options_are_one_sentence(run, texts, tmp_path, options, said):
    code, out, err = run("train", texts, "--out", "m", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_a_model_of_clusters_is_not_updated(run, texts):
    assert run(*TRAIN, "-q")[0] == 0
    code, _, err = run("update", "m", texts, "--out", "u")
    assert code == 2
    assert "is one of document clusters, which is not continued" in err
