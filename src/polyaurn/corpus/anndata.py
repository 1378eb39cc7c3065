"""AnnData as input: cells are documents, genes are words. The package itself is not imported."""

from collections.abc import Callable
from typing import Any, TypeVar

import scipy.sparse as sp

from polyaurn.base.errors import InputError

C = TypeVar("C")
_ROWS_AT_ONCE = 1_000


def is_anndata(X: Any) -> bool:
    """Return whether something looks like AnnData, without importing it or reading its matrix."""
    return all(hasattr(type(X), name) for name in ("X", "layers", "obs_names", "var_names"))


def check_anndata(adata: Any) -> None:
    """Reject what is not AnnData."""
    if not is_anndata(adata):
        raise InputError(
            f"The 'adata' parameter must be an AnnData object. Got {type(adata).__name__} instead."
        )


def read_anndata(adata: Any, layer: str | None, make_corpus: Callable[..., C]) -> C:
    """Make a corpus of the counts in ``adata.X`` or in a layer.

    `make_corpus` is `Corpus.from_matrix`, which this module cannot import.
    """
    check_anndata(adata)
    layers = list(adata.layers.keys())
    listed = f"layers are {', '.join(map(repr, layers))}" if layers else "there are no layers"
    if layer is not None and layer not in layers:
        raise InputError(
            f"The 'layer' parameter must name a layer of the AnnData object; {listed}. Got "
            f"{layer!r} instead."
        )
    matrix = adata.X if layer is None else adata.layers[layer]
    if layer is None and matrix is not None and getattr(adata, "isbacked", False):
        pieces = adata.chunked_X(_ROWS_AT_ONCE)  # a dense matrix on disk is not read as a whole
        matrix = sp.vstack([sp.csr_matrix(piece) for piece, _, _ in pieces], format="csr")
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
        return make_corpus(matrix, genes, doc_names=[str(name) for name in adata.obs_names])
    except InputError as error:
        raise InputError(
            f"The {where} of the AnnData object: {str(error).rstrip('.')}; take the layer that "
            f"holds counts, such as from_anndata(adata, layer='counts') ({listed})."
        ) from None
