"""AnnData in and out, against the package."""

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, Corpus, InputError, exchange

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
    with pytest.raises(InputError, match="the cells the model was trained on"):
        exchange.to_anndata(lda, cells[::-1].copy())
    renamed = cells.copy()
    renamed.var_names = [f"other{j}" for j in range(12)]
    with pytest.raises(InputError, match="must have genes that the model knows"):
        exchange.to_anndata(lda, renamed)
    renamed.var_names = ["twin"] * 12
    with pytest.raises(InputError, match="var_names_make_unique"):
        exchange.from_anndata(renamed, "raw")


def test_cells_without_names_go_by_their_number(cells):
    corpus = Corpus.from_matrix(cells.X, list(cells.var_names))
    lda = LDA(2, max_iter=2, verbose=False).fit(corpus)
    assert exchange.to_anndata(lda, cells).obsm["X_topics"].shape == (40, 2)
