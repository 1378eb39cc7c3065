"""Which topic became which, and what changed: sizes, words, distances."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.errors import InputError
from polyaurn.model.common_words import CommonWords, likeness_by_chance
from polyaurn.model.data import ModelData, document_lengths
from polyaurn.model.distance import hellinger, likeness, row_quality
from polyaurn.model.labels import labels_of
from polyaurn.model.leading_words import leading_words
from polyaurn.model.slices.slices import continues_slice
from polyaurn.training.updates import continues, earlier_sizes, has_counts

AUTO, NUMBER, WORDS = "auto", "number", "words"
MATCHES = (AUTO, NUMBER, WORDS)
GREW, SHRANK, MOVED, NEW, DIED, SAME = "grew", "shrank", "moved", "new", "died", "same"
CHANGES = (NEW, DIED, GREW, SHRANK, MOVED, SAME)
MATCHED = 0.5  # likeness from which two topics are one, matched by words
GROWN = 1.25  # times, from which a topic grew; shrank by the same factor
FAR = 0.5  # distance from which a topic moved
GONE = 0.1  # of its size and of a mean topic's: a topic this small is not there
SURE = 3.0  # standard errors
_LISTED = 30  # leading words among which words are gained and lost


class Pairs(NamedTuple):
    """The topics of two models, side by side; -1 where a topic has no counterpart."""

    before: I64
    after: I64


def pair_topics(old: ModelData, new: ModelData, common: CommonWords, match: str) -> Pairs:
    """Return which topic of the new model is which of the old one.

    By number, topics that only one of the models has are new, or died, and so are those that have
    hardly any tokens in the other. By words, pairs are those of `match_topics`; two topics less
    alike than `MATCHED`, with what chance explains taken out, are no pair.
    """
    if match == NUMBER:
        return _by_number(old, new)
    from scipy.optimize import linear_sum_assignment

    alike = likeness(common.before, common.after)
    i, j = linear_sum_assignment(alike, maximize=True)
    expected = likeness_by_chance(common.before[i], common.after[j])
    keep = alike[i, j] >= MATCHED * np.maximum(expected, 1e-300)
    keep &= expected > 0
    return _with_lone(i[keep], j[keep], old.n_topics, new.n_topics)


def _by_number(old: ModelData, new: ModelData) -> Pairs:
    K, L = old.n_topics, new.n_topics
    both = np.arange(min(K, L))
    here, there = (size_shares(model)[: len(both)] for model in (old, new))
    gone = (there < GONE * here) & (there < GONE / L)
    came = (here < GONE * there) & (here < GONE / K)
    kept = both[~(gone | came)]
    return _with_lone(kept, kept, K, L, skip=(both[came], both[gone]))


def _with_lone(
    before: I64, after: I64, K: int, L: int, skip: tuple[I64, I64] | None = None
) -> Pairs:
    """Add topics without a counterpart: the old model's, then the new one's."""
    empty = np.empty(0, np.int64)
    skipped = skip or (empty, empty)
    died = np.setdiff1d(np.arange(K), np.concatenate((before, skipped[0])))
    new = np.setdiff1d(np.arange(L), np.concatenate((after, skipped[1])))
    return Pairs(
        np.concatenate((before, died, np.full(len(new), -1))).astype(np.int64),
        np.concatenate((after, np.full(len(died), -1), new)).astype(np.int64),
    )


def how_to_match(old: ModelData, new: ModelData, match: str) -> str:
    """Return by what topics are matched; by number if "auto" and the new one continues the old."""
    if match == NUMBER and not set(old.vocab) & set(new.vocab):
        raise no_common_words()
    if match != AUTO:
        return match
    return NUMBER if continues(new, old) or continues_slice(new, old) else WORDS


def no_common_words() -> InputError:
    """Return the error for models of different languages, or of numbered words."""
    return InputError(
        "The models must have words in common. Got two vocabularies that share none; are they of "
        "different languages, or is one trained on a matrix without names (with_words gives them)?"
    )


def size_shares(model: ModelData) -> F64:
    """Return the share of all tokens that each topic has, before an update and in it."""
    sizes = np.asarray(model.topic_sizes, np.float64) + earlier_sizes(model)
    return np.asarray(sizes / max(float(sizes.sum()), 1e-300), np.float64)


def size_errors(model: ModelData) -> F64:
    """Return the standard errors of `size_shares` over documents; NaN where there are none.

    They are infinite without counts of tokens: sizes are then unknown. Tokens that were counted
    before an update have no documents any more, and are taken as given.
    """
    if not has_counts(model):
        return np.full(model.n_topics, np.inf)
    m = sp.csc_matrix(model.doc_topic_counts, dtype=np.float64)
    tokens = document_lengths(model).astype(np.float64)
    n, total = int((tokens > 0).sum()), float(tokens.sum())
    if n < 2:
        return np.full(model.n_topics, np.nan)
    share = np.asarray(m.sum(axis=0)).ravel() / total  # of these documents
    squares = np.asarray(m.multiply(m).sum(axis=0)).ravel()
    left = squares - 2.0 * share * (m.T @ tokens) + share**2 * float((tokens**2).sum())
    whole = total + float(earlier_sizes(model).sum())
    return np.asarray(np.sqrt(np.maximum(left, 0.0) * n / (n - 1)) / whole, np.float64)


def distances(common: CommonWords, pairs: Pairs) -> F64:
    """Return Hellinger distances of pairs, 0 to 1, with what chance explains taken out."""
    found = np.full(len(pairs.before), np.nan)
    both = np.flatnonzero((pairs.before >= 0) & (pairs.after >= 0))
    p, q = common.before[pairs.before[both]], common.after[pairs.after[both]]
    chance = likeness_by_chance(p, q)
    alike = np.where(chance > 0, row_quality(p, q) / np.where(chance > 0, chance, 1.0), 0.0)
    found[both] = hellinger(alike)
    return found


def table_of(
    old: ModelData, new: ModelData, common: CommonWords, pairs: Pairs, n_words: int
) -> dict[str, Any]:
    """Return one row per pair or lone topic, as `Difference.topic_table` describes it."""
    size = (_at(size_shares(old), pairs.before, 0.0), _at(size_shares(new), pairs.after, 0.0))
    error = np.hypot(
        _at(size_errors(old), pairs.before, 0.0), _at(size_errors(new), pairs.after, 0.0)
    )
    distance = distances(common, pairs)
    names = (labels_of(old), labels_of(new))
    labels = [
        [several[k] if k >= 0 else "" for k in numbers.tolist()]
        for several, numbers in zip(names, pairs, strict=True)
    ]
    listed = [numbers.tolist() for numbers in pairs]
    words = _Words(old, new, common)
    gained, lost = zip(
        *(words.changed(i, j, n_words) for i, j in zip(*listed, strict=True)),
        strict=True,
    )
    return {
        "topic_before": pairs.before,
        "topic_after": pairs.after,
        "label_before": labels[0],
        "label_after": labels[1],
        "change": [_change(*row) for row in zip(*listed, *size, error, distance, strict=True)],
        "share_before": size[0],
        "share_after": size[1],
        "share_error": error,
        "distance": distance,
        "words_gained": [", ".join(found) for found in gained],
        "words_lost": [", ".join(found) for found in lost],
    }


def _at(values: F64, places: I64, otherwise: float) -> F64:
    return np.where(places >= 0, values[np.maximum(places, 0)], otherwise)


def _change(i: int, j: int, before: float, after: float, error: float, distance: float) -> str:
    """Return what happened to a topic, in words, separated by commas."""
    if i < 0 or j < 0:
        return NEW if i < 0 else DIED
    sure = not abs(after - before) <= SURE * error  # without documents no error is known
    found = []
    if sure and after > GROWN * before:
        found.append(GREW)
    if sure and before > GROWN * after:
        found.append(SHRANK)
    if distance > FAR:
        found.append(MOVED)
    return ", ".join(found) or SAME


class _Words:
    """Words of two models' topics, for those that a topic gained or lost."""

    def __init__(self, old: ModelData, new: ModelData, common: CommonWords) -> None:
        self._models = (old, new)
        self._counts = (common.before, common.after)
        self._sizes = [np.asarray(n.sum(axis=1)).ravel() for n in self._counts]
        self._names = common.words
        self._number = {word: v for v, word in enumerate(common.words)}

    def changed(self, i: int, j: int, most: int) -> tuple[list[str], list[str]]:
        """Return leading words that became twice as probable, or half, beyond chance.

        A new topic gained its leading words, and one that died lost them.
        """
        if i < 0:
            return self._leading(1, j)[:most], []
        if j < 0:
            return [], self._leading(0, i)[:most]
        gained = self._more_probable(1, j, self._leading(1, j), i)
        lost = self._more_probable(0, i, self._leading(0, i), j)
        return gained[:most], lost[:most]

    def _leading(self, side: int, k: int) -> list[str]:
        model = self._models[side]
        return [model.vocab[v] for v in leading_words(model, k, _LISTED)[0].tolist()]

    def _more_probable(self, side: int, k: int, words: list[str], other: int) -> list[str]:
        """Return words at least twice as probable in a topic as in its counterpart.

        The square root of a Poisson count has a standard deviation of about a half.
        """
        at = np.array([self._number[word] for word in words], np.int64)
        sizes = [self._sizes[side][k], self._sizes[1 - side][other]]
        if not len(at) or min(sizes) <= 0:
            return []
        here = self._counts[side][k, at].toarray().ravel() / sizes[0]
        there = self._counts[1 - side][other, at].toarray().ravel() / sizes[1]
        error = 0.5 * np.sqrt(1.0 / sizes[0] + 1.0 / sizes[1])
        sure = np.sqrt(here) - np.sqrt(there) > SURE * error
        return [words[v] for v in np.flatnonzero(sure & (here >= 2.0 * there)).tolist()]
