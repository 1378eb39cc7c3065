"""The paper's experiments, run again: pieces that are kept, figures, claims, one page."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from polyaurn import InputError
from polyaurn.studies.child import ChildError
from polyaurn.studies.paper import FIGURES
from polyaurn.studies.paper.cells import run_cell, run_in_child
from polyaurn.studies.paper.claims import CLAIMS
from polyaurn.studies.paper.corpora import Shape, Source, Variant
from polyaurn.studies.paper.loop import Reproduction
from polyaurn.studies.paper.plan import PARTLY, SPARSE, URN, Cell

TIMES = r'"(seconds|\w+_seconds|peak_bytes|load)": [^,}]*'


def tiny(out, figure=None, **options):
    return Reproduction(out, figure, scale="tiny", **{"threads": 2, "cores": (1, 2)} | options)


def statistics_of(folder):
    """Return all finished cells without what a clock, or memory, says."""
    found = {}
    for file in sorted((folder / "cells").iterdir()):
        text = re.sub(TIMES, "", file.read_text())
        found[file.name] = re.sub(r"\[(\d+), [\d.e-]+, (-[\d.]+)\]", r"[\1, \2]", text)
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run everything once, without interruption."""
    folder = tmp_path_factory.mktemp("reproduce") / "whole"
    reported = []
    outcome = tiny(folder).run(on_progress=lambda *place: reported.append(place))
    assert [place[1] for place in reported] == list(range(1, len(reported) + 1))
    assert {place[2] for place in reported} == {len(reported)}
    assert all(place[3] > 0 for place in reported)
    return outcome, folder


def test_every_figure_and_claim_is_there(whole):
    outcome, folder = whole
    assert (outcome.missing, outcome.failed) == (0, {})
    assert json.loads((folder / "results.json").read_text()) == outcome.results
    assert tuple(outcome.results["figures"]) == FIGURES
    assert all(figure["found"] for figure in outcome.results["figures"].values())
    assert [claim["text"] for claim in outcome.results["claims"]] == [c.text for c in CLAIMS]
    missing = [c["text"] for c in outcome.results["claims"] if c["verdict"] == "not measured"]
    assert len(missing) == 1
    assert "K = 1000 when compared with K = 100" in missing[0]
    assert not [path for path in folder.rglob(".*")]


def test_the_page_is_whole_and_works_offline(whole):
    outcome, folder = whole
    text = (folder / "reproduction.html").read_text()
    assert not re.search(r"https?://|<script|<link|src=", text)
    svgs = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    for svg in svgs:
        ElementTree.fromstring(svg)
    files = sorted((folder / "figures").iterdir())
    assert len(files) == len(svgs) > 20
    for file in files:
        assert ElementTree.fromstring(file.read_text()).tag.endswith("}svg")
    clips = re.findall(r'clipPath id="([^"]*)"', text)
    assert len(set(clips)) == len(clips)
    assert text.count("<b>The paper:</b>") == text.count("<b>We find:</b>") == len(FIGURES)
    assert "Missing" not in text
    assert "Generated, not real: generated." in text
    summary = (folder / "summary.md").read_text()
    assert all(f"(figures/{file.name})" in summary for file in files)
    assert all(claim["measured"] in summary for claim in outcome.results["claims"])


def test_figures_hold_what_was_measured(whole):
    outcome, folder = whole
    data = {name: figure["data"] for name, figure in outcome.results["figures"].items()}
    [corpus] = data["corpora"]["rows"]
    assert (corpus["documents"], corpus["paper"]) == (150, False)
    assert [row["topics"] for row in data["traces"]["rows"]] == [2, 5, 20]
    assert [row["topics"] for row in data["phases"]["rows"]] == [2, 5, 20]
    for row in data["traces"]["rows"]:
        levels = row["curves"][URN]["level"]
        assert row["curves"][URN]["sweeps"] == list(range(1, 11))
        assert levels[-1] > levels[0]
        assert row["end_gap"] == pytest.approx(levels[-1] - row["curves"][PARTLY]["level"][-1])
    for row in data["phases"]["rows"]:
        assert row["phi_share"] + row["z_share"] == pytest.approx(1.0)
        assert 0 < row["nonzero_share"] < 1
    [row] = data["algorithms"]["rows"]
    assert len(row["samplers"]) == 5
    assert row["level"] == min(s["end"] for n, s in row["samplers"].items() if "default" not in n)
    [row] = data["quality"]["rows"]
    values = [
        json.loads(file.read_text())["measured"]["held_out"]
        for file in sorted((folder / "cells").glob(f"quality-*-{URN}-*"))
    ]
    assert row["held_out"][URN]["values"] == values
    [single] = data["cores"]["single"]
    assert set(single["samplers"]) == {URN, PARTLY, SPARSE}
    [scaling] = data["cores"]["scaling"]
    assert scaling["cores"][0] == 1
    assert scaling["speedup"][0] == scaling["efficiency"][0] == 1.0
    assert [row["value"] for row in data["sparsity"]["limit"]] == [1, 10]
    words = [row["words"] for row in data["sparsity"]["words"]]
    assert words == sorted(set(words))
    assert words[0] == 50
    for row in data["complexity"]["rows"]:
        assert row["counted"] == pytest.approx(row["minimum"], rel=0.2)
    assert len(data["theory"]["appendix"]) == 3


def test_an_interrupted_run_resumes_to_the_same_statistics(whole, tmp_path):
    def interrupt(name, number, total, seconds):
        if number == 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny(tmp_path).run(on_progress=interrupt)
    assert len(list((tmp_path / "cells").iterdir())) == 24
    assert "<b>Missing: " in (tmp_path / "reproduction.html").read_text()
    damaged = tmp_path / "cells" / "corpus-generated.json"
    damaged.write_text(damaged.read_text()[:40])
    computed = []
    outcome = tiny(tmp_path).run(on_progress=lambda name, *_: computed.append(name))
    assert computed[0] == "corpus-generated"
    assert len(computed) == len(statistics_of(tmp_path)) - 23
    assert outcome.missing == 0
    assert statistics_of(tmp_path) == statistics_of(whole[1])


def test_one_figure_and_a_budget(tmp_path):
    outcome = tiny(tmp_path, "corpora").run()
    assert outcome.missing == 0
    assert outcome.results["cells_missing"]["corpora"] == 0
    assert outcome.results["cells_missing"]["traces"] > 0
    outcome = tiny(tmp_path, "theory").run(budget=1e-9)
    assert outcome.missing == 2
    claims = {claim["figure"]: claim["verdict"] for claim in outcome.results["claims"]}
    assert claims["theory"] == "not measured"
    assert "nothing yet" in (tmp_path / "reproduction.html").read_text()


def test_a_cell_in_its_own_process_gives_the_same(tmp_path):
    source = Source("generated", shape=Shape(60, 80, 2000, 0.3, 4), rare=True)
    cell = Cell("chain", Variant("generated", 1), URN, 4, 7, 8, 2, 2)
    child = run_in_child(cell, source, tmp_path, {})["measured"]
    here = run_cell(cell, source, tmp_path, {})["measured"]
    assert child["sha256_of_z"] == here["sha256_of_z"]
    assert [point[2] for point in child["points"]] == [point[2] for point in here["points"]]
    assert len(child["points"]) == 4
    missing = Source("gone", str(tmp_path / "docword.gone.txt"))
    with pytest.raises(ChildError, match="does not exist"):
        run_in_child(cell._replace(corpus=Variant("gone")), missing, tmp_path, {})


def test_cells_that_end_early_do_not_stop_the_others(tmp_path, monkeypatch):
    def fail(cell, *rest):
        if cell.study == "urn":
            raise ChildError("not enough memory")
        return run_cell(cell, *rest)

    monkeypatch.setattr("polyaurn.studies.paper.loop.run_cell", fail)
    outcome = tiny(tmp_path, "theory").run()
    assert outcome.failed == {"study-urn": "not enough memory"}
    assert outcome.missing == 1
    assert outcome.results["figures"]["theory"]["data"]["appendix"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["plots"], r"'--figure' option must be one of 'corpora', .*'complexity'. Got 'plots'"),
        (["--corpora", "nowhere"], r"'--corpora' option must be a folder that exists. Got 'nowh"),
        (["--scale", "huge"], r"'--scale' option must be 'small' or 'full'. Got 'huge'"),
        (["--seeds", 0], r"'--seeds' option must be a whole number, at least 1. Got 0"),
        (["--cores", "1,two"], r"'--cores' option must be whole numbers, at least 1. Got \[1, 't"),
        (["--threads", 0], r"'--threads' option must be a positive number"),
        (["--budget", 0], r"'--budget' option must be above 0 minutes. Got 0"),
        (["--use", "moon"], r"'--use' option must name corpora of the folder. Got 'moon'; .* none"),
        (["--generated", "kos"], r"'--generated' option must name corpora of the paper: enron, n"),
        (["--out", "file"], r"'--out' option must be a folder. 'file' is a file"),
        (["--out", "other"], r"'--out' option must be a new or empty folder, or one of an earlier"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, options, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    code, _, err = run("reproduce", *options)
    assert code == 2
    assert re.search(message, err)
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "mine.txt", "other"]


def test_another_setting_is_rejected(whole):
    with pytest.raises(InputError, match=r"same setting. It differs: threads 2 there, 1 now"):
        tiny(whole[1], threads=1)


def test_the_command_lists_computes_and_stops(run, tmp_path, monkeypatch):
    command = ("reproduce", "theory", "--scale", "tiny", "--out", "again", "--threads", 1)
    code, out, err = run(*command, "--only-list")
    assert code == 0
    assert [line.split()[-1] for line in out.splitlines()] == ["study-urn", "study-appendix-a"]
    assert "2 pieces of work, about" in err
    assert not (tmp_path / "again").exists()

    def stop(cell, *rest):
        if cell.study == "appendix-a":
            raise KeyboardInterrupt
        return run_cell(cell, *rest)

    with monkeypatch.context() as patch:
        patch.setattr("polyaurn.studies.paper.loop.run_cell", stop)
        code, _, err = run(*command)
    assert code == 130
    assert "1 of 2 pieces finished and kept in again. Run the same command again" in err
    code, _, err = run(*command)
    assert code == 0
    assert "1 piece of work (1 done before)" in err
    assert "Written: again/reproduction.html" in err
    code, out, err = run(*command, "--quiet")
    assert (code, out, err) == (0, "", "")
