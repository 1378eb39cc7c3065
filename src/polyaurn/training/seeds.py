"""Topics with prior knowledge: words they should hold, or a topic of an earlier model.

Both are pseudo-counts, tokens that a topic is taken to have had before the first document. They are
part of the prior: the concentration of word v in topic k becomes beta[v] plus its pseudo-count. The
sampler stays as exact as it was, and the documents may still speak against them.
"""

import hashlib
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.checks import is_whole, wrong
from polyaurn.base.errors import InputError, SeedWarning
from polyaurn.chain.priors import topic_word_mass
from polyaurn.corpus.corpus import Corpus

SEEDED_SHARE = 0.1  # of the tokens a topic has on average, that "auto" gives to its seeds
MOST_STRENGTH = 100_000_000
LITTLE_LOST = 0.1  # share of an earlier topic on words that are not here, from which it is said
_SHOWN = 5


def seed_counts(
    corpus: Corpus, n_topics: int, seed_words: Any, strength: Any
) -> sp.csr_matrix | None:
    """Return the pseudo-counts of seed words, None without any.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    n_topics : int
        K.
    seed_words : mapping of int to iterable of str, or None
        Words by topic. Those that the corpus does not have are left out with a warning.
    strength : int or "auto"
        Tokens of a topic's words together, shared out evenly, at least one each. "auto" is a tenth
        of the tokens that a topic has on average.

    Returns
    -------
    CSR matrix of int64, K by V, or None
        For `sweeps`.

    Examples
    --------
    >>> corpus = Corpus.from_matrix([[3, 1]], ["moon", "orbit"])
    >>> seed_counts(corpus, 3, {1: ["orbit"]}, 50).toarray().tolist()
    [[0, 0], [0, 50], [0, 0]]
    """
    if seed_words is None:
        return None
    check_strength(strength, "seed_strength", auto=True)
    if strength == "auto":
        strength = SEEDED_SHARE * corpus.n_tokens / n_topics
    number = {word: v for v, word in enumerate(corpus.vocab)}
    counts = sp.lil_matrix((n_topics, corpus.n_words), dtype=np.int64)
    missing: list[str] = []
    for topic, words in _by_topic(seed_words, n_topics).items():
        known = list({number[word] for word in words if word in number})
        missing += [word for word in words if word not in number]
        if not known:
            raise InputError(
                f"The 'seed_words' parameter must name words of the corpus. Got {_shown(words)} "
                f"for topic {topic}, none of which occurs; words are compared as they were "
                "counted, most often in lower case, and may have been pruned."
            )
        counts[topic, known] = max(1, round(strength / len(known)))
    if missing:
        warnings.warn(
            f"{len(missing):,} of the 'seed_words' are not in the corpus, and were left out: "
            f"{_shown(missing)}.",
            SeedWarning,
            stacklevel=4,
        )
    return counts.tocsr()


def fixed_counts(
    corpus: Corpus, n_topics: int, fixed_topics: Any, strength: Any
) -> sp.csr_matrix | None:
    """Return pseudo-counts that tie topics to those of an earlier model, None without any.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    n_topics : int
        K.
    fixed_topics : TopicModel, pair of a TopicModel and a mapping of int to int, or None
        The model, and its topic for each of ours; all of its topics, under their own numbers,
        when not given. Words are looked up by name.
    strength : int
        Tokens of each topic, shared out by the model's word probabilities and rounded.

    Returns
    -------
    CSR matrix of int64, K by V, or None
        For `sweeps`.
    """
    if fixed_topics is None:
        return None
    check_strength(strength, "fixed_strength")
    model, pairs = _model_and_pairs(fixed_topics, n_topics)
    number = {word: v for v, word in enumerate(corpus.vocab)}
    here = np.array([number.get(word, -1) for word in model.vocab])
    mass, beta = topic_word_mass(model.topic_word_counts, model.priors), model.priors.beta
    counts = sp.lil_matrix((n_topics, corpus.n_words), dtype=np.int64)
    most_lost = 0.0
    for topic, earlier in pairs.items():
        p = mass[earlier].toarray().ravel() + beta
        kept = p[here >= 0].sum() / p.sum()
        if not kept:
            raise InputError(
                "The 'fixed_topics' parameter must be a model that shares words with the corpus. "
                f"Got {model!r}, none of whose words occurs; is it of another language?"
            )
        most_lost = max(most_lost, 1.0 - kept)
        tokens = np.rint(strength * p[here >= 0] / p[here >= 0].sum()).astype(np.int64)
        counts[topic, here[here >= 0][tokens > 0]] = tokens[tokens > 0]
    if most_lost > LITTLE_LOST:
        warnings.warn(
            f"Words that are not in the corpus hold up to {most_lost:.0%} of a topic of "
            "'fixed_topics', and were left out.",
            SeedWarning,
            stacklevel=4,
        )
    return counts.tocsr()


def in_brief(counts: sp.csr_matrix) -> str:
    """Return pseudo-counts for a header: how many, and a checksum."""
    digest = hashlib.sha256()
    for array in (counts.indptr, counts.indices, counts.data):
        digest.update(np.asarray(array, "<f8" if array.dtype.kind == "f" else "<i8").tobytes())
    return f"{counts.nnz:,} cells {digest.hexdigest()[:16]}"


def read_seed_words(path: Path) -> dict[int, list[str]]:
    """Read seed words by topic from a file.

    A line has a topic, a colon, and words separated by blanks, or by commas where words have
    blanks: ``3: orbit nasa``. Empty lines, and those that begin with #, are skipped.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(
            f"The '--seed-words' option must name a file of seed words. '{path}' cannot be read: "
            f"{why}."
        ) from None
    found: dict[int, list[str]] = {}
    for at, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        topic, colon, rest = line.partition(":")
        words = [word.strip() for word in rest.split("," if "," in rest else None)]
        words = [word for word in words if word]
        if not (colon and words and topic.strip().isdecimal()):
            raise InputError(
                f"The file '{path}', line {at}: expected a topic, a colon and words, such as "
                f"'3: orbit nasa'. Got {line[:60]!r}."
            )
        found.setdefault(int(topic), []).extend(words)
    if not found:
        raise InputError(f"The file '{path}' must hold seed words. Got no line with any.")
    return found


def check_strength(strength: Any, name: str, *, auto: bool = False) -> int | str:
    """Return a number of tokens, or "auto" where that may be asked for."""
    if auto and isinstance(strength, str) and strength == "auto":
        return strength
    if is_whole(strength) and 1 <= strength <= MOST_STRENGTH:
        return int(strength)
    or_auto = ", or 'auto'" if auto else ""
    raise wrong(name, f"a whole number of tokens from 1 to {MOST_STRENGTH:,}{or_auto}", strength)


def _by_topic(seed_words: Any, n_topics: int) -> dict[int, list[str]]:
    expected = "a mapping of topics to lists of words, such as {3: ['orbit', 'nasa']}"
    if not isinstance(seed_words, Mapping) or not seed_words:
        raise InputError(
            f"The 'seed_words' parameter must be {expected}. Got {seed_words!r} instead."
        )
    found = {}
    for topic, words in seed_words.items():
        _check_topic(topic, n_topics, "seed_words")
        listed = list(words) if isinstance(words, Iterable) and not isinstance(words, str) else []
        if not listed or not all(isinstance(word, str) for word in listed):
            raise InputError(
                f"The 'seed_words' parameter must be {expected}. Got {words!r} for topic {topic}; "
                "give a list of strings."
            )
        found[int(topic)] = listed
    return found


def _model_and_pairs(fixed_topics: Any, n_topics: int) -> tuple[Any, dict[int, int]]:
    from polyaurn.model.model import TopicModel

    model, pairs = fixed_topics if isinstance(fixed_topics, tuple) else (fixed_topics, None)
    if not isinstance(model, TopicModel):
        raise InputError(
            "The 'fixed_topics' parameter must be a TopicModel, or a pair of one and a mapping of "
            f"topics to its topics. Got {type(model).__name__} instead; give an estimator's "
            "model_, or what polyaurn.load returns."
        )
    if pairs is None:
        pairs = {k: k for k in range(model.n_topics)}
    if not isinstance(pairs, Mapping) or not pairs:
        raise InputError(
            "The 'fixed_topics' parameter must pair the model with a mapping of topics to its "
            f"topics, such as {{0: 7}}. Got {pairs!r} instead."
        )
    for topic, earlier in pairs.items():
        _check_topic(topic, n_topics, "fixed_topics")
        _check_topic(earlier, model.n_topics, "fixed_topics", "the earlier model's topics")
    return model, {int(topic): int(earlier) for topic, earlier in pairs.items()}


def _check_topic(topic: Any, n_topics: int, name: str, whose: str = "topics") -> None:
    if not is_whole(topic) or not 0 <= topic < n_topics:
        raise InputError(
            f"The '{name}' parameter must name {whose} from 0 to {n_topics - 1:,}. Got {topic!r} "
            "instead; topics are counted from 0."
        )


def _shown(words: list[str]) -> str:
    more = f" and {len(words) - _SHOWN:,} more" if len(words) > _SHOWN else ""
    return ", ".join(map(repr, words[:_SHOWN])) + more
