"""How many topics, at the command line: tables, the time left, and options that are wrong."""

import json
import re

import pytest

from polyaurn.cli import topic_grid as cli_grid
from polyaurn.studies.topic_grid import cells

TEXTS = ["cat dog cat bird", "dog cat bird dog", "planet star moon", "star moon planet star"] * 8


def test_the_command(run, tmp_path, monkeypatch):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    command = ("sweep", "texts.txt", "-k", "1, 2", "--seeds", 2, "--sweeps", 20, "--threads", 1)
    score, scored, folder = cells._score, [], tmp_path / "polyaurn-choose-topics"

    def stop_at_the_second(*arguments):
        scored.append(arguments)
        if len(scored) == 2:
            raise KeyboardInterrupt
        return score(*arguments)

    monkeypatch.setattr(cells, "_score", stop_at_the_second)
    code, out, err = run(*command)
    assert (code, out) == (130, "")
    assert err.startswith("Note: 'polyaurn sweep' is now called 'polyaurn choose-topics'.")
    assert (
        "Stopped; 1 of 4 models are finished and kept in polyaurn-choose-topics. Run the same"
        in err
    )
    code, out, err = run(*command)
    assert code == 0
    assert len(scored) == 5
    assert "Written: polyaurn-choose-topics/sweep.html" in err
    first, *rows = [line.split("\t") for line in out.splitlines()]
    assert first[:4] == ["topics", "seeds", "held_out", "held_out_spread"]
    assert [row[:2] for row in rows] == [["1", "2"], ["2", "2"]]
    assert float(rows[1][2]) > float(rows[0][2])
    code, out, err = run(*command, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads((folder / "sweep.json").read_text())
    assert run(*command, "-q") == (0, "", "")
    code, _, err = run(*command[:-4], "--sweeps", 21)
    assert code == 2
    assert "sweeps 20 there, 21 now" in err
    folder.rename(tmp_path / "polyaurn-sweep")  # where it was by default under the former name
    assert run(*command, "-q") == (0, "", "")
    assert len(scored) == 5
    assert not folder.exists()


def test_a_terminal_sees_a_table_and_the_time_left(whole, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    cli_grid._show(whole[0])
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert lines[0].split() == [
        "topics", "seeds", "held-out", "completion", "NPMI", "diversity", "stability",
        "seconds",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[1:]] == ["2", "4", "topics", "2", "4"]
    assert "Cao Juan 2009" in lines[3]
    assert f"{whole[0]['topics'][0]['held_out']['mean']:.4f} ± " in lines[1]
    place = {"cell": 3, "cells": 12, "topics": 50, "seed": 1, "sweep": 7, "sweeps": 500}
    place["at_once"] = 1
    for step, seconds, said in (
        ("training", 61.0, "seed 1, sweep 7 of 500; about 61 s left for all"),
        ("scoring", 600.0, "seed 1, scoring; about 10 min left for all"),
        ("scoring", 9000.0, "about 2.5 h left"),
    ):
        words = cli_grid._in_words(place | {"step": step, "seconds_left": seconds})
        assert words.startswith("model 3 of 12: 50 topics, ")
        assert said in words
    beside = cli_grid._in_words(place | {"step": "scoring", "seconds_left": 9.0, "at_once": 2})
    assert beside.startswith("model 3 of 12, 2 side by side: 50 topics")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-k", "10,x"), "'--topics' option must be whole numbers from 1 to 65,535, each once"),
        (("-k", ","), "Got none"),
        (("--seeds", 0), "'--seeds' option must be"),
        (("--sweeps", 0), "'--sweeps' option must be"),
        (("--test-share", 1.5), "'--test-share' option must be between"),
        (("--alpha", 0), "'--alpha' option must be one positive number"),
        (("--beta", "x"), "'--beta' option must be a positive number, or a file"),
        (("--sampler", "gibbs"), "'--sampler' option must be one of"),
        (("--threads", 0), "'--threads' option must be"),
        (("--score", "x"), "'--score' option must be one of 'completion', 'left-to-right'"),
        (("--out", "there.txt"), "'--out' option must be a folder"),
    ],
)
def test_options_are_checked_before_the_corpus_is_read(run, tmp_path, arguments, message):
    (tmp_path / "there.txt").write_text("mine")
    code, out, err = run("choose-topics", "nowhere.txt", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there.txt"]


def test_too_few_documents_are_one_sentence(run, tmp_path):
    (tmp_path / "texts.txt").write_text("cat dog\nstar moon\n")
    code, _, err = run("choose-topics", "texts.txt", "-k", 2, "-q")
    assert code == 2
    assert "'--test-share' option must leave documents with words on both sides" in err
    assert not (tmp_path / "polyaurn-choose-topics").exists()
