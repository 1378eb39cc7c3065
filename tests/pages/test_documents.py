"""Documents of the report: their texts in colours, and where the command line finds them."""

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, load, write_report
from polyaurn.pages.report import texts as page_texts
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.packing import pack, unpack
from polyaurn.pages.report.texts import MARK, snippet_of
from support.pages import data_of

TEXTS = ["The cat saw a dog.\nDogs, cats & birds!", "Moon, planet — STAR of stars", "cat moon"] * 6


@pytest.fixture(scope="module")
def lda():
    return LDA(2, max_iter=30, verbose=False).fit(Corpus.from_texts(TEXTS))


def coloured(data, d):
    """Return the text of a document without marks, and pairs of a coloured word and its topic."""
    block = data["documents"]["block"]
    text, topics = data["packs"]["texts"][d // block][d % block]
    pieces = text.split(MARK)
    return "".join(pieces), list(zip(pieces[1::2], topics, strict=True))


def test_words_of_a_text_have_the_topics_of_their_tokens(lda):
    data = gather(lda, texts=TEXTS)
    corpus = lda.corpus_
    for d, text in enumerate(TEXTS):
        plain, words = coloured(data, d)
        assert plain == text
        tokens = slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
        names = [corpus.vocab[v] for v in corpus.word[tokens]]
        topics = lda.assignments_[tokens]
        assert sorted(word.lower() for word, _ in words) == sorted(names)
        for word, topic in words:
            of_word = topics[[name == word.lower() for name in names]]
            assert topic == np.bincount(of_word).argmax()
    assert data["documents"]["snippet"][0] == "The cat saw a dog. Dogs, cats & birds!"
    assert data["documents"]["bag"] is None


def test_stop_words_and_unknown_words_have_no_colour(lda):
    _, words = coloured(gather(lda, texts=TEXTS), 0)
    assert [word for word, _ in words] == ["cat", "dog", "Dogs", "cats", "birds"]


def test_texts_that_do_not_belong_are_rejected(lda):
    with pytest.raises(InputError, match="'texts' parameter must have one value for each"):
        gather(lda, texts=TEXTS[1:])
    with pytest.raises(InputError, match="must be what the model was trained on"):
        gather(lda, texts=TEXTS[::-1])
    with pytest.raises(InputError, match="must have a string for each document"):
        gather(lda, lda.corpus_, texts=[None] * len(TEXTS))


def test_long_texts_end_at_a_word(lda, monkeypatch):
    monkeypatch.setattr(page_texts, "MOST_CHARACTERS", 20)
    data = gather(lda, texts=TEXTS)
    assert coloured(data, 0)[0] == "The cat saw a …"
    assert coloured(data, 2)[0] == "cat moon"
    assert snippet_of("word " * 100) == "word " * 31 + "word …"


def test_marks_in_a_text_do_no_harm():
    strange = [f"cat{MARK}dog {MARK}{MARK} bird 🐈 cat", "moon star"] * 6
    lda = LDA(2, max_iter=10, verbose=False).fit(Corpus.from_texts(strange))
    plain, words = coloured(gather(lda, texts=strange), 0)
    assert plain == "cat dog    bird 🐈 cat"
    assert [word for word, _ in words] == ["cat", "dog", "bird", "cat"]


def test_a_page_with_texts_is_the_same_each_time_and_unpacks(lda, tmp_path):
    first = write_report(lda, tmp_path / "a.html", texts=TEXTS)
    again = write_report(lda, tmp_path / "b.html", texts=TEXTS, corpus=lda.corpus_)
    assert first.read_bytes() == again.read_bytes()
    assert data_of(first.read_text())["packs"] == {"texts": 1, "trends": 0}
    assert unpack(pack(["</script>", 1, "ä"])) == ["</script>", 1, "ä"]
    assert "<" not in pack(["</script>"] * 99)


@pytest.fixture
def table(tmp_path):
    rows = ["when,kind,text"]
    rows += [f'{2019 + d % 3},{"ab"[d % 2]},"{TEXTS[d]}"' for d in range(len(TEXTS))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "t.csv"


def report(run, folder, *options):
    code, _, err = run("report", "m", "--out", "r.html", "--force", *options)
    assert code == 0
    return data_of((folder / "r.html").read_text()), err


def test_the_corpus_and_columns_come_from_the_models_own_options(run, table, tmp_path):
    columns = ("--date-column", "when", "--class-column", "kind")
    trained = run("train", table, "-k", 2, "--sweeps", 9, *columns, "--out", "m", "-q")
    assert trained[0] == 0
    data, _ = report(run, tmp_path)
    assert data["documents"]["snippet"][2] == "cat moon"
    assert data["time"]["labels"] == ["2019", "2020", "2021"]
    assert data["classes"]["labels"] == ["a", "b"]
    given, _ = report(run, tmp_path, "--corpus", table)
    assert given == data


def test_a_corpus_that_moved_or_changed_is_one_note(run, table, tmp_path):
    assert run("train", table, "-k", 2, "--sweeps", 9, "--out", "m", "-q")[0] == 0
    moved = table.rename(tmp_path / "u.csv")
    data, err = report(run, tmp_path)
    assert data["documents"]["snippet"] is None
    assert "t.csv' of the model is no longer there" in err
    assert "Name its new place with --corpus." in err.splitlines()[0]
    assert report(run, tmp_path, "--corpus", moved)[0]["documents"]["snippet"] is not None
    table.write_text("text\ncat\n")
    data, err = report(run, tmp_path)
    assert data["documents"]["snippet"] is None
    assert "t.csv' is not what the model was trained on any more" in err
    moved.unlink()
    table.unlink()
    code, _, err = run("report", "m", "--date-column", "when", "--out", "r.html", "--force")
    assert code == 2
    assert "'--date-column' option is for reading a corpus" in err


def test_a_model_without_options_needs_the_corpus(run, lda, tmp_path):
    lda.save(tmp_path / "m")
    code, _, err = run("report", "m", "--class-column", "kind", "-q")
    assert code == 2
    assert "'--class-column' option is for reading a corpus. Got it without one" in err
    assert report(run, tmp_path)[0]["documents"]["snippet"] is None


def test_columns_are_checked_before_training(run, table, tmp_path):
    code, _, err = run("train", table, "-k", 2, "--date-column", "whn", "--out", "m")
    assert code == 2
    assert "'--date-column' option must name a column" in err
    assert not (tmp_path / "m").exists()


def test_labels_of_mallets_columns_are_classes(run, tmp_path):
    rows = [f"d{i}\t{'xy'[i % 2]}\t{text}".replace("\n", " ") for i, text in enumerate(TEXTS)]
    (tmp_path / "t.tsv").write_text("\n".join(rows) + "\n")
    assert run("train", "t.tsv", "-k", 2, "--sweeps", 9, "--out", "m", "-q")[0] == 0
    data, _ = report(run, tmp_path, "--class-column", "1")
    assert (data["classes"]["labels"], data["classes"]["documents"]) == (["x", "y"], [9, 9])


def test_options_of_the_run_stay_with_an_edited_model(run, table, tmp_path):
    from polyaurn.pages.report.edits import Edits

    assert run("train", table, "-k", 3, "--sweeps", 9, "--out", "m", "-q")[0] == 0
    before = (tmp_path / "m" / "config.toml").read_text()
    edits = Edits(tmp_path / "m", gather)
    named = edits.rename(load(tmp_path / "m"), 1, "  Cats &  dogs ")
    assert load(tmp_path / "m").label_topics({}).parameters["labels"] == [None, "Cats & dogs", None]
    edits.merge(named, [0, 2])
    after = load(tmp_path / "m")
    assert (after.n_topics, after.parameters["labels"]) == (2, [None, "Cats & dogs"])
    assert (tmp_path / "m" / "config.toml").read_text() == before
    assert report(run, tmp_path)[0]["documents"]["snippet"][2] == "cat moon"
