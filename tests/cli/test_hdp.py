"""``polyaurn train --model hdp``."""

import json
import tomllib

from polyaurn import load


def test_train_resume_and_what_is_printed(run, texts, tmp_path):
    given = ("train", texts, "--model", "hdp", "--topics", 15, "--out", "m")
    code, out, err = run(*given, "--sweeps", 6)
    assert code == 0, err
    assert "at most 15 topics, their weights drawn every sweep" in err or " topics, " in err
    model = load(tmp_path / "m")
    assert model.n_topics < 15
    assert "of them" in err
    code, out, err = run(*given, "--sweeps", 9, "--resume", "--json")
    assert code == 0, err
    said = json.loads(out)
    assert said["sweeps"] == 9
    assert said["n_topics"]["last"] == len(said["topics"])
    assert said["gamma"] > 0
    code, out, err = run("topics", "m")
    assert (code, err) == (0, "")
    assert f"{len(said['topics'])} topics" in out
    code, out, err = run("topics", "m", "--json")
    assert all(0 < topic["weight"] <= 1 for topic in json.loads(out))
    code, out, err = run("report", "m", "--out", "page.html")
    assert code == 0, err


def test_notes_of_bias_and_of_too_few_topics(run, texts):
    code, _, err = run(
        "train", texts, "--model", "hdp", "--topics", 2, "--sampler", "polya-urn", "--sweeps", 6,
        "--out", "m",
    )  # fmt: skip
    assert code == 0, err
    assert "Note: Weights of topics, alpha and gamma that are drawn with sampler" in err
    assert "Note: All 2 topics that the model may use have tokens" in err


def test_as_many_topics_as_may_be_needed_unless_said_and_the_config_says_so(run, texts, tmp_path):
    code, _, err = run(
        "train", texts, "--model", "hdp", "--alpha-prior", "2,1", "--gamma-prior", "none",
        "--sweeps", 2, "--out", "m",
    )  # fmt: skip
    assert code == 0, err
    assert "at most 1,000 topics, the default" in err
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text())
    assert config["topics"] == 1000
    header = json.loads((tmp_path / "m" / "model.json").read_text())["parameters"]["run"]
    assert header["alpha_prior"] == [2.0, 1.0]
    assert header["gamma_prior"] is None
    assert header["n_components"] == 1000
    code, _, err = run("train", "--config", "m/config.toml", "--out", "again", "-q")
    assert (code, err) == (0, "")
    one, two = (load(tmp_path / name) for name in ("m", "again"))
    assert one.assignments.tobytes() == two.assignments.tobytes()


def test_what_does_not_go_together_is_one_sentence(run, texts, tmp_path):
    code, _, err = run("train", texts, "--gamma", 2, "--out", "m")
    assert code == 2
    assert "left as it is for model 'lda'" in err
    code, _, err = run("train", texts, "--model", "hdp", "--gamma-prior", "1", "--out", "m")
    assert code == 2
    assert "pair of positive numbers" in err
    assert not (tmp_path / "m").exists()
