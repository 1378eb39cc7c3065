"""AnnData: corpora from it, and models into it; cells are documents, genes are words."""

from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.anndata import check_anndata, read_anndata
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered
from polyaurn.model.checks import check_documents
from polyaurn.model.data import word_probabilities
from polyaurn.model.labels import KEY, OF_LABELS, given_labels
from polyaurn.model.model import fitted


def from_anndata(adata: Any, layer: str | None = None) -> Corpus:
    """Take the counts of an AnnData object.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells by genes.
    layer : str, optional
        The layer that holds the counts; ``adata.X`` when not given.

    Returns
    -------
    Corpus
        A document for each cell, named as in ``obs_names``; a word for each gene.
    """
    return read_anndata(adata, layer, Corpus.from_matrix)


def to_anndata(model: Any, adata: Any) -> Any:
    """Write a model into the AnnData object it was trained on; X and layers stay as they are.

    Parameters
    ----------
    model : TopicModel or LDA
        Trained on the cells of `adata`, all of them, in their order. Genes are found by name.
    adata : anndata.AnnData
        Receives ``obsm["X_topics"]`` (mixtures of the cells, n_obs by K), ``varm["topics"]``
        (probabilities of genes, n_vars by K; NaN for genes that the model does not know) and
        ``uns["polyaurn"]`` (parameters and priors).

    Returns
    -------
    anndata.AnnData
        The same object.
    """
    trained = fitted(model)
    check_documents(trained)
    check_anndata(adata)
    cells = [" ".join(str(name).split()) for name in adata.obs_names]
    numbered = isinstance(trained.doc_names, Numbered)
    if len(cells) != len(trained.doc_names) or not (numbered or cells == [*trained.doc_names]):
        raise InputError(
            "The 'adata' parameter must have the cells the model was trained on, in their order. "
            f"Got {len(cells):,} cells for a model of {len(trained.doc_names):,} documents, or "
            "other names; for other cells use model.transform."
        )
    number = {word: v for v, word in enumerate(trained.vocab)}
    gene = np.array([number.get(str(name), -1) for name in adata.var_names])
    if not (gene >= 0).any():
        raise InputError(
            "The 'adata' parameter must have genes that the model knows. None of its var_names is "
            "a word of the model; were they renamed?"
        )
    topics = np.full((len(gene), trained.n_topics), np.nan)
    topics[gene >= 0] = word_probabilities(trained).T[gene[gene >= 0]]
    adata.obsm["X_topics"] = trained.doc_topics()
    adata.varm["topics"] = topics
    labels = given_labels(trained)
    adata.uns["polyaurn"] = {
        **{
            name: value
            for name, value in trained.parameters.items()
            if value is not None and name not in OF_LABELS
        },
        **({KEY: np.array([label or "" for label in labels])} if any(labels) else {}),
        "alpha": trained.priors.alpha.copy(),
        "beta": trained.priors.beta.copy(),
    }
    return adata
