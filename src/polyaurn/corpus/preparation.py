"""Rules that depend on the texts themselves: their language, and their phrases."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.cutter import filter_stop_words, plain_texts, stretches_of
from polyaurn.corpus.phrases import find_phrases, words_in_no_phrase
from polyaurn.corpus.tokenization import Tokenization


def prepared(
    tokenization: Tokenization, phrases: Any, texts: Callable[[], Iterable[str]]
) -> Tokenization:
    """Return the rules with the language and, if asked for, the phrases of texts.

    `texts` returns them from the beginning; it is called several times.
    """
    settled, _ = tokenization.settled(texts())
    return with_phrases(settled, phrases, texts)


def with_phrases(
    tokenization: Tokenization,
    phrases: Any,
    texts: Callable[[], Iterable[str]],
    *,
    score: str = "ratio",
) -> Tokenization:
    """Return the rules with the phrases of texts, where `phrases` asks for them.

    Parameters
    ----------
    tokenization : Tokenization
        The rules; they are returned as they are where `phrases` is False.
    phrases : bool
        Whether to look for phrases.
    texts : callable
        Returns the texts from the beginning; called twice.
    score : {"ratio", "npmi"}
        The measure of a phrase.

    Returns
    -------
    Tokenization
        With the pairs of words that are joined.
    """
    if not isinstance(phrases, bool):
        raise InputError(
            f"The 'phrases' parameter must be True or False. Got {phrases!r:.60} instead."
        )
    if not phrases:
        return tokenization
    tokenization.check_usable()
    stop = words_in_no_phrase(tokenization.stop_words, filter_stop_words(tokenization))
    return replace(
        tokenization,
        phrases=find_phrases(lambda: _stretches(texts(), tokenization), stop, score=score),
    )


def _stretches(texts: Iterable[str], tokenization: Tokenization) -> Iterator[list[list[str]]]:
    """Yield the tokens of each document's stretches."""
    from sklearn.feature_extraction.text import CountVectorizer

    preprocess = CountVectorizer(
        lowercase=tokenization.lowercase, strip_accents=tokenization.strip_accents
    ).build_preprocessor()
    stretched = stretches_of(tokenization)
    for text in plain_texts(texts, tokenization):
        yield stretched(preprocess(text))
