"""Models as tables: words of topics and topics of documents, for CSV, Parquet and data frames."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.exchange.parts import fitted, need_documents
from polyaurn.files.atomic import PATH, check_new_file, new_file
from polyaurn.model.mixture_files import need_pyarrow
from polyaurn.model.tables.words import ranked_words

SUFFIXES = (".csv", ".parquet")


def topic_table(model: Any, n_words: int | None = None) -> dict[str, Any]:
    """Return the words of each topic as columns of a table.

    Parameters
    ----------
    model : TopicModel or LDA
        The model.
    n_words : int, optional
        How many words of each topic; all that occur in it, or were seeded, when not given.

    Returns
    -------
    dict of str to ndarray or list
        ``topic`` from 0, ``word``, ``rank`` from 1, ``count`` and ``probability``,
        (n + beta) / (sum of n + beta). ``pandas.DataFrame`` takes it as it is.

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
    table = ranked_words(trained, n_words=n_words)
    del table["score"]
    return table


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
        (m + alpha) / (tokens + sum of alpha), a row for each topic that has tokens there. A
        document without tokens has no row; `mixturefiles.write_mixtures` writes all K topics.
    """
    trained = fitted(model)
    need_documents(trained)
    m, alpha = trained.doc_topic_counts.sorted_indices(), trained.priors.alpha
    document = np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))
    tokens = np.asarray(m.sum(axis=1)).ravel()
    return {
        "document": [trained.doc_names[d] for d in document.tolist()],
        "topic": m.indices.astype(np.int64),
        "count": m.data,
        "probability": (m.data + alpha[m.indices]) / (tokens + alpha.sum())[document],
    }


def write_table(table: dict[str, Any], path: str | Path, *, force: bool = False) -> Path:
    """Write a table.

    Parameters
    ----------
    table : dict
        Columns, as `topic_table` and `document_table` return them.
    path : str or Path
        NAME.csv (UTF-8, quoted where needed, numbers in full) or NAME.parquet.
    force : bool
        Replace a file that is there.

    Returns
    -------
    Path
        The file.
    """
    target = check_table_file(path, force=force)
    with new_file(target) as fresh:
        (_parquet if target.suffix == ".parquet" else _csv)(fresh, table)
    return target


def check_table_file(path: str | Path, *, force: bool, what: str = PATH) -> Path:
    """Refuse a file that a table cannot be written to, before long work."""
    target = check_new_file(path, force=force, what=what, suffixes=SUFFIXES)
    need_pyarrow(target, what)
    return target


def _csv(path: Path, table: dict[str, Any]) -> None:
    columns = [c.tolist() if isinstance(c, np.ndarray) else c for c in table.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*columns, strict=True))


def _parquet(path: Path, table: dict[str, Any]) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(table), path)
