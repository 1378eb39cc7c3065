"""Tables of other libraries, folders of Parquet, HTML, and keys inside keys."""

import json

import pytest

from polyaurn import LDA, Corpus, read_corpus
from polyaurn.base.errors import InputError
from polyaurn.corpus.conversion import import_corpus
from polyaurn.corpus.html import text_of
from polyaurn.corpus.readers import recognise

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = {"id": ["a", "b", "c"], "body": ["red apple", "green leaf", None], "year": [1, 2, 3]}


class Stream:
    """A table that has nothing but ``__arrow_c_stream__``, as those of other libraries."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Dataset:
    """A dataset as Hugging Face's: it hands over its rows as a table when it is asked to."""

    features = ROWS

    def with_format(self, name):
        assert name == "arrow"
        return Rows()


class Rows:
    def __getitem__(self, rows):
        return pa.table(ROWS)


def test_a_dataset_of_hugging_face_is_a_table():
    corpus = read_corpus(Dataset(), text_column="body", name_column="id")
    assert corpus == read_corpus(pa.table(ROWS), text_column="body", name_column="id")
    assert corpus.doc_names == ("a", "b", "c")


@pytest.mark.parametrize("kind", ["stream", "table", "reader", "pandas", "polars"])
def test_tables_are_read_by_their_text_column(kind):
    table = pa.table(ROWS)
    if kind == "pandas":
        table = pytest.importorskip("pandas").DataFrame(ROWS)
    elif kind == "polars":
        table = pytest.importorskip("polars").DataFrame(ROWS)
    elif kind != "table":
        table = Stream(table) if kind == "stream" else table.to_reader()
    corpus = read_corpus(table, text_column="body", name_column="id")
    assert corpus.vocab == ("apple", "green", "leaf", "red")
    assert corpus.doc_names == ("a", "b", "c")
    assert corpus.n_empty == 1
    assert corpus.word_report.kept == 4


def test_a_column_of_texts_is_a_table_too():
    assert read_corpus(pa.chunked_array([["red apple"], ["leaf"]])).n_documents == 2
    assert read_corpus(pa.table({"only": ["red apple"]})).vocab == ("apple", "red")


@pytest.mark.parametrize("kind", ["chunked", "array"])
def test_a_column_of_arrow_holds_documents(kind):
    texts = ["red apple", "green leaf", "red leaf"] * 4
    column = pa.chunked_array([texts]) if kind == "chunked" else pa.array(texts)
    assert Corpus.from_texts(column) == Corpus.from_texts(texts)
    tokens = pa.array([text.split() for text in texts])
    assert Corpus.from_tokens(tokens) == Corpus.from_tokens([text.split() for text in texts])
    lda, other = (LDA(2, max_iter=5, verbose=False).fit(X) for X in (column, texts))
    assert (lda.components_ == other.components_).all()
    for trained in (lda, lda.model_):
        assert (trained.transform(column) == trained.transform(texts)).all()


@pytest.mark.parametrize("kind", ["stream", "reader", "table", "pandas"])
def test_a_table_where_documents_are_expected_is_one_sentence(kind):
    table = pa.table(ROWS)
    if kind == "pandas":
        table = pytest.importorskip("pandas").DataFrame(ROWS)
    elif kind != "table":
        table = Stream(table) if kind == "stream" else table.to_reader()
    lda = LDA(2, max_iter=2, verbose=False).fit(["red apple", "green leaf"] * 3)
    calls = [(Corpus.from_texts, "texts"), (Corpus.from_tokens, "documents")]
    if kind in ("stream", "reader"):  # other tables may hold counts
        calls += [
            (LDA(2, verbose=False).fit, "X"),
            (lda.transform, "X"),
            (lda.model_.transform, "X"),
        ]
    for call, name in calls:
        with pytest.raises(
            InputError, match=f"^The '{name}' parameter must hold documents"
        ) as said:
            call(table)
        assert "polyaurn.read_corpus(table, text_column='text')" in str(said.value)


def test_phrases_of_a_reader_that_can_be_read_once():
    table = pa.table({"text": ["tower bridge and london eye"] * 60})
    vocab = read_corpus(table.to_reader(), phrases=True).vocab
    assert vocab == ("london_eye", "tower_bridge")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "no column 'text'"),
        ({"text_column": "x"}, "Got 'x'"),
        ({"text_column": 9}, "Got 9"),
        ({"text_column": 1.5}, "name or number"),
        ({"text_column": "year"}, "holds int64"),
        ({"text_column": "body", "format": "lines"}, "is for files"),
    ],
)
def test_bad_columns_of_a_table_are_reported(options, says):
    with pytest.raises(InputError, match=says):
        read_corpus(Stream(pa.table(ROWS)), **options)


def test_a_folder_of_parquet_is_read_file_by_file(tmp_path):
    (tmp_path / "year=2").mkdir()
    table = pa.table(ROWS)
    pq.write_table(table, tmp_path / "year=2" / "part.parquet", row_group_size=1)
    pq.write_table(table, tmp_path / "first.parquet")
    assert recognise(tmp_path) == "parquet"
    corpus = read_corpus(tmp_path, text_column="body", name_column="id")
    assert corpus.doc_names == tuple("abcabc")
    assert corpus.n_tokens == 8
    imported = import_corpus(tmp_path, tmp_path / "all.urn", text_column="body", name_column="id")
    assert imported == corpus
    pq.write_table(pa.table({"other": ["x"]}), tmp_path / "second.parquet")
    with pytest.raises(InputError, match=r"second\.parquet"):
        read_corpus(tmp_path, text_column="body")


def test_html_is_stripped_on_request():
    page = "<head><title>Tea</title><style>p {}</style></head><p>caf&eacute; <b>gr</b>een<br>leaf"
    assert text_of(page + "<script>var x = '<p>'</script>").split() == [
        "Tea",
        "café",
        "green",
        "leaf",
    ]
    assert text_of("a < b & c &amp; d <!-- no --> e") == "a < b & c & d  e"
    assert Corpus.from_texts([page], html=True).vocab == ("café", "green", "leaf", "tea")
    assert "br" in Corpus.from_texts([page]).vocab


@pytest.mark.parametrize(
    "piece", ["<a ", "<a b='", '<a b="', "<!--", "</", "<?", "<![", "<", '<a ">"', "<script>"]
)
def test_any_text_is_read_as_html_in_one_pass(piece):
    """Some of these were errors, others took minutes."""
    assert len(text_of("river " + piece * 20_000)) >= 6
    assert text_of("river <![ boat").split() == ["river", "<![", "boat"]
    assert text_of("<img alt=\"a > b\">leaf <b title='x'>red</b>dish").split() == [
        "leaf",
        "reddish",
    ]


def test_a_folder_of_html(tmp_path):
    (tmp_path / "a.html").write_text("<p>red <i>apple</i></p>", encoding="utf-8")
    (tmp_path / "b.HTM").write_text("<p>leaf</p>", encoding="utf-8")
    with pytest.raises(InputError, match="html=True"):
        read_corpus(tmp_path)
    corpus = read_corpus(tmp_path, html=True)
    assert corpus.doc_names == ("a.html", "b.HTM")
    assert corpus.vocab == ("apple", "leaf", "red")
    assert corpus.tokenization.html


def test_json_lines_with_the_text_inside_another_key(tmp_path):
    path = tmp_path / "posts.jsonl"
    rows = [{"id": 1, "post": {"body": "red apple"}}, {"id": 2, "post": {"body": "leaf"}}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert read_corpus(path, text_column="post.body").vocab == ("apple", "leaf", "red")
    with pytest.raises(InputError, match="line 1: expected the key 'text'"):
        read_corpus(path, text_column="post.text")
