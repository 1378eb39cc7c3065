"""The commands evaluate and infer."""

import csv
import json

import numpy as np
import pytest

from polyaurn import load

TEXTS = ["cat dog cat bird", "dog cat bird dog", "planet star moon", "star moon planet star"] * 10


@pytest.fixture
def model(run, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    code, _, _ = run(
        "train", tmp_path / "texts.txt", "-k", 2, "--sweeps", 60, "--out", "model", "-q"
    )
    assert code == 0
    (tmp_path / "new.txt").write_text("cat dog bird unheard\nstar moon star\ncomet\n")
    return tmp_path / "model"


def test_infer_writes_mixtures_of_every_kind(run, model, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    for name in ("a.csv", "a.parquet", "a.npz"):
        code, out, err = run("infer", model, tmp_path / "new.txt", "--out", name)
        assert (code, out) == (0, "")
        assert "2 of 8 tokens" in err
        assert "1 of 3 documents have no word" in err
        assert f"written to {name}" in err
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["document", "topic_0", "topic_1"]
    theta = np.array([row[1:] for row in rows[1:]], float)
    assert np.allclose(theta.sum(axis=1), 1.0, atol=1e-5)
    alpha = load(model).priors.alpha
    assert np.allclose(theta[2], alpha / alpha.sum(), rtol=0.0, atol=1e-5)
    assert theta[0].argmax() != theta[1].argmax()
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == rows[0]
    assert np.allclose(np.array([table["topic_0"], table["topic_1"]]).T, theta, atol=1e-5)
    with np.load(tmp_path / "a.npz") as arrays:
        assert np.allclose(arrays["theta"], theta, atol=1e-5)
        assert len(arrays["doc_names"]) == 3
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_infer_counts_documents_in_words(run, model, tmp_path):
    for n, said in ((1, "The mixture of 1 document over"), (2, "Mixtures of 2 documents over")):
        (tmp_path / "few.txt").write_text("\n".join(["apple pear"] * n) + "\n")
        assert (
            f"{said} 2 topics written to f{n}.csv"
            in run("infer", model, "few.txt", "--out", f"f{n}.csv")[2]
        )


def test_infer_reports_errors_before_long_work(run, model, tmp_path):
    (tmp_path / "there.csv").write_text("mine")
    for out, message in (
        ("mixtures.txt", "must end in .csv, .parquet or .npz"),
        ("nowhere/a.csv", "in a folder that exists"),
        ("there.csv", "is there already"),
    ):
        code, _, err = run("infer", model, tmp_path / "new.txt", "--out", out)
        assert code == 2
        assert message in err
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_infer_says_what_is_not_known(run, model, tmp_path):
    (tmp_path / "strange.txt").write_text("tout autre chose\n")
    code, _, err = run("infer", model, tmp_path / "strange.txt", "--out", "b.csv")
    assert code == 0
    assert err.count("3 of 3 tokens (100.0%) are of words that the model does not know") == 1
    assert "model of another language" in err
    (tmp_path / "mixed.txt").write_text("cat dog star moon autre\n")
    code, _, err = run("infer", model, tmp_path / "mixed.txt", "--out", "c.csv")
    assert code == 0
    assert err.count("1 of 5 tokens (20.0%)") == 1


def test_text_is_cut_as_the_model_was(run, model, tmp_path):
    pairs = ["the cat sat", "the dog ran", "a star in the sky"] * 8
    (tmp_path / "pairs.txt").write_text("\n".join(pairs) + "\n")
    train = ("-k", 2, "--sweeps", 20, "-q", "--ngrams", 2, "--stop-words", "none")
    assert run("train", "pairs.txt", *train, "--out", "bigrams")[0] == 0
    code, _, err = run("infer", "bigrams", "pairs.txt", "--out", "c.csv")
    assert code == 0
    assert "does not know" not in err
    assert f"{len(load(tmp_path / 'bigrams').vocab)} words" in err


def test_evaluate_shows_how_good_a_model_is(run, model, tmp_path):
    code, out, _ = run("evaluate", model, tmp_path / "texts.txt", "--json", "--particles", 5)
    assert code == 0
    found = json.loads(out)
    assert found["documents"] == 40
    assert found["unknown_tokens"] == 0
    assert found["perplexity"] == pytest.approx(np.exp(-found["log_likelihood_a_token"]))
    assert 2 < found["perplexity"] < 6
    assert 0 <= found["its_standard_error"] < 0.1
    assert found["coherence_npmi"] > 0.5
    assert found["topics_with_coherence"] == 2
    assert found["diversity"] == 1.0
    code, out, _ = run("evaluate", model, tmp_path / "texts.txt", "--particles", 1)
    assert code == 0
    assert "perplexity" in out
    assert "its standard error\t-\n" in out
    assert load(model).n_topics == 2
    (tmp_path / "short.txt").write_text("cat dog\n")
    code, out, _ = run("evaluate", model, "short.txt", "--json")
    assert json.loads(out)["coherence_npmi"] is None
    code, _, err = run("evaluate", model, "nowhere.txt", "--particles", 0)
    assert code == 2
    assert "'--particles' option must be a whole number" in err


def test_an_unknown_device(run, model, tmp_path):
    for command in (("infer", "--out", "d.csv"), ("evaluate",)):
        name, *more = command
        code, _, err = run(name, model, tmp_path / "new.txt", *more, "--device", "tpu")
        assert code == 2
        assert "'--device' option must be one of 'cpu', 'gpu', 'auto'. Got 'tpu'" in err
    assert not (tmp_path / "d.csv").exists()


def test_without_a_gpu_the_cpu_runs_and_it_is_said(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("polyaurn.backends.gpu.backend.GPU.missing", lambda self: "there is none")
    for device in ("cpu", "auto"):
        code, _, err = run("infer", model, "new.txt", "--out", f"{device}.csv", "--device", device)
        assert code == 0
        assert ("Note: Running on the CPU: there is none." in err) == (device == "auto")
    assert (tmp_path / "cpu.csv").read_bytes() == (tmp_path / "auto.csv").read_bytes()
    code, _, err = run("evaluate", model, "new.txt", "--device", "gpu")
    assert code == 2
    assert "but there is none" in err
