"""Runs as files: --config, and the config.toml that every run leaves in its model's folder."""

import json
import tomllib

import pytest

from polyaurn import LDA, load
from polyaurn.files.names import CONFIG, TIMINGS


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in (TIMINGS, CONFIG)}


@pytest.mark.parametrize(
    "options",
    [
        ("--min-count", 2, "--alpha", "0.2", "--seed", 3),
        ("--ngrams", 2, "--stop-words", "stop.txt", "--token-pattern", r"(?u)\b[a-z]+\b"),
        ("--sampler", "light", "--mh-steps", 1, "-t", 2, "--warm-start", "random"),
        ("--alpha", "alpha.txt", "--learn-priors-every", 3, "--eval-every", 0),
    ],
)
def test_the_file_in_the_folder_repeats_the_run(run, texts, tmp_path, options, monkeypatch):
    (tmp_path / "stop.txt").write_text("cat\n")
    (tmp_path / "alpha.txt").write_text("0.3 0.1")
    code, _, err = run("train", "texts.txt", "-k", 2, "--sweeps", 9, *options, "--out", "a", "-q")
    assert code == 0, err
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    code, _, err = run("train", "--config", tmp_path / "a" / CONFIG, "--out", "b", "-q")
    assert (code, err) == (0, "")
    assert contents(tmp_path / "a") == contents(elsewhere / "b")
    assert (tmp_path / "a" / CONFIG).read_bytes() == (elsewhere / "b" / CONFIG).read_bytes()


def test_the_file_has_all_that_was_resolved(run, texts, tmp_path):
    run("train", "texts.txt", "-k", 2, "--sweeps", 4, "--trace", "t", "--out", "m", "-q", "-t", 1)
    found = tomllib.loads((tmp_path / "m" / CONFIG).read_text())
    assert found["corpus"] == str(tmp_path / "texts.txt")
    assert (found["topics"], found["sweeps"], found["alpha"], found["threads"]) == (2, 4, 0.1, 1)
    assert (found["stop-words"], found["ngrams"]) == ("english-extended", 1)
    assert found["transpose"] is False
    assert not {"out", "trace", "quiet", "force", "resume", "config", "json"} & set(found)
    run("train", "texts.txt", "-k", 2, "--sweeps", 4, "--sampler", "light", "--out", "n", "-q")
    assert tomllib.loads((tmp_path / "n" / CONFIG).read_text())["threads"] >= 1


def test_an_alpha_divided_by_the_number_of_topics_is_kept_as_it_was_given(run, texts, tmp_path):
    train = ("train", "texts.txt", "-k", 4, "--sweeps", 3, "--learn-priors-every", 0, "-q")
    assert run(*train, "--alpha", "50/K", "--out", "m") == (0, "", "")
    assert load("m").priors.alpha.tolist() == [12.5] * 4
    assert tomllib.loads((tmp_path / "m" / CONFIG).read_text())["alpha"] == "50/K"
    again = ("train", "--config", "m/" + CONFIG, "-k", 5, "--out", "n", "-q")
    assert run(*again) == (0, "", "")
    assert load("n").priors.alpha.tolist() == [10.0] * 5
    code, _, err = run(*train, "--alpha", "50/V", "--out", "o")
    assert (code, "'--alpha' option must be a positive number" in err) == (2, True)


def test_the_command_line_wins_and_both_spellings_do(run, texts, tmp_path):
    (tmp_path / "run.toml").write_text(
        'corpus = "texts.txt"\nout = "m"\ntopics = 3\nmin_count = 9\nstop-words = "none"\n'
        "sweeps = 2\nquiet = true\nbeta = 1\nphi-refreshes = 2\n"
    )
    assert run("train", "--config", "run.toml") == (0, "", "")
    model = load("m")
    assert (model.n_topics, len(model.vocab), model.parameters["sweeps"]) == (3, 5, 2)
    assert model.priors.beta[0] == 1.0
    assert run("train", "--config", "run.toml", "-k", 2, "--out", "n")[0] == 0
    assert load("n").n_topics == 2


BAD = [
    ("topcs = 3", "Got 'topcs' instead; the nearest option is 'topics'"),
    ("Min-Count = 3", "the nearest option is 'min-count'"),
    ("config = 'x'", "Got 'config' instead"),
    ("topics = 2.5", "key 'topics': expected a whole number. Got 2.5"),
    ("topics = true", "key 'topics': expected a whole number. Got True"),
    ("topics = [2]", "key 'topics': expected a whole number. Got [2]"),
    ("max-doc-fraction = 'x'", "key 'max-doc-fraction': expected a number"),
    ("transpose = 1", "key 'transpose': expected true or false. Got 1"),
    ("alpha = [0.1]", "key 'alpha': expected text"),
    ("date = 2001-01-01", "Got 'date' instead"),
    ("min-count = 1\nmin_count = 1", "Got 'min-count' both with '-' and with '_'"),
    ("topics", "must be TOML, lines such as: topics = 50"),
    ("topics = 0", "'--topics' option must be an integer from 1"),
    ("[reading]\nx = 1", "Got 'reading' instead"),
]


@pytest.mark.parametrize(("text", "says"), BAD)
def test_bad_files_are_one_sentence(run, texts, tmp_path, text, says):
    (tmp_path / "run.toml").write_text(text + "\n")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run("train", "texts.txt", "--config", "run.toml", "--out", "m")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert says in err
    if "option must" not in says:
        assert "'run.toml'" in err
    assert sorted(tmp_path.rglob("*")) == before


def test_files_that_cannot_be_read_are_one_sentence(run, texts, tmp_path):
    (tmp_path / "latin").write_bytes(b"corpus = '\xe9'\n")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 24)
    for name, says in (
        ("nowhere", "No such file"), (".", "Is a directory"), ("latin", "not text"),
        ("large", "must be a short TOML file"),
    ):  # fmt: skip
        code, _, err = run("train", texts, "--config", name, "--out", "m")
        assert code == 2
        assert says in err
        assert len(err.splitlines()) == 1


def test_new_text_is_cut_as_the_training_text_was(run, tmp_path):
    lines = ["a-b c-d a-b", "e-f g-h e-f", "a-b c-d", "e-f g-h"] * 6
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    pattern = r"[a-z]-[a-z]"
    train = ("train", "t.txt", "-k", 2, "--sweeps", 20, "-q", "--out", "m")
    assert run(*train, "--token-pattern", pattern)[0] == 0
    for command in (("infer", "m", "t.txt", "--out", "o.csv"), ("evaluate", "m", "t.txt")):
        code, _, err = run(*command)
        assert code == 0, err
        assert "4 words" in err
        assert "does not know" not in err
    (tmp_path / "m" / CONFIG).unlink()  # as a model from Python has none
    assert run("infer", "m", "t.txt", "--out", "p.csv")[0] == 0
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "o.csv").read_bytes()
    code, _, err = run("infer", "m", "t.txt", "--out", "q.csv", "--token-pattern", "[a-z]")
    assert code == 0
    assert "102 of 102 tokens (100.0%)" in err


def test_the_text_column_is_remembered_where_there_is_one(run, tmp_path):
    rows = "".join(f"r{i}\tx\tred apple\n" for i in range(9))
    (tmp_path / "t.tsv").write_text("id\tlabel\treview\n" + rows)
    (tmp_path / "plain.tsv").write_text(rows)  # MALLET's three columns
    train = ("train", "t.tsv", "--text-column", "review", "-k", 2, "--sweeps", 4, "-q")
    assert run(*train, "--out", "m")[0] == 0
    for name in ("t.tsv", "plain.tsv"):
        code, _, err = run("infer", "m", name, "--out", f"{name}.npz")
        assert code == 0, err
        assert "9 documents" in err


def test_names_are_taken_from_the_column_of_the_training_where_there_is_one(run, tmp_path):
    rows = [f"{700 + i},red apple pear" for i in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["id,text", *rows]) + "\n")
    (tmp_path / "other.csv").write_text("\n".join(["number,text", *rows]) + "\n")
    objects = [{"id": f"j{i}", "text": "red apple"} for i in range(3)]
    lines = [json.dumps(record) + "\n" for record in objects]
    (tmp_path / "new.jsonl").write_text("".join(lines))
    (tmp_path / "some.jsonl").write_text("".join(lines) + json.dumps({"text": "pear"}) + "\n")
    train = "train t.csv --name-column id -k 2 --sweeps 4 -q --out m"
    assert run(*train.split())[0] == 0
    for name, first in (
        ("t.csv", "700"), ("other.csv", "0"), ("new.jsonl", "j0"), ("some.jsonl", "0"),
    ):  # fmt: skip
        code, _, err = run("infer", "m", name, "--out", "o.csv", "--force")
        assert code == 0, err
        assert (tmp_path / "o.csv").read_text().splitlines()[1].split(",")[0] == first
    code, _, err = run("infer", "m", "t.csv", "--name-column", "text", "--out", "o.csv", "--force")
    assert code == 0, err
    assert (tmp_path / "o.csv").read_text().splitlines()[1].startswith("red apple pear,")


def test_a_list_of_stop_words_that_is_gone_does_no_harm(run, texts, tmp_path):
    (tmp_path / "stop.txt").write_text("cat\n")
    run("train", texts, "-k", 2, "--sweeps", 9, "--stop-words", "stop.txt", "--out", "m", "-q")
    (tmp_path / "stop.txt").unlink()
    code, _, err = run("infer", "m", texts, "--out", "o.csv")
    assert code == 0
    assert "does not know" not in err  # the list is in the model
    (tmp_path / "m" / CONFIG).write_text("min-count = 'two'\n")
    command = ("export", "m", "--to", "mallet", "--corpus", texts, "--out", "s.gz")
    code, _, err = run(*command)
    assert code == 2
    assert "key 'min-count': expected a whole number" in err


def test_a_model_that_is_replaced_takes_its_file_along(run, texts, tmp_path):
    run("train", texts, "-k", 2, "--sweeps", 4, "--out", "m", "-q")
    assert (tmp_path / "m" / CONFIG).exists()
    LDA(2, max_iter=3, verbose=False).fit(["cat dog", "dog cat"]).save("m", force=True)
    assert not (tmp_path / "m" / CONFIG).exists()
    assert run("train", texts, "-k", 2, "--sweeps", 4, "--out", "m", "-q", "--force")[0] == 0
    assert (tmp_path / "m" / CONFIG).exists()


def test_columns_and_pruning_need_not_be_said_again(run, tmp_path):
    rows = ["id,review,year"] + [
        f"{700 + i},cat dog bird{i % 3} fish,19{90 + i % 5}" for i in range(20)
    ]
    (tmp_path / "r.csv").write_text("\n".join(rows))
    train = ("train", "r.csv", "--text-column", "review", "--name-column", "id", "--min-count", 8)
    assert run(*train, "-k", 2, "--sweeps", 6, "--out", "m", "-q")[0] == 0
    assert load(tmp_path / "m").vocab == ("cat", "dog", "fish")
    for command in (
        ("export", "m", "--to", "mallet", "--corpus", "r.csv", "--out", "state.gz"),
        ("infer", "m", "r.csv", "--out", "o.csv"),
        ("evaluate", "m", "r.csv", "--particles", 2),
        ("plot", "m", "documents", "--documents", "705,719", "--out", "d.svg"),
    ):
        code, _, err = run(*command, "-q")
        assert (code, err) == (0, ""), command


def test_a_run_that_is_complete_says_so(run, texts):
    train = ("train", texts, "-k", 2, "--sweeps", 6, "--out", "m")
    assert "complete already" not in run(*train)[2]
    code, _, err = run(*train, "--resume")
    assert code == 0
    assert "The run was complete already: 6 sweeps" in err
