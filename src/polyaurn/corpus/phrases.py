"""Phrases: neighbouring words that belong together, found by counts and joined by "_".

Two words are a phrase if they stand side by side much more often than two words of their counts
would: by Dunning's log-likelihood ratio, or by normalised pointwise mutual information.
"""

import math
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.english import EXTENDED, GROUPS, is_number

Phrases = tuple[tuple[str, str], ...]
JOIN = "_"
LEAST_RATIO = 40.0  # log-likelihood ratio; independent words exceed 10.8 in a thousandth of pairs
LEAST_NPMI = 0.3
_MOST_PHRASES = 50_000
_MOST_PAIRS = 4_000_000  # kept in memory; beyond, the rarest are forgotten
_BREAK = re.compile(r"[^\w\s'\u2019\u05f3\u05f4\u00ad\u200c\u200d-]+|\n\s*\n")
_LETTER = re.compile(r"\w")


def stretches(text: str, find: re.Pattern[str], whole: Callable[[str], str]) -> list[list[str]]:
    """Return the tokens of the stretches of a text, which no phrase crosses.

    They end at punctuation marks, and at words that are no tokens: those that the pattern does not
    find, such as "a", and those of which `whole` leaves nothing.
    """
    group = min(find.groups, 1)
    found: list[list[str]] = []
    for part in _BREAK.split(text):
        found.append([])
        end = 0
        for match in find.finditer(part):
            token = whole(match[group] or "")
            if not token or _LETTER.search(part, end, match.start()):
                found.append([])
            if token:
                found[-1].append(token)
            end = match.end()
    return found


class Joiner:
    """Join the phrases among the tokens of a stretch of text.

    Parameters
    ----------
    phrases : pairs of str
        The first of a pair may be a phrase itself, so that three words are joined.
    """

    def __init__(self, phrases: Phrases) -> None:
        self._pairs = frozenset(phrases)

    def __call__(self, tokens: Iterable[str]) -> list[str]:
        """Return the tokens, from left to right joined where they are a phrase."""
        joined: list[str] = []
        for token in tokens:
            if joined and (joined[-1], token) in self._pairs:
                joined[-1] += JOIN + token
            else:
                joined.append(token)
        return joined


def find_phrases(
    documents: Callable[[], Iterable[list[list[str]]]],
    stop: frozenset[str],
    *,
    score: str = "ratio",
) -> Phrases:
    """Return pairs that are phrases, in two passes, so that phrases have up to three words.

    Parameters
    ----------
    documents : callable
        Returns, for each document, the tokens of its `stretches`; called twice.
    stop : frozenset of str
        Words that are in no phrase.
    score : {"ratio", "npmi"}
        Log-likelihood ratio, or normalised pointwise mutual information.

    Returns
    -------
    tuple of pairs of str
        Pairs of words first, then pairs of a phrase and a word.
    """
    first = _pairs(documents(), stop, score, ())
    return (*first, *_pairs(documents(), stop, score, first))[:_MOST_PHRASES] if first else ()


def least_count(n_documents: int) -> int:
    """Return how often a phrase must occur, well above the least number of documents of a word."""
    return 2 if n_documents < 50 else 5 if n_documents < 1_000 else 10


def _pairs(
    documents: Iterable[list[list[str]]], stop: frozenset[str], score: str, known: Phrases
) -> Phrases:
    """Return the pairs of a pass: of two words, or after some are known, of a phrase and a word."""
    single: dict[str, int] = {}
    pairs: dict[tuple[str, str], int] = {}
    n_documents, total, floor = 0, 0, 1
    join, joined = Joiner(known), {JOIN.join(pair) for pair in known}
    for n_documents, document in enumerate(documents, start=1):  # noqa: B007
        for part in document:
            tokens = join(part)
            total += len(tokens)
            for token in tokens:
                single[token] = single.get(token, 0) + 1
            for pair in pairwise(tokens):
                if (pair[0] in joined) == bool(known):
                    pairs[pair] = pairs.get(pair, 0) + 1
        if len(pairs) > _MOST_PAIRS:
            floor += 1
            pairs = {pair: n for pair, n in pairs.items() if n >= floor}
    often = least_count(n_documents)
    measure, least = (_ratio, LEAST_RATIO) if score == "ratio" else (_npmi, LEAST_NPMI)
    scored = [
        (measure(n, single[a], single[b], total), (a, b))
        for (a, b), n in pairs.items()
        if n >= often and _may_join(a, stop) and _may_join(b, stop)
    ]
    return tuple(pair for s, pair in sorted(scored, key=lambda x: (-x[0], x[1])) if s >= least)


def _may_join(word: str, stop: frozenset[str]) -> bool:
    return len(word) > 1 and word not in stop and not is_number(word)


def _npmi(both: int, first: int, second: int, total: int) -> float:
    p = both / total
    return math.log(p * total * total / (first * second)) / -math.log(p) if p < 1.0 else 1.0


def _ratio(both: int, first: int, second: int, total: int) -> float:
    """Return twice the log-likelihood ratio of a pair against independence; 0 if it is rarer."""
    if both * total <= first * second:
        return 0.0
    cells = (both, first - both, second - both, max(total - first - second + both, 0))
    rows, columns = (first, first, total - first, total - first), (second, total - second) * 2
    return 2.0 * sum(
        n * math.log(n * total / (row * column))
        for n, row, column in zip(cells, rows, columns, strict=True)
        if n > 0
    )


def words_in_no_phrase(stop_words: Any, stop: frozenset[str]) -> frozenset[str]:
    """Return the stop words that are in no phrase: of the extended list not "new" or "high"."""
    if stop_words != EXTENDED:
        return stop
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    adjectives = frozenset(GROUPS["general adjectives"].split())
    return stop - (adjectives - frozenset(ENGLISH_STOP_WORDS))


def check_phrases(phrases: Any) -> Phrases:
    """Return pairs of words; raise an error if they are something else."""
    try:
        pairs = tuple((a, b) for a, b in phrases)
    except (TypeError, ValueError):
        pairs = ((None, None),)
    if not all(isinstance(word, str) for pair in pairs for word in pair):
        raise InputError(
            "The 'phrases' of a tokenization must be pairs of words. Got "
            f"{phrases!r:.60} instead; phrases=True of Corpus.from_texts finds them."
        )
    return pairs
