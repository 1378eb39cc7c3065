"""`polyaurn update`: the same as in Python, and one sentence for bad input."""

import json

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
