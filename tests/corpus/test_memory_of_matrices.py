"""Matrices are read in pieces: what that takes, and a file that changes in between."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import Corpus, InputError, read_corpus
from polyaurn.corpus import entries
from polyaurn.corpus.known_words import in_words_of


def test_memory_holds_a_range_of_documents_not_the_matrix(tmp_path, monkeypatch):
    """A shuffled matrix of 200,000 entries is sorted by at most 4,096 at a time."""
    monkeypatch.setattr("polyaurn.corpus.entries._AT_ONCE", 4096)
    rng = np.random.default_rng(3)
    n = 200_000
    cells = entries.Entries(
        rng.integers(0, 5000, n).astype(np.int32),
        rng.integers(0, 300, n).astype(np.int32),
        np.ones(n, np.int32),
    )
    pieces = [entries.Entries(*(part[i : i + 1000] for part in cells)) for i in range(0, n, 1000)]
    matrix = entries.CountMatrix(tmp_path, 5000, n, (), (), lambda: iter(pieces))
    with pytest.raises(entries.NotInOrder):
        list(entries.documents_in_order(matrix))
    found = list(entries.documents_sorted(matrix, tmp_path))
    assert max(len(word) for _, word in found) <= 4096
    lengths = np.concatenate([part for part, _ in found])
    words = np.concatenate([word for _, word in found])
    order = np.lexsort((cells.word, cells.document))
    assert np.array_equal(words, cells.word[order])
    assert np.array_equal(lengths, np.bincount(cells.document, minlength=5000))


@pytest.mark.parametrize("order", ["regions", "cells", "shuffled"])
@pytest.mark.parametrize("options", [{}, {"binarise": True, "min_df": 2, "min_tokens": 20}])
def test_a_matrix_that_is_read_takes_few_bytes_per_token(tmp_path, monkeypatch, order, options):
    """A corpus has 4 bytes for each, a copy of it as many; pieces are small."""
    monkeypatch.setattr("polyaurn.corpus.count_files._PIECE", 1 << 14)
    for module in ("arrays.PIECE", "entries._AT_ONCE"):
        monkeypatch.setattr(f"polyaurn.corpus.{module}", 1 << 12)
    n_cells, n_regions = 2_000, 900
    filled = np.random.default_rng(0).random((n_regions, n_cells)) < 0.08
    filled[0] = filled[:, 0] = False
    filled[0, 0] = True  # a region and a cell that are dropped
    coo = sp.coo_matrix(filled)
    anyhow = np.random.default_rng(1).permutation(coo.nnz)
    by = {"regions": coo.row, "cells": coo.col, "shuffled": anyhow}
    rows = np.argsort(by[order], kind="stable")
    lines = [f"{r} {c} 1\n" for r, c in zip(coo.row[rows] + 1, coo.col[rows] + 1, strict=True)]
    head = f"%%MatrixMarket matrix coordinate integer general\n{n_regions} {n_cells} {coo.nnz}\n"
    (tmp_path / "x.mtx").write_text(head + "".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # says what was dropped
        read_corpus(tmp_path / "x.mtx", transpose=True, **options)  # compiles
        tracemalloc.start()
        found = read_corpus(tmp_path / "x.mtx", transpose=True, **options)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    whole = Corpus.from_matrix(filled.T.astype(int))
    if options:
        names = [str(d) for d in range(1, n_cells)]
        assert found == Corpus.from_matrix(
            filled[1:, 1:].T.astype(int), whole.vocab[1:], doc_names=names
        )
    else:
        assert found == whole
    assert most < 14 * found.n_tokens


def test_documents_in_the_words_of_a_model_take_few_bytes_per_token(monkeypatch):
    """The words found take 4 bytes for each token, and their parts as many."""
    rng = np.random.default_rng(0)
    n_words, ends = 900, np.arange(0, 150_001, 75)
    corpus = Corpus(ends, rng.integers(0, n_words, ends[-1]), [f"w{v}" for v in range(n_words)])
    vocab = tuple(f"w{v}" for v in rng.permutation(n_words + 100)[:700])
    expected = in_words_of(vocab, corpus)
    monkeypatch.setattr("polyaurn.corpus.arrays.PIECE", 1 << 12)
    tracemalloc.start()
    found = in_words_of(vocab, corpus)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    for mine, theirs in zip(found, expected, strict=True):
        assert np.array_equal(mine, theirs)
    assert 0 < found.unknown.sum() == corpus.n_tokens - len(found.word)
    first = [vocab.index(corpus.vocab[v]) for v in corpus.word[:75] if corpus.vocab[v] in vocab]
    assert found.word[: found.doc_ptr[1]].tolist() == sorted(first)
    assert most < 14 * corpus.n_tokens


def test_a_file_that_changes_while_it_is_read_is_reported(tmp_path):
    def some(*numbers):
        return entries.Entries(*np.array([[1, 0, 1], [0, 1, 2], numbers], np.int32))

    (tmp_path / "x.mtx").write_text("1\n")
    for other in ((1, 2, 1), (1, 0, 1)):
        passes = iter([some(1, 1, 1), some(1, 1, 1), some(*other)])  # the first finds no order
        matrix = entries.CountMatrix(
            tmp_path / "x.mtx", 2, 3, (), (), lambda p=passes: iter([next(p)])
        )
        with pytest.raises(InputError, match="must stay as it is while it is read"):
            entries.all_documents(matrix)
