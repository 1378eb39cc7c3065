"""Which words to keep, by their counts and by how many documents they occur in."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from polyaurn.base.arrays import I32, I64
from polyaurn.base.checks import check_whole, is_number, wrong
from polyaurn.base.errors import InputError


def words_to_keep(
    counts: I64,
    document_frequencies: Callable[[], I64],
    n_documents: int,
    min_count: int,
    max_doc_fraction: float,
    max_words: int | None,
) -> npt.NDArray[np.bool_]:
    """Return a mask of the words that survive pruning; see `Corpus.prune`.

    Document frequencies are computed only if they are needed. `n_documents` counts the documents
    that are not empty.
    """
    check_pruning(min_count, max_doc_fraction, max_words)
    keep = counts >= min_count
    if max_doc_fraction >= 1.0 and max_words is None:
        return keep
    documents = max(n_documents, 1)
    frequency = document_frequencies()
    keep &= frequency <= max_doc_fraction * documents
    if max_words is not None and keep.sum() > max_words:
        score = counts * np.log(documents / np.maximum(frequency, 1))
        score[~keep] = -1.0
        best = np.argsort(-score, kind="stable")[:max_words]
        keep = np.zeros_like(keep)
        keep[best] = True
    return keep


def check_pruning(min_count: Any, max_doc_fraction: Any, max_words: Any) -> None:
    """Raise an error if words cannot be pruned by these numbers."""
    if not is_number(min_count):
        raise wrong("min_count", "a number", min_count, "give a whole number such as 10")
    if min_count < 0:
        raise InputError(
            f"The 'min_count' parameter must not be negative. Got {min_count!r} instead; 0 keeps "
            "every word."
        )
    if not is_number(max_doc_fraction) or not 0.0 < max_doc_fraction <= 1.0:
        remedy = "0.5 drops words that occur in more than half of the documents"
        raise wrong("max_doc_fraction", "above 0 and at most 1", max_doc_fraction, remedy)
    if max_words is not None:
        check_whole(max_words, "max_words", of="words", remedy="leave it out to keep every word")


def document_frequency(doc_ptr: I64, word: I32, n_words: int) -> I64:
    """Return how many documents each word occurs in; tokens are sorted inside documents."""
    first = np.ones(len(word), bool)
    np.not_equal(word[1:], word[:-1], out=first[1:])
    first[doc_ptr[:-1][np.diff(doc_ptr) > 0]] = True
    return np.bincount(word[first], minlength=n_words)
