"""The commands export and import-model."""

import csv
import json

import numpy as np
import pytest

from polyaurn import LDA, Corpus, load
from polyaurn.exchange import read_mallet_state

TEXTS = ["cat dog cat bird", "dog cat bird dog", "planet star moon", "star moon planet star"] * 10


@pytest.fixture
def model(run, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    code, _, _ = run(
        "train", "texts.txt", "-k", 2, "--sweeps", 60, "--out", "model", "-q",
        "--learn-priors-every", 0, "--average-draws", 1,  # LDA-C has one alpha; tables count tokens
    )  # fmt: skip
    assert code == 0
    return load(tmp_path / "model")


def test_there_and_back(run, model, tmp_path):
    for to, name, more in (
        ("mallet", "state.gz", ("--corpus", "texts.txt")),
        ("ldac", "final.beta", ()),
        ("csv", "topics.csv", ()),
        ("csv", "documents.csv", ("--table", "documents")),
    ):
        code, out, err = run("export", "model", "--to", to, "--out", name, *more)
        assert (code, out) == (0, "")
        assert f"written to {name}" in err
        code, _, err = run("export", "model", "--to", to, "--out", name, *more)
        assert code == 2
        assert "is there already" in err
        assert run("export", "model", "--to", to, "--out", name, *more, "--force", "-q")[0] == 0
    for name, columns in (
        ("topics", ["topic", "word", "rank", "count", "probability"]),
        ("documents", ["document", "topic", "count", "probability"]),
    ):
        with (tmp_path / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == columns
        assert sum(int(row["count"]) for row in rows) == len(model.assignments)
    (tmp_path / "words.txt").write_text("\n".join(model.vocab) + "\n")
    for name, more in (
        ("state.gz", ("--from", "mallet")),
        ("final.beta", ("--from", "ldac", "--vocabulary", "words.txt")),
    ):
        folder = f"from-{name}"
        code, _, err = run("import-model", name, *more, "--out", folder)
        assert code == 0
        assert f"polyaurn topics {folder}" in err
        assert load(tmp_path / folder).topics(3) == model.topics(3)
        code, out, _ = run("topics", folder)
        assert code == 0
        assert len(out.splitlines()) == 2
        code, out, _ = run("evaluate", folder, "texts.txt", "--particles", 3)
        assert code == 0
        assert run("infer", folder, "texts.txt", "--out", "mixtures.csv", "--force", "-q")[0] == 0
        code, _, err = run("import-model", name, *more, "--out", folder)
        assert code == 2
        assert "already holds a model" in err
        assert run("import-model", name, *more, "--out", folder, "--force", "-q") == (0, "", "")
    assert np.array_equal(load(tmp_path / "from-state.gz").assignments, model.assignments)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_model_without_counts_is_not_updated_and_has_no_shares(run, model, tmp_path):
    (tmp_path / "words.txt").write_text("\n".join(model.vocab) + "\n")
    run("export", "model", "--to", "ldac", "--out", "final.beta")
    theirs = ("--from", "ldac", "--vocabulary", "words.txt")
    assert run("import-model", "final.beta", *theirs, "--out", "m", "-q")[0] == 0
    code, out, err = run("update", "m", "texts.txt", "--out", "updated", "-q")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "The model must have counts of the tokens of its topics" in err
    assert not (tmp_path / "updated").exists()
    for pair, of in ((("model", "m"), "new model has"), (("m", "model"), "old model has")):
        code, out, _ = run("diff", *pair, "--match", "words", "--json")
        said = json.loads(out)
        assert f"The {of} probabilities of words without counts" in said["summary"]
        assert said["counts"]["grew"] == said["counts"]["shrank"] == 0
    assert "without counts" not in run("diff", "model", "model")[1]


@pytest.mark.parametrize(
    ("model_draws", "kind"), [(1, "those of one draw"), (4, "the mean of 4 draws of the chain")]
)
def test_export_says_what_counts_are(run, tmp_path, model_draws, kind):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    code, _, _ = run(
        "train", "texts.txt", "-k", 2, "--sweeps", 20, "--out", "model", "-q",
        "--learn-priors-every", 0, "--average-draws", model_draws,
    )  # fmt: skip
    assert code == 0
    note = f"Its counts of words in topics are {kind}.\n"
    for to, name, more, depends in (
        ("csv", "topics.csv", (), True),
        ("ldac", "final.beta", (), True),
        ("csv", "documents.csv", ("--table", "documents"), False),
        ("mallet", "state.gz", ("--corpus", "texts.txt"), False),
    ):
        code, out, err = run("export", "model", "--to", to, "--out", name, *more)
        assert (code, out) == (0, "")
        assert err.endswith(note) if depends else "draw" not in err
        _, _, err = run("export", "model", "--to", to, "--out", name, *more, "--force", "-q")
        assert err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--to", "word", "--out", "a"),
            "'--to' option must be one of 'mallet', 'ldac', 'gensim', 'pyldavis', "
            "'pycistopic', 'anndata', 'csv', 'parquet'",
        ),
        (("--to", "csv", "--out", "a.parquet"), "must end in .csv"),
        (("--to", "parquet", "--out", "a.csv"), "must end in .parquet"),
        (("--to", "ldac", "--out", "a.csv"), "must end in .beta"),
        (("--to", "csv", "--out", "nowhere/a.csv"), "in a folder that exists"),
        (
            ("--to", "csv", "--out", "a.csv", "--table", "words"),
            "must be one of 'topics', 'documents'",
        ),
        (("--to", "ldac", "--out", "a.beta", "--table", "topics"), "is for csv and parquet"),
        (
            ("--to", "ldac", "--out", "a.beta", "--corpus", "texts.txt"),
            "is for mallet, pyldavis, pycis",
        ),
        (("--to", "csv", "--out", "a.csv", "--min-count", 3), "'--min-count' option is for mallet"),
        (("--to", "csv", "--out", "a.csv", "--flatten-priors"), "for mallet, ldac and pycistopic."),
        (("--to", "gensim", "--out", "a", "--flatten-priors"), "is for mallet, ldac and pyc"),
        (
            ("--to", "gensim", "--out", "a", "--corpus", "texts.txt"),
            "is for mallet, pyldavis, pycistopic and anndata.",
        ),
        (("--to", "parquet", "--out", "a.parquet", "--escape-formulas"), "is for csv"),
        (("--to", "pyldavis", "--out", "a.txt", "--corpus", "texts.txt"), ".html or .json"),
        (("--to", "anndata", "--out", "a.csv"), "must end in .h5ad"),
        (("--to", "anndata", "--out", "a.h5ad"), "file 'TMP/texts.txt' must be AnnData, an .h5ad"),
        (("--to", "anndata", "--out", "a.h5ad", "--binarise"), "'--binarise' option is for malle"),
        (
            ("--to", "mallet", "--out", "a", "--corpus", "texts.txt", "--min-count", 25, "-q"),
            "'--corpus' option must be what the model was trained on",
        ),
    ],
)
def test_export_reports_errors(run, model, tmp_path, arguments, message):
    before = sorted(tmp_path.iterdir())
    code, _, err = run("export", "model", *arguments)
    assert code == 2
    assert message in err.replace(str(tmp_path), "TMP")
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_the_documents_of_an_export_are_found_by_the_options_of_the_run(run, tmp_path):
    rows = "".join(f"d{i};{text} rare{i}\n" for i, text in enumerate(TEXTS))
    (tmp_path / "t.csv").write_text("id;words\n" + rows)
    train = "train t.csv --text-column words --name-column id --min-df 2 -k 2 --sweeps 9 -q --out m"
    assert run(*train.split())[0] == 0
    code, _, err = run("export", "m", "--to", "mallet", "--out", "state.gz")
    assert code == 0, err
    read, documents = read_mallet_state(tmp_path / "state.gz", with_corpus=True)
    assert np.array_equal(read.topic_sizes, load(tmp_path / "m").topic_sizes)
    assert list(documents.doc_names[:2]) == ["d0", "d1"]
    (tmp_path / "t.csv").rename(tmp_path / "moved.csv")
    code, _, err = run("export", "m", "--to", "mallet", "--out", "moved.gz")
    assert code == 2
    assert "is no longer there. Name its new place with --corpus." in err
    moved = ("--corpus", "moved.csv", "--name-column", "id", "-q")
    assert run("export", "m", "--to", "mallet", "--out", "moved.gz", *moved)[0] == 0
    again = read_mallet_state(tmp_path / "moved.gz")
    assert np.array_equal(again.assignments, read.assignments)
    load(tmp_path / "m").save(tmp_path / "bare")
    code, _, err = run("export", "bare", "--to", "mallet", "--out", "bare.gz")
    assert code == 2
    assert "'--corpus' option must be given for this model, whose folder does not say" in err


def test_gensim_opens_what_is_written_for_it(run, model, tmp_path):
    gensim = pytest.importorskip("gensim", reason="gensim is not installed")
    code, _, err = run("export", "model", "--to", "gensim", "--out", "lda")
    assert (code, "written to lda" in err) == (0, True)
    theirs = gensim.models.LdaModel.load(str(tmp_path / "lda"))
    mass = model.topic_word_counts.toarray() + model.priors.beta
    assert np.allclose(theirs.get_topics(), mass / mass.sum(axis=1, keepdims=True))
    assert [theirs.id2word[v] for v in range(len(model.vocab))] == list(model.vocab)
    written = {path.name for path in tmp_path.iterdir()} - {"texts.txt", "model"}
    assert written == {name for name in written if name.startswith("lda")}
    for name in written:
        (tmp_path / name).unlink()
    (tmp_path / "lda.state").write_text("mine")
    code, _, err = run("export", "model", "--to", "gensim", "--out", "lda")
    assert (code, "'lda.state' is there already" in err) == (2, True)
    assert (tmp_path / "lda.state").read_text() == "mine"
    assert not (tmp_path / "lda").exists()
    assert run("export", "model", "--to", "gensim", "--out", "lda", "--force", "-q")[0] == 0
    assert gensim.models.LdaModel.load(str(tmp_path / "lda")).num_topics == 2


def test_a_page_of_pyldavis(run, tmp_path):
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    texts = ["cat dog", "dog bird cat", "planet star", "star moon", "bat ball", "ball goal"] * 6
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    assert run("train", "texts.txt", "-k", 3, "--sweeps", 40, "--out", "model", "-q")[0] == 0
    for name in ("page.html", "page.json"):
        code, _, err = run(
            "export", "model", "--to", "pyldavis", "--corpus", "texts.txt", "--out", name
        )
        assert (code, f"written to {name}" in err) == (0, True)
    assert "<script" in (tmp_path / "page.html").read_text()
    data = json.loads((tmp_path / "page.json").read_text())
    shares = load(tmp_path / "model").topic_sizes
    assert data["mdsDat"]["topics"] == [0, 1, 2]
    assert np.argsort(data["mdsDat"]["Freq"]).tolist() == np.argsort(shares).tolist()


def test_formulas_are_escaped_when_asked(run, tmp_path):
    words = ['=HYPERLINK("x")', "+1", "-2", "@sum", "'quoted", "plain", "a=b"]
    corpus = Corpus.from_matrix(np.full((3, 7), 2), words, doc_names=["=1+1", "-x", "plain"])
    LDA(2, max_iter=5, verbose=False).fit(corpus).save(tmp_path / "m")
    for more, escaped in (((), False), (("--escape-formulas",), True)):
        for table, column, names in (
            ("topics", "word", words),
            ("documents", "document", corpus.doc_names),
        ):
            options = ("--table", table, "--out", "a.csv", "--force", "-q", *more)
            assert run("export", "m", "--to", "csv", *options)[0] == 0
            with (tmp_path / "a.csv").open(newline="") as file:
                found = {row[column] for row in csv.DictReader(file)}
            begin = ("=", "+", "-", "@")
            expected = {f"'{n}" if escaped and n.startswith(begin) else n for n in names}
            assert found == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "gensim"), "'--from' option must be one of 'mallet', 'ldac'"),
        (("--from", "ldac"), "'--vocabulary' option must be given"),
        (("--from", "mallet", "--vocabulary", "bad"), "is for ldac"),
        (("--from", "ldac", "--vocabulary", "bad", "--encoding", "utf-8"), "is for mallet"),
        (("--from", "mallet"), "line 1: expected MALLET's"),
        (("--from", "ldac", "--vocabulary", "bad"), "bad.other' cannot be read"),
    ],
)
def test_import_model_reports_errors(run, tmp_path, arguments, message):
    (tmp_path / "bad").write_bytes(bytes(range(256)))
    code, _, err = run("import-model", "bad", *arguments, "--out", "model", "-q")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "model").exists()
