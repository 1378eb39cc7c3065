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
COUNTS_OF_CELLS = {"counts.data": "if", "counts.indices": "i"}
COUNTS = COUNTS_OF_CELLS | {"counts.indptr": "i"}
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
    """Return the counts of all words, topics by words; one part at a time is in memory beside them.

    Each part has words of its own, which come after those of the parts before.
    """
    paths = list(paths)
    found = [read_npz(path, COUNTS, dict.fromkeys(COUNTS_OF_CELLS, (0, 0))) for path in paths]
    rows = [part["counts.indptr"].astype(np.int64) for part in found]
    for path, row in zip(paths, rows, strict=True):
        if len(row) != len(rows[0]) or row[:1].any() or (np.diff(row) < 0).any():
            raise Damaged(f"{path.name} has no rows of all topics")
    ptr = np.sum(rows, axis=0)
    data = np.empty(ptr[-1], np.result_type(*(part["counts.data"] for part in found)))
    indices = np.empty(ptr[-1], sp.get_index_dtype(maxval=max(int(ptr[-1]), n_words)))
    begin = ptr[:-1].copy()
    for path, row in zip(paths, rows, strict=True):
        part = read_npz(path, COUNTS)
        try:
            shape = (len(row) - 1, n_words)
            sp.csr_matrix(tuple(part[name] for name in COUNTS), shape=shape).check_format()
        except ValueError as error:
            raise Damaged(f"{path.name}: {error}") from None
        length = np.diff(row)
        places = np.repeat(begin - row[:-1], length) + np.arange(row[-1])
        data[places], indices[places] = part["counts.data"], part["counts.indices"]
        begin += length
    counts = sp.csr_matrix((data, indices, ptr), shape=(len(ptr) - 1, n_words))
    counts.sum_duplicates()  # sorts words, where a part was not after those before
    counts.eliminate_zeros()
    return counts


def read_priors(path: Path) -> tuple[F64, F64]:
    """Return alpha and beta, which each part has."""
    found = read_npz(path, PRIORS)
    for prior in found.values():
        prior.flags.writeable = False
    return found["alpha"], found["beta"]
