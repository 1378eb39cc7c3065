"""Topics and documents as tables."""

import csv

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, exchange
from polyaurn.files.atomic import new_file

AWKWARD = ['say "hi"', "a,b", "=SUM(A1)", " é ", "plain", "'"]


@pytest.fixture(scope="module")
def awkward():
    matrix = np.random.default_rng(0).integers(1, 4, (5, 6))
    names = ["one, two", 'the "third"', "-3", "4", "five;six"]
    return LDA(2, max_iter=10, verbose=False).fit(
        Corpus.from_matrix(matrix, AWKWARD, doc_names=names)
    )


@pytest.mark.parametrize("draws", [1, 10])
def test_tables_agree_with_the_model(small, draws):
    corpus = small.prune(min_count=1)
    trained = LDA(4, max_iter=40, average_draws=draws, verbose=False).fit(corpus)
    model = trained.model_
    sizes = model.topic_sizes if draws == 1 else model.topic_word_counts.toarray().sum(axis=1)
    table = exchange.topic_table(trained)
    for k, topic in enumerate(model.topics(10_000, weights=True)):
        mine = table["topic"] == k
        words = [w for w, m in zip(table["word"], mine, strict=True) if m]
        assert words == [word for word, _ in topic]
        assert np.allclose(table["probability"][mine], [p for _, p in topic], rtol=1e-14)
        assert table["rank"][mine].tolist() == list(range(1, len(topic) + 1))
        assert table["count"][mine].sum() == pytest.approx(sizes[k], rel=1e-12)
    short = exchange.topic_table(trained, 3)
    assert [short["word"][3 * k : 3 * k + 3] for k in range(4)] == model.topics(3)
    with pytest.raises(InputError, match="'n_words' parameter"):
        exchange.topic_table(trained, 0)
    table = exchange.document_table(model)
    dense = np.zeros((len(model.doc_names), 4))
    dense[np.array(table["document"], int), table["topic"]] = table["probability"]
    there = model.doc_topic_counts.toarray() > 0
    assert np.allclose(dense, np.where(there, model.doc_topics(), 0.0))
    assert table["count"].sum() == trained.corpus_.n_tokens


@pytest.mark.parametrize("make", [exchange.topic_table, exchange.document_table])
def test_csv_keeps_every_character_and_digit(awkward, tmp_path, make):
    table = make(awkward)
    path = exchange.write_table(table, tmp_path / "table.csv")
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(table)
    for name, column in zip(header, zip(*rows, strict=True), strict=True):
        if name in ("word", "document"):
            assert list(column) == table[name]
        else:
            assert np.array_equal(np.array(column, float), table[name])
    if "word" in table:
        assert set(table["word"]) == set(AWKWARD)
    with pytest.raises(InputError, match=r"is there already.*force=True"):
        exchange.write_table(table, path)
    assert exchange.write_table(table, path, force=True) == path
    with pytest.raises(InputError, match=r"must end in .csv or .parquet"):
        exchange.write_table(table, tmp_path / "table.xlsx")


def test_parquet(awkward, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    table = exchange.topic_table(awkward)
    path = exchange.write_table(table, tmp_path / "table.parquet")
    read = parquet.read_table(path).to_pydict()
    assert list(read) == list(table)
    assert all(read[name] == list(column) for name, column in table.items())
    monkeypatch.setattr("polyaurn.exchange.tables.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[parquet\]'"):
        exchange.write_table(table, tmp_path / "other.parquet")


def test_nothing_half_written_stays(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def run_out_of_space():
        with new_file(path) as fresh:
            fresh.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="cannot be written: No space"):
        run_out_of_space()
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"
