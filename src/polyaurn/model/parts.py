"""A model in parts: topics of documents that follow one another, and counts of some words each.

Workers of a cluster write such parts, so that a model need not fit into the memory of one process;
its header lists them, and `polyaurn.load` joins them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64, U16
from polyaurn.files.npz import read_npz, write_npz
from polyaurn.files.sealed import Damaged, write_file

TOPICS = {"assignments": "u", "doc_lengths": "i"}
COUNTS = {"counts.data": "if", "counts.indices": "i", "counts.indptr": "i"}
PRIORS = {"alpha": "f", "beta": "f"}


class Parts(NamedTuple):
    """Parts of a model that are in its folder already.

    `files` has what the header says about each, in their order; `doc_names` are of all documents.
    """

    files: dict[str, Any]
    doc_names: Sequence[str]


class Part(NamedTuple):
    """What one worker has of a model: counts of its words are topics by all words."""

    assignments: U16
    doc_lengths: I64
    counts: sp.csr_matrix
    alpha: F64
    beta: F64


def write_part(folder: Path, name: str, part: Part) -> dict[str, Any]:
    """Write a part of a model; return what a header says about the file."""
    counts = {f"counts.{n}": getattr(part.counts, n) for n in ("data", "indices", "indptr")}
    arrays = {name: array for name, array in part._asdict().items() if name != "counts"} | counts
    return write_file(folder, name, lambda file: write_npz(file, arrays))


def read_topics(paths: Iterable[Path]) -> tuple[I64, U16]:
    """Return where documents begin, and topics of the tokens, joined."""
    found = [read_npz(path, TOPICS) for path in paths]
    lengths = np.concatenate([part["doc_lengths"] for part in found])
    z = np.concatenate([part["assignments"] for part in found])
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), z


def read_counts(paths: Iterable[Path], n_words: int) -> sp.csr_matrix:
    """Return the counts of all words, topics by words."""
    total: Any = None
    for path in paths:
        part = read_npz(path, COUNTS)
        data, indices, indptr = (part[name] for name in COUNTS)
        try:
            counts = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, n_words))
            counts.check_format()
            total = counts if total is None else total + counts
        except ValueError as error:
            raise Damaged(f"{path.name}: {error}") from None
    return sp.csr_matrix(total)


def read_priors(path: Path) -> tuple[F64, F64]:
    """Return alpha and beta, which each part has."""
    found = read_npz(path, PRIORS)
    for prior in found.values():
        prior.flags.writeable = False
    return found["alpha"], found["beta"]
