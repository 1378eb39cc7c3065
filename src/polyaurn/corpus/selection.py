"""A corpus with only some of its words, and a report of those that were left out."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import document_pieces, occurrences
from polyaurn.corpus.pruning import WordChoice, WordReport, document_frequency, words_to_keep

C = TypeVar("C")  # a Corpus, which uses this module


def keep_words(
    documents: C, choice: WordChoice, left_out: Mapping[str, set[str]] | None = None
) -> C:
    """Return a corpus with the words of a choice; documents stay, even those that become empty.

    Where `left_out` is given, words of text that were not counted, the corpus has a report.
    """
    corpus: Any = documents
    used = np.flatnonzero(np.diff(corpus.doc_ptr))
    counts = occurrences(corpus.word, corpus.n_words)
    keep, dropped = words_to_keep(
        choice,
        corpus.vocab,
        counts,
        lambda: document_frequency(corpus.doc_ptr, corpus.word, corpus.n_words),
        len(used),
        lambda places: corpus.select(used[places]).to_matrix(),
    )
    report = None if left_out is None else report_of(left_out, len(keep), int(keep.sum()), dropped)
    kept: C
    if keep.all():
        kept = corpus if report is None else replace(corpus, word_report=report)
        return kept
    if not keep.any():
        raise InputError(
            f"The pruning must leave at least one word. Got {choice.described()} on "
            f"{corpus.n_words:,} words, none of which is left; lower min_count and min_df, or "
            "raise max_df and max_doc_fraction."
        )
    new_number = np.cumsum(keep, dtype=np.int32) - np.int32(1)
    ptr, word = np.zeros_like(corpus.doc_ptr), np.empty(int(counts[keep].sum()), np.int32)
    for lo, hi in document_pieces(corpus.doc_ptr):
        begin, end = corpus.doc_ptr[lo], corpus.doc_ptr[hi]
        stays = keep[corpus.word[begin:end]]
        ends = np.concatenate(([0], np.cumsum(stays)))[corpus.doc_ptr[lo : hi + 1] - begin]
        ptr[lo : hi + 1] = ptr[lo] + ends
        word[ptr[lo] : ptr[hi]] = new_number[corpus.word[begin:end][stays]]
    word.flags.writeable = False
    kept = replace(
        corpus,
        doc_ptr=ptr,
        word=word,
        vocab=tuple(w for w, k in zip(corpus.vocab, keep.tolist(), strict=True) if k),
        word_report=report,
    )
    return kept


def check_min_tokens(min_tokens: Any) -> None:
    """Reject what is no least number of tokens."""
    if min_tokens is not None:
        check_whole(min_tokens, "min_tokens", of="tokens", remedy="leave it out to keep all")


def keep_long(documents: C, min_tokens: int | None) -> C:
    """Return a corpus with the documents of so many tokens; all, where no number is given."""
    if min_tokens is None:
        return documents
    corpus: Any = documents
    long = np.diff(corpus.doc_ptr) >= min_tokens
    check_some_long(int(long.sum()), len(long), min_tokens)
    kept: C = corpus if long.all() else corpus.select(long)
    return kept


def check_some_long(kept: int, n_documents: int, min_tokens: int) -> None:
    """Raise an error if no document has enough tokens; say how many have not."""
    if not kept:
        raise InputError(
            "The 'min_tokens' parameter must leave at least one document. Got "
            f"{min_tokens:,}, and all {n_documents:,} documents have fewer tokens; lower it."
        )
    if kept < n_documents:
        warnings.warn(
            f"{n_documents - kept:,} of {n_documents:,} documents with fewer than {min_tokens:,} "
            "tokens were dropped.",
            stacklevel=2,
        )


def report_of(
    left_out: Mapping[str, set[str]], counted: int, kept: int, dropped: list[tuple[str, int]]
) -> WordReport:
    """Return what became of the words of texts."""
    reasons = [(reason, len(words)) for reason, words in left_out.items()]
    found = counted + sum(n for _, n in reasons)
    return WordReport(found, kept, tuple(r for r in (*sorted(reasons), *dropped) if r[1]))
