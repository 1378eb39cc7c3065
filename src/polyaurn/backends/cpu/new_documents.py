"""New documents on threads: their mean counts, left-to-right scores, and completion."""

from itertools import pairwise
from typing import Any

import numpy as np

from polyaurn.backends.cpu.fold_in import fold_documents, score_left_to_right, score_tokens
from polyaurn.backends.cpu.layout import even_ranges
from polyaurn.backends.documents import OnDone, Part, Topics, raised_alpha
from polyaurn.base.arrays import F64, I32, I64
from polyaurn.base.rng import Key
from polyaurn.base.threads import Workers

_TOKENS_PER_RANGE = 20_000
_DOCUMENTS_PER_RANGE = 2_000
_SCORED_PER_RANGE = 500  # tokens; the work grows as the square of a document's length


def mean_counts(
    doc_ptr: I64,
    word: I32,
    topics: Topics,
    sweeps: tuple[int, int],
    address: Key,
    workers: Workers,
    on_done: OnDone = None,
) -> list[Part]:
    """Return mean counts of new documents; `sweeps` are those left out and those averaged."""
    tokens, K = np.diff(doc_ptr), len(topics.alpha)
    raised = raised_alpha(topics.alpha, sweeps[0])

    def fold(lo: int, hi: int) -> Part:
        size = int(np.minimum(tokens[lo:hi] * sweeps[1], K).sum())
        ends = np.empty(hi - lo + 1, np.int64)
        found, mean = np.empty(size, np.uint16), np.empty(size, np.float64)
        fold_documents(lo, hi, doc_ptr, word, *sweeps, raised, *topics, *address, ends, found, mean)
        return np.diff(ends), found[: ends[-1]].copy(), mean[: ends[-1]].copy()

    fold(0, 0)  # compiles
    parts: list[Part] = workers.run(fold, document_ranges(doc_ptr), on_done)
    return parts


def left_to_right(
    doc_ptr: I64,
    word: I32,
    topics: Topics,
    particles: int,
    address: Key,
    workers: Workers,
    on_done: OnDone = None,
) -> tuple[F64, F64]:
    """Return log p(w) of new documents, left to right, and their errors."""
    tokens = np.diff(doc_ptr)
    level, error = np.empty(len(tokens)), np.empty(len(tokens))

    def score(lo: int, hi: int) -> None:
        score_left_to_right(lo, hi, doc_ptr, word, particles, *topics, *address, level, error)

    score(0, 0)  # compiles
    ranges = document_ranges(doc_ptr, _SCORED_PER_RANGE)
    ranges.sort(key=lambda pair: -int(tokens[pair[0] : pair[1]].max(initial=0)))
    workers.run(score, ranges, on_done)
    return level, error


def complete(
    doc_ptr: I64, word: I32, topics: Topics, seen: I64, mean: Any, workers: Workers
) -> F64:
    """Return log p of words given mixtures from `seen` other tokens of each document."""
    level = np.empty(len(doc_ptr) - 1)
    counts = (mean.indptr.astype(np.int64), mean.indices.astype(np.int32), mean.data)
    given = (doc_ptr, word, *topics[:6], seen, *counts, level)
    workers.run(score_tokens, [(lo, hi, *given) for lo, hi in document_ranges(doc_ptr)])
    return level


def document_ranges(doc_ptr: I64, tokens: int = _TOKENS_PER_RANGE) -> list[tuple[int, int]]:
    """Cut documents into ranges of so many tokens, or 2,000 documents."""
    D = len(doc_ptr) - 1
    n_ranges = max(int(doc_ptr[-1]) // tokens, D // _DOCUMENTS_PER_RANGE) + 1
    size = doc_ptr + np.arange(D + 1)  # an empty document is some work, too
    return list(pairwise(even_ranges(size, n_ranges).tolist()))
