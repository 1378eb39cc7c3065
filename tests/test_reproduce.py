"""The paper's experiments, run again: pieces that are kept, figures, claims, one page."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from polyaurn import Corpus, InputError, datasets
from polyaurn.charts import line_chart
from polyaurn.reproduce import FIGURES, cells, corpora, rules
from polyaurn.reproduce.cells import CellError, run_alone, run_cell
from polyaurn.reproduce.claims import CLAIMS, judge_all
from polyaurn.reproduce.corpora import Shape, Source, Variant
from polyaurn.reproduce.estimate import (
    Estimate,
    in_words,
    read_trial,
    shares,
    try_samplers,
    write_trial,
)
from polyaurn.reproduce.figures.algorithms import time_to
from polyaurn.reproduce.loop import Reproduction
from polyaurn.reproduce.plan import PARTLY, SCALES, SPARSE, URN, Cell, make_plan
from polyaurn.reproduce.results import pairs
from test_cli import run  # noqa: F401

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
    told = []
    outcome = tiny(folder).run(on_progress=lambda *place: told.append(place))
    assert [place[1] for place in told] == list(range(1, len(told) + 1))
    assert {place[2] for place in told} == {len(told)}
    assert all(place[3] > 0 for place in told)
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


def test_the_page_is_whole_and_stands_alone(whole):
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
    assert "pieces are missing" not in text
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


def test_an_interrupted_run_goes_on_to_the_same_statistics(whole, tmp_path):
    def interrupt(name, number, total, seconds):
        if number == 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny(tmp_path).run(on_progress=interrupt)
    assert len(list((tmp_path / "cells").iterdir())) == 24
    assert "pieces are missing" in (tmp_path / "reproduction.html").read_text()
    damaged = tmp_path / "cells" / "corpus-generated.json"
    damaged.write_text(damaged.read_text()[:40])
    computed = []
    outcome = tiny(tmp_path).run(on_progress=lambda name, *_: computed.append(name))
    assert computed[0] == "corpus-generated"
    assert len(computed) == len(statistics_of(tmp_path)) - 23
    assert outcome.missing == 0
    assert statistics_of(tmp_path) == statistics_of(whole[1])


def test_one_figure_alone_and_a_budget(tmp_path):
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
    alone = run_alone(cell, source, tmp_path, {})["measured"]
    here = run_cell(cell, source, tmp_path, {})["measured"]
    assert alone["sha256_of_z"] == here["sha256_of_z"]
    assert [point[2] for point in alone["points"]] == [point[2] for point in here["points"]]
    assert len(alone["points"]) == 4
    missing = Source("gone", str(tmp_path / "docword.gone.txt"))
    with pytest.raises(CellError, match="does not exist"):
        run_alone(cell._replace(corpus=Variant("gone")), missing, tmp_path, {})


def test_cells_that_end_early_do_not_stop_the_others(tmp_path, monkeypatch):
    def fail(cell, *rest):
        if cell.study == "urn":
            raise CellError("not enough memory")
        return run_cell(cell, *rest)

    monkeypatch.setattr("polyaurn.reproduce.loop.run_cell", fail)
    outcome = tiny(tmp_path, "theory").run()
    assert outcome.failed == {"study-urn": "not enough memory"}
    assert outcome.missing == 1
    assert outcome.results["figures"]["theory"]["data"]["appendix"]


def test_the_aids_and_the_plain_sampler_are_what_they_are_called(monkeypatch, small):
    asked = []
    monkeypatch.setattr("polyaurn.sampler.sweeps", lambda *_, **options: asked.append(options))
    for sampler, aids in ((URN, False), (URN, True), (SPARSE, False)):
        cells.sweeps_of(Cell("chain", None, sampler, 5, 3, 20, 1, 2, aids), small)
    names = ("warm_start", "phi_refreshes")
    assert [tuple(options[name] for name in names) for options in asked] == [
        ("random", 1), ("auto", "auto"), ("random", "auto"),
    ]  # fmt: skip
    assert {(o["doc_topic_prior"], o["topic_word_prior"], o["max_iter"]) for o in asked} == {
        (0.1, 0.01, 20)
    }


def test_plans_ask_what_the_paper_asked():
    plan = make_plan("full", [Source("a", shape=Shape(9, 9, 9, 0.1))], Source("b", rare=True), 16,
                     (1, 2, 4, 8, 16))  # fmt: skip
    traces = plan.cells["traces"]
    assert {cell.topics for cell in traces} == {10, 100, 1000}
    assert {cell.sweeps for cell in traces} == {1000}
    assert {cell.seed for cell in traces} == set(range(5))
    assert not any(cell.aids for cell in traces)
    assert {cell.topics for cell in plan.cells["algorithms"]} == {100, 1000}
    assert {c.threads for c in plan.cells["cores"]} == {1, 2, 4, 8, 16}
    work = plan.work()
    assert len(set(work)) == len(work) == len({cell.name for cell in work})
    seeds = [cell.seed for cell in work]
    assert seeds == sorted(seeds)
    assert all(SCALES[scale].alone for scale in ("small", "full"))


def write_bag(corpus, path):
    """Write a corpus as UCI docword and vocab."""
    X = corpus.to_matrix().tocoo()
    lines = [f"{d + 1} {v + 1} {n}" for d, v, n in zip(X.row, X.col, X.data, strict=True)]
    head = [corpus.n_documents, corpus.n_words, len(lines)]
    path.write_text("\n".join([*map(str, head), *lines]) + "\n")
    vocab = path.with_name(path.name.replace("docword", "vocab"))
    vocab.write_text("\n".join(corpus.vocab) + "\n")


@pytest.fixture
def folder(tmp_path, small):
    """Make a folder of corpora: kos and imdb as counts, imdb also as text."""
    place = tmp_path / "corpora"
    place.mkdir()
    write_bag(small, place / "docword.kos.txt")
    write_bag(datasets.generate(90, 80, 4, 40.0), place / "docword.imdb.txt")
    (place / "imdb.tsv").write_text("a\tx\tcat dog\nb\ty\tdog bird\n")
    (place / "README.md").write_text("what lies here")
    return place


def test_corpora_are_chosen_and_named(folder):
    sources, sparse = corpora.choose(folder, (), (), "small")
    assert [source.name for source in sources] == ["kos"]
    assert (sparse.name, sparse.rare) == ("imdb-text", True)
    sources, _ = corpora.choose(folder, (), (), "full")
    assert [source.name for source in sources] == ["imdb", "enron-like"]
    assert sources[-1].shape.tokens == 6_377_365
    sources, sparse = corpora.choose(folder, ["kos"], ["pubmed"], "full")
    assert [source.name for source in sources] == ["kos", "pubmed-like"]
    assert sparse.name == "pubmed-like"
    (folder / "nyt.txt").write_text("cat dog\nbird cat\n")
    sources, sparse = corpora.choose(folder, (), (), "full")
    assert [(s.name, s.rare) for s in sources] == [("nytimes", True)]
    assert corpora.choose(None, (), (), "small")[0][0].about() == "generated from the model"


def test_variants_cut_documents_and_then_words(folder, small, tmp_path):
    source = Source("kos", str(folder / "docword.kos.txt"))
    counts = small.to_matrix().sum(axis=0)
    whole = corpora.open_variant(source, Variant("kos", 20), tmp_path)
    assert whole.n_words == (counts >= 20).sum()
    few = corpora.open_variant(source, Variant("kos", 1, 7, 0.5), tmp_path)
    assert (few.n_documents, few.n_words) == (30, 7)
    assert sorted(file.name for file in tmp_path.glob("*.urn")) == [
        "kos-limit1-words7-share0.5.urn", "kos-limit20.urn",
    ]  # fmt: skip
    assert isinstance(few, Corpus)
    assert source.guess() == (round(1.4 * small.to_matrix().nnz), 80)


def test_estimates_learn_from_finished_cells():
    plan = make_plan("small", [Source("a", shape=Shape(9, 20_000, 10**6, 0.1))],
                     Source("b", shape=Shape(9, 9, 9, 0.1), rare=True), 2, (1, 2))  # fmt: skip
    trial = {f"{name}-{K}": {"phi": 0.001, "z": 0.01} for name in (URN, PARTLY) for K in (10, 100)}
    first = next(c for c in plan.cells["traces"] if (c.sampler, c.topics) == (PARTLY, 100))
    other = next(c for c in plan.cells["traces"] if (c.sampler, c.topics) == (URN, 10))
    before = Estimate(plan, trial, {})
    assert before.seconds(first) == pytest.approx(1.5 + 200 * (0.001 * 10 + 0.01 * 10) / 2)
    twice = {first: {"wall_seconds": 2 * (before.seconds(first) - 1.5), "measured": {}}}
    after = Estimate(plan, trial, twice)
    for cell in (first._replace(seed=1), other):
        assert after.seconds(cell) - 1.5 == pytest.approx(2 * (before.seconds(cell) - 1.5))
    unknown = Cell("chain", Variant("a"), "light", 9, 0, 5)
    odd = Estimate(plan, trial, {unknown: {"wall_seconds": 9.0, "measured": {}}})
    assert odd.seconds(first) == before.seconds(first)
    assert before.largest_phi([first, other]) == 20_000 * 100 * (14 + 8)
    assert shares(before, [first, other]) == {
        "partially-collapsed, K = 100": before.seconds(first),
        "polya-urn, K = 10": before.seconds(other),
    }
    assert [in_words(s) for s in (0.1, 99, 700, 7000, 9000, 864_000)] == [
        "1 s", "99 s", "12 min", "117 min", "2 h", "10.0 days",
    ]  # fmt: skip


def test_trials_are_kept_and_added_to(tmp_path):
    assert read_trial(tmp_path) == {}
    first = try_samplers([Cell("chain", None, URN, 3), Cell("study", study="urn")], {})
    assert list(first) == ["polya-urn-3"]
    write_trial(tmp_path, first)
    both = try_samplers([Cell("chain", None, URN, 4)], read_trial(tmp_path))
    assert list(both) == ["polya-urn-3", "polya-urn-4"]
    assert both["polya-urn-3"] == first["polya-urn-3"]
    assert min(both["polya-urn-4"].values()) > 0
    (tmp_path / "trial.json").write_text('{"polya-urn-3": [1]}')
    assert read_trial(tmp_path) == {}


def test_only_seeds_that_both_have_are_compared():
    chain = Cell("chain", Variant("a"), URN, 5, 0, 10)
    runs = {chain: {"n": 1}, chain._replace(seed=1): {"n": 2},
            chain._replace(seed=1, sampler=PARTLY): {"n": 3}}  # fmt: skip
    assert pairs(runs, URN, PARTLY) == {chain: ([{"n": 2}], [{"n": 3}])}


def test_the_time_to_a_level_is_interpolated():
    curve = {"seconds": [1.0, 2.0, 4.0], "level": [-5.0, -4.0, -3.0]}
    assert time_to(curve, -3.5) == 3.0
    assert time_to(curve, -6.0) == 1.0
    assert time_to(curve, -2.0) is None


def test_a_chart_may_carry_its_key():
    lines = {f"a line with a long name & {i}": [(0.0, 1.0), (1.0, 2.0)] for i in range(4)}
    plain, keyed = (
        line_chart(lines, title="t", x_label="x", y_label="y", key=key) for key in (False, True)
    )
    drawn = ElementTree.fromstring(keyed)
    texts = [text.text for text in drawn.iter("text")]
    assert all(texts.count(name) == 1 for name in lines)
    heights = [float(ElementTree.fromstring(s).get("viewBox").split()[3]) for s in (plain, keyed)]
    assert heights[1] >= heights[0] + 40  # two rows


AT = {"corpus": "kos", "topics": 100}
FEW, MORE = AT | {"topics": 10}, AT | {"topics": 1000}
LEVEL = {"difference": -0.004, "p": 0.01}
FOUR = ("partially collapsed", "sparse AD-LDA", "Light AD-LDA")


def raced(urn):
    samplers = {name: {"seconds_to_level": 2.0} for name in FOUR}
    return {"rows": [AT | {"samplers": samplers | {"urn": {"seconds_to_level": urn}}}]}


@pytest.mark.parametrize(
    ("rule", "agreeing", "differing"),
    [
        (
            rules.faster,
            {"rows": [FEW | {"time_ratio": 0.9}, AT | {"time_ratio": 1.1}]},
            {"rows": [FEW | {"time_ratio": 3.0}, AT | {"time_ratio": 0.9}]},
        ),
        (
            rules.same_at_few,
            {"rows": [FEW | {"time_ratio": 0.9}, AT | {"time_ratio": 9.0}]},
            {"rows": [FEW | {"time_ratio": 1.3}, AT | {"time_ratio": 1.0}]},
        ),
        (
            rules.identical,
            {"rows": [FEW | {"gap": 0.01}, AT | {"gap": 0.02}]},
            {"rows": [FEW | {"gap": 0.01}, AT | {"gap": 0.03}]},
        ),
        (
            rules.phi_factor,
            {"rows": [FEW | {"phi_ratio": 1 / 4}, AT | {"phi_ratio": 1 / 8}]},
            {"rows": [FEW | {"phi_ratio": 1 / 5}, AT | {"phi_ratio": 1 / 20}]},
        ),
        (
            rules.z_gains,
            {"rows": [AT | {"z_ratio": 0.5}, FEW | {"z_ratio": 0.9}, MORE | {"z_ratio": 0.2}]},
            {"rows": [AT | {"z_ratio": 0.95}, FEW | {"z_ratio": 0.9}, MORE | {"z_ratio": 0.2}]},
        ),
        (
            rules.z_reduction,
            {"rows": [AT | {"z_ratio": 0.5}, MORE | {"z_ratio": 0.4}]},
            {"rows": [AT | {"z_ratio": 0.5}, MORE | {"z_ratio": 0.1}]},
        ),
        (
            rules.sparser,
            {"rows": [FEW | {"nonzero_share": 0.5}, AT | {"nonzero_share": 0.1}]},
            {"rows": [FEW | {"nonzero_share": 0.1}, AT | {"nonzero_share": 0.5}]},
        ),
        (rules.first_of_four, raced(1.0), raced(3.0)),
        (
            rules.similar("held_out", 0.005),
            {"rows": [AT | {"held_out": LEVEL}, FEW | {"held_out": None}]},
            {"rows": [AT | {"held_out": LEVEL | {"difference": 0.006}}]},
        ),
        (
            rules.faster_alone(PARTLY),
            {"single": [AT | {"samplers": {URN: 1.0, PARTLY: 1.5}}]},
            {"single": [AT | {"samplers": {URN: 1.0, PARTLY: 0.5}}]},
        ),
        (
            rules.linear,
            {"scaling": [AT | {"cores": [1, 8], "speedup": [1, 6], "efficiency": [1, 0.75]}]},
            {"scaling": [AT | {"cores": [1, 8], "speedup": [1, 4], "efficiency": [1, 0.5]}]},
        ),
        (
            rules.gains("words", large_last=True),
            {"words": [{"ratio": 2.0, "value": 500}, {"ratio": 3.0, "value": 5000}]},
            {"words": [{"ratio": 2.0, "value": 500}, {"ratio": 2.0, "value": 5000}]},
        ),
        (
            rules.gains("limit", large_last=False),
            {"limit": [{"ratio": 3.0, "value": 1}, {"ratio": 2.0, "value": 100}]},
            {"limit": [{"ratio": 2.0, "value": 1}, {"ratio": 3.0, "value": 100}]},
        ),
        (rules.converges, {"slopes": {"F": -0.5}}, {"slopes": {"F": -0.5, "G": -0.1}}),
        (
            rules.uncollapsed_wins,
            {"appendix": [{"rho": 0.9, "collapsed": 50.0, "uncollapsed": 100.0},
                          {"rho": 0.99, "collapsed": 5.0, "uncollapsed": 95.0}]},
            {"appendix": [{"rho": 0.9, "collapsed": 50.0, "uncollapsed": 100.0},
                          {"rho": 0.99, "collapsed": 5.0, "uncollapsed": 50.0}]},
        ),
        (
            rules.work_counted,
            {"rows": [AT | {"counted": 5.1, "minimum": 5.0}]},
            {"rows": [AT | {"counted": 6.0, "minimum": 5.0}]},
        ),
        (rules.time_follows, {"time_power": 0.8}, {"time_power": 1.4}),
        (
            rules.words_shorter,
            {"rows": [FEW | {"shorter": 0.0}, MORE | {"shorter": 0.4}]},
            {"rows": [FEW | {"shorter": 0.5}, MORE | {"shorter": 0.05}]},
        ),
    ],
)  # fmt: skip
def test_rules_can_agree_differ_and_abstain(rule, agreeing, differing):
    assert rule(agreeing)[1] is True
    assert rule(differing)[1] is False
    nothing = {name: [] if isinstance(value, list) else None for name, value in agreeing.items()}
    assert rule(nothing) is None


def test_what_is_not_measured_is_said(whole):
    empty = {
        "rows": [], "single": [], "scaling": [], "limit": [], "words": [], "size": [],
        "slopes": None, "appendix": None, "time_power": None,
    }  # fmt: skip
    verdicts = judge_all(dict.fromkeys(FIGURES, empty))
    assert {verdict.verdict for verdict in verdicts} == {"not measured"}
    assert {verdict.measured for verdict in verdicts} == {"–"}


def test_faster_than_claimed_is_said_and_still_differs():
    measured, agrees = rules.phi_factor({"rows": [AT | {"phi_ratio": 1 / 20}]})
    assert not agrees
    assert "never less than four times, but more than eight" in measured


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["plots"], r"'--figure' option must be one of corpora, traces, .*complexity. Got 'plots'"),
        (["--corpora", "nowhere"], r"'--corpora' option must be a folder that exists. Got 'nowh"),
        (["--scale", "huge"], r"'--scale' option must be 'small' or 'full'. Got 'huge'"),
        (["--seeds", 0], r"'--seeds' option must be at least 1. Got 0"),
        (["--cores", "1,two"], r"'--cores' option must be whole numbers, at least 1. Got \[1, 't"),
        (["--threads", 0], r"'--threads' option must be a positive number"),
        (["--budget", 0], r"'--budget' option must be above 0 minutes. Got 0"),
        (["--use", "moon"], r"'--use' option must name corpora of the folder. Got 'moon'; .* none"),
        (["--generated", "kos"], r"'--generated' option must name corpora of the paper: enron, n"),
        (["--out", "file"], r"'--out' option must be a folder. 'file' is a file"),
        (["--out", "other"], r"'--out' option must be a new or empty folder, or one of an earlier"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, options, message):  # noqa: F811
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    code, _, err = run("reproduce", *options)
    assert code == 2
    assert re.search(message, err)
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "mine.txt", "other"]


def test_another_setting_is_refused(whole):
    with pytest.raises(InputError, match=r"same setting. It differs: threads 2 there, 1 now"):
        tiny(whole[1], threads=1)


def test_the_command_lists_computes_and_stops(run, tmp_path, monkeypatch):  # noqa: F811
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
        patch.setattr("polyaurn.reproduce.loop.run_cell", stop)
        code, _, err = run(*command)
    assert code == 130
    assert "1 of 2 pieces are finished and kept in again. Run the same command again" in err
    code, _, err = run(*command)
    assert code == 0
    assert "1 pieces of work (1 are done)" in err
    assert "Written: again/reproduction.html" in err
    code, out, err = run(*command, "--quiet")
    assert (code, out, err) == (0, "", "")
