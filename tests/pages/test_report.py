"""The report as a file: what it holds, what it escapes, and that it is the same each time."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, TopicModel, load, write_report
from polyaurn.chain.state import Priors, doc_topic_matrix
from polyaurn.exchange.parts import topics_only
from polyaurn.model.checks import count_topics
from polyaurn.pages.report import documents
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.dates import over_time, parse_dates
from polyaurn.pages.report.page import as_json, render
from polyaurn.pages.report.training import summarise_trace
from polyaurn.pages.report.words import LAMBDAS, leading_at_any_lambda
from support.pages import data_of, synthetic

HOSTILE = "</script><img src=x onerror=alert(1)>"


def words_of(data, topic):
    """Return counts of a topic's leading words by name."""
    names = data["words"]["text"].split("\n")
    entries = zip(data["topics"]["words"][topic], data["topics"]["counts"][topic], strict=True)
    return {names[v]: n for v, n in entries}


def test_the_same_model_gives_the_same_bytes(trained, tmp_path):
    corpus = trained.corpus_
    first = write_report(trained, tmp_path / "a.html", corpus=corpus).read_bytes()
    trained.save(tmp_path / "model")
    again = write_report(load(tmp_path / "model"), tmp_path / "b.html", corpus=corpus)
    assert again.read_bytes() == first
    other = LDA(4, max_iter=40, random_state=1, verbose=False).fit(corpus)
    assert write_report(other, tmp_path / "c.html", corpus=corpus).read_bytes() != first


def test_threads_of_libraries_do_not_matter():
    limits = pytest.importorskip("threadpoolctl").threadpool_limits
    model, corpus = synthetic(300, 2_000, 900, 30)
    found = []
    for threads in (1, 2):
        with limits(threads):
            found.append(as_json(gather(model, corpus)))
    assert found[0] == found[1]


def test_nothing_is_loaded_from_elsewhere(trained, tmp_path):
    page = write_report(trained, tmp_path / "a.html", corpus=trained.corpus_).read_text()
    outside = re.findall(r"""(?:src|href|url|import|action)\s*[=(]\s*["']?([^"'\s>)]+)""", page)
    made = "`data:image/svg+xml;charset=utf-8,${encodeURIComponent(text"  # a picture, as PNG
    assert set(outside) == {"data:,", "#main", made}
    addresses = set(re.findall(r"https?://[^\s\"']+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page
    assert "connect-src 'none'" in page


def test_hostile_names_stay_inside_the_data(tmp_path):
    X = np.array([[3, 1, 0], [0, 2, 5]])
    names = [HOSTILE, "<!--<script>\u2028"]
    corpus = Corpus.from_matrix(X, ["plain", HOSTILE, "a\\u003cb&amp;"], doc_names=names)
    lda = LDA(2, max_iter=5, verbose=False).fit(corpus)
    page = write_report(lda, tmp_path / "a.html", corpus=corpus, title=HOSTILE).read_text()
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert page.count("<!--") == 0
    data = data_of(page)
    assert data["title"] == HOSTILE
    assert data["words"]["text"].split("\n") == list(corpus.vocab)
    assert data["documents"]["name"] == list(corpus.doc_names)


def test_text_that_utf8_cannot_hold_is_replaced():
    assert as_json(["\ud800<"]) == '["?\\u003c"]'


def test_leading_words_are_those_of_any_stop_of_the_slider(trained):
    model = trained.model_
    found = leading_at_any_lambda(model, np.arange(4), 5)
    n = model.topic_word_counts.toarray()
    p = (n + model.priors.beta) / (n + model.priors.beta).sum(axis=1, keepdims=True)
    share = n.sum(axis=0) / n.sum()
    for k in range(4):
        wanted = set()
        for a in LAMBDAS:
            score = a * np.log(p[k]) + (1 - a) * np.log(p[k] / share)
            score[n[k] == 0] = -np.inf
            wanted |= set(np.argsort(-score, kind="stable")[:5].tolist())
        assert set(found[k].words.tolist()) == wanted
        assert found[k].counts.tolist() == n[k, found[k].words].tolist()
    top = gather(model)
    assert set(model.topics(30)[0]) <= set(words_of(top, 0))


def test_words_show_their_topics(trained):
    data = gather(trained)
    n = trained.model_.topic_word_counts.toarray()
    names = data["words"]["text"].split("\n")
    for v in (0, 7, 31):
        flat = data["words"]["topics"][v]
        column = n[:, trained.model_.vocab.index(names[v])]
        assert data["words"]["count"][v] == pytest.approx(column.sum(), rel=1e-12)
        assert dict(zip(flat[::2], flat[1::2], strict=True)) == {
            k: c for k, c in enumerate(column.tolist()) if c
        }


def test_documents_show_each_token_once(trained):
    corpus, model = trained.corpus_, trained.model_
    data = gather(model, corpus)
    names = data["words"]["text"].split("\n")
    assert data["documents"]["number"] == list(range(corpus.n_documents))
    for d in (0, 17, 59):
        found = {}
        for topic, *words in data["documents"]["bag"][d]:
            for v, after in zip(words, [*words[1:], 0], strict=True):
                if v >= 0:
                    found[topic, names[v]] = max(1, -after)
        tokens = slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
        pairs = zip(model.assignments[tokens].tolist(), corpus.word[tokens].tolist(), strict=True)
        expected = {}
        for k, v in pairs:
            expected[k, corpus.vocab[v]] = expected.get((k, corpus.vocab[v]), 0) + 1
        assert found == expected
        flat = data["documents"]["mixture"][d]
        assert sum(flat[1::2]) == data["documents"]["tokens"][d] == sum(expected.values())


def test_a_draw_of_documents_is_said_to_be_one(monkeypatch):
    model, corpus = synthetic(6, 300, 50, 12)
    assert gather(model)["notes"]["documents"] == "All 300 documents are shown."
    monkeypatch.setattr(documents, "MOST_DOCUMENTS", 80)
    monkeypatch.setattr(documents, "LEAST_SAMPLE", 10)
    data = gather(model)
    assert data["notes"]["documents"] == (
        "80 of 300 documents are shown: those that a topic explains best, and a random sample of "
        "the others."
    )
    assert len(set(data["documents"]["number"])) == 80
    assert data["documents"]["number"] == sorted(data["documents"]["number"])
    assert max(data["documents"]["number"]) > 200
    best = {
        d
        for k in range(6)
        for d in model.representative_documents(k, 8, as_frame=False)["number"].tolist()
    }
    assert best < set(data["documents"]["number"])
    monkeypatch.setattr(documents, "MOST_PAIRS", 12 * len(best) + 240)
    fewer = gather(model, corpus)["documents"]["number"]
    assert len(fewer) == len(best) + 20
    assert best < set(fewer) < set(data["documents"]["number"])
    monkeypatch.setattr(documents, "MOST_PAIRS", 0)
    assert len(gather(model, corpus)["documents"]["number"]) == len(best) + 10


def test_long_documents_show_their_most_frequent_words(monkeypatch):
    X = np.array([[9, 1, 5, 1], [1, 1, 1, 1]])
    lda = LDA(1, max_iter=2, verbose=False).fit(Corpus.from_matrix(X))
    monkeypatch.setattr(documents, "PAIRS_OF_A_DOCUMENT", 2)
    bags = gather(lda, lda.corpus_)["documents"]["bag"]
    assert bags[0] == [[0, 0, -9, 2, -5]]


@pytest.mark.parametrize("K", [1, 2, 3])
def test_few_topics(K, small, tmp_path):
    lda = LDA(K, max_iter=5, verbose=False).fit(small)
    data = data_of(write_report(lda, tmp_path / "a.html").read_text())
    assert len(data["map"]["x"]) == K
    assert all(len(near) == K - 1 for near in data["topics"]["near"])
    assert ("rank correlation" in data["notes"]["map"]) == (K > 2)


def test_a_model_without_documents_or_trace(tmp_path):
    counts = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.125]])
    model = topics_only(counts, 0.1, 0.01, ["a", "b", "c"], "elsewhere", "'vocab' parameter")
    data = data_of(write_report(model, tmp_path / "a.html").read_text())
    assert words_of(data, 0) == {"a": 0.5, "b": 0.25}
    assert data["documents"]["number"] == []
    assert data["notes"]["documents"].startswith("The model has no documents")
    assert data["training"]["verdict"] == "unknown"
    assert "no log posteriors" in data["training"]["sentence"]
    with pytest.raises(InputError, match="must have documents"):
        write_report(model, tmp_path / "b.html", dates=["2020"])


def test_empty_topics_and_documents(odd):
    z = np.zeros(odd.n_tokens, np.uint16)
    priors = Priors(np.full(3, 0.1), np.full(6, 0.01))
    model = TopicModel(
        count_topics(odd, z, 3), doc_topic_matrix(odd.doc_ptr, z, 3), z, odd.vocab, odd.doc_names,
        priors,
    )  # fmt: skip
    data = gather(model, odd)
    assert [len(words) for words in data["topics"]["words"]] == [5, 0, 0]
    assert data["topics"]["documents"] == [4, 0, 0]
    assert (data["documents"]["mixture"][0], data["documents"]["bag"][0]) == ([], [])
    json.dumps(data, allow_nan=False)


def test_many_topics_are_cut_to_the_largest(monkeypatch):
    model, _ = synthetic(30, 60, 40, 12)
    monkeypatch.setattr("polyaurn.pages.report.data.MOST_TOPICS", 10)
    data = gather(model)
    assert data["notes"]["topics"] == "The 10 largest of 30 topics are shown."
    least = min(data["topics"]["size"])
    assert sorted(model.topic_sizes.tolist())[-10] == least


def test_another_corpus_is_rejected(trained, medium, tmp_path):
    with pytest.raises(InputError, match="must be what the model was trained on"):
        write_report(trained, tmp_path / "a.html", corpus=medium)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("dates", "unit", "labels"),
    [
        (["2020-01-30", "2020-02-02", None, "2020-02-01"], "day", 4),
        (["2020-01", "2020-11-20", "", "2020-03"], "month", 11),
        (["2001-01-01", "2012-01-01", "", ""], "quarter", 45),
        (["1950", "2000-05-01", "", ""], "year", 51),
        (["1700", "2000", "", ""], "decade", 31),
        (["1000", "2000", "", ""], "century", 11),
    ],
)
def test_steps_of_time_are_the_finest_that_fit(dates, unit, labels):
    X = np.array([[4, 1], [1, 4], [2, 2], [0, 3]])
    model = LDA(2, max_iter=5, verbose=False).fit(Corpus.from_matrix(X)).model_
    days = parse_dates(dates, 4, "dates")
    found = over_time(model, days, np.arange(2))
    assert (found["unit"], len(found["labels"])) == (unit, labels)
    dated = [d for d, day in enumerate(days) if day]
    mean = model.doc_topics()[dated].mean(axis=0)
    share, documents = np.array(found["share"], float), np.array(found["documents"])
    assert (np.isnan(share) == (documents == 0)).all()
    there = documents > 0
    assert np.allclose(share[:, there] @ documents[there] / len(dated), mean, atol=1e-4)
    assert sum(found["documents"]) == len(dated)
    assert found["undated"] == 4 - len(dated)


def test_months_are_in_their_quarters():
    X = np.full((25, 2), 3)
    model = LDA(2, max_iter=2, verbose=False).fit(Corpus.from_matrix(X)).model_
    months = [f"{2001 + i // 12}-{i % 12 + 1:02}-01" for i in range(24)]
    found = over_time(model, parse_dates([*months, "2012-12-01"], 25, "dates"), np.arange(2))
    assert found["unit"] == "quarter"
    assert found["labels"][:5] == ["2001 Q1", "2001 Q2", "2001 Q3", "2001 Q4", "2002 Q1"]
    assert found["documents"] == [3] * 8 + [0] * 39 + [1]


def test_one_step_is_no_time_axis(trained, tmp_path):
    n = trained.corpus_.n_documents
    assert gather(trained, dates=["2020"] * n)["time"] is None
    assert gather(trained, dates=[""] * n)["time"] is None


@pytest.mark.parametrize("date", ["yesterday", "2020-13", "20", "2020-02-30", "01.02.2020"])
def test_what_is_no_date_is_rejected(date):
    with pytest.raises(InputError, match=rf"file 'd', line 1: expected a date.*Got '{date}'"):
        parse_dates(["2020", date], 2, "file 'd'", "line {}".format)


def test_a_corpus_is_counted_in_the_words_of_the_model(run, tmp_path):
    texts = [f"cat dog moon rare{i} common" for i in range(12)]
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n")
    train = "train t.txt -k 2 --sweeps 5 --min-df 2 --stop-words none -q --out m"
    assert run(*train.split())[0] == 0
    code, _, err = run("report", "m", "--corpus", "t.txt")
    assert code == 0
    said = (
        "t.txt, read as lines, in the words of the model: Corpus(12 documents, 4 words, 48 tokens)"
    )
    assert err.splitlines()[0] == said
    assert "kept" not in err


def test_a_date_of_a_column_is_named_by_its_row(run, tmp_path):
    rows = ["when,text"] + [f"{'soon' if i == 4 else 2020},cat dog moon" for i in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    assert run("train", "t.csv", "-k", 2, "--sweeps", 5, "--out", "m", "-q")[0] == 0
    code, _, err = run("report", "m", "--date-column", "when")
    assert code == 2
    assert re.search(r"The column 'when', in row 6 of '.*t\.csv': expected a date", err)


def test_dates_must_be_as_many_as_documents():
    with pytest.raises(InputError, match=r"The file 'd' must have one date for each of the 3 doc"):
        parse_dates(["2020"], 3, "file 'd'")


def trace_of(levels):
    return [
        {"sweep": i + 1, "phase": "full", "log_posterior": -1e6 + v} for i, v in enumerate(levels)
    ]


def test_the_verdict_distinguishes_rise_from_rest():
    rng = np.random.default_rng(0)
    noise = 100 * rng.normal(size=200)
    level = summarise_trace(trace_of(noise), 1)
    assert level["verdict"] == "level"
    assert "No rise of the log posterior can be seen within the noise" in level["sentence"]
    assert "does not prove it" in level["explanation"]
    assert 40 < level["ess"] <= level["settled"] == 100
    rising = summarise_trace(trace_of(noise + 10 * np.arange(200)), 1)
    assert rising["verdict"] == "rising"
    assert rising["sentence"].startswith("The log posterior was still rising at the end, by about ")
    assert "does not prove it" not in rising["explanation"]
    falling = summarise_trace(trace_of(noise - 10 * np.arange(200)), 1)
    assert falling["verdict"] == "falling"
    assert "leaves a narrow peak" in falling["explanation"]


def test_the_verdict_leaves_out_burn_in_and_knows_its_limits():
    rng = np.random.default_rng(2)
    burn_in = [{"sweep": i, "phase": "smooth", "log_posterior": float(i)} for i in range(1, 1001)]
    rest = [r | {"sweep": 1000 + r["sweep"]} for r in trace_of(rng.normal(size=120))]
    found = summarise_trace(burn_in + rest, 1)
    assert (found["verdict"], found["settled"]) == ("level", 60)
    assert len(found["points"]) == 400
    assert found["points"][0][0] == 1
    assert found["points"][-1][2] == 1
    short = summarise_trace(burn_in, 1)
    assert "inside its warm start, after sweep" in short["explanation"]
    assert short["sentence"] == ""
    few = summarise_trace(trace_of(rng.normal(size=20)), 1)
    assert (few["verdict"], few["ess"], few["explanation"]) == ("unknown", None, "")
    assert few["sentence"] == (
        "Too few sweeps to say whether the log posterior still rises: 20; run at least 80 more."
    )
    assert summarise_trace(trace_of([1.0] * 100), 1)["verdict"] == "unknown"
    assert summarise_trace([{"sweep": 1, "log_posterior": None}], 1)["points"] == []


def test_the_script_may_run_by_its_hash_only(trained):
    page = render(gather(trained), served=True)
    assert "connect-src 'self'" in page
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_report_on_the_command_line(run, texts, tmp_path):
    assert (
        run("train", texts, "-k", 2, "--sweeps", 10, "--min-count", 9, "--out", "m", "-q")[0] == 0
    )
    (tmp_path / "dates.txt").write_text("\n".join(["2020-01", "2020-02"] * 20) + "\n")
    code, _, err = run("report", "m", "--corpus", texts, "--dates", "dates.txt", "--out", "r.html")
    assert (code, "r.html" in err) == (0, True)
    data = data_of((tmp_path / "r.html").read_text())
    assert data["title"] == "m"
    assert data["time"]["labels"] == ["2020-01", "2020-02"]
    assert len(data["documents"]["snippet"]) == 40
    assert data["packs"] == {"texts": 1, "trends": 1}
    code, _, err = run("report", "m", "--out", "r.html")
    assert code == 2
    assert "--force" in err
    first = (tmp_path / "r.html").read_text()
    assert run("report", "m", "--dates", "dates.txt", "--out", "r.html", "--force", "-q")[0] == 0
    assert (tmp_path / "r.html").read_text() == first


def test_dates_from_a_column(run, tmp_path):
    rows = ["when,text", "2019,cat dog cat", "2021,star moon star", ",dog cat"] + ["2020,cat"] * 5
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    assert run("train", "t.csv", "-k", 2, "--sweeps", 5, "--out", "m", "-q")[0] == 0
    assert run("report", "m", "--corpus", "t.csv", "--date-column", "when", "-q")[0] == 0
    data = data_of((tmp_path / "report.html").read_text())
    assert data["time"]["labels"] == ["2019", "2020", "2021"]
    assert data["time"]["documents"] == [1, 5, 1]
    assert data["documents"]["date"][:3] == ["2019", "2021", ""]
    assert data["notes"]["dates"] == "1 of 8 documents have no date."


def test_names_from_a_column_that_training_did_not_have(run, tmp_path):
    rows = ["id,text"] + [f"doc{i},cat dog moon" for i in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    assert run("train", "t.csv", "-k", 2, "--sweeps", 5, "--out", "m", "-q")[0] == 0
    assert run("report", "m", "--corpus", "t.csv", "--name-column", "id", "-q")[0] == 0
    data = data_of((tmp_path / "report.html").read_text())
    assert data["documents"]["name"] == [f"doc{i}" for i in range(8)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--date-column", "when"], "is for tables, but"),
        (["--class-column", "kind"], "'--class-column' option is for tables, but"),
        (["--corpus", "texts.txt", "--date-column", "x"], "is for tables, but 'texts.txt' was"),
        (["--dates", "none.txt"], "'none.txt' must hold a date on each line"),
        (["--dates", "texts.txt"], "file 'texts.txt', line 1: expected a date"),
        (["--dates", "a", "--date-column", "b"], "must stand without '--date-column'"),
        (["--out", "report.pdf"], "'--out' option must end in .html"),
    ],
)
def test_bad_options_are_one_sentence(run, texts, tmp_path, options, message):
    assert run("train", texts, "-k", 2, "--sweeps", 5, "--out", "m", "-q")[0] == 0
    code, _, err = run("report", "m", *options, "-q")
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.slow
def test_a_large_model_fits_on_a_page(tmp_path):
    model, corpus = synthetic(1000, 100_000, 30_000, 99)
    dates = [f"{2000 + d % 20}" for d in range(100_000)]
    path = write_report(model, tmp_path / "a.html", corpus=corpus, dates=dates)
    assert path.stat().st_size < 5e6
    data = data_of(path.read_text())
    shown = len(data["documents"]["number"])
    assert 1_000 < shown <= 2_000
    assert data["notes"]["documents"].startswith(f"{shown:,} of 100,000 documents are shown: ")
    assert len(data["topics"]["number"]) == 1000
