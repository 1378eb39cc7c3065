"""Samplers side by side: measured in processes of their own, shown on one page."""

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from polyaurn import Corpus, InputError, compare, evaluate
from polyaurn.pages.charts import legend, line_chart
from polyaurn.studies import compare as comparing
from polyaurn.studies.compare_page import check_page, render, write_page


@pytest.fixture(scope="module")
def compared(small):
    """Compare three samplers, a quarter of a second each."""
    looks = []
    found = compare(
        small, 4, ["polya-urn", "collapsed", "polya-urn-mh"], 0.25, n_jobs=2, mh_steps=3,
        doc_topic_prior="0.4/K", on_look=lambda name, look: looks.append(name),
    )  # fmt: skip
    assert list(dict.fromkeys(looks)) == ["polya-urn", "collapsed", "polya-urn-mh"]
    return found


def test_each_sampler_has_its_time_and_is_measured(compared, small):
    assert compared["complete"]
    assert compared["setting"]["threads"] == 2
    assert compared["setting"]["mh_steps"] == 3
    assert compared["setting"]["alpha"] == 0.1
    posteriors = {name: found["law"] for name, found in compared["samplers"].items()}
    assert posteriors == {
        "polya-urn": "asymptotic", "collapsed": "approximate", "polya-urn-mh": "asymptotic",
    }  # fmt: skip
    for name, found in compared["samplers"].items():
        seconds = [point["seconds"] for point in found["points"]]
        assert seconds == sorted(seconds)
        assert seconds[-1] >= 0.25
        levels = [point["log_posterior"] for point in found["points"]]
        assert levels[-1] > levels[0]
        assert found["sweeps"] == found["points"][-1]["sweep"]
        assert found["tokens_per_second"] > 0
        assert found["peak_bytes"] > small.word.nbytes
        assert len(found["coherence_mimno"]) == 4
        assert max(found["coherence_mimno"]) <= 10 * 9 / 2 * np.log(2)
        assert 0 < found["diversity"] <= 1
        assert (found["acceptance"] is None) == (name != "polya-urn-mh")
        assert all(set(topic) <= set(small.vocab) for topic in found["topics"])


def test_the_same_seed_gives_the_same_levels(compared, small):
    again = compare(small, 4, "polya-urn", 0.05, n_jobs=1)
    first = [p["log_posterior"] for p in compared["samplers"]["polya-urn"]["points"][:1]]
    assert [p["log_posterior"] for p in again["samplers"]["polya-urn"]["points"][:1]] == first


def test_numbers_of_numpy_are_numbers(small):
    found = compare(
        small, np.int64(4), "polya-urn-mh", np.float32(0.05), random_state=np.int64(0),
        n_jobs=np.int64(1), phi_refreshes=np.int64(2), mh_steps=np.int64(3),
    )  # fmt: skip
    setting = json.loads(json.dumps(found))["setting"]
    assert [setting[name] for name in ("topics", "phi_refreshes", "mh_steps")] == [4, 2, 3]
    assert found["samplers"]["polya-urn-mh"]["sweeps"] > 0


def test_the_page_is_whole_and_works_offline(compared, tmp_path):
    page, numbers = write_page(compared, tmp_path / "page.html")
    assert json.loads(numbers.read_text()) == compared
    text = page.read_text()
    assert not re.search(r"https?://|<script|<link|src=", text)
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)
        assert svg.count("stroke-width") == 3
    assert text.count("<svg") == 2
    for name in compared["samplers"]:
        assert text.count(name) >= 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["page.html", "page.json"]


def test_words_are_escaped_on_the_page(compared):
    hostile = json.loads(json.dumps(compared))
    hostile["samplers"]["collapsed"]["topics"] = [["<script>alert(1)</script>", "a&b"]]
    text = render(hostile)
    assert "<script>" not in text
    assert "a&amp;b" in text


def test_an_interrupted_comparison_keeps_what_there_is(small):
    def interrupt(name, look):
        if name == "collapsed":
            raise KeyboardInterrupt

    found = compare(small, 4, ["polya-urn", "collapsed", "light"], 0.05, on_look=interrupt)
    assert not found["complete"]
    assert list(found["samplers"]) == ["polya-urn", "collapsed"]
    assert found["samplers"]["collapsed"]["sweeps"] is None
    text = render(found)
    assert "Stopped before all had their time" in text
    assert "&ndash;" in text


def test_a_sampler_that_fails_is_one_sentence(small, monkeypatch):
    monkeypatch.setattr(comparing, "check_proposals", lambda names, steps: 10_000)
    with pytest.raises(
        InputError, match=r"Sampler 'light' ended early \(The 'mh_steps'.*\); compare"
    ):
        compare(small, 4, ["light"], 0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gibbs",), "'samplers' parameter must be one of 'polya-urn'"),
        (("auto",), "'samplers' parameter must be one of 'polya-urn'.*Got 'auto'"),
        ((["polya-urn", "polya-urn"],), "each once"),
        (([],), "Got none"),
        (("polya-urn", 0), "'seconds' parameter must be a positive number"),
        (("polya-urn", "long"), "Got 'long'"),
        (("collapsed", 0.1, {"mh_steps": 2}), "'mh_steps' parameter must be left out"),
        ((["polya-urn", "light"], 0.1, {"warm_start": "grow"}), "for sampler 'light', which draws"),
    ],
)
def test_bad_comparisons_are_rejected(small, arguments, message):
    options = arguments[2] if len(arguments) > 2 else {}
    with pytest.raises(InputError, match=message):
        compare(small, 4, *arguments[:2], **options)


def test_pages_are_replaced_only_with_force(tmp_path):
    page = tmp_path / "page.html"
    check_page(page, force=False)
    page.with_suffix(".json").write_text("{}")
    with pytest.raises(InputError, match=r"page.json' is there already"):
        check_page(page, force=False)
    check_page(page, force=True)
    for bad, message in (
        (tmp_path / "page.txt", r"'--out' option must end in \.html.*page\.html would do"),
        (tmp_path / "nowhere" / "page.html", r"'--out' option must name a file in a folder that"),
    ):
        with pytest.raises(InputError, match=message):
            check_page(bad, force=True)


def test_the_command(run, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("cat dog cat\nstar moon star\n" * 20)
    code, out, err = run(
        "compare", texts, "-k", 2, "--samplers", "polya-urn, light", "--seconds", 0.1,
        "--out", "page.html", "--mh-steps", 1, "-t", 1,
    )  # fmt: skip
    assert (code, out) == (0, "")
    assert "Written: page.html and page.json" in err
    found = json.loads((tmp_path / "page.json").read_text())
    assert list(found["samplers"]) == ["polya-urn", "light"]
    code, _, err = run("compare", texts, "--samplers", "polya-urn", "--out", "page.html")
    assert code == 2
    assert "is there already" in err
    code, _, err = run("compare", texts, "--samplers", "polya", "--out", "other.html")
    assert code == 2
    assert "'--samplers' option must be one of" in err
    assert not (tmp_path / "other.html").exists()


def test_coherence_by_hand():
    X = [[1, 1, 0, 0], [2, 1, 0, 1], [1, 0, 3, 0], [0, 0, 1, 0]]
    corpus = Corpus.from_matrix(X, ["a", "b", "c", "d"])
    found = evaluate.mimno_coherence([["a", "b", "c"], ["c", "a"], ["d"], []], corpus)
    ab, ac, bc = (2 + 1) / 3, (1 + 1) / 3, (0 + 1) / 2
    assert found == pytest.approx([np.log(ab * ac * bc), np.log((1 + 1) / 2), 0.0, 0.0])
    assert evaluate.diversity([["a", "b"], ["b", "c"]]) == 0.75
    assert evaluate.diversity([]) == 1.0


def test_charts_put_points_where_they_belong():
    svg = line_chart(
        {"up": [(0, -2.0), (10, -1.0)], "<none>": []}, title="t", x_label="x", y_label="y"
    )
    root = ElementTree.fromstring(svg)
    paths = [e.get("d") for e in root.iter() if e.get("stroke-width") == "2"]
    assert paths == ["M76.0 332.0L604.0 34.0"]
    labels = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert {"0", "2", "10", "-2.0", "-1.0"} <= set(labels)
    assert "&lt;none&gt;" in legend(["<none>"])
    flat = line_chart({"one": [(1, 5.0)]}, title="t", x_label="x", y_label="y", y_from=5.0)
    ElementTree.fromstring(flat)
    ElementTree.fromstring(line_chart({}, title="t", x_label="x", y_label="y"))
