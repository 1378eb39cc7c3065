"""Commands on one slice: its corpus is found from the folder of all slices, its documents too."""

import csv
import json
import shutil

import pytest

from polyaurn import TopicsOverTime, drift, load, read_corpus
from polyaurn.base.errors import InputError
from polyaurn.model.slices.folder import config_for, part_of

SPACE = ["orbit nasa moon rocket", "moon orbit rocket nasa crew"]
SPORT = ["goal team cup fans", "team goal fans cup referee"]
HELD = 2  # of the 20 documents of each year, with --held-out 0.1


def write(path, texts, year):
    with path.open("w", newline="") as file:
        rows = ((f"{year + i // 20}-0{1 + i % 9}-11", text) for i, text in enumerate(texts))
        csv.writer(file).writerows([("date", "review"), *rows])


@pytest.fixture
def slices(run, tmp_path):
    """Return a folder of three slices that was trained on a table whose column is named."""
    write(tmp_path / "old.csv", (SPACE + SPORT) * 15, 2001)
    write(tmp_path / "new.csv", (SPORT + SPACE) * 5, 2004)
    code, _, err = run(
        "train", "old.csv", "--text-column", "review", "--date-column", "date", "--topics", 2,
        "--by", "year", "--sweeps", 20, "--slice-sweeps", 4, "--threads", 1, "--min-df", 1,
        "--out", "time", "-q",
    )  # fmt: skip
    assert code == 0, err
    return tmp_path / "time"


DRIFT = ("--threads", 1, "--threshold", 9, "--unknown-threshold", 1, "--topics-threshold", 1)


def test_a_slice_reads_new_documents_as_all_slices_were_read(run, slices):
    for command in (
        ("update", "time/slice-2003", "new.csv", "--sweeps", 4, "--out", "next", "-q"),
        ("infer", "time/slice-2003", "new.csv", "--out", "mixtures.csv", "-q"),
        ("evaluate", "time/slice-2003", "new.csv", "--particles", 2, "--json"),
        ("drift", "time/slice-2001", "new.csv", "--against", "old.csv", *DRIFT, "-q"),
    ):
        code, _, err = run(*command)
        assert code == 0, err
    assert 'text-column = "review"' in (slices.parent / "next" / "config.toml").read_text()
    assert len(load(slices.parent / "next").doc_names) == 20


def test_the_documents_of_a_slice_are_those_it_was_trained_on(run, slices):
    topics = TopicsOverTime.load(slices)
    for year in ("2001", "2003"):
        model = load(slices / f"slice-{year}")
        part = part_of(model, slices / f"slice-{year}")
        assert part.n_documents == 60
        assert part.numbers.tolist() == topics.slices_.documents_of(year).tolist()
    code, out, err = run("drift", "time/slice-2002", "new.csv", *DRIFT, "--json")
    assert code == 0, err
    assert json.loads(out)["baseline"].startswith("training documents")
    code, _, err = run("update", "time/slice-2003", "new.csv", "--with", "old.csv", "--sweeps", 4,
                       "--out", "next", "-q")  # fmt: skip
    assert code == 0, err
    assert len(load(slices.parent / "next").doc_names) == 20 - HELD + 20


def test_pages_and_texts_of_a_slice_show_its_own_documents(run, slices):
    rows = [row.split(",") for row in (slices.parent / "old.csv").read_text().splitlines()[1:]]
    numbers = part_of(load(slices / "slice-2002"), slices / "slice-2002").numbers.tolist()
    code, out, err = run("documents", "time/slice-2002", "--topic", 0, "--number", 18, "--json")
    assert (code, err) == (0, "")
    for row in json.loads(out):
        assert row["text"] == rows[numbers[row["number"]]][1]
    code, _, err = run("report", "time/slice-2002", "--out", "page.html")
    assert code == 0, err
    assert "Note" not in err
    page = (slices.parent / "page.html").read_text().replace(" ", "")
    assert '"time":{' in page  # dates are those of the slice, by the column of the training
    code, _, err = run("export", "time/slice-2002", "--to", "mallet", "--flatten-priors",
                       "--out", "state.gz", "-q")  # fmt: skip
    assert code == 0, err
    code, _, err = run("diff", "time/slice-2001", "time/slice-2003")
    assert code == 0, err


def test_drift_reads_a_corpus_that_is_named_as_the_options_say(run, slices):
    """A slice that was taken out of its folder knows nothing of it."""
    numbers = TopicsOverTime.load(slices).slices_.documents_of("2001").tolist()
    shutil.move(slices / "slice-2001", slices.parent / "apart")
    rows = (slices.parent / "old.csv").read_text().splitlines()
    own = "\n".join([rows[0], *(rows[1 + d] for d in numbers)])
    (slices.parent / "own.csv").write_text(own + "\n")
    given = ("drift", "apart", "new.csv", "--text-column", "review", *DRIFT)
    code, _, err = run(*given)
    assert (code, "does not say which corpus" in err) == (2, True)
    code, _, err = run(*given, "--corpus", "own.csv")
    assert code == 0, err


def test_a_corpus_of_a_slice_that_is_named_may_be_all_or_its_own(run, slices):
    path = slices.parent
    rows = (path / "old.csv").read_text().splitlines()
    numbers = part_of(load(slices / "slice-2001"), slices / "slice-2001").numbers.tolist()
    (path / "own.csv").write_text("\n".join([rows[0], *(rows[1 + d] for d in numbers)]) + "\n")
    (path / "old.csv").rename(path / "moved.csv")
    given = ("drift", "time/slice-2001", "new.csv", *DRIFT)
    code, _, err = run(*given)
    assert (code, "is no longer there" in err) == (2, True)
    for corpus in ("moved.csv", "own.csv"):
        code, _, err = run(*given, "--corpus", corpus)
        assert code == 0, err
        code, _, err = run("documents", "time/slice-2001", "--topic", 0, "--corpus", corpus)
        assert code == 0, err
    code, _, err = run(*given, "--corpus", "new.csv")
    assert code == 2
    assert "60 documents, or those that this slice was trained on, 18. Got 20" in err


def test_a_model_that_only_stands_beside_slices_has_a_corpus_of_its_own(run, slices):
    code, _, err = run("train", "new.csv", "--text-column", "review", "-k", 2, "--sweeps", 4,
                       "--threads", 1, "--out", "time/other", "-q")  # fmt: skip
    assert code == 0, err
    folder = slices / "other"
    assert part_of(load(folder), folder) is None
    assert config_for(load(folder), folder) == folder / "config.toml"
    shutil.copytree(folder, slices / "slice-2001", dirs_exist_ok=True)  # over a slice
    assert part_of(load(slices / "slice-2001"), slices / "slice-2001") is None


def test_in_python_a_slice_takes_its_own_documents(slices):
    topics = TopicsOverTime.load(slices)
    model = topics.models_["2002"]
    texts = read_corpus(slices.parent / "old.csv", text_column="review", min_df=1)
    new = read_corpus(slices.parent / "new.csv", text_column="review", min_df=1)
    own = texts.select(topics.slices_.documents_of("2002"))
    assert drift(model, new, corpus=own, n_jobs=1).baseline_documents > 0
    with pytest.raises(InputError, match=r"slices_\.documents_of\(label\) has the numbers"):
        drift(model, new, corpus=texts.select(topics.slices_.cut.number == 1), n_jobs=1)
