"""The documents command: text of a topic's documents, found by the model's own config."""

import csv
import json

import pytest

from polyaurn import load

SPACE = "the rocket left for the moon, whose orbit the crew saw"
SPORT = "the team won the cup by a goal, and the coach praised the team"
FILLER = "nothing more was heard of it, and the evening was long. "
TEXTS = [FILLER * 8 + (SPACE if d % 2 else SPORT) + ". " + FILLER * 8 for d in range(20)]
TRAIN = "train news.csv --text-column body --name-column id --topics 2 --sweeps 60 --threads 1"


@pytest.fixture
def model(run, tmp_path):
    with (tmp_path / "news.csv").open("w", newline="") as file:
        rows = [(f"n{d}", "short", text) for d, text in enumerate(TEXTS)]
        csv.writer(file).writerows([("id", "text", "body"), *rows])
    stop = tmp_path / "stop.txt"
    stop.write_text("\n".join(sorted(set((FILLER + "the for whose by and").replace(".", " ")
                                         .replace(",", " ").split()))))  # fmt: skip
    assert run(*TRAIN.split(), "--stop-words", stop, "-q", "--out", "m")[0] == 0
    return load(tmp_path / "m")


@pytest.fixture
def space(model):
    return next(k for k, words in enumerate(model.topics(4)) if "moon" in words)


def test_documents_with_snippets(run, model, space):
    code, out, error = run("documents", "m", "--topic", space, "-n", 3)
    assert (code, error) == (0, "")
    rows = [line.split("\t") for line in out.splitlines()]
    table = model.representative_documents(space, 3, texts=TEXTS, as_frame=False)
    assert [row[0] for row in rows] == [str(d) for d in table["number"]]
    assert [row[1] for row in rows] == [f"n{d}" for d in table["number"]]
    assert [row[3] for row in rows] == table["snippet"]
    assert all(SPACE in row[3] and len(row[3]) <= 204 for row in rows)
    _, out, _ = run("documents", "m", "--topic", space, "-n", 1, "--characters", 40)
    assert len(out.split("\t")[3].strip()) <= 44


def test_a_topic_by_its_label_and_json(run, model, space):
    run("label", "m", f"{space}=Space", "-q")
    code, out, _ = run("documents", "m", "--topic", "SPACE", "--json", "-n", 2)
    assert code == 0
    listed = json.loads(out)
    assert len(listed) == 2
    for document in listed:
        assert document["text"] == TEXTS[document["number"]]
        assert SPACE in document["snippet"]
        assert document["share"] > 0.9


def test_a_corpus_that_moved(run, model, space, tmp_path):
    (tmp_path / "news.csv").rename(tmp_path / "old.csv")
    code, out, error = run("documents", "m", "--topic", space, "-n", 2)
    assert code == 0
    assert error == (
        f"Note: The corpus '{tmp_path / 'news.csv'}' of the model is no longer there. Name its new "
        "place with --corpus.\n"
    )
    assert len(out.splitlines()) == 2
    _, out, error = run("documents", "m", "--topic", space, "-n", 2, "--corpus", "old.csv")
    assert out.count(SPACE) == 2
    assert error == ""


def test_other_corpora(run, model, space, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(TEXTS) + "\n")
    _, out, error = run("documents", "m", "--topic", space, "-n", 2, "--corpus", "lines.txt")
    assert out.count(SPACE) == 2
    assert error == ""
    lines.write_text("\n".join(reversed(TEXTS)) + "\n")
    _, _, error = run("documents", "m", "--topic", space, "-n", 2, "--corpus", "lines.txt")
    assert "2 of 2 texts in 'lines.txt' do not have the words" in error
    lines.write_text("\n".join(TEXTS[1:]) + "\n")
    code, out, error = run("documents", "m", "--topic", space, "--corpus", "lines.txt")
    assert (code, out) == (2, "")
    assert "must be what the model was trained on, 20 documents. Got 19" in error
    code, _, error = run("documents", "m", "--topic", space, "--corpus", "none.txt")
    assert code == 2
    assert "The file 'none.txt' does not exist" in error


def test_models_without_text(run, model, space, tmp_path):
    (tmp_path / "m" / "config.toml").unlink()
    code, out, error = run("documents", "m", "--topic", space)
    assert code == 0
    assert "does not say which corpus the model was trained on" in error
    assert len(out.splitlines()) == 5
    (tmp_path / "docword.x.txt").write_text("2\n2\n4\n1 1 5\n1 2 1\n2 1 1\n2 2 5\n")
    (tmp_path / "vocab.x.txt").write_text("moon\ngoal\n")
    train = "train docword.x.txt --topics 2 --sweeps 5 --threads 1 -q --out counts"
    assert run(*train.split())[0] == 0
    code, out, error = run("documents", "counts", "--topic", 0)
    assert code == 0
    assert "holds counts of words (uci), so there is no text to show" in error


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--topic", "2"],
            "The '--topic' option must be a number from 0 to 1, or a label. Got '2'",
        ),
        (["--topic", "Space"], "or a label. Got 'Space' instead"),
        (["--topic", "0", "-n", "0"], "must be a whole number, at least 1"),
        (["--topic", "0", "--characters", "3"], "of characters, at least 20"),
        ([], "--topic"),
    ],
)
def test_what_is_rejected(run, model, options, sentence):
    code, out, error = run("documents", "m", *options)
    assert (code, out) == (2, "")
    assert sentence in error
