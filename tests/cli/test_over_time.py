"""Topics over time at the command line: train --by, and report on what it wrote."""

import csv
import json
import os
import signal
import tomllib

import pytest

from polyaurn import TopicsOverTime

SPACE = ["orbit nasa moon rocket", "moon orbit rocket nasa crew"]
SPORT = ["goal team cup fans", "team goal fans cup referee"]
TRAIN = ("train", "r.csv", "--text-column", "review", "--date-column", "date", "--topics", 2,
         "--sweeps", 30, "--slice-sweeps", 6, "--threads", 1, "--out", "time")  # fmt: skip


@pytest.fixture
def table(tmp_path):
    rows = [
        (f"{2001 + i // 20}-0{1 + i % 9}-11", text)
        for i, text in enumerate((SPACE + SPORT) * 15)
    ]  # fmt: skip

    def write(change=None):
        with (tmp_path / "r.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("date", "review"), *map(change or tuple, rows)])

    write()
    return write


def test_slices_are_trained_kept_and_put_on_a_page(run, table, tmp_path):
    code, out, err = run(*TRAIN, "--by", "year", "--carry", 0.5, "--both-ways", "--json")
    assert (code, "Note" in err) == (0, False)
    found = json.loads(out)
    assert [row["slice"] for row in found["slices"]] == ["2001", "2002", "2003"]
    assert found["complete"] is True
    loaded = TopicsOverTime.load(tmp_path / "time")
    assert (loaded.carry, loaded.both_ways, loaded.slice_iter) == (0.5, True, 6)
    assert loaded.parameters["max_iter"] == 30
    first = (tmp_path / "time" / "slice-2002" / "arrays.npz").read_bytes()
    code, out, _ = run("topics", "time/slice-2002")
    assert code == 0
    assert "goal" in out
    for command in (("topics", "time"), ("update", "time", "r.csv", "--out", "x")):
        code, _, err = run(*command)
        assert (code, "'time' must hold a model. It holds topics over time" in err) == (2, True)
    code, _, err = run("report", "time", "--out", "page.html")
    assert code == 0, err
    page = (tmp_path / "page.html").read_text()
    assert "<h1>time</h1>" in page
    assert "moon orbit rocket nasa crew" in page
    config = tmp_path / "time" / "config.toml"
    code, _, err = run("train", "--config", config, "--out", "again", "-q")
    assert (code, err) == (0, "")
    assert (tmp_path / "again" / "slice-2002" / "arrays.npz").read_bytes() == first
    code, _, err = run(*TRAIN, "--by", "year")
    assert code == 2
    assert "holds slices already" in err
    before = {p: p.read_bytes() for p in (tmp_path / "time").rglob("*") if p.is_file()}
    table(lambda row: (row[0], "") if row[0].startswith("2002") else row)
    code, _, err = run(*TRAIN, "--by", "year", "--force")  # what was there is not lost for this
    assert (code, "no word in the documents of '2002'" in err) == (2, True)
    assert {p: p.read_bytes() for p in (tmp_path / "time").rglob("*") if p.is_file()} == before
    table()
    assert run(*TRAIN, "--by", "quarter", "--force", "-q")[0] == 0
    kept = tomllib.loads(config.read_text())  # what was not given is written, too
    assert (kept["carry"], kept["held-out"], kept["slice-sweeps"]) == (0.5, 0.1, 6)
    assert TopicsOverTime.load("time").slices_.labels[:2] == ("2001 Q1", "2001 Q2")
    assert not (tmp_path / "time" / "slice-2002").exists()


def test_a_stop_keeps_what_is_finished_and_resume_continues(run, table, tmp_path, monkeypatch):
    from polyaurn.training import progress

    sweeps = []

    def sweep(self, info):
        sweeps.append(info.sweep)
        if len(sweeps) == 66:  # two lines for each sweep: in the second slice
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(progress.Silence, "sweep", sweep)
        code, _, err = run(*TRAIN, "--by", "year", "--checkpoint-every", 1)
    assert code == 130
    assert "Stopped after 1 of 3 slices" in err
    code, _, err = run("report", "time", "--out", "page.html")
    assert code == 0
    assert "2 more slices are not trained yet" in (tmp_path / "page.html").read_text()
    assert run(*TRAIN, "--by", "year", "--resume", "--checkpoint-every", 1)[0] == 0
    assert run(*TRAIN[:-1], "whole", "--by", "year")[0] == 0
    for name in ("slices.json", "slice-2002/model.json", "slice-2003/arrays.npz"):
        assert (tmp_path / "time" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "era"), "'--by' option must be one of 'day'"),
        (("--by", "year", "--carry", 2), "'--carry' option must be a number from 0 to 1"),
        (("--by", "year", "--slice-sweeps", 0), "'--slice-sweeps' option must be a whole number"),
        (("--by", "year", "--held-out", 1), "'--held-out' option must leave documents"),
        (("--carry", 0.5), "'--carry' option is for topics over time. Got it without '--by'"),
        (("--by", "year", "--trace", "t.jsonl"), "'--trace' option is for one run"),
        (("--by", "year", "--date-column", "when"), "when"),
        (("--by", "year", "--out", "."), "holds other files ('r.csv')"),
    ],
)  # fmt: skip
def test_bad_options_are_one_sentence_and_write_nothing(run, table, tmp_path, options, said):
    given = TRAIN if "--carry" not in options[:1] else (*TRAIN[:11], *TRAIN[13:])
    given = given if "--slice-sweeps" not in options else (*given[:10], *given[12:])
    code, out, err = run(*given, *options)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.csv"]


def test_dates_that_do_not_parse_are_named_by_their_row(run, table, tmp_path):
    table(lambda row: ("soon", row[1]) if row[0].endswith("05-11") else row)
    code, _, err = run(*TRAIN, "--by", "year")
    assert code == 2
    assert "'--date-column' option must have dates" in err
    assert "'soon' in row 6 of 'r.csv', 'soon' in row 15 of 'r.csv'" in err
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert [i for i, line in enumerate(lines, 1) if line.startswith("soon")][:2] == [6, 15]
    (tmp_path / "r.csv").write_text("\n".join([*lines[:3], "", *lines[3:]]) + "\n")
    code, _, err = run(*TRAIN, "--by", "year")
    assert "'soon' in row 7 of 'r.csv', 'soon' in row 16 of 'r.csv'" in err  # after an empty row
    rows = [{"date": d, "review": t} for d, t in (line.split(",") for line in lines[1:])]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = run("train", "r.jsonl", *TRAIN[2:], "--by", "year")
    assert "'soon' of document 5, counted from 1, 'soon' of document 14, counted from 1" in err


def test_years_of_a_column_with_a_missing_one_are_years(run, table):
    table(lambda row: ("" if row[0].endswith("05-11") else f"{row[0][:4]}.0", row[1]))
    code, out, err = run(*TRAIN, "--by", "year", "--json")
    assert code == 0, err
    assert [row["slice"] for row in json.loads(out)["slices"]] == ["2001", "2002", "2003"]


def test_documents_without_a_date_are_left_out(run, table):
    table(lambda row: ("", row[1]) if row[0].endswith("05-11") else row)
    code, _, err = run(*TRAIN, "--by", "year", "-q")
    assert code == 0
    assert "documents have no date and were left out" in err


def test_by_needs_a_column_of_dates(run, table):
    code, _, err = run("train", "r.csv", "--text-column", "review", "--by", "year", "--out", "time")
    assert code == 2
    assert "Got it without '--date-column'" in err
