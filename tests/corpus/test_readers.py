import gzip
import json
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import polyaurn
from polyaurn import Corpus, InputError, import_corpus, read_corpus
from polyaurn.corpus.readers import recognise
from polyaurn.pages.report.texts import colour_texts

X = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 1]])
WORDS = ["apple", "leaf", "tree", "river"]


def uci(counts=X):
    rows = [f"{d + 1} {w + 1} {counts[d, w]}" for d, w in np.argwhere(counts)]
    return "\n".join([str(len(counts)), str(counts.shape[1]), str(len(rows)), *rows]) + "\n"


def pairs(counts=X, first=0):
    lines = []
    for row in counts:
        cells = [f"{w + first}:{row[w]}" for w in np.flatnonzero(row)]
        lines.append(" ".join([str(len(cells) if not first else 1), *cells]))
    return "\n".join(lines) + "\n"


def write(path, text, packed=False):
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@pytest.fixture
def vocab(tmp_path):
    write(tmp_path / "vocab.toy.txt", "\n".join(WORDS) + "\n")
    return tmp_path


@pytest.mark.plain
@pytest.mark.parametrize("packed", [False, True])
def test_bags_of_words_read_the_same_from_every_format(vocab, packed, monkeypatch):
    # pieces that end in the middle of lines
    monkeypatch.setattr("polyaurn.corpus.count_files._PIECE", 7)
    end = ".gz" if packed else ""
    mtx = vocab / "toy.mtx"
    scipy.io.mmwrite(mtx, sp.csr_matrix(X))
    files = {
        "uci": write(vocab / f"docword.toy.txt{end}", uci(), packed),
        "svmlight": write(vocab / f"toy.svm{end}", pairs(first=1), packed),
        "ldac": write(vocab / f"toy.ldac{end}", pairs(), packed),
        "matrix-market": write(vocab / f"toy.mtx{end}", mtx.read_bytes(), packed),
    }
    for name, file in files.items():
        assert recognise(file) == name
        corpus = read_corpus(file)
        assert corpus.vocab == tuple(WORDS), name
        assert (corpus.to_matrix().toarray() == X).all(), name
        assert corpus.n_empty == 1


@pytest.mark.parametrize("packed", [False, True])
def test_text_reads_the_same_from_every_format(tmp_path, packed):
    texts = ["Apple, apple and leaf", "", "river tree \u00e9t\u00e9"]
    expected = Corpus.from_texts(texts)
    end = ".gz" if packed else ""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in zip("abc", texts, strict=True):
        write(folder / f"{name}.txt{end}", text, packed)
    quoted = "id,text\n" + "".join(f'd{i},"{t}"\n' for i, t in enumerate(texts))
    tabbed = "id\ttext\n" + "".join(f"d{i}\t{t}\n" for i, t in enumerate(texts))
    mallet = "".join(f"d{i}\tlabel\t{t}\n" for i, t in enumerate(texts))
    cases = [
        ("lines", write(tmp_path / f"lines.txt{end}", "\n".join(texts) + "\n", packed), {}),
        ("table", write(tmp_path / f"t.csv{end}", quoted, packed), {"name_column": "id"}),
        ("table", write(tmp_path / f"t.tsv{end}", tabbed, packed), {"name_column": "id"}),
        ("mallet", write(tmp_path / f"m.txt{end}", mallet, packed), {}),
        ("folder", folder, {}),
    ]
    for name, file, options in cases:
        assert recognise(file) == name
        corpus = read_corpus(file, **options)
        assert corpus.fingerprint == expected.fingerprint, name
        if name != "lines":
            assert corpus.doc_names[0] in {"d0", f"a.txt{end}"}


def test_mallet_with_blanks_and_tables_without_names(tmp_path):
    blank = write(tmp_path / "m.txt", "d1 en red apple\nd2 en green leaf\n")
    corpus = read_corpus(blank, format="mallet")
    assert corpus.doc_names == ("d1", "d2")
    assert corpus.vocab == ("apple", "green", "leaf", "red")
    table = write(tmp_path / "t.tsv", 'k1\tx\ty\tred apple\nk2\tx\ty\t"green ""leaf"""\n')
    corpus = read_corpus(table, text_column=np.int64(-1), name_column=0)
    assert corpus.doc_names == ("k1", "k2")
    assert corpus.vocab == ("apple", "green", "leaf", "red")


def test_separators(tmp_path):
    commas = write(tmp_path / "t.tsv", "id\ttext, really\tmore\n1\tred, green, blue\tx\n")
    assert read_corpus(commas, text_column="text, really").vocab == ("blue", "green", "red")
    semicolons = write(tmp_path / "t.csv", 'id;"a,b,c,d";text\n1;x;red leaf\n')
    assert read_corpus(semicolons).vocab == ("leaf", "red")
    bars = write(tmp_path / "b.csv", "id|text\n1|red leaf\n")
    assert read_corpus(bars, separator="|").vocab == ("leaf", "red")


def test_hidden_files_are_skipped(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt", ".hidden.txt", "sub/._b.txt"):
        write(tmp_path / name, "red leaf")
    assert read_corpus(tmp_path).doc_names == ("a.txt", "sub/b.txt")


def test_an_empty_line_in_a_vocabulary_is_named(tmp_path):
    write(tmp_path / "docword.t.txt", "1\n3\n1\n1 1 1\n")
    write(tmp_path / "vocab.t.txt", "a\n\nc\n")
    with pytest.raises(InputError, match=r"vocab.t.txt', line 2: expected a word"):
        read_corpus(tmp_path / "docword.t.txt")
    with pytest.raises(InputError, match="'path' parameter"):
        read_corpus(3)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["a", "b", "c"], "text": ["red apple", None, "leaf"]}), path)
    corpus = read_corpus(path, name_column="id")
    assert corpus.doc_names == ("a", "b", "c")
    assert corpus.n_empty == 1
    with pytest.raises(InputError, match="'id', 'text'"):
        read_corpus(path, text_column="body")
    numbers = tmp_path / "n.parquet"
    pq.write_table(pa.table({"text": [1, 2]}), numbers)
    with pytest.raises(InputError, match="which holds int64"):
        read_corpus(numbers)
    write(tmp_path / "bad.parquet", "PAR1 but no more")
    with pytest.raises(InputError, match="readable Parquet file"):
        read_corpus(tmp_path / "bad.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write(tmp_path / "t.parquet", "PAR1")
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[parquet\]'"):
        read_corpus(tmp_path / "t.parquet")


def test_words_of_bags_without_a_vocabulary_are_numbered(tmp_path):
    file = write(tmp_path / "toy.svm", pairs(first=1))
    assert read_corpus(file).vocab == ("x0", "x1", "x2", "x3")
    assert read_corpus(file, vocabulary=WORDS).vocab == tuple(WORDS)
    zero_based = write(tmp_path / "zero.svm", "+1 0:2 3:1\n-1 1:1 # note\n")
    assert read_corpus(zero_based).to_matrix().toarray().tolist() == [[2, 0, 0, 1], [0, 1, 0, 0]]


def test_matrix_market_transposed(tmp_path):
    scipy.io.mmwrite(tmp_path / "toy.mtx", sp.csr_matrix(X.T))
    corpus = read_corpus(tmp_path / "toy.mtx", transpose=True)
    assert (corpus.to_matrix().toarray() == X).all()


def test_documents_out_of_order_are_sorted(vocab):
    file = write(vocab / "docword.toy.txt", "3\n4\n3\n3 2 3\n1 3 1\n1 1 2\n")
    assert read_corpus(file).to_matrix().toarray().tolist() == [[2, 0, 1, 0], [0] * 4, [0, 3, 0, 0]]


def test_a_bag_of_words_is_pruned_only_when_asked(vocab):
    file = write(vocab / "docword.toy.txt", uci())
    assert read_corpus(file).n_words == 4
    assert read_corpus(file, min_count=2).vocab == ("apple", "leaf")
    assert read_corpus(file, max_words=1).vocab == ("leaf",)


BAD_UCI = [
    ("", "is empty"),
    ("3\n4\n", "line 3: expected the number of entries"),
    ("3\nfour\n1\n1 1 1\n", "line 2: expected the vocabulary size"),
    ("0\n4\n0\n", "line 1: expected the number of documents"),
    ("3\n4\n2\n1 1 1\n", "line 4: expected the 2 entries"),
    ("3\n4\n1\n1 1 1\n1 2 1\n", "line 5: expected the 1 entries"),
    ("3\n4\n2\n1 1 1\n1 2", "line 5: expected three numbers"),
    ("3\n4\n2\n1 1 1\n4 2 1\n", "line 5: expected a document id from 1 to 3"),
    ("3\n4\n1\n0 1 1\n", "line 4: expected a document id from 1 to 3"),
    ("3\n4\n2\n1 1 1\n\n3 5 1\n", "line 6: expected a word id from 1 to 4"),
    ("3\n4\n1\n1 1 -2\n", "line 4: expected a count that is whole, not negative"),
    ("3\n4\n1\n1 1 1.5\n", "Got '1.5'"),
    ("3\n4\n1\n1 1 99999999999\n", "below 2**31"),
    ("3\n4\n1\n1 one 1\n", "word id from 1 to 4"),
    ("3\n4\n0\n", "at least one token"),
    ("3\n5\n1\n1 1 1\n", "must have 5 words"),
]


@pytest.mark.plain
@pytest.mark.parametrize(("text", "says"), BAD_UCI)
@pytest.mark.parametrize("packed", [False, True])
def test_bad_docword_files_name_the_line(vocab, text, says, packed):
    end = ".gz" if packed else ""
    with pytest.raises(InputError) as caught:
        read_corpus(write(vocab / f"docword.toy.txt{end}", text, packed))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "toy.txt" in str(caught.value)


def test_a_truncated_gzip_file_raises(vocab):
    data = gzip.compress(uci(np.arange(1, 4001).reshape(1000, 4)).encode())
    (vocab / "docword.toy.txt.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="cut off or damaged"):
        read_corpus(vocab / "docword.toy.txt.gz")


BAD_FILES = [
    ("toy.svm", "1 1:2\n1 2:0.5\n", {}, "line 2: expected 'label id:count"),
    ("toy.svm", "1 1:2\n1 2:-1\n", {}, "line 2: expected 'label id:count"),
    ("toy.ldac", "2 0:1 1:1\n5 0:1\n", {}, "line 2: expected LDA-C"),
    ("toy.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 1\n", {}, "truncate"),
    ("toy.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 0.5\n", {}, "0.5"),
    ("t.csv", "a,b\n1,2\n", {}, "has 'a', 'b'"),
    ("t.csv", "id,text\n1\n", {}, "row 2: expected at least 2 columns. Got 1"),
    ("t.csv", "1,2\n", {"text_column": 7}, "row 1: expected at least 8 columns. Got 2"),
    (
        "t.csv",
        "1,2\n",
        {"text_column": 1, "name_column": "id"},
        "'name_column' parameter must be a n",
    ),
    (
        "t.csv",
        "id,text\n1,x\n",
        {"text_column": 1.5},
        "'text_column' parameter must be the name or",
    ),
    ("t.csv", "id,text\n", {}, "at least one document"),
    ("lines.txt", "the and\nof\n", {}, "at least one word after"),
    ("lines.txt", b"fine\n\xff\xfe\n", {}, "line 2: expected utf-8 text. Got byte 0xff"),
    ("lines.txt", "fine\n", {"encoding": "martian"}, "'encoding' parameter"),
    ("lines.txt", "fine\n", {"encoding": "rot13"}, "'encoding' parameter"),
    ("lines.txt", "fine\n", {"encoding": "UTF-16"}, "iconv -f utf-16 -t utf-8"),
    ("lines.txt", "fine\n", {"format": "word"}, "'format' parameter must be one of 'uci'"),
    ("lines.txt", "fine\n", {"vocabulary": ["a"]}, "'vocabulary' parameter is for bags"),
    ("lines.txt", "onlyname\n", {"format": "mallet"}, "line 1: expected MALLET's three columns"),
    ("toy.svm", "1 1:2\n", {"stop_words": None}, "'stop_words' parameter is for text"),
    ("toy.svm", "1 3:2\n", {"vocabulary": ["a"]}, "must have 3 words"),
    ("toy.mtx", bytes(range(256)) * 20, {}, "binary"),
    ("toy.mtx", b"\xc3\x28 random \xff", {}, "line 1: expected the banner"),
    ("toy.mtx", "%%MatrixMarket nonsense\n\n\x01\x02", {}, "must be a MatrixMarket matrix"),
    ("t.csv", 'id,text\n1,"open\n2,x\n', {}, "is a quotation mark left open?"),
    ("t.csv", "id,text\n1,x\n", {"separator": "::"}, "'separator' parameter"),
    ("t.txt", "fine\n", {"bogus": 1}, "'bogus' parameter is unknown"),
    ("t.bin", b"PK\x03\x04\0\0\0", {}, "is binary"),
    ("docword.none.txt", uci(), {}, "beside it as 'vocab.none.txt'"),
]


@pytest.mark.plain
@pytest.mark.parametrize(("name", "text", "options", "says"), BAD_FILES)
def test_bad_files_are_one_sentence(tmp_path, name, text, options, says):
    with pytest.raises(InputError) as caught:
        read_corpus(write(tmp_path / name, text), **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_corpus(tmp_path / "nothing.txt")
    with pytest.raises(InputError, match=r"documents as \.txt files"):
        read_corpus(tmp_path)
    write(tmp_path / "vocab.toy.txt", b"caf\xe9\n")
    write(tmp_path / "docword.toy.txt", "1\n1\n1\n1 1 1\n")
    with pytest.raises(InputError, match=r"vocab.toy.txt', line 1: expected UTF-8"):
        read_corpus(tmp_path / "docword.toy.txt")


def test_shared_corpora_have_the_published_sizes(shared_corpora):
    sizes = {"kos": (3430, 6906, 467714), "imdb": (100000, 36444, 9380852)}
    for name, expected in sizes.items():
        corpus = read_corpus(shared_corpora / f"docword.{name}.txt.gz")
        assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == expected
    news = read_corpus(shared_corpora / "20newsgroups.tsv.gz", min_count=10)
    assert news.n_documents == 18845
    assert news.doc_names[0].startswith("20news-bydate")


def test_quoted_fields_of_tab_separated_files(tmp_path):
    pd = pytest.importorskip("pandas")
    texts = ["red\tapple", "green\nleaf", 'the "blue" river', "plain tree"]
    frame = pd.DataFrame({"id": list("abcd"), "text": texts, "year": [1, 2, 3, 4]})
    frame.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    corpus = read_corpus(tmp_path / "t.tsv", name_column="id")
    assert corpus.doc_names == tuple("abcd")
    assert corpus == Corpus.from_texts(texts, doc_names=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", sep=";", index=False)
    assert read_corpus(tmp_path / "t.csv", name_column="id") == corpus


def test_plain_quotation_marks_in_tab_separated_files(tmp_path):
    path = write(tmp_path / "t.tsv", 'text\tid\n"red," she said\ta\na 5" leaf\tb\n"" tree\tc\n')
    corpus = read_corpus(path, name_column="id", stop_words="english")
    assert corpus.doc_names == ("a", "b", "c")
    assert corpus.vocab == ("leaf", "red", "said", "tree")
    open_mark = write(tmp_path / "o.tsv", 'text\tid\n"red apple\ta\nleaf\tb\n"tree"x\tc\n')
    with pytest.raises(InputError, match=r"line 2: .* left open\?"):
        read_corpus(open_mark)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    mark = "\ufeff"
    for name, text in (
        ("q.csv", '"text","id"\n"red apple","a"\n'),
        ("p.csv", "text,id\nred apple,a\n"),
        ("t.tsv", "text\tid\nred apple\ta\n"),
        ("j.txt", '{"text": "red apple", "id": "a"}\n'),
    ):
        corpus = read_corpus(
            write(tmp_path / name, mark + text), text_column="text", name_column="id"
        )
        assert (corpus.vocab, corpus.doc_names) == (("apple", "red"), ("a",))
    mallet = write(tmp_path / "m.txt", mark + "a\tx\tred apple\nb\tx\tleaf\n")
    assert read_corpus(mallet).doc_names == ("a", "b")


@pytest.mark.parametrize("packed", [False, True])
def test_json_lines(tmp_path, packed):
    records = [
        {"id": 7, "review": "red apple\nleaf", "year": 2001},
        {"id": "b", "review": None},
        {"id": "c", "review": "größer", "more": {"deep": [1]}},
    ]
    text = "\n\n".join(json.dumps(record) for record in records) + "\n"
    for name in ("r.jsonl", "r.ndjson", "r.txt"):
        path = write(tmp_path / (name + ".gz" * packed), text, packed)
        assert recognise(path) == "jsonl"
        corpus = read_corpus(path, text_column="review", name_column="id")
        assert corpus.doc_names == ("7", "b", "c")
        assert corpus.vocab == ("apple", "größer", "leaf", "red")
        assert np.diff(corpus.doc_ptr).tolist() == [3, 0, 1]
    assert list(read_corpus(path, text_column="review").doc_names) == ["0", "1", "2"]


def test_json_lines_of_tokens_are_as_lists_of_tokens(tmp_path, run):
    lists = [["The", "red", "apple"], [], None, ["red", "New York"]]
    records = [{"id": f"d{d}", "words": tokens} for d, tokens in enumerate(lists)] * 9
    path = write(tmp_path / "t.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    options = {"text_column": "words", "name_column": "id"}
    corpus = read_corpus(path, **options)
    names = [record["id"] for record in records]
    assert corpus == Corpus.from_tokens([tokens or [] for tokens in lists] * 9, doc_names=names)
    assert corpus.vocab == ("New York", "The", "apple", "red")
    assert import_corpus(path, tmp_path / "t.urn", **options) == corpus
    assert read_corpus(path, **options, max_df=0.6).vocab == ("New York", "The", "apple")
    for read in (read_corpus, lambda *a, **o: import_corpus(*a, tmp_path / "u.urn", **o)):
        for unwanted in ({"stop_words": "english"}, {"language": "de"}, {"phrases": True}):
            with pytest.raises(InputError, match=r"for text, but .* \(lists of tokens\)"):
                read(path, **options, **unwanted)
    train = ("train", "t.jsonl", "--text-column", "words", "-k", 2, "--sweeps", 9, "--out", "m")
    code, _, said = run(*train)
    assert (code, "language" in said) == (0, False), said
    assert run("train", "--config", "m/config.toml", "--out", "again", "-q")[0] == 0
    model, again = polyaurn.load(tmp_path / "m"), polyaurn.load(tmp_path / "again")
    assert np.array_equal(again.assignments, model.assignments)
    for command, out in (("infer m t.jsonl", "o.npz"), ("report m", "r.html")):
        code, _, said = run(*command.split(), "--out", out, "-q")
        assert code == 0, said
    ((text, topics),) = colour_texts(model, corpus, np.array([0]), ["The red apple"])
    assert text.split("\x7f") == ["", "The", " ", "red", " ", "apple", ""]
    assert len(topics) == 3


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [('{"a": "x"}\n', {}, "expected the key 'text'. Got the keys 'a'; name one as"),
     ('{"text": "x y"}\n[1]\n', {"format": "jsonl"}, "line 2: expected a JSON object. Got '[1]'"),
     ('{"text": 3}\n', {}, "line 1: expected text under 'text', or a list of tokens. Got 3"),
     ('{"text": ["a", 3]}\n', {}, "line 1: expected text under 'text', or a list of tokens. Got ["),
     ('{"text": ["a"]}\n{"text": "b c"}\n', {}, "expected lists of tokens, as in its first"),
     ('{"text": "x"}\n', {"text_column": 0}, "'text_column' parameter must be the name of a key"),
     ('{"text": "x"}\n', {"name_column": "id"}, "expected the key 'id'"),
     ('{"text": "x"}\n{"text": ' + "[" * 100_000 + "\n", {"format": "jsonl"},
      "line 2: expected a JSON object")],
)  # fmt: skip
def test_bad_json_lines_are_one_sentence(tmp_path, text, options, says):
    with pytest.raises(InputError) as caught:
        read_corpus(write(tmp_path / "t.jsonl", text), **options)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "options", "says"),
    [("t.txt", "id,text\n1,red apple\n", {"text_column": "text"},
      "'text_column' parameter is for table, parquet, jsonl, but"),
     ("t.txt", "red\n", {"name_column": "id"}, "'name_column' parameter is for"),
     ("t.txt", "red\n", {"separator": ";"}, "'separator' parameter is for table,"),
     ("t.txt", "red\n", {"transpose": True}, "'transpose' parameter is for matrix-market,"),
     ("m.txt", "a\tb\tc d\n", {"name_column": 0}, "'name_column' parameter is for"),
     ("t.ldac", "1 0:1\n1 1:1\n", {"encoding": "latin-1"}, "'encoding' parameter is for")],
)  # fmt: skip
def test_options_without_effect_are_errors(tmp_path, name, text, options, says):
    path = write(tmp_path / name, text)
    for reads in (read_corpus, lambda p, **o: import_corpus(p, tmp_path / "c.urn", **o)):
        with pytest.raises(InputError) as caught:
            reads(path, **options)
        assert says in str(caught.value)


def test_a_table_called_txt_is_read_when_its_format_is_named(tmp_path):
    path = write(tmp_path / "t.txt", "id,text\n1,red apple\n")
    assert read_corpus(path, format="table", text_column="text").vocab == ("apple", "red")
    assert list(read_corpus(path, format="table").doc_names) == ["0"]


def test_text_is_cut_as_another_corpus_was(tmp_path):
    path = write(tmp_path / "t.txt", "Red apple\n")
    rules = Corpus.from_texts(["A b"], lowercase=False, token_pattern=r"\w").tokenization
    corpus = read_corpus(path, tokenization=rules)
    assert corpus.vocab == ("R", "d", "e", "l", "p")
    assert corpus.tokenization is rules
    with pytest.raises(InputError, match="must stand without 'lowercase'"):
        read_corpus(path, tokenization=rules, lowercase=True)
    with pytest.raises(InputError, match="must be a Tokenization"):
        read_corpus(path, tokenization="words")
