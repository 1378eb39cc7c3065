"""What an estimator accepts: any input of scikit-learn's users, turned into documents.

Numbers are checked by scikit-learn itself, in its own words, so that names and numbers of features
are kept as everywhere else there. Documents of words go their own way.
"""

import math
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.corpus.anndata import is_anndata
from polyaurn.corpus.columns import listed
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.inputs import as_corpus
from polyaurn.corpus.known_words import NamedCounts
from polyaurn.corpus.names import index_names
from polyaurn.corpus.text import is_token_lists

_TEXT = InputError(
    "The 'X' parameter must hold counts. Got a table with text; give its column of texts instead, "
    "such as X['text']."
)
MEAN_PSEUDO_COUNT = 10.0  # tokens that a mean fractional weight becomes: rounded by 5 % at most


def documents_to_train(estimator: Any, X: Any) -> Corpus:
    """Return what `fit` was given as a corpus; keep its features and scale on the estimator.

    Parameters
    ----------
    estimator : LDA
        Receives `n_features_in_`, `feature_names_in_` where columns have names, and
        `weight_scale_`.
    X : Corpus, matrix of counts or weights, data frame, AnnData, strings, or lists of tokens
        The documents.

    Returns
    -------
    Corpus
        Fractional weights are scaled and rounded, which is said in a warning.
    """
    X = _in_memory(X)
    if not is_table(X):
        corpus = as_corpus(X)
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = corpus.n_words
        estimator.weight_scale_ = 1.0
        return corpus
    table = _check_table(estimator, X, "fit", reset=True)
    estimator.weight_scale_ = scale_of(table.data)
    return Corpus.from_matrix(
        _whole(table, estimator.weight_scale_), _column_names(X), doc_names=index_names(X)
    )


def documents_to_meet(estimator: Any, X: Any) -> Any:
    """Return what a trained estimator was given as its model takes it.

    Parameters
    ----------
    estimator : LDA
        A trained estimator.
    X : Corpus, matrix of counts or weights, data frame, AnnData, strings, or lists of tokens
        The documents. Columns of a data frame are held against those of training; where these
        had no names, they are looked up among the model's words.

    Returns
    -------
    Corpus, CSR matrix, named counts, strings or lists of tokens
        What `TopicModel.transform` takes.
    """
    X = _in_memory(X)
    if not is_table(X):
        return X
    names = _column_names(X)
    if names is not None and not hasattr(estimator, "feature_names_in_"):
        table = _check_table(None, X, "transform")
        return NamedCounts(_whole(table, estimator.weight_scale_), names, index_names(X))
    return _whole(_check_table(estimator, X, "transform"), estimator.weight_scale_)


def documents_to_add(estimator: Any, X: Any) -> Any:
    """Return new documents as they join those of a trained estimator.

    Columns that have names may be others than those of training; without names they must be the
    model's words.
    """
    X = _in_memory(X)
    if not is_table(X):
        return X
    names, scale = _column_names(X), estimator.weight_scale_
    if names is None:
        return _whole(_check_table(estimator, X, "update"), scale)
    return NamedCounts(_whole(_check_table(None, X, "update"), scale), names, index_names(X))


def is_table(X: Any) -> bool:
    """Return whether something is numbers in rows and columns, not documents of words."""
    if sp.issparse(X):
        return True
    if isinstance(X, Corpus | str | dict) or is_anndata(X):
        return False
    if hasattr(X, "__dataframe__") or len(getattr(X, "shape", (0,))) != 1:
        return True
    if isinstance(X, Iterable):
        items = list(X)
        words = any(isinstance(item, str) for item in items) or is_token_lists(items)
        return bool(items) and not words
    return hasattr(X, "__array__")


def scale_of(weights: np.ndarray) -> float:
    """Return what weights are multiplied by before they are rounded to tokens.

    Parameters
    ----------
    weights : ndarray
        Weights, none of them negative.

    Returns
    -------
    float
        1 for whole numbers; else the smallest of 1, 2, 5, 10, 20, 50, ... that makes the mean
        of the positive weights 10 or more.

    Examples
    --------
    >>> import numpy as np
    >>> scale_of(np.array([3.0, 1.0])), scale_of(np.array([0.2, 0.4]))
    (1.0, 50.0)
    """
    if weights.dtype.kind != "f" or (weights == np.floor(weights)).all():
        return 1.0
    least = MEAN_PSEUDO_COUNT / float(weights[weights > 0].mean())
    if least <= 1.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(float(m * power) for m in (1, 2, 5, 10) if m * power >= least)


def _in_memory(X: Any) -> Any:
    """Return iterators and columns of Arrow as lists; everything else as it is."""
    X = listed(X, "X", counts=True)
    return list(X) if isinstance(X, Iterator) else X


def _column_names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _check_table(estimator: Any, X: Any, method: str, *, reset: bool = False) -> sp.csr_matrix:
    """Return numbers as CSR, finite and not negative; scikit-learn's own words for others."""
    from sklearn.utils.validation import check_array, validate_data

    try:
        if estimator is None:
            X = check_array(X, accept_sparse="csr")
        else:
            X = validate_data(estimator, X, reset=reset, accept_sparse="csr")
    except ValueError as error:
        raise (_TEXT if "string" in str(error) else InputError(str(error))) from None
    if X.dtype.kind not in "biuf":
        raise _TEXT
    table = sp.csr_matrix(X)
    bad = table.data < 0
    if bad.any():
        name = "LDA" if estimator is None else type(estimator).__name__
        at = int(np.argmax(bad))
        row = int(np.searchsorted(table.indptr, at, side="right")) - 1
        raise InputError(
            f"Negative values in data passed to {name}.{method}: the 'X' parameter must hold "
            f"counts. Got {table.data[at].item()!r} at row {row}, column {int(table.indices[at])}."
        )
    return table


def _whole(table: sp.csr_matrix, scale: float) -> sp.csr_matrix:
    """Return whole numbers of tokens; say so where weights had to be rounded."""
    if table.data.dtype.kind != "f" and scale == 1.0:
        return table
    scaled = table.data.astype(np.float64) * scale
    tokens = np.rint(scaled)
    if (tokens != scaled).any():
        scaling = "" if scale == 1.0 else f"multiplied by {scale:g} and "
        warnings.warn(
            "The 'X' parameter holds fractional weights, and topics are drawn for whole tokens: "
            f"weights were {scaling}rounded, so that the result is approximate; "
            "give counts rather than weights such as TF-IDF.",
            stacklevel=4,
        )
    return sp.csr_matrix((tokens, table.indices, table.indptr), shape=table.shape)
