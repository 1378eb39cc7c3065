"""A corpus with only some of its words, and a report of those that were left out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from polyaurn.base.errors import InputError
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
    keep, dropped = words_to_keep(
        choice,
        corpus.vocab,
        np.bincount(corpus.word, minlength=corpus.n_words),
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
    stays = keep[corpus.word]
    new_number = np.cumsum(keep, dtype=np.int32) - np.int32(1)
    kept_before = np.concatenate(([0], np.cumsum(stays)))
    word = new_number[corpus.word[stays]]
    word.flags.writeable = False
    kept = replace(
        corpus,
        doc_ptr=kept_before[corpus.doc_ptr],
        word=word,
        vocab=tuple(w for w, k in zip(corpus.vocab, keep.tolist(), strict=True) if k),
        word_report=report,
    )
    return kept


def report_of(
    left_out: Mapping[str, set[str]], counted: int, kept: int, dropped: list[tuple[str, int]]
) -> WordReport:
    """Return what became of the words of texts."""
    reasons = [(reason, len(words)) for reason, words in left_out.items()]
    found = counted + sum(n for _, n in reasons)
    return WordReport(found, kept, tuple(r for r in (*sorted(reasons), *dropped) if r[1]))
