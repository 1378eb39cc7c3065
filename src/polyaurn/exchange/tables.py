"""Models as tables: words of topics and topics of documents, in CSV, Parquet and data frames."""

import csv
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked
from polyaurn.files.atomic import PATH, check_new_file, new_file
from polyaurn.model.checks import check_documents
from polyaurn.model.data import ModelData, document_lengths
from polyaurn.model.labels import column_names, given_labels
from polyaurn.model.leading_words import BY_FREQUENCY, BY_RELEVANCE, check_order
from polyaurn.model.model import fitted
from polyaurn.model.tables.words import ranked_words

SUFFIXES = (".csv", ".parquet")
MIXTURES = (*SUFFIXES, ".npz")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for the begin of one


def topic_table(
    model: Any, n_words: int | None = None, *, order: str = BY_RELEVANCE
) -> dict[str, Any]:
    """Return the words of each topic as columns of a table.

    Parameters
    ----------
    model : TopicModel or LDA
        The model.
    n_words : int, optional
        How many words of each topic; all that occur in it, or were seeded, when not given.
    order : {"relevance", "frequency"}
        How words are ranked, as in `TopicModel.topics`.

    Returns
    -------
    dict of str to ndarray or list
        ``topic`` from 0, ``word``, ``rank`` from 1, ``count`` and ``probability``,
        (n + beta) / (sum of n + beta); ``label`` where topics have labels, "" for those without.
        ``pandas.DataFrame`` takes it as it is.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.Corpus.from_matrix([[2, 1]], ["moon", "orbit"])
    >>> lda = polyaurn.LDA(1, max_iter=2, topic_word_prior=0.5, verbose=False).fit(corpus)
    >>> table = polyaurn.exchange.topic_table(lda)
    >>> table["word"], table["probability"].tolist()
    (['moon', 'orbit'], [0.625, 0.375])
    """
    trained = fitted(model)
    method = "probability" if check_order(order) == BY_FREQUENCY else BY_RELEVANCE
    table = ranked_words(trained, method, n_words)
    del table["score"]
    return table | _labels(trained, table["topic"])


def document_table(model: Any) -> dict[str, Any]:
    """Return the topics of each training document as columns of a table.

    Parameters
    ----------
    model : TopicModel or LDA
        The model.

    Returns
    -------
    dict of str to ndarray or list
        ``document`` (its name), ``topic`` from 0, ``count`` and ``probability``,
        (m + alpha) / (tokens + sum of alpha), a row for each topic that has tokens there;
        ``label`` where topics have labels, "" for those without. A document without tokens has no
        row; `polyaurn infer` writes all K topics.
    """
    trained = fitted(model)
    check_documents(trained)
    m, alpha = trained.doc_topic_counts.sorted_indices(), trained.priors.alpha
    document = np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))
    tokens = document_lengths(trained)
    topic = m.indices.astype(np.int64)
    return {
        "document": [trained.doc_names[d] for d in document.tolist()],
        "topic": topic,
        "count": m.data,
        "probability": (m.data + alpha[m.indices]) / (tokens + alpha.sum())[document],
    } | _labels(trained, topic)


def _labels(model: ModelData, topics: I64) -> dict[str, Any]:
    """Return a column of the labels that were given, or no column where none were."""
    labels = given_labels(model)
    return {"label": [labels[k] or "" for k in topics.tolist()]} if any(labels) else {}


def write_table(
    table: dict[str, Any],
    path: str | Path,
    *,
    escape_formulas: bool = False,
    force: bool = False,
) -> Path:
    """Write a table.

    Parameters
    ----------
    table : dict
        Columns, as `topic_table` and `document_table` return them.
    path : str or Path
        NAME.csv (UTF-8, quoted where needed, numbers in full) or NAME.parquet.
    escape_formulas : bool
        Put an apostrophe before words and names in a CSV file that a spreadsheet would take for a
        formula and run: those that begin with =, +, -, @, a tab or a carriage return. Without it,
        words are written as they are.
    force : bool
        Replace a file that is there.

    Returns
    -------
    Path
        The file.
    """
    target = check_table_file(path, force=force)
    with new_file(target) as fresh:
        if target.suffix == ".parquet":
            _parquet(fresh, table)
        else:
            columns = [c.tolist() if isinstance(c, np.ndarray) else c for c in table.values()]
            rows = zip(*columns, strict=True)
            _write_rows(fresh, table, rows, escape_formulas=escape_formulas)
    return target


def check_table_file(path: str | Path, *, force: bool, what: str = PATH) -> Path:
    """Return a path; raise, before long work, if no table can be written there."""
    target = check_new_file(path, force=force, what=what, suffixes=SUFFIXES)
    need_pyarrow(target, what)
    return target


def check_mixture_file(path: Path, *, force: bool, name: str = "--out") -> None:
    """Raise, before long work, if no mixtures can be written to a file."""
    check_new_file(path, force=force, what=f"'{name}' option", suffixes=MIXTURES)
    need_pyarrow(path, f"'{name}' option")


def need_pyarrow(path: Path, what: str) -> None:
    """Reject a Parquet file where pyarrow is missing."""
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            f"The {what} needs pyarrow for '{path}'; install it with: pip install "
            "'polyaurn[parquet]', or take .csv."
        )


def write_mixtures(
    path: Path,
    doc_names: Sequence[str],
    theta: F64,
    labels: list[str | None],
    *,
    escape_formulas: bool = False,
) -> Path:
    """Write mixtures, D by K, one row per document.

    NAME.csv and NAME.parquet are tables with the columns document, topic_0, topic_1 and so on, a
    labelled topic's as "topic_1: LABEL"; NAME.npz has the arrays "theta", "doc_names" and "topics",
    the names of columns. `escape_formulas` is that of `write_table`.
    """
    topics = column_names(theta.shape[1], labels)
    columns = ["document", *topics]
    with new_file(path) as fresh:
        if path.suffix == ".parquet":
            _parquet(fresh, dict(zip(columns, [list(doc_names), *theta.T], strict=True)))
        elif path.suffix == ".npz":
            names = np.array(list(doc_names), dtype=np.str_)
            with fresh.open("wb") as file:
                np.savez_compressed(file, theta=theta, doc_names=names, topics=np.array(topics))
        else:
            rows = tracked(zip(doc_names, theta, strict=True), "writing documents", len(theta))
            cells = ([name, *(f"{value:.6g}" for value in row)] for name, row in rows)
            _write_rows(fresh, columns, cells, escape_formulas=escape_formulas)
    return path


def _write_rows(
    path: Path, names: Iterable[str], rows: Iterable[Iterable[Any]], *, escape_formulas: bool
) -> None:
    if escape_formulas:
        rows = ([_no_formula(cell) for cell in row] for row in rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _no_formula(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _parquet(path: Path, table: dict[str, Any]) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(table), path)
