"""Matrices of cells: regions in rows, 10x Genomics, AnnData, names, and what is wrong with them."""

import gzip
import io
import tempfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from polyaurn import Corpus, InputError, import_corpus, read_corpus
from polyaurn.corpus import hdf5_files
from polyaurn.corpus.readers import recognise

h5py = pytest.importorskip("h5py", reason="h5py is not installed")
D, V = 30, 17
CELLS = [f"cell-{d}" for d in range(D)]
REGIONS = [f"chr1:{100 * v}-{100 * v + 50}" for v in range(V)]


@pytest.fixture
def counts():
    matrix = np.random.default_rng(0).poisson(0.5, (D, V)) * np.random.default_rng(1).integers(
        1, 4, (D, V)
    )
    matrix[[0, 7, D - 1]] = 0
    return matrix


@pytest.fixture
def in_small_pieces(monkeypatch):
    monkeypatch.setattr("polyaurn.corpus.conversion.TOKENS_PER_PIECE", 7)
    monkeypatch.setattr("polyaurn.corpus.count_files._PIECE", 31)
    monkeypatch.setattr("polyaurn.corpus.entries._AT_ONCE", 5)
    monkeypatch.setattr("polyaurn.corpus.entries._RANGES", 3)
    monkeypatch.setattr("polyaurn.corpus.hdf5_files._AT_ONCE", 11)


def write_mtx(path, matrix, order=None):
    buffer = io.BytesIO()
    coo = sp.coo_matrix(matrix)
    if order is not None:
        coo = sp.coo_matrix((coo.data[order], (coo.row[order], coo.col[order])), coo.shape)
    scipy.io.mmwrite(buffer, coo)
    text = buffer.getvalue()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def write_10x(path, matrix, names=REGIONS, ids=REGIONS, cells=CELLS, **other):
    columns = sp.csc_matrix(matrix.T)
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        for name in ("data", "indices", "indptr"):
            group[name] = other.get(name, getattr(columns, name))
        group["shape"] = other.get("shape", columns.shape)
        group["barcodes"] = np.array(cells, "S")
        group["features/id"] = np.array(ids, "S")
        group["features/name"] = np.array(names, "S")
    return path


def write_h5ad(path, matrix, rows=CELLS, columns=REGIONS):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    adata = anndata.AnnData(matrix)
    adata.obs_names, adata.var_names = rows, columns
    adata.write_h5ad(path)
    return path


def packed(path):
    other = path.with_name(path.name + ".gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    return other


def beside(folder, prefix="", bed=False, end=""):
    write = gzip.compress if end else bytes
    (folder / f"{prefix}barcodes.tsv{end}").write_bytes(write("\n".join(CELLS).encode()))
    if bed:
        lines = [name.replace(":", "\t").replace("-", "\t") for name in REGIONS]
        (folder / f"{prefix}peaks.bed{end}").write_bytes(write("\n".join(lines).encode()))
    else:
        lines = [f"ID{v}\t{name}\tPeaks" for v, name in enumerate(REGIONS)]
        (folder / f"{prefix}features.tsv{end}").write_bytes(write("\n".join(lines).encode()))


def expected(matrix):
    return Corpus.from_matrix(matrix, REGIONS, doc_names=CELLS)


def both(path, tmp_path, **options):
    """Return a file read whole, which must be the same as imported."""
    found = read_corpus(path, **options)
    assert import_corpus(path, tmp_path / "out.urn", **options) == found
    assert not [p for p in tmp_path.glob(".*")], "temporary files are left over"
    return found


@pytest.mark.plain
@pytest.mark.parametrize("bed", [False, True])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_matrix_of_10x_with_regions_in_rows(counts, tmp_path, in_small_pieces, bed, end):
    write_mtx(tmp_path / f"matrix.mtx{end}", counts.T)
    beside(tmp_path, bed=bed, end=end)
    for path in (tmp_path, tmp_path / f"matrix.mtx{end}"):
        assert recognise(path) == "matrix-market"
        assert both(path, tmp_path, transpose=True) == expected(counts)


def test_names_of_pycistopic_are_found(counts, tmp_path, in_small_pieces):
    path = write_mtx(tmp_path / "brain.matrix.mtx", counts.T)
    (tmp_path / "brain.cell_barcodes.tsv").write_text("\n".join(CELLS))
    (tmp_path / "brain.region_names.tsv").write_text("\n".join(REGIONS))
    assert both(path, tmp_path, transpose=True) == expected(counts)


@pytest.mark.plain
@pytest.mark.parametrize("transpose", [False, True])
def test_entries_in_any_order_are_sorted_outside_memory(
    counts, tmp_path, in_small_pieces, transpose
):
    order = np.random.default_rng(2).permutation(np.count_nonzero(counts))
    path = write_mtx(tmp_path / "x.mtx", counts.T if transpose else counts, order)
    found = both(path, tmp_path, transpose=transpose)
    assert found == Corpus.from_matrix(counts)


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
def test_hdf5_of_10x_has_regions_in_rows_always(counts, tmp_path, in_small_pieces, gz, transpose):
    path = write_10x(tmp_path / "filtered_peak_bc_matrix.h5", counts)
    path = packed(path) if gz else path
    assert recognise(path) == "hdf5"
    assert both(path, tmp_path, transpose=transpose) == expected(counts)


def test_a_gzipped_file_is_unpacked_beside_the_result_and_nothing_is_left(
    counts, tmp_path, monkeypatch
):
    path, out = packed(write_10x(tmp_path / "x.h5", counts)), tmp_path / "out"
    out.mkdir()
    folders = []

    def watched(**options):
        folders.append(options["dir"])
        return make(**options)

    make = tempfile.TemporaryFile
    monkeypatch.setattr(hdf5_files.tempfile, "TemporaryFile", watched)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))  # not there
    assert import_corpus(path, out / "c.urn") == expected(counts)
    assert folders[0] == out
    monkeypatch.setattr(tempfile, "tempdir", str(out))
    assert read_corpus(path) == expected(counts)
    assert [p.name for p in out.iterdir()] == ["c.urn"]
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-900]))
    with pytest.raises(InputError, match="cannot be read as a matrix"):
        import_corpus(path, out / "d.urn")
    assert [p.name for p in out.iterdir()] == ["c.urn"]


def test_what_is_in_memory_is_not_imported(counts, tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    path = write_h5ad(tmp_path / "x.h5ad", sp.csr_matrix(counts))
    backed = anndata.read_h5ad(path, backed="r")
    with pytest.raises(InputError, match=r"Got 'AnnData' instead; name its file, '.*x.h5ad'"):
        import_corpus(backed, tmp_path / "c.urn")
    backed.file.close()
    for found in (anndata.read_h5ad(path), counts):
        with pytest.raises(InputError, match="needs no import, and"):
            import_corpus(found, tmp_path / "c.urn")


def test_genes_of_10x_have_their_names_where_these_differ(counts, tmp_path):
    ids = [f"ENSG{v}" for v in range(V)]
    path = write_10x(tmp_path / "a.h5", counts, ids=ids)
    assert read_corpus(path).vocab == tuple(REGIONS)
    path = write_10x(tmp_path / "b.h5", counts, ids=ids, names=["same"] * V)
    assert read_corpus(path).vocab == tuple(ids)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, np.asarray])
@pytest.mark.parametrize("transpose", [False, True])
def test_anndata_on_disk_is_read_in_pieces(counts, tmp_path, in_small_pieces, make, transpose):
    shown = (counts.T if transpose else counts).astype(np.float32)
    names = (REGIONS, CELLS) if transpose else (CELLS, REGIONS)
    path = write_h5ad(tmp_path / "x.h5ad", make(shown), *names)
    assert both(path, tmp_path, transpose=transpose) == expected(counts)
    assert both(packed(path), tmp_path, transpose=transpose) == expected(counts)


def write_layers(path, logs_of, /, **layers):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    adata = anndata.AnnData(np.log1p(logs_of), layers=layers)
    adata.obs_names, adata.var_names = CELLS, REGIONS
    adata.write_h5ad(path)
    return path


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, np.asarray])
def test_counts_of_a_layer(counts, tmp_path, in_small_pieces, make):
    path = write_layers(tmp_path / "x.h5ad", counts, counts=make(counts), twice=2 * counts)
    assert both(path, tmp_path, layer="counts") == expected(counts)
    assert both(packed(path), tmp_path, layer="twice") == expected(2 * counts)
    with pytest.raises(InputError, match=r"--layer\) takes a layer, of which .* 'counts', 'twice'"):
        read_corpus(path)


def test_a_layer_at_the_command_line(counts, tmp_path, run):
    write_layers(tmp_path / "x.h5ad", counts, counts=sp.csr_matrix(counts))
    train = ("train", "x.h5ad", "-k", 2, "--sweeps", 3, "--out", "m", "--layer")
    code, _, err = run(*train, "raw")
    assert code == 2
    assert (
        "The '--layer' option must name a layer of 'x.h5ad'; its layers are 'counts'. Got 'raw'"
    ) in err
    code, _, err = run(*train, "counts")
    assert code == 0, err
    code, _, err = run("report", "m")
    assert code == 0, err
    assert "not what the model was trained on" not in err
    code, _, err = run("infer", "m", "x.h5ad", "--layer", "counts", "--out", "i.csv")
    assert code == 0, err


@pytest.mark.plain
@pytest.mark.parametrize("name", ["x.mtx", "x.h5ad", "x.h5", "docword.x.txt"])
def test_binarised_each_region_counts_once(counts, tmp_path, in_small_pieces, name):
    ones = (counts > 0).astype(int)
    path = tmp_path / name
    if name == "x.mtx":
        weights = np.where(counts, counts - 0.5, 0) * np.where(np.arange(V) == 3, -1, 1)
        ones[:, 3] = 0
        coo = sp.coo_matrix(weights)
        rows = [
            f"{r + 1} {c + 1} {x:g}" for r, c, x in zip(coo.row, coo.col, coo.data, strict=True)
        ]
        rows.append(f"{coo.row[0] + 1} {coo.col[0] + 1} 2.5e-1")  # an entry that is there twice
        rows.append("2 1 0.0")
        head = f"%%MatrixMarket matrix coordinate real general\n{D} {V} {len(rows)}"
        path.write_text("\n".join([head, *rows]) + "\n")
    elif name == "x.h5ad":
        write_h5ad(path, sp.csr_matrix(np.where(counts, counts - 0.5, 0)))
    elif name == "x.h5":
        write_10x(path, counts)
    else:
        coo = sp.coo_matrix(counts)
        rows = [f"{r + 1} {c + 1} {x}" for r, c, x in zip(coo.row, coo.col, coo.data, strict=True)]
        path.write_text("\n".join([str(D), str(V), str(len(rows)), *rows]) + "\n")
        (tmp_path / "vocab.x.txt").write_text("\n".join(REGIONS))
    found = both(path, tmp_path, binarise=True)
    assert np.array_equal(found.to_matrix().toarray(), ones)


def test_rare_regions_and_poor_cells_are_dropped(counts, tmp_path, in_small_pieces):
    path = write_h5ad(tmp_path / "x.h5ad", sp.csr_matrix(counts))
    often = (counts > 0).sum(axis=0) >= 9
    assert 0 < often.sum() < V
    rest = (counts > 0)[:, often]
    rich = rest.sum(axis=1) >= 3
    with pytest.warns(UserWarning, match=f"{(~rich).sum()} of {D} documents with fewer than 3"):
        found = both(path, tmp_path, binarise=True, min_df=9, min_tokens=3)
    assert np.array_equal(found.to_matrix().toarray(), rest[rich])
    assert list(found.doc_names) == [c for c, r in zip(CELLS, rich, strict=True) if r]
    assert found.vocab == tuple(np.array(REGIONS)[often])
    out = tmp_path / "out.urn"
    with pytest.warns(UserWarning, match="documents with fewer than 5"):
        assert read_corpus(out, min_tokens=5).n_documents < found.n_documents


def test_cells_without_names_keep_their_numbers(counts, tmp_path):
    path = write_mtx(tmp_path / "x.mtx", counts)
    with pytest.warns(UserWarning, match="3 of 30 documents"):
        found = both(path, tmp_path, min_tokens=1)
    assert list(found.doc_names) == [str(d) for d in range(D) if counts[d].sum()]


def test_cells_without_a_region_are_reported(counts, tmp_path, run):
    write_mtx(tmp_path / "matrix.mtx", counts.T)
    beside(tmp_path)
    out = tmp_path / "c.urn"
    code, _, err = run("import", tmp_path, "--transpose", "--out", out)
    assert code == 0
    assert "3 of 30 documents are empty" in err
    code, _, err = run(
        "import", tmp_path, "--transpose", "--min-tokens", 1, "--force", "--out", out
    )
    assert (code, "3 of 30 documents with fewer than 1 tokens were dropped" in err) == (0, True)
    assert read_corpus(out).n_documents == D - 3


def bad_mtx(value):
    def write(folder, counts):
        path = folder / "x.mtx"
        path.write_text(
            f"%%MatrixMarket matrix coordinate real general\n{D} {V} 2\n1 1 2\n2 1 {value}\n"
        )
        return path

    return write


def bad_h5ad(value):
    def write(folder, counts):
        matrix = counts.astype(float)
        matrix[4, 2] = value
        return write_h5ad(folder / "x.h5ad", sp.csr_matrix(matrix))

    return write


def named(cells, regions):
    def write(folder, counts):
        write_mtx(folder / "matrix.mtx", counts.T)
        (folder / "barcodes.tsv").write_text("\n".join(cells))
        (folder / "peaks.bed").write_text("\n".join(regions))
        return folder

    return write


def without_entries(folder, counts):
    path = folder / "x.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate integer general\n{D} {V} 0\n")
    return path


def with_layers_of_another_kind(folder, counts):
    path = write_h5ad(folder / "x.h5ad", counts)
    with h5py.File(path, "r+") as file:
        file.pop("layers", None)
        file["layers"] = 1.0
    return path


BED = [name.replace(":", "\t").replace("-", "\t") for name in REGIONS]
TURNED = {"transpose": True}
NO_COUNTS = "Got 30 documents without a count above 0; is it the right file, and complete"
WRONG = {
    "no entries in MatrixMarket": (without_entries, {}, NO_COUNTS),
    "only zeros in AnnData": (
        lambda folder, counts: write_h5ad(folder / "x.h5ad", 0 * counts), {}, NO_COUNTS,
    ),
    "negative in MatrixMarket": (bad_mtx(-1), {}, "line 4: .* Got '2 1 -1'; .*--binarise"),
    "fraction in MatrixMarket": (bad_mtx(0.5), {}, "line 4: .* Got '2 1 0.5'; .*--binarise"),
    "no number in MatrixMarket": (bad_mtx("nan"), {"binarise": True}, "line 4: .*all numbers"),
    "negative in AnnData": (bad_h5ad(-2), {}, r"document 5, word 3: .* Got -2.0; .*--binarise"),
    "fraction in AnnData": (bad_h5ad(0.25), {}, "document 5, word 3: .* Got 0.25; .*--binarise"),
    "no number in AnnData": (bad_h5ad(np.nan), {"binarise": True}, "expected numbers. Got nan"),
    "too few cells": (named(CELLS[1:], BED), TURNED, "'.*barcodes.tsv' must have 30 names of doc"),
    "too few regions": (named(CELLS, BED[1:]), TURNED, "'.*peaks.bed' must have 17 names of words"),
    "no bed": (named(CELLS, ["chr1 1"] * V), TURNED, "'.*peaks.bed', line 1: expected chromosome"),
    "a region twice in bed": (
        named(CELLS, [*BED[:-1], BED[2]]), TURNED,
        "The file '.*peaks.bed' must hold each word once. Got 'chr1:200-250' in lines 3 and 17",
    ),
    "a gene twice in 10x": (
        lambda folder, counts: write_10x(
            folder / "x.h5", counts, ["same"] * V, [*REGIONS[:-1], REGIONS[2]]
        ), {}, "The matrix in '.*x.h5' must hold each word once. Got 'chr1:200-250' at positions",
    ),
    "not transposed": (named(CELLS, BED), {}, "on its other side: add --transpose"),
    "names of another number": (
        bad_mtx(1), {"doc_names": ["a"]}, "'doc_names' parameter must have 30 names .* Got 1",
    ),
    "10x with a layer": (
        lambda folder, counts: write_10x(folder / "x.h5", counts), {"layer": "counts"},
        "'layer' parameter is for AnnData",
    ),
    "AnnData without layers": (
        lambda folder, counts: write_h5ad(folder / "x.h5ad", counts), {"layer": "counts"},
        "must name a layer of '.*x.h5ad'; it has no layers. Got 'counts'",
    ),
    "AnnData whose layers are a number": (
        with_layers_of_another_kind, {"layer": "counts"}, "it has no layers. Got 'counts'",
    ),
    "10x with a name too few": (
        lambda folder, counts: write_10x(folder / "x.h5", counts, cells=CELLS[1:]), {},
        "must have a name for each row and column of its 17 by 30 matrix. Got 17 and 29",
    ),
    "10x with a bad index": (
        lambda folder, counts: write_10x(
            folder / "x.h5", counts, indices=sp.csc_matrix(counts.T).indices + 9
        ), {}, "an index is not from 0 to 16",
    ),
    "10x with bad ends": (
        lambda folder, counts: write_10x(folder / "x.h5", counts, indptr=[0, 1]), {},
        "'indptr' does not fit",
    ),
    "no tokens left": (
        lambda folder, counts: write_10x(folder / "x.h5", counts), {"min_tokens": 999},
        "all 30 documents have fewer tokens",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_a_sentence_and_leaves_no_file(counts, tmp_path, case):
    write, options, message = WRONG[case]
    path = write(tmp_path, counts)
    before = sorted(tmp_path.iterdir())
    for call in (read_corpus, lambda p, **o: import_corpus(p, tmp_path / "c.urn", **o)):
        with pytest.raises(InputError, match=message):
            call(path, **options)
    assert sorted(tmp_path.iterdir()) == before


def test_other_hdf5_and_damaged_files_are_rejected(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["weights"] = [1.0]
    with pytest.raises(InputError, match="It is HDF5 with weights inside"):
        read_corpus(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read as a matrix of 10x Genomics or AnnData"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("t.txt", "red\n", {"binarise": True}, "'binarise' parameter is for uci, matrix-market"),
        ("t.txt", "red\n", {"min_tokens": 2}, "'min_tokens' parameter is for uci"),
        ("t.txt", "red\n", {"doc_names": ["a"]}, "'doc_names' parameter is for matrix-market"),
        ("t.txt", "red\n", {"layer": "a"}, "'layer' parameter is for hdf5"),
        ("t.ldac", "1 0:1\n", {"min_tokens": -1}, "'min_tokens' parameter must be"),
    ],
)
def test_options_of_matrices_are_for_matrices(tmp_path, name, text, options, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_corpus(tmp_path / name, **options)


def test_a_training_run_and_inference_read_cells_alike(counts, tmp_path, run):
    write_mtx(tmp_path / "matrix.mtx.gz", counts.T)
    beside(tmp_path, end=".gz")
    reading = ("--transpose", "--binarise", "--min-tokens", 2)
    code, _, err = run("train", tmp_path, *reading, "-k", 2, "--sweeps", 5, "--out",
                       tmp_path / "m", "-q")  # fmt: skip
    assert (code, err) == (0, "")
    code, _, err = run(
        "infer", tmp_path / "m", tmp_path, *reading, "--out", tmp_path / "i.csv", "-q"
    )
    assert (code, err) == (0, "")
    assert (tmp_path / "i.csv").read_text().splitlines()[1].startswith("cell-1,")
