"""The parts of a reproduction: plans, corpora, estimates, and what figures compute."""

import xml.etree.ElementTree as ElementTree

import pytest

from polyaurn import Corpus, datasets
from polyaurn.chain.schedule import AUTO_OF_0_1
from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper import cells, corpora
from polyaurn.studies.paper.corpora import Shape, Source, Variant
from polyaurn.studies.paper.estimate import (
    Estimate,
    in_words,
    read_trial,
    shares,
    try_samplers,
    write_trial,
)
from polyaurn.studies.paper.figures.algorithms import time_to
from polyaurn.studies.paper.plan import PARTLY, SCALES, SPARSE, URN, Cell, make_plan
from polyaurn.studies.paper.results import pairs


def test_the_aids_and_the_plain_sampler_are_what_they_are_called(monkeypatch, small):
    asked = []
    monkeypatch.setattr(
        "polyaurn.training.sweeps.sweeps", lambda *_, **options: asked.append(options)
    )
    for sampler, aids in ((URN, False), (URN, True), (SPARSE, False)):
        cells.sweeps_of(Cell("chain", None, sampler, 5, 3, 20, 1, 2, aids), small)
    names = ("warm_start", "phi_refreshes")
    assert [tuple(options[name] for name in names) for options in asked] == [
        ("random", 1), (AUTO_OF_0_1, "auto"), ("random", "auto"),
    ]  # fmt: skip
    names = ("doc_topic_prior", "topic_word_prior", "learn_priors_every", "max_iter")
    assert {tuple(options[name] for name in names) for options in asked} == {(0.1, 0.01, 0, 20)}


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
    assert all(SCALES[scale].own_process for scale in ("small", "full"))


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
    (place / "README.md").write_text("what is here")
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
