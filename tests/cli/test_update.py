"""`polyaurn update`: the same as in Python, and one sentence for bad input."""

import json
import shlex
import tomllib
from pathlib import Path

import pytest

from polyaurn import LDA, load

OLD = ["orbit nasa moon rocket", "goal team cup fans"] * 30
NEW = ["orbit probe nasa", "team goal coach"] * 10


@pytest.fixture
def files(tmp_path, run):
    (tmp_path / "old.csv").write_text(
        "id,text\n" + "".join(f"{i},{t}\n" for i, t in enumerate(OLD))
    )
    (tmp_path / "new.csv").write_text(
        "id,text\n" + "".join(f"{i},{t}\n" for i, t in enumerate(NEW))
    )
    given = ("old.csv", "--text-column", "text", "-k", 2, "--sweeps", 30)
    assert run("train", *given, "--out", "m", "-q")[0] == 0
    return tmp_path


def test_a_model_is_updated_as_in_python(files, run):
    code, out, err = run(
        "update", "m", "new.csv", "--out", "m2", "--forget", 0.2, "--new-topics", 1
    )
    assert code == 0, err
    assert "Model written to m2" in err
    model = load(files / "m2")
    expected = LDA.load(files / "m").set_params(verbose=False)
    expected.update(NEW, forget=0.2, new_topics=1)
    assert model.topics(weights=True) == expected.topics(weights=True)
    assert model.vocab == expected.model_.vocab
    assert "corpus = " in (files / "m2" / "config.toml").read_text()
    code, out, err = run("update", "m2", "new.csv", "--out", "m3", "--json", "--sweeps", 4)
    assert (code, json.loads(out)["documents"]) == (0, 20)
    assert load(files / "m3").parameters["update"]["number"] == 2


def test_old_documents_are_sampled_with_the_new(files, run):
    code, _, err = run("update", "m", "new.csv", "--out", "m2", "--with", "old.csv", "--sweeps", 6)
    assert code == 0, err
    assert len(load(files / "m2").doc_names) == 80
    both = ("--with", "old.csv", "--with", "new.csv")
    code, _, err = run("update", "m2", "new.csv", "--out", "m3", *both, "--sweeps", 4)
    assert code == 0, err
    assert len(load(files / "m3").doc_names) == 100
    code, _, err = run("update", "m", "new.csv", "--out", "m4", "--with", "new.csv")
    assert code == 2
    assert err.splitlines()[-1].startswith("polyaurn: The earlier documents must be")
    assert not (files / "m4").exists()


def test_bad_input_is_one_sentence_and_nothing_is_written(files, run):
    (files / "other.csv").write_text("id,text\n1,uno dos tres\n")
    (files / "empty.csv").write_text("id,text\n")
    for arguments, says in (
        (("new.csv", "--forget", 1.5), "The '--forget' option must be a number from 0 to 1"),
        (("new.csv", "--new-topics", -1), "The '--new-topics' option must be a whole number"),
        (("other.csv",), "The 'CORPUS' argument must hold words of the model"),
        (("empty.csv",), "empty.csv"),
        (("new.csv", "--force", "--resume"), "must stand without '--force'"),
        (("new.csv", "--sweeps", 0), "The '--sweeps' option must be"),
        (("new.csv", "--with", "other.csv"), "The earlier documents must be those that the model"),
        (("new.csv", "--with", "new.csv"), "The earlier documents must be those that the model"),
    ):
        code, _, err = run("update", "m", *arguments, "--out", "m2")
        assert (code, says in err.splitlines()[-1]) == (2, True), err
        assert "Traceback" not in err
        assert not (files / "m2").exists()
    code, _, err = run("update", "m", "new.csv", "--out", "old.csv")
    assert (code, "The '--out' option must be a folder. 'old.csv' is a file" in err) == (2, True)
    before = {path.name: path.read_bytes() for path in (files / "m").iterdir()}
    for more in ((), ("--force",), ("--resume",)):
        code, _, err = run("update", "m", "new.csv", "--out", files / "m", *more)
        assert code == 2
        assert "'--out' option must be another folder than that of the model" in err
    assert {path.name: path.read_bytes() for path in (files / "m").iterdir()} == before


def write(path, texts, column="review"):
    rows = [json.dumps({"n": i, column: t}) for i, t in enumerate(texts)]
    if path.suffix == ".csv":
        rows = [f"n,{column}", *(f"{i},{t}" for i, t in enumerate(texts))]
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def reviews(tmp_path, run):
    """A model of a table whose text column has no usual name, and new documents."""
    for name, texts in (("old.csv", OLD), ("new.csv", NEW), ("same.csv", OLD[:20])):
        write(tmp_path / name, texts)
    given = ("old.csv", "--text-column", "review", "-k", 2, "--sweeps", 30, "--min-df", 1)
    assert run("train", *given, "--out", "m", "-q")[0] == 0
    return tmp_path


def test_the_folder_of_an_update_with_old_documents_says_where_all_are(reviews, run):
    code, _, err = run("update", "m", "new.csv", "--with", "old.csv", "--out", "m3", "-q")
    assert code == 0, err
    kept = tomllib.loads((reviews / "m3/config.toml").read_text())
    names = [Path(file).name for file in (*kept["earlier"], kept["corpus"])]
    assert (names, kept["text-column"]) == (["old.csv", "new.csv"], "review")
    assert run("update", "m3", "new.csv", "--out", "m5", "--sweeps", 4, "-q")[0] == 0
    code, _, err = run("drift", "m3", "same.csv", "--threads", 1)
    assert code == 0, err
    last = json.loads(run("documents", "m3", "--topic", 0, "--json", "-n", 80)[1])
    assert "probe" in json.dumps(last)
    code, out, err = run("diff", "m", "m3", "--json", "--threads", 1)
    assert "documents" in json.loads(out), err
    assert run("report", "m3", "--out", "r.html", "--class-column", "n", "-q")[0] == 0
    assert "orbit nasa moon rocket" in (reviews / "r.html").read_text()
    both = ("--with", "old.csv", "--with", "new.csv", "--sweeps", 4, "-q")
    write(reviews / "other.csv", [*NEW, "orbit goal coach"])
    assert run("update", "m3", "other.csv", "--out", "m6", *both)[0] == 0
    assert run("drift", "m6", "same.csv", "--threads", 1)[0] == 0
    (reviews / "old.csv").unlink()
    code, _, err = run("drift", "m6", "same.csv", "--threads", 1)
    assert (code, "old.csv' of the model is no longer there" in err) == (2, True)
    assert "Name it with --corpus, or documents" in err


def test_where_text_is_survives_documents_that_have_no_columns(reviews, run):
    (reviews / "plain.txt").write_text("\n".join(NEW) + "\n")
    assert run("update", "m", "plain.txt", "--out", "m2", "--sweeps", 4, "-q")[0] == 0
    code, _, err = run("update", "m2", "new.csv", "--out", "m4", "--sweeps", 4, "-q")
    assert code == 0, err


def test_diff_says_that_it_does_not_know_the_documents(reviews, run):
    (reviews / "m/config.toml").unlink()
    code, _, err = run("diff", "m", "m", "--threads", 1)
    assert (code, "does not say which corpus" in err, "--corpus" in err) == (0, True, True)


def test_the_config_of_an_update_names_the_command_that_repeats_it(reviews, run):
    given = ("update", "m", "new.csv", "--forget", 0.4, "--with", "old.csv", "--new-topics", 1)
    assert run(*given, "--sweeps", 6, "--out", "m2", "-q")[0] == 0
    code, _, err = run("train", "--config", "m2/config.toml", "--out", "rep")
    assert (code, (reviews / "rep").exists()) == (2, False)
    said = err.splitlines()[-1]
    assert "is of an updated model" in said
    words = shlex.split(said.partition("which this command repeats: polyaurn ")[2])
    assert words[:1] == ["update"]
    assert Path(words[1]).is_absolute()
    code, _, err = run(*words[:-1], "rep", "-q")
    assert code == 0, err
    for file in ("arrays.npz", "vocab.txt"):
        assert (reviews / "rep" / file).read_bytes() == (reviews / "m2" / file).read_bytes()
