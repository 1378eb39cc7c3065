"""Which words to keep, by their counts and by how many documents they occur in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from polyaurn.base.arrays import I32, I64
from polyaurn.base.checks import check_one_of, check_whole, is_number, is_whole, wrong
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import document_pieces, first_in_documents
from polyaurn.corpus.flat_words import LEAST_DOCUMENTS, flat_words, sampled

AUTO = "auto"
SMALL = 50  # documents: below, every word is kept
ONE_IN, LEAST_DF, MOST_DF = 100, 2, 5  # of documents, and the limits of what that gives
FREQUENT_IN, FREQUENT_PER = 50, 500  # documents, and tokens for each document
MOST_FREQUENT = 0.2  # share of tokens: where frequent words have more, "auto" is half
LEAST_TOKENS = 0.2  # share of tokens that "auto" leaves at least
Mask = npt.NDArray[np.bool_]


class WordReport(NamedTuple):
    """What became of the words that were found in texts."""

    found: int
    kept: int
    dropped: tuple[tuple[str, int], ...]  # reasons, and how many words each

    def __str__(self) -> str:
        why = ", ".join(f"{n:,} {reason}" for reason, n in self.dropped if n)
        return f"{self.found:,} words, {self.kept:,} kept" + (f"; left out: {why}" if why else "")


@dataclass(frozen=True)
class WordChoice:
    """Which words of a corpus are kept.

    Parameters
    ----------
    min_count : int
        Drop words seen fewer than this many times.
    max_doc_fraction : float
        Drop words that occur in more than this share of the documents.
    max_words : int, optional
        Of the words left, keep this many, those of highest TF-IDF.
    min_df : int, float or "auto"
        Drop words in fewer documents: a number of them, or as a float a share. "auto" is one in a
        hundred documents, but at least 2 and at most 5 of them; 1 below 50 documents.
    max_df : int, float or "auto"
        Drop words in more documents. "auto" is a fifth of them, 50, or one for each 500 tokens,
        whichever is most, but at most half of them; half where the words of more documents have
        over a fifth of the tokens; all below 50 documents.
    max_features : int, optional
        Of the words left, keep this many, the most frequent ones.
    flat_words : {"keep", "drop"}
        Whether to drop words that occur in documents of all kinds alike, from 1,000 documents on.
    """

    min_count: int = 0
    max_doc_fraction: float = 1.0
    max_words: int | None = None
    min_df: Any = 1
    max_df: Any = 1.0
    max_features: int | None = None
    flat_words: str = "keep"
    keeps_all: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        _check(self)
        plain = (self.min_count, self.max_doc_fraction, self.max_words, self.max_features)
        all_kept = plain == (0, 1.0, None, None) and self.flat_words == "keep"
        all_kept &= all(_same(getattr(self, name), _NEUTRAL[name]) for name in _NEUTRAL)
        object.__setattr__(self, "keeps_all", all_kept)

    def described(self) -> str:
        """Return the parameters that were given."""
        names = ("min_count", "max_doc_fraction", "min_df", "max_df", "flat_words")
        given = {name: getattr(self, name) for name in names}
        plain = WordChoice()
        return ", ".join(f"{k}={v}" for k, v in given.items() if not _same(v, getattr(plain, k)))

    def without_auto(self) -> "WordChoice":
        """Return the same choice with nothing dropped that was not asked for."""
        given = {name: getattr(self, name) for name in _NEUTRAL}
        return replace(self, **{name: _NEUTRAL[name] for name, v in given.items() if v == AUTO})

    def for_documents(self, n: int, n_tokens: int) -> "WordChoice":
        """Return the same choice with numbers in place of "auto", for documents that have words.

        In a small corpus one subject may be that of a fifth of the documents, and in long documents
        a word of the same frequency is found in more of them.
        """
        rare = min(max(-(-n // ONE_IN), LEAST_DF), MOST_DF)
        rare = 1 if self.min_count > 1 or n < SMALL else rare
        every = self.max_doc_fraction < 1.0 or n < SMALL
        often = min(max(n // 5, FREQUENT_IN, n_tokens // FREQUENT_PER), n // 2)
        return replace(
            self,
            min_df=rare if self.min_df == AUTO else self.min_df,
            max_df=(1.0 if every else often) if self.max_df == AUTO else self.max_df,
        )


_NEUTRAL: dict[str, Any] = {"min_df": 1, "max_df": 1.0}


def _same(value: Any, other: Any) -> bool:
    """Return whether two limits are equal; a whole number never equals a share."""
    return bool(value == other) and is_whole(value) == is_whole(other)


def choice_for_text(**given: Any) -> WordChoice:
    """Return which words of text are kept where nothing else is said: "auto" everywhere."""
    return WordChoice(**(dict.fromkeys(_NEUTRAL, AUTO) | given))


def checked_choice(*given: Any) -> dict[str, Any]:
    """Return those parameters of a `WordChoice` that are not None, checked before a file is read.

    They are given in the order of its fields.
    """
    names = [known.name for known in fields(WordChoice) if known.init]
    said = {name: v for name, v in zip(names, given, strict=True) if v is not None}
    choice_for_text(**said)
    return said


def words_to_keep(
    choice: WordChoice,
    words: Sequence[str],
    counts: I64,
    document_frequencies: Callable[[], I64],
    n_documents: int,
    sample: Callable[[I64], sp.csr_matrix],
) -> tuple[Mask, list[tuple[str, int]]]:
    """Return a mask of the words that survive pruning, and how many did not, for each reason.

    Document frequencies are computed only if they are needed. `n_documents` counts the documents
    that are not empty; `sample` returns the counts of documents by their place among those.
    Where many tokens are of frequent words, "auto" is half of the documents; where it would leave
    hardly any token, it drops none.
    """
    frequencies = cache(document_frequencies)
    numbers = choice.for_documents(n_documents, int(counts.sum()))
    if choice.max_df == AUTO and is_whole(numbers.max_df):
        frequent = counts[frequencies() > numbers.max_df].sum()
        if frequent > MOST_FREQUENT * counts.sum():
            numbers = replace(numbers, max_df=0.5)
    for tried in (numbers, choice.without_auto()):
        keep, dropped = _apply(tried, words, counts, frequencies, n_documents, sample)
        if counts[keep].sum() >= LEAST_TOKENS * counts.sum():
            break
    return keep, dropped


def _apply(
    choice: WordChoice,
    words: Sequence[str],
    counts: I64,
    document_frequencies: Callable[[], I64],
    n_documents: int,
    sample: Callable[[I64], sp.csr_matrix],
) -> tuple[Mask, list[tuple[str, int]]]:
    n = max(n_documents, 1)
    keep = counts >= choice.min_count
    dropped = [(f"seen fewer than {choice.min_count:,} times", int((~keep).sum()))]

    def drop(these: Mask, why: str) -> None:
        dropped.append((why, int((keep & these).sum())))
        np.logical_and(keep, ~these, out=keep)

    rest = replace(choice, min_count=0)
    if rest.keeps_all:
        return keep, dropped
    frequency = document_frequencies()
    least, most = _documents(choice.min_df, n), _documents(choice.max_df, n)
    if not _same(choice.min_df, 1):
        drop(frequency < least, f"in fewer than {np.ceil(least):,.0f} documents")
    drop(frequency > most, f"in more than {most / n:.0%} of documents")
    share = choice.max_doc_fraction
    drop(frequency > share * n, f"in more than {share:.0%} of documents")
    if choice.flat_words == "drop" and n_documents >= LEAST_DOCUMENTS:
        flat = flat_words(sample(sampled(n_documents)), words)
        drop(flat, "that say nothing about the subject (flat)")
    if choice.max_words is not None:
        score = counts * np.log(n / np.maximum(frequency, 1))
        drop(
            ~_best(keep, score, words, choice.max_words),
            f"beyond the {choice.max_words:,} of TF-IDF",
        )
    if choice.max_features is not None:
        drop(
            ~_best(keep, counts, words, choice.max_features),
            f"beyond {choice.max_features:,} words",
        )
    return keep, dropped


def _best(keep: Mask, score: npt.NDArray[Any], words: Sequence[str], most: int) -> Mask:
    """Return a mask of the words of highest score among those kept, the first of equal ones."""
    ranked = sorted(np.flatnonzero(keep).tolist(), key=lambda v: (-score[v], words[v]))
    best = np.zeros_like(keep)
    best[ranked[:most]] = True
    return best


def _documents(limit: Any, n: int) -> float:
    """Return a limit as a number of documents; a float is a share of them, as in scikit-learn."""
    return float(limit) if is_whole(limit) else float(limit) * n


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


def _check(choice: WordChoice) -> None:
    check_pruning(choice.min_count, choice.max_doc_fraction, choice.max_words)
    for name in ("min_df", "max_df"):
        limit = getattr(choice, name)
        least = 0 if name == "min_df" else 1
        fine = limit == AUTO if isinstance(limit, str) else is_number(limit)
        if fine and not isinstance(limit, str):
            fine = limit >= least if is_whole(limit) else 0.0 <= limit <= 1.0
            fine = fine and not (name == "max_df" and limit == 0)
        if not fine:
            expected = "a whole number of documents, a share of them between 0.0 and 1.0, or 'auto'"
            remedy = "5 means five documents and 0.5 half of them"
            raise wrong(name, expected, limit, remedy)
    if choice.max_features is not None:
        remedy = "leave it out to keep every word"
        check_whole(choice.max_features, "max_features", of="words", remedy=remedy)
    check_one_of(choice.flat_words, "flat_words", ("keep", "drop"))


def document_frequency(doc_ptr: I64, word: I32, n_words: int) -> I64:
    """Return how many documents each word occurs in; tokens are sorted inside documents."""
    found = np.zeros(max(n_words, int(word.max(initial=-1)) + 1), np.int64)
    for lo, hi in document_pieces(doc_ptr):
        begin, end = doc_ptr[lo], doc_ptr[hi]
        first = first_in_documents(doc_ptr[lo : hi + 1] - begin, word[begin:end])
        found += np.bincount(word[begin:end][first], minlength=len(found))
    return found
