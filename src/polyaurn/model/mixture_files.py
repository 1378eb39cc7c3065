"""Mixtures of documents as files: CSV, Parquet or npz, written whole or not at all."""

import csv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked
from polyaurn.files.atomic import check_new_file, new_file

SUFFIXES = (".csv", ".parquet", ".npz")


def check_mixture_file(path: Path, *, force: bool, name: str = "--out") -> None:
    """Refuse a file that cannot be written, before long work.

    Parameters
    ----------
    path : Path
        The file.
    force : bool
        Whether an older file may go.
    name : str
        The option's name, for the error message.
    """
    check_new_file(path, force=force, what=f"'{name}' option", suffixes=SUFFIXES)
    need_pyarrow(path, f"'{name}' option")


def need_pyarrow(path: Path, what: str) -> None:
    """Refuse a Parquet file where pyarrow is missing."""
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            f"The {what} needs pyarrow for '{path}'; install it with: pip install "
            "'polyaurn[parquet]', or take .csv."
        )


def write_mixtures(path: Path, doc_names: Sequence[str], theta: F64) -> Path:
    """Write mixtures, a row a document.

    Parameters
    ----------
    path : Path
        NAME.csv or NAME.parquet, a table with the columns document, topic_0, topic_1 and so on;
        or NAME.npz, arrays "theta" and "doc_names".
    doc_names : sequence of str
        Names of the documents.
    theta : ndarray of float64, D by K
        The mixtures.

    Returns
    -------
    Path
        The file.
    """
    columns = ["document", *(f"topic_{k}" for k in range(theta.shape[1]))]
    write = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}[path.suffix]
    with new_file(path) as fresh:
        write(fresh, columns, doc_names, theta)
    return path


def _csv(path: Path, columns: list[str], doc_names: Sequence[str], theta: F64) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows = zip(doc_names, theta, strict=True)
        for name, row in tracked(rows, "writing documents", len(theta)):
            writer.writerow([name, *(f"{value:.6g}" for value in row)])


def _parquet(path: Path, columns: list[str], doc_names: Sequence[str], theta: F64) -> None:
    import pyarrow
    from pyarrow import parquet

    arrays: list[Any] = [pyarrow.array(list(doc_names), pyarrow.string())]
    arrays += [pyarrow.array(column) for column in theta.T]
    parquet.write_table(pyarrow.table(arrays, names=columns), path)


def _npz(path: Path, columns: list[str], doc_names: Sequence[str], theta: F64) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, theta=theta, doc_names=np.array(list(doc_names), dtype=np.str_))
