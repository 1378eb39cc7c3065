"""Import to a mapped file: the same corpus as reading, in pieces, and errors."""

import gzip
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from polyaurn import Corpus, InputError, datasets, import_corpus, read_corpus, sweeps
from polyaurn.base import arrays as mapping
from polyaurn.corpus.readers import recognise
from polyaurn.corpus.urn_file import HEADER_BYTES, MARK, write_urn

TEXTS = ["Apple, apple and leaf", "", "river tree été", "the of and", "leaf apple", "river"] * 3


@pytest.fixture
def in_small_pieces(monkeypatch):
    monkeypatch.setattr("polyaurn.corpus.conversion.DOCUMENTS_PER_PIECE", 4)
    monkeypatch.setattr("polyaurn.corpus.conversion.TOKENS_PER_PIECE", 5)
    monkeypatch.setattr("polyaurn.corpus.count_files._PIECE", 11)
    monkeypatch.setattr("polyaurn.corpus.arrays.PIECE", 3)


def uci(folder, matrix, order=None):
    cells = np.argwhere(matrix)
    cells = cells if order is None else cells[order]
    rows = [f"{d + 1} {w + 1} {matrix[d, w]}" for d, w in cells]
    head = [str(matrix.shape[0]), str(matrix.shape[1]), str(len(rows))]
    (folder / "vocab.toy.txt").write_text("".join(f"w{v}\n" for v in range(matrix.shape[1])))
    path = folder / "docword.toy.txt.gz"
    path.write_bytes(gzip.compress(("\n".join(head + rows) + "\n").encode()))
    return path


@pytest.mark.plain
@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("lines.txt", "\n".join(TEXTS) + "\n", {}),
        ("lines.txt", "\n".join(TEXTS) + "\n", {"min_count": 4, "stop_words": None}),
        ("lines.txt", "\n".join(TEXTS) + "\n", {"max_doc_fraction": 0.5, "max_words": 3}),
        ("t.csv", "id,text\n" + "".join(f'd{i},"{t}"\n' for i, t in enumerate(TEXTS)),
         {"name_column": "id"}),
        ("m.txt", "".join(f"d{i}\tx\t{t}\n" for i, t in enumerate(TEXTS)), {"ngram_range": (1, 2)}),
    ],
)  # fmt: skip
def test_text_is_imported_as_it_is_read(tmp_path, in_small_pieces, name, text, options):
    path = tmp_path / name
    path.write_text(text)
    seen = []
    imported = import_corpus(path, tmp_path / "c.urn", on_piece=seen.append, **options)
    assert imported == read_corpus(path, **options)
    assert read_corpus(tmp_path / "c.urn") == imported
    assert seen[-1] == len(TEXTS)
    assert len(seen) > 1


def test_empty_documents_do_not_count_where_words_are_pruned(tmp_path, in_small_pieces):
    """A word of six of seven documents with words is too common for 0.8, not of six of ten."""
    path = tmp_path / "lines.txt"
    path.write_text("moon star\n" * 6 + "star\n" + "of the\n" * 3)
    with pytest.raises(InputError, match="pruning must leave at least one word"):
        import_corpus(path, tmp_path / "c.urn", max_doc_fraction=0.8)
    kept = import_corpus(path, tmp_path / "c.urn", max_doc_fraction=0.9)
    assert kept.vocab == ("moon",)
    assert kept == read_corpus(path, max_doc_fraction=0.9)


def test_a_folder_and_a_parquet_file_are_imported(tmp_path, in_small_pieces):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": [*TEXTS, None]}), tmp_path / "t.parquet")
    folder = tmp_path / "folder"
    folder.mkdir()
    for i, text in enumerate(TEXTS):
        (folder / f"{i:02}.txt").write_text(text)
    for path in (tmp_path / "t.parquet", folder):
        assert import_corpus(path, tmp_path / "c.urn") == read_corpus(path)


@pytest.mark.plain
def test_counts_are_imported_as_they_are_read(tmp_path, in_small_pieces):
    matrix = np.random.default_rng(0).poisson(0.4, (20, 9))
    matrix[[0, 7, 8, 19]] = 0  # empty documents, also the first and the last
    path = uci(tmp_path, matrix)
    imported = import_corpus(path, tmp_path / "c.urn", min_count=3)
    assert imported == read_corpus(path, min_count=3)
    assert imported.n_documents == 20
    shuffled = uci(tmp_path, matrix, np.random.default_rng(1).permutation(np.count_nonzero(matrix)))
    assert import_corpus(shuffled, tmp_path / "c.urn") == read_corpus(path)
    scipy.io.mmwrite(tmp_path / "toy.mtx", sp.csr_matrix(matrix))
    assert import_corpus(tmp_path / "toy.mtx", tmp_path / "m.urn") == read_corpus(path)
    assert recognise(tmp_path / "m.urn") == "urn"
    assert import_corpus(tmp_path / "m.urn", tmp_path / "n.urn", min_count=3) == imported
    assert not list(tmp_path.glob(".*")), "temporary files are left over"


def test_training_on_a_mapped_file_gives_the_same_bytes(tmp_path):
    corpus = datasets.generate(100, 60, 4, 30.0)
    mapped = read_corpus(write_urn(corpus, tmp_path / "c.urn"))
    assert not mapped.word.flags.owndata
    mapping.release(mapped.word)
    assert mapped == corpus
    runs = [[s.z.tobytes() for s, _ in sweeps(c, 5, max_iter=3)] for c in (corpus, mapped)]
    assert runs[0] == runs[1]


def test_what_cannot_be_imported_raises_and_leaves_no_file(tmp_path, monkeypatch):
    lines = tmp_path / "lines.txt"
    lines.write_text("the of\nand\n")
    out = tmp_path / "c.urn"
    for path, options, message in [
        (lines, {}, "at least one token. Got 2 documents without any word"),
        (lines, {"stop_words": None, "min_count": 9}, "pruning must leave at least one word"),
        (lines, {"vocabulary": ["a"]}, "'vocabulary' parameter is for bags of words"),
        (
            uci(tmp_path, np.ones((2, 2), int)),
            {"stop_words": None},
            "'stop_words' parameter is for",
        ),
        (tmp_path / "no.txt", {}, "does not exist"),
    ]:
        with pytest.raises(InputError, match=message):
            import_corpus(path, out, **options)
        assert not out.exists()
    for bad, message in [
        (tmp_path / "c.txt", "must end in .urn"),
        (tmp_path / "no" / "c.urn", "folder that exists"),
    ]:
        with pytest.raises(InputError, match=message):
            import_corpus(lines, bad)
    with pytest.raises(InputError, match="'stop_wordz' parameter is unknown"):
        import_corpus(lines, out, stop_wordz=None)

    def full(**options):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.TemporaryFile", full)
        with pytest.raises(InputError, match="cannot be written: Permission denied"):
            import_corpus(lines, out)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.plain
def test_large_arrays_have_their_own_memory_map_and_start_with_zeros():
    large, small = mapping.zeros(mapping.LARGE // 4, np.int32), mapping.zeros(7, np.int32)
    assert not large.any()
    assert not small.any()
    large[-1] = 5
    mapping.release(large)  # not in a file: nothing is lost
    assert large[-1] == 5
    assert large.base is not None
    assert small.base is None


def damaged(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    other = path.with_name("damaged.urn")
    other.write_bytes(data)
    return other


def with_header(**changes):
    def change(data):
        header = json.loads(data[len(MARK) : HEADER_BYTES].split(b"\n")[0]) | changes
        text = MARK + json.dumps(header).encode() + b"\n"
        data[: len(text)] = text

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.__delitem__(slice(-5, None)), "bytes, got"),
        (with_header(tokens=10**9), "bytes, got"),
        (with_header(words=3), "words where 3 are promised"),
        (with_header(tokens=-1), "header is damaged"),
        (with_header(format_version=9), "update polyaurn"),
        (lambda data: data.__setitem__(slice(20, 30), b"x" * 10), "header is damaged"),
        (lambda data: data.__setitem__(HEADER_BYTES + 3, 255), "It is damaged"),
        (lambda data: data.__setitem__(HEADER_BYTES + 2, 255), "It is damaged"),
        (lambda data: data.__setitem__(-2, 255), "It is damaged"),
    ],
    ids=["cut off", "too long", "words", "negative", "newer", "garbage", "below", "above", "utf-8"],
)
def test_damaged_files_raise(tmp_path, change, message):
    path = write_urn(Corpus.from_matrix([[2, 1], [0, 3]]), tmp_path / "c.urn")
    with pytest.raises(InputError, match=message):
        read_corpus(damaged(path, change))


def test_options_for_text_raise_for_an_imported_corpus(tmp_path):
    path = write_urn(Corpus.from_matrix([[2, 1], [0, 3]]), tmp_path / "c.urn")
    with pytest.raises(InputError, match="has already been imported"):
        read_corpus(path, stop_words=None)
