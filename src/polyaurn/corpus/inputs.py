"""`as_corpus`: a corpus of whatever users hold in memory."""

from collections.abc import Iterable, Sized
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.corpus.anndata import is_anndata, read_anndata
from polyaurn.corpus.columns import listed
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import index_names
from polyaurn.corpus.text import is_token_lists


def as_corpus(X: Any) -> Corpus:
    """Return a corpus of strings, lists of tokens, or counts: a matrix, a data frame, AnnData.

    The columns of a data frame become the vocabulary, as do the genes of AnnData. A `Corpus` is
    returned as it is.
    """
    if isinstance(X, Corpus):
        return X
    if is_anndata(X):
        return read_anndata(X, None, Corpus.from_matrix)
    X = listed(X, "X", counts=True)
    if sp.issparse(X) or (hasattr(X, "ndim") and X.ndim == 2):
        columns = getattr(X, "columns", None)
        return Corpus.from_matrix(X, None if columns is None else [str(name) for name in columns])
    items = list(X) if isinstance(X, Iterable) and not isinstance(X, str | dict) else []
    if any(isinstance(item, str) for item in items):
        return Corpus.from_texts(items, doc_names=index_names(X))
    if is_token_lists(items):
        return Corpus.from_tokens(items, doc_names=index_names(X))
    if items and all(isinstance(item, list | tuple | np.ndarray) for item in items):
        return Corpus.from_matrix(np.asarray(items))
    empty = isinstance(X, Sized) and not isinstance(X, str) and len(X) == 0
    what = "one string" if isinstance(X, str) else "nothing" if empty else type(X).__name__
    raise InputError(
        "The 'X' parameter must be a Corpus, a matrix of counts, strings or lists of tokens. Got "
        f"{what} instead; put strings in a list, or read a file with polyaurn.read_corpus."
    )
