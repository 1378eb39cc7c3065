"""AnnData in and out, against the package."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, Corpus, InputError, exchange, load, read_corpus

anndata = pytest.importorskip("anndata", reason="anndata is not installed")


@pytest.fixture
def cells():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (40, 12)).astype(np.float32)
    counts[:20, :6] *= 5
    counts[20:, 6:] *= 5
    adata = anndata.AnnData(sp.csr_matrix(counts))
    adata.obs_names = [f"cell-{i}" for i in range(40)]
    adata.var_names = [f"GENE{j}" for j in range(12)]
    return adata


@pytest.mark.parametrize("dense", [False, True])
def test_cells_are_documents(cells, dense):
    counts = cells.X.toarray()
    if dense:
        cells.X = counts
    corpus = exchange.from_anndata(cells)
    assert np.array_equal(corpus.to_matrix().toarray(), counts)
    assert list(corpus.doc_names) == list(cells.obs_names)
    assert corpus.vocab == tuple(cells.var_names)
    cells.layers["counts"] = cells.X.copy()
    cells.X = np.log1p(counts)
    assert exchange.from_anndata(cells, layer="counts") == corpus


def test_fit_and_transform_take_it_as_it_is(cells, tmp_path):
    lda = LDA(2, max_iter=40, verbose=False).fit(cells)
    assert lda.corpus_ == exchange.from_anndata(cells)
    mixtures = lda.transform(cells[::-1, ::-1])
    assert np.array_equal(mixtures[::-1], lda.transform(lda.corpus_))
    assert len({*mixtures[:20].argmax(axis=1)}) == 1
    for matrix in (cells.X, cells.X.toarray()):
        cells.X = matrix
        cells.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        assert exchange.from_anndata(backed) == lda.corpus_
        backed.file.close()


def test_topics_go_beside_the_counts(cells, tmp_path):
    typical = int(np.median(cells.X.toarray().sum(axis=0)))
    corpus = exchange.from_anndata(cells).prune(min_count=typical)
    assert 0 < corpus.n_words < 12
    lda = LDA(2, max_iter=40, verbose=False).fit(corpus)
    before = cells.X.copy()
    assert exchange.to_anndata(lda, cells) is cells
    assert (before != cells.X).nnz == 0
    assert not cells.layers.keys()
    assert np.array_equal(cells.obsm["X_topics"], lda.model_.doc_topics())
    topics = cells.varm["topics"]
    known = np.isin(cells.var_names, corpus.vocab)
    assert topics.shape == (12, 2)
    assert np.isnan(topics[~known]).all()
    assert np.allclose(topics[known].sum(axis=0), 1.0)
    best = cells.var_names[np.nanargmax(topics, axis=0)]
    assert list(best) == [topic[0] for topic in lda.topics(1)]
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert np.array_equal(again.obsm["X_topics"], cells.obsm["X_topics"])
    assert again.uns["polyaurn"]["sampler"] == "partitioned"
    assert again.uns["polyaurn"]["seed"] == 0
    assert again.uns["polyaurn"]["alpha"].tolist() == lda.model_.priors.alpha.tolist() != [0.1, 0.1]


def test_bad_input_is_one_sentence(cells):
    lda = LDA(2, max_iter=2, verbose=False).fit(cells)
    cells.layers["raw"] = cells.X.copy()
    with pytest.raises(InputError, match=r"must name a layer.*'raw'. Got 'counts'"):
        exchange.from_anndata(cells, "counts")
    for bad in (0.5, -1.0, np.nan):
        cells.X[3, 4] = bad
        with pytest.raises(InputError, match=r"The X of the.*at row 3, column 4.*layer='counts'"):
            LDA(2).fit(cells)
    cells.layers["raw"][0, 0] = 0.25
    with pytest.raises(InputError, match="The layer 'raw' of the AnnData object"):
        exchange.from_anndata(cells, "raw")
    cells.X = None
    with pytest.raises(InputError, match=r"must have counts in X.*'raw'"):
        exchange.from_anndata(cells)
    for call in (exchange.from_anndata, lambda x: exchange.to_anndata(lda, x)):
        with pytest.raises(InputError, match=r"must be an AnnData object. Got list"):
            call([[1]])
    with pytest.raises(InputError, match=r"1 of 40 are not among its 39 obs_names, such as 'ce"):
        exchange.to_anndata(lda, cells[1:].copy())
    renamed = cells.copy()
    renamed.var_names = [f"other{j}" for j in range(12)]
    with pytest.raises(InputError, match="must have genes that the model knows"):
        exchange.to_anndata(lda, renamed)
    renamed.var_names = ["same"] * 12
    with pytest.raises(InputError, match="var_names_make_unique"):
        exchange.from_anndata(renamed, "raw")


def test_cells_without_names_go_by_their_number(cells):
    corpus = Corpus.from_matrix(cells.X, list(cells.var_names))
    lda = LDA(2, max_iter=2, verbose=False).fit(corpus)
    assert exchange.to_anndata(lda, cells).obsm["X_topics"].shape == (40, 2)


def test_cells_that_were_dropped_have_no_mixture(cells, tmp_path):
    counts = cells.X.toarray()
    counts[[3, 17]] = 0
    cells.X = sp.csr_matrix(counts)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    with pytest.warns(UserWarning, match="2 of 40 documents with fewer than 1 tokens"):
        corpus = read_corpus(tmp_path / "cells.h5ad", min_tokens=1)
    lda = LDA(2, max_iter=5, verbose=False).fit(corpus)
    other = cells[::-1].copy()
    for adata, step in ((cells, 1), (other, -1)):
        mixtures = exchange.to_anndata(lda, adata).obsm["X_topics"][::step]
        assert np.flatnonzero(np.isnan(mixtures).any(axis=1)).tolist() == [3, 17]
        assert np.array_equal(np.delete(mixtures, [3, 17], axis=0), lda.model_.doc_topics())
    assert list(other.obs_names) == list(cells.obs_names)[::-1]
    cells.obs_names = ["same"] * 40
    with pytest.raises(InputError, match="must have each cell once in obs_names"):
        exchange.to_anndata(lda, cells)


def test_a_copy_of_the_file_has_the_model_and_all_else_as_it_was(cells, tmp_path, run):
    cells.layers["counts"] = cells.X.copy()
    cells.X = np.log1p(cells.X)
    cells.raw = cells
    cells.obsm["X_topics"], cells.uns["said"] = np.ones((40, 3)), {"before": 1}
    cells.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    code, _, err = run("train", "cells.h5ad", "--layer", "counts", "-k", 2, "--sweeps", 5,
                       "--out", "m", "-q")  # fmt: skip
    assert code == 0, err
    export = ("export", "m", "--to", "anndata", "--out")
    code, _, err = run(*export, "copy.h5ad")
    assert code == 0, err
    copy, model = anndata.read_h5ad(tmp_path / "copy.h5ad"), load(tmp_path / "m")
    assert np.array_equal(copy.obsm["X_topics"], model.doc_topics())
    assert copy.varm["topics"].shape == (12, 2)
    assert copy.uns["polyaurn"]["seed"] == 0
    assert copy.uns["said"] == {"before": 1}
    for mine, theirs in ((cells.X, copy.X), (cells.raw.X, copy.raw.X),
                         (cells.layers["counts"], copy.layers["counts"])):  # fmt: skip
        assert (mine != theirs).nnz == 0
    code, _, err = run(*export, "copy.h5ad")
    assert (code, "'copy.h5ad' is there already" in err) == (2, True)
    code, _, err = run(*export, "cells.h5ad", "--force")
    assert (code, "The copy must have a name of its own" in err) == (2, True)
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    assert run(*export, "copy.h5ad", "--force", "-q") == (0, "", "")
    (tmp_path / "cells.h5ad").rename(tmp_path / "moved.h5ad")
    code, _, err = run(*export, "again.h5ad")
    assert (code, "is no longer there. Name its new place with --corpus" in err) == (2, True)
    code, _, err = run(*export, "again.h5ad", "--corpus", "moved.h5ad")
    assert code == 0, err
    assert {path.name for path in tmp_path.iterdir()} == {
        "m", "moved.h5ad", "copy.h5ad", "again.h5ad",
    }  # fmt: skip


def test_a_file_with_cells_in_columns_has_the_model_on_its_other_sides(cells, tmp_path, run):
    cells.T.copy().write_h5ad(tmp_path / "turned.h5ad")
    code, _, err = run("train", "turned.h5ad", "--transpose", "-k", 2, "--sweeps", 5, "--out", "m",
                       "-q")  # fmt: skip
    assert code == 0, err
    export = ("export", "m", "--to", "anndata", "--out")
    code, _, err = run(*export, "copy.h5ad")
    assert code == 0, err
    copy, model = anndata.read_h5ad(tmp_path / "copy.h5ad"), load(tmp_path / "m")
    assert np.array_equal(copy.varm["X_topics"], model.doc_topics())
    assert copy.obsm["topics"].shape == (12, 2)
    assert np.allclose(copy.obsm["topics"].sum(axis=0), 1.0)
    assert ("X_topics" in copy.obsm, "topics" in copy.varm) == (False, False)
    assert copy.uns["polyaurn"]["n_topics"] == 2
    moved = (*export, "again.h5ad", "--corpus", "turned.h5ad")
    code, _, err = run(*moved)
    assert (code, "--adata" in err) == (2, False)
    assert "40 of 40 are not among its 12 obs_names" in err
    assert "its other side has them all: add transpose=True (--transpose)." in err
    code, _, err = run(*moved, "--transpose")
    assert code == 0, err
    with pytest.raises(InputError, match=r"12 var_names.*leave out transpose \(--transpose\)"):
        exchange.to_anndata(model, cells, transpose=True)


def test_a_model_of_a_grid_finds_its_file_and_says_which_cells_were_held_out(cells, tmp_path, run):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    code, _, err = run("choose-topics", "cells.h5ad", "--topics", "2", "--seeds", 1, "--sweeps", 3,
                       "--out", "grid", "--threads", 1)  # fmt: skip
    assert code == 0, err
    code, _, err = run("export", "grid", "--to", "anndata", "--out", "copy.h5ad")
    assert code == 2
    assert f"holds several; give one of them, such as '{Path('grid/models/k0002-seed0')}'." in err
    code, _, err = run("export", "grid/models/k0002-seed0", "--to", "anndata", "--out", "copy.h5ad")
    assert code == 0, err
    assert "Note: 4 of 40 cells are not those that the model was trained on; they have NaN" in err
    mixtures = anndata.read_h5ad(tmp_path / "copy.h5ad").obsm["X_topics"]
    assert np.isnan(mixtures).all(axis=1).sum() == 4
