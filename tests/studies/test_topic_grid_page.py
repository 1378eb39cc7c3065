"""The page of a topic grid: the sentence, the table, charts, and topics side by side."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from html import escape

import numpy as np
import pytest

from polyaurn import load
from polyaurn.pages.charts import line_chart
from polyaurn.studies.topic_grid.flow_chart import flow_chart, flow_tables
from polyaurn.studies.topic_grid.flows import kinds, shared_tokens
from polyaurn.studies.topic_grid.page import render
from polyaurn.studies.topic_grid.summary import best, summarise


def test_the_page_is_whole_and_works_offline(whole):
    found, folder = whole
    text = (folder / "sweep.html").read_text()
    assert not re.search(r"https?://|<script|<link|src=", text)
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert [svg.count("<circle") for svg in pictures] == [4, 4, 4, 2, 0]
    for svg in pictures:
        ElementTree.fromstring(svg)
    assert f"{found['topics'][1]['held_out']['mean']:,.4f} &plusmn; " in text
    assert "two seeds are one pair" in text
    with (folder / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["topics"] for row in rows] == ["2", "4"]
    assert float(rows[0]["coherence_npmi"]) == found["topics"][0]["coherence_npmi"]["mean"]
    assert rows[0]["stability_spread"] == ""


def test_the_page_says_what_is_known(whole):
    found = json.loads(json.dumps(whole[0]))
    found["best"]["held_out"] = {"topics": 4, "equal": [2]}
    found["best"]["coherence_npmi"] = {"topics": 2, "equal": []}
    text = render(found, "<folder>")
    assert "Highest with 4 topics, the largest number tried; within the spread" in text
    assert "between seeds, 2 cannot be distinguished from it" in text
    assert "Highest with 2 topics, the smallest number tried; no other equals it" in text
    assert "&lt;folder&gt;/models" in text
    found["suggestion"] |= {"topics": 2, "predicts": 4}
    disagreeing = render(found, "folder")
    assert "<b>2</b> (to read)" in disagreeing
    assert "<b>4</b> (to predict)" in disagreeing
    assert "priors learned every 10 sweeps from alpha 0.1, beta 0.01, seeds 5, 6" in text
    found["setting"]["learn_priors_every"] = 0
    assert "sampler auto, alpha 0.1, beta 0.01, seeds 5, 6" in render(found, "folder")
    kept = [cell for cell in found["cells"] if cell["seed"] == 5]
    rows = summarise(kept, lambda K, seeds: [])
    for row in rows:
        row["behind_best"] = {"mean": 0.1, "error": None}
    one = found | {"seeds": [5], "cells": kept, "topics": rows, "best": best(rows)}
    text = render(one, "folder")
    assert "there is one seed, so that differences cannot be compared" in text
    assert "Not measured: it takes two seeds." in text
    assert "&plusmn;" not in text


def test_charts_show_rings_and_space_by_logarithms():
    svg = line_chart(
        {"mean": [(10, 1.0), (40, 3.0)]}, title="t", x_label="x", y_label="y",
        points=[(20, 0.0), (40, 4.0)], log_x=True,
    )  # fmt: skip
    root = ElementTree.fromstring(svg)
    rings = [(float(e.get("cx")), float(e.get("cy"))) for e in root.iter() if e.tag == "circle"]
    assert rings == [(340.0, 320.0), (592.0, 46.0)]
    labels = [e.text for e in root.iter() if e.tag == "text"]
    assert [label for label in labels if label in ("10", "20", "40")] == ["10", "20", "40"]
    close = line_chart(
        {"mean": [(k, 1.0) for k in range(100, 130)]}, title="t", x_label="x", y_label="y",
        log_x=True,
    )  # fmt: skip
    written = [e.text for e in ElementTree.fromstring(close).iter() if e.tag == "text"]
    assert {"100", "102"} <= set(written)
    assert "101" not in written


def test_the_sentence_is_the_same_everywhere(whole, capsys):
    found, folder = whole
    sentence = found["suggestion"]["sentence"]
    assert escape(sentence) in (folder / "sweep.html").read_text()
    with (folder / "sweep.csv").open() as file:
        said = [row["suggestion"] for row in csv.DictReader(file)]
    assert sorted(said) == ["", sentence]
    assert json.loads((folder / "sweep.json").read_text())["suggestion"]["sentence"] == sentence


def test_flows_count_the_tokens_that_topics_share(whole, small):
    found, folder = whole
    smaller, larger = (load(folder / "models" / f"k000{K}-seed5") for K in (2, 4))
    step = found["flows"]["steps"][0]
    assert (step["from"], step["to"]) == (2, 4)
    for topic in step["topics"]:
        mine = smaller.assignments == topic["topic"]
        for flow in topic["to"]:
            both = int((mine & (larger.assignments == flow["topic"])).sum())
            assert flow["tokens"] == both
            assert flow["share"] == pytest.approx(both / mine.sum(), abs=1e-4)
    column = found["flows"]["topics"][1]
    assert column["tokens"] == np.bincount(larger.assignments, minlength=4).tolist()
    assert [words[:3] for words in column["words"]] == [list(t[:3]) for t in larger.topics(3)]


def test_topics_stay_split_and_merge():
    alike = np.array([[0.9, 0.1, 0.0, 0.0], [0.0, 0.6, 0.7, 0.0], [0.1, 0.0, 0.0, 0.6],
                      [0.0, 0.0, 0.1, 0.5]])  # fmt: skip
    assert kinds(alike, np.ones(4, int), np.ones(4, int)) == ["stays", "splits", "merges", "merges"]
    assert kinds(alike, np.array([1, 1, 1, 0]), np.ones(4, int))[2:] == ["stays", "stays"]
    both = np.array([[0.5, 0.6, 0.0], [0.1, 0.4, 0.0], [0.0, 0.0, 0.9]])
    assert kinds(both, np.ones(3, int), np.ones(3, int)) == ["mixes", "merges", "stays"]
    assert shared_tokens(np.array([0, 0, 1]), np.array([2, 1, 2]), 2, 3).tolist() == [
        [0, 1, 1], [0, 0, 1],
    ]  # fmt: skip


def test_words_of_strangers_do_no_harm_in_the_picture():
    word = '<b>&"\x00'
    flows = {
        "topics": [
            {"topics": 1, "tokens": [9], "words": [[word]]},
            {"topics": 2, "tokens": [9, 0], "words": [[word], []]},
        ],
        "steps": [
            {"from": 1, "to": 2, "topics": [
                {"topic": 0, "what": "stays",
                 "to": [{"topic": 0, "tokens": 9, "share": 1.0, "likeness": 1.0}]}]}
        ],
    }  # fmt: skip
    svg = re.search(r"<svg.*</svg>", flow_chart(flows)).group()
    titles = [e.text for e in ElementTree.fromstring(svg).iter() if e.tag == "title"]
    assert '<b>&"\\x00' in titles[0]
    assert any("no tokens" in title for title in titles)
    text = flow_tables(flows)
    assert "&lt;b&gt;&amp;" in text
    assert "1 to 2 topics: 1 stays" in text
    assert flow_chart(flows | {"steps": []}) == ""


def test_charts_show_a_band_and_a_level():
    svg = line_chart(
        {"mean": [(10, 1.0), (40, 3.0)]}, title="t", x_label="x", y_label="y",
        band=[(10, 0.0, 2.0), (40, 2.0, 4.0)], level=2.0, log_x=True,
    )  # fmt: skip
    paths = [e.get("d") for e in ElementTree.fromstring(svg).iter() if e.tag == "path"]
    assert "M76.0 332.0L604.0 183.0L604.0 34.0L76.0 183.0Z" in paths
    assert "M76 183.0H604" in paths
