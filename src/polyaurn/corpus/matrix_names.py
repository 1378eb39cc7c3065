"""Names of the documents and words of a matrix: those given, or those of files beside it.

10x Genomics writes ``matrix.mtx`` with ``barcodes.tsv`` for cells, and ``features.tsv``,
``genes.tsv`` or ``peaks.bed`` for genes or regions; pycisTopic writes ``cell_barcodes.tsv`` and
``region_names.tsv``. Any of them may be gzipped, and have the same prefix as the matrix.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.count_files import find_vocabulary, read_name_lines

_MATRIX = re.compile(r"(.*)matrix\.mtx(\.gz)?")
_CELLS = ("barcodes.tsv", "cell_barcodes.tsv")
_REGIONS = ("features.tsv", "genes.tsv", "peaks.bed", "region_names.tsv")


def matrix_in(path: Path) -> Path:
    """Return the matrix of a folder of 10x Genomics, and any other path as it is."""
    if path.is_dir():
        for name in ("matrix.mtx", "matrix.mtx.gz"):
            if (path / name).is_file():
                return path / name
    return path


def find_names(
    path: Path, vocabulary: Any, doc_names: Any, n_documents: int, n_words: int, *, transpose: bool
) -> tuple[tuple[str, ...], Sequence[str]]:
    """Return the words and the names of documents of a MatrixMarket file.

    Names of documents are empty where there are none.
    """
    cells, regions = _beside(path, _CELLS), _beside(path, _REGIONS)
    if doc_names is None and cells is not None:
        doc_names = cells
    names = names_of_documents(path, doc_names, n_documents, swapped=n_words, transpose=transpose)
    source = "'vocabulary' parameter"
    if vocabulary is None and regions is not None:
        vocabulary, source = _region_names(regions), f"file '{regions}'"
        _check_number(
            regions, len(vocabulary), n_words, "words", n_documents, path, transpose=transpose
        )
    return find_vocabulary(path, vocabulary, n_words, required=False, source=source), names


def names_of_documents(
    path: Path, given: Any, n_documents: int, *, swapped: int = 0, transpose: bool = False
) -> Sequence[str]:
    """Return names of documents, from a sequence or a file with one per line, checked."""
    if given is None:
        return ()
    source = given if isinstance(given, str | Path) else None
    names = (
        [line.split("\t")[0] for line in read_name_lines(Path(source), f"file '{source}'")]
        if source is not None
        else [str(name) for name in given]
    )
    _check_number(source, len(names), n_documents, "documents", swapped, path, transpose=transpose)
    return names


def best_names(names: Sequence[str], ids: Sequence[str]) -> Sequence[str]:
    """Return names of genes or regions where they are all different, else their ids."""
    return names if len(set(names)) == len(names) else ids


def _beside(path: Path, endings: Sequence[str]) -> Path | None:
    """Return the first file there is with the prefix of a matrix and one of these endings."""
    found = _MATRIX.fullmatch(path.name)
    tried = [f"{found[1]}{name}{end}" for name in endings for end in ("", ".gz")] if found else []
    return next((path.with_name(name) for name in tried if path.with_name(name).is_file()), None)


def _region_names(path: Path) -> Sequence[str]:
    """Return the names of genes, or of regions as 'chr1:100-200', from a file of 10x Genomics."""
    lines = [line.split("\t") for line in read_name_lines(path, f"file '{path}'")]
    if path.name.removesuffix(".gz").endswith(".bed"):
        for i, line in enumerate(lines):
            if len(line) < 3:
                raise InputError(
                    f"The file '{path}', line {i + 1}: expected chromosome, begin and end, "
                    f"separated by tabs. Got {line[0][:60]!r}; correct the line."
                )
        return [f"{line[0]}:{line[1]}-{line[2]}" for line in lines]
    ids = [line[0] for line in lines]
    return best_names([line[1] if len(line) > 1 else line[0] for line in lines], ids)


def _check_number(
    source: Any, got: int, expected: int, what: str, other: int, path: Path, *, transpose: bool
) -> None:
    """Raise an error if there are too few or too many names; say if the matrix is transposed."""
    if got == expected:
        return
    place = f"file '{source}'" if source is not None else "'doc_names' parameter"
    remedy = "do the two belong together?"
    if got == other:
        turn = "leave out transpose (--transpose)" if transpose else "add --transpose"
        remedy = f"the matrix has them on its other side: {turn}."
    raise InputError(
        f"The {place} must have {expected:,} names of {what}, as '{path}' says. Got {got:,}; "
        f"{remedy}"
    )
