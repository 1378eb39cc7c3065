"""Files that once crashed a reader, hung it, exhausted memory, or were not named in its error."""

import gzip
import io
import json
import os
import sys
import tracemalloc

import numpy as np
import pytest

from polyaurn import Corpus, InputError, import_corpus, read_corpus
from polyaurn.corpus.urn_file import HEADER_BYTES, MARK, write_urn
from polyaurn.files import reading as files

MANY = b"9" * 5000
BANNER = b"%%MatrixMarket matrix coordinate integer general\n"


def message_of(path, **options):
    with pytest.raises(InputError) as caught:
        read_corpus(path, **options)
    said = str(caught.value)
    assert path.name in said
    assert "\n" not in said
    assert len(said) < 1500
    return said


def write(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("line", [MANY + b" 1 1", b"1 " + MANY + b" 1", b"1 1 " + MANY])
def test_numbers_too_long_for_python_give_a_short_sentence(tmp_path, line):
    path = write(tmp_path / "docword.t.txt", b"1\n1\n1\n" + line + b"\n")
    assert "line 4: expected" in message_of(path, vocabulary=["a"])


@pytest.mark.parametrize("number", [b"2147483647", b"100000000"])
@pytest.mark.parametrize(
    ("name", "text", "options", "says"),
    [
        ("docword.t.txt", b"%s\n1\n1\n1 1 1\n", {"vocabulary": ["a"]}, "documents"),
        ("docword.t.txt", b"1\n1\n1\n1 1 %s\n", {"vocabulary": ["a"]}, "tokens"),
        ("t.svm", b"1 %s:1\n", {}, "words"),
        ("t.svm", b"1 1:%s\n", {}, "tokens"),
        ("t.ldac", b"1 0:%s\n", {"format": "ldac"}, "tokens"),
        ("t.mtx", BANNER + b"%s 1 1\n1 1 1\n", {}, "documents"),
        ("t.mtx", BANNER + b"1 %s 1\n1 1 1\n", {}, "words"),
        ("t.mtx", BANNER + b"1 1 1\n1 1 %s\n", {}, "tokens"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_excessive_claims_take_no_memory(tmp_path, name, text, options, says, number, packed):
    data = text.replace(b"%s", number)
    path = write(tmp_path / name, gzip.compress(data) if packed else data)
    tracemalloc.start()
    try:
        said = message_of(path, **options)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert f"claims {int(number):,} {says}" in said.replace("1 documents and ", "")
    with pytest.raises(InputError, match="times its size in memory"):
        import_corpus(path, tmp_path / "t.urn", **options)
    assert not (tmp_path / "t.urn").exists()


def test_a_jump_in_document_ids_takes_no_memory_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("polyaurn.corpus.count_files._PIECE", 8)
    text = b"2000000000\n1\n3\n1 1 1\n1999999999 1 1\n2000000000 1 1\n"
    path = write(tmp_path / "docword.t.txt", text)
    with pytest.raises(InputError, match=r"claims 2,000,000,000 documents"):
        import_corpus(path, tmp_path / "t.urn", vocabulary=["a"])


def test_moderate_claims_are_read(tmp_path):
    path = write(tmp_path / "docword.t.txt", b"1000000\n1\n1\n7 1 1000000\n")
    corpus = read_corpus(path, vocabulary=["a"])
    assert (corpus.n_documents, corpus.n_tokens) == (1_000_000, 1_000_000)


@pytest.mark.parametrize("format", ["svmlight", "ldac"])
def test_empty_files_of_pairs(tmp_path, format):
    assert "is empty" in message_of(write(tmp_path / "t.x", b""), format=format)
    packed = write(tmp_path / "t.x", gzip.compress(b""))
    assert "is empty" in message_of(packed, format=format)
    assert "at least one token" in message_of(write(tmp_path / "t.x", b"0\n"), format=format)
    assert "at least one token" in message_of(
        write(tmp_path / "t.x", b"1 1:0\n"), format="svmlight"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BANNER + b"3 4 3\n\n1 3 1\n3 4 5\n1 1 21 21 2\n", "line 6: expected row, column"),
        (BANNER + b"1 1 1\n1 1 1" + b"1" * 70_000, "line 3: expected row, column and count"),
        (BANNER + b"1 1 1\n1 1 1\n1 1 1\n", "expected the 1 entries that its header promises"),
        (BANNER + b"1 1 9000000000\n1 1 1\n", "Got 1; the file is truncated"),
        (BANNER + b"1 1 1\n1 1.0\n", "line 3: expected row, column and count"),
        (BANNER + b"1 1\n1 1 1\n", "line 2: expected the numbers of rows and columns and entries"),
        (BANNER + b"99999999999 1 1\n1 1 1\n", "below 2**31"),
        (BANNER, "line 1: expected the numbers of rows"),
        (BANNER.replace(b"integer", b"complex") + b"1 1 1\n1 1 1 0\n", "'integer', 'real'"),
        (BANNER.replace(b"integer", MANY) + b"1 1 1\n1 1 1\n", "'integer', 'real'"),
        (BANNER.replace(b"integer", b"real") + b"1 1 1\n1 1 1e308\n", "line 3"),
        (BANNER.replace(b"integer", b"real") + b"1 1 1\n1 1 nan\n", "line 3"),
        (BANNER.replace(b"int", b"unsigned-int") + b"1 1 1\n1 1 9223372036854775808\n", "line 3"),
        (BANNER.replace(b"coordinate", b"array") + b"100000 100000\n1\n", "10,000,000,000 entries"),
        (BANNER.replace(b"general", b"symmetric") + b"1 2 1\n1 1 1\n", "as many rows as columns"),
    ],
)
def test_matrices_that_crashed_the_parser(tmp_path, text, says):
    assert says in message_of(write(tmp_path / "t.mtx", text))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("written", "count"),
    [(b"2", 2), (b"+2", 2), (b"2.", 2), (b"2.0000000000000000e+00", 2), (b"1.5E1", 15),
     (b"20e-1", 2), (b"0.00", 0), (b"0e99", 0), (b"1.25e2", 125), (b"2.147483647e9", 2**31 - 1),
     (b"2.5", None), (b"5e-1", None), (b"-1", None), (b"1e10", None), (b"2147483648", None),
     (b"1e", None), (b"1e+", None), (b".5", None), (b"1.0.0", None), (b"1.00000000001", None),
     (b"1e-9999999999", None), (b"0x1", None), (b"1_0", None)],
)  # fmt: skip
def test_whole_numbers_written_as_reals(tmp_path, written, count):
    text = BANNER.replace(b"integer", b"real") + b"1 2 2\n1 1 %s\n1 2 1\n" % written
    path = write(tmp_path / "t.mtx", text)
    if count is None:
        assert "line 3: expected row, column and count" in message_of(path)
    elif count < 1000:
        assert read_corpus(path).to_matrix().toarray().tolist() == [[count, 1]]
    else:
        assert f"{count + 1:,} tokens" in message_of(path)


@pytest.mark.plain
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("dense", [False, True])
def test_matrices_as_scipy_writes_them(tmp_path, symmetry, kind, dense):
    scipy_io, sparse = pytest.importorskip("scipy.io"), pytest.importorskip("scipy.sparse")
    counts = np.random.default_rng(3).poisson(1.0, (5, 5)).astype(kind)
    counts = counts + counts.T if symmetry == "symmetric" else counts
    matrix = counts if dense else sparse.coo_array(counts)
    scipy_io.mmwrite(tmp_path / "t.mtx", matrix, symmetry=symmetry)
    assert (read_corpus(tmp_path / "t.mtx").to_matrix().toarray() == counts).all()
    turned = read_corpus(tmp_path / "t.mtx", transpose=True)
    assert (turned.to_matrix().toarray() == counts.T).all()


def test_a_pattern_has_counts_of_one(tmp_path):
    text = BANNER.replace(b"integer", b"pattern") + b"2 2 2\n1 2\n2 1\n"
    corpus = read_corpus(write(tmp_path / "t.mtx", text))
    assert corpus.to_matrix().toarray().tolist() == [[0, 1], [1, 0]]


def test_a_carriage_return_between_quotes_in_a_tab_separated_table(tmp_path):
    path = write(tmp_path / "t.tsv", b'id\ttext\na\t"leaf"\r"tree"\n')
    assert read_corpus(path).vocab == ("leaf", "tree")


def test_a_document_name_of_two_lines_is_imported(tmp_path):
    path = write(tmp_path / "t.csv", b'id,text\n"two\nlines",leaf\n')
    imported = import_corpus(path, tmp_path / "t.urn", name_column="id")
    assert imported.doc_names == ("two lines",)
    assert imported == read_corpus(path, name_column="id")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems reject such names")
def test_file_names_that_are_not_utf8(tmp_path):
    (tmp_path / "texts").mkdir()
    with open(os.fsencode(tmp_path / "texts") + b"/caf\xe9.txt", "w") as file:  # noqa: PTH123
        file.write("red leaf")
    imported = import_corpus(tmp_path / "texts", tmp_path / "t.urn")
    assert imported == read_corpus(tmp_path / "texts")
    assert imported.doc_names == ("caf\ufffd.txt",)


def test_very_deep_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("d")  # noqa: PTH102
        os.chdir("d")
    with open("a.txt", "w") as file:  # noqa: PTH123
        file.write("red leaf")
    try:
        assert read_corpus(tmp_path).doc_names == ("d/" * 1500 + "a.txt",)
    finally:  # what removes folders may itself not go so deep
        os.remove("a.txt")  # noqa: PTH107
        for _ in range(1500):
            os.chdir("..")
            os.rmdir("d")  # noqa: PTH106


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_raises_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "t.txt")
    assert "must be a file" in message_of(tmp_path / "t.txt")


def with_header(data, text):
    return MARK + text + b"\n" + data[len(MARK) + len(text) + 1 :]


def urn(tmp_path):
    return write_urn(Corpus.from_matrix([[1, 1], [0, 1], [1, 0]]), tmp_path / "t.urn")


@pytest.mark.parametrize(
    "tokens", ["9" * 1000, "true", "1e3", "[" * 1500, "-1", "1152921504606846976"]
)
def test_numbers_in_the_header_of_a_mapped_file(tmp_path, tokens):
    path = urn(tmp_path)
    numbers = {"documents": 3, "words": 2, "vocabulary_bytes": 6, "name_bytes": 0}
    header = json.dumps({"format_version": 1, **numbers, "tokens": 0}).replace(
        '"tokens": 0', f'"tokens": {tokens}'
    )
    path.write_bytes(with_header(path.read_bytes(), header.encode()))
    assert "header is damaged" in message_of(path)


def test_document_bounds_that_wrap_around(tmp_path):
    path = urn(tmp_path)
    data = bytearray(path.read_bytes())
    bounds = np.array([0, 2**63 - 1, -2, 4], "<i8")  # every difference, taken in 64 bits, is >= 0
    data[HEADER_BYTES + 16 : HEADER_BYTES + 16 + 32] = bounds.tobytes()
    path.write_bytes(data)
    assert "must not decrease" in message_of(path)


@pytest.mark.parametrize("word", [b"a\rb" * 1000, b"a" * 10_000 + b"\n" + b"a" * 10_000])
def test_long_words_make_short_sentences(tmp_path, word):
    write(tmp_path / "vocab.t.txt", word + b"\nc\n")
    path = write(tmp_path / "docword.t.txt", b"1\n2\n1\n1 1 1\n")
    with pytest.raises(InputError) as caught:
        read_corpus(path)
    assert "vocab.t.txt" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_byte_order_mark_is_not_part_of_the_first_word(tmp_path):
    write(tmp_path / "vocab.t.txt", b"\xef\xbb\xbfleaf\ntree\n")
    path = write(tmp_path / "docword.t.txt", b"1\n2\n1\n1 1 1\n")
    assert read_corpus(path).vocab == ("leaf", "tree")


def parquet(path, table, **options):
    pq = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    pq.write_table(table, buffer, store_schema=False, **options)
    return write(path, buffer.getvalue())


def test_parquet_with_columns_of_one_name_and_messages_of_two_lines(tmp_path):
    pa = pytest.importorskip("pyarrow")
    twice = pa.Table.from_arrays([pa.array(["red leaf"])] * 2, names=["text", "text"])
    path = parquet(tmp_path / "t.parquet", twice)
    assert "one column of each name" in message_of(path)
    path.write_bytes(path.read_bytes()[:-12] + b"\xff" * 4 + path.read_bytes()[-8:])
    assert "readable Parquet file" in message_of(path)


def test_parquet_that_repeats_one_text_without_end(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setattr(files, "SMALL", 1 << 20)
    path = parquet(tmp_path / "t.parquet", pa.table({"text": ["leaf " * 5000] * 2000}))
    assert path.stat().st_size < 2000 * 25_000 / files.RATIO
    assert "must not unpack to more than 100 times" in message_of(path)


def bomb(path, head, byte, size):
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(head)
        for _ in range(size >> 16):
            file.write(byte * (1 << 16))
    return path


@pytest.mark.parametrize(
    ("name", "head", "options"),
    [
        ("docword.t.txt.gz", b"1\n1\n1\n1 1 1\n", {"vocabulary": ["a"]}),
        ("t.svm.gz", b"1 1:1\n", {}),
        ("t.mtx.gz", BANNER + b"1 1 1\n1 1 1\n", {}),
        ("t.txt.gz", b"red leaf\n", {}),
        ("t.csv.gz", b"id,text\n1,red leaf\n", {}),
        ("vocab.t.txt.gz", b"a\n", {}),
    ],
)
def test_gzip_bombs_of_lines(tmp_path, monkeypatch, name, head, options):
    monkeypatch.setattr(files, "SMALL", 1 << 20)
    path = bomb(tmp_path / name, head, b"\n", 1 << 21)
    assert path.stat().st_size * files.RATIO < 1 << 20
    if name.startswith("vocab"):
        write(tmp_path / "docword.t.txt", b"1\n1\n1\n1 1 1\n")
        with pytest.raises(InputError, match=r"vocab.t.txt.gz' must not unpack to more than 100"):
            read_corpus(tmp_path / "docword.t.txt")
        return
    assert "more than 100 times its size" in message_of(path, **options)
    with pytest.raises(InputError, match="more than 100 times its size"):
        import_corpus(path, tmp_path / "t.urn", **options)


@pytest.mark.parametrize(
    ("name", "head", "options"),
    [
        ("docword.t.txt", b"1\n1\n1\n1 1 1\n", {"vocabulary": ["a"]}),
        ("docword.t.txt", b"", {"vocabulary": ["a"]}),
        ("t.svm", b"1 1:1\n", {"format": "svmlight"}),
        ("t.mtx", BANNER + b"1 1 1\n1 1 1\n", {}),
        ("t.mtx", BANNER + b"%", {}),
        ("t.txt", b"red leaf\n", {}),
        ("t.csv", b'id,text\n1,"', {}),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_lines_without_an_end(tmp_path, monkeypatch, name, head, options, packed):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr("polyaurn.corpus.count_files._PIECE", 1 << 16)
    if packed:
        path = bomb(tmp_path / f"{name}.gz", head, b"1", 1 << 21)
    else:
        path = write(tmp_path / name, head + b"1" * (1 << 21))
    said = message_of(path, **options)
    assert "bytes in a line" in said or "line 1: expected the number of documents" in said


def test_a_field_and_a_document_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 16)
    path = write(tmp_path / "t.csv", b'id,text\n1,"' + b"leaf\n" * 20_000)
    assert "is a quotation mark left open?" in message_of(path)
    (tmp_path / "texts").mkdir()
    write(tmp_path / "texts" / "a.txt", b"leaf\n" * 20_000)
    with pytest.raises(InputError, match=r"a.txt' must be a document of at most"):
        read_corpus(tmp_path / "texts")
