"""AnnData: cells are documents, genes are words."""

from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered
from polyaurn.exchange.parts import fitted, need_documents, word_probabilities


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
    if not is_anndata(adata):
        raise InputError(
            f"The 'adata' parameter must be an AnnData object. Got {type(adata).__name__} instead."
        )
    layers = list(adata.layers.keys())
    listed = f"layers are {', '.join(map(repr, layers))}" if layers else "there are no layers"
    if layer is not None and layer not in layers:
        raise InputError(
            f"The 'layer' parameter must name a layer of the AnnData object; {listed}. Got "
            f"{layer!r} instead."
        )
    if getattr(adata, "isbacked", False):
        adata = adata.to_memory()
    matrix = adata.X if layer is None else adata.layers[layer]
    where = "X" if layer is None else f"layer {layer!r}"
    if matrix is None:
        raise InputError(f"The AnnData object must have counts in X. It has none; {listed}.")
    genes = [str(name) for name in adata.var_names]
    if len(set(genes)) < len(genes):
        raise InputError(
            "The AnnData object must have each gene once in var_names. Some are there twice; call "
            "adata.var_names_make_unique() first."
        )
    try:
        return Corpus.from_matrix(matrix, genes, doc_names=[str(name) for name in adata.obs_names])
    except InputError as error:
        raise InputError(
            f"The {where} of the AnnData object: {str(error).rstrip('.')}; take the layer that "
            f"holds counts, such as from_anndata(adata, layer='counts') ({listed})."
        ) from None


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
    need_documents(trained)
    if not is_anndata(adata):
        raise InputError(
            f"The 'adata' parameter must be an AnnData object. Got {type(adata).__name__} instead."
        )
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
    adata.uns["polyaurn"] = {
        **{name: value for name, value in trained.parameters.items() if value is not None},
        "alpha": trained.priors.alpha.copy(),
        "beta": trained.priors.beta.copy(),
    }
    return adata


def is_anndata(X: Any) -> bool:
    """Tell whether something looks like AnnData, without importing it or reading its matrix."""
    return all(hasattr(type(X), name) for name in ("X", "layers", "obs_names", "var_names"))
