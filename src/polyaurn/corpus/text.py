"""Texts to counts of words."""

import re
from collections.abc import Iterable, Sized
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked

WORD = r"(?u)\b\w\w+\b"


def count_words(
    texts: Iterable[str],
    *,
    stop_words: Any = "english",
    ngram_range: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    token_pattern: str = WORD,
    tokenizer: Any = None,
    strip_accents: str | None = None,
    empty: bool = False,
) -> tuple[sp.csr_matrix, list[str]]:
    """Count words with scikit-learn's CountVectorizer; options as those of `Corpus.from_texts`.

    Return a CSR matrix, documents by words, and the words in alphabetical order. With `empty`, it
    is no error if no text has any word.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if isinstance(texts, str):
        raise InputError(
            "The 'texts' parameter must be several strings, one for each document. Got a single "
            "string instead; put it in a list, or use polyaurn.read_corpus for a file."
        )
    check_pattern(token_pattern)
    try:
        vectorizer = CountVectorizer(
            stop_words=stop_list(stop_words),
            ngram_range=ngram_range,
            lowercase=lowercase,
            token_pattern=None if tokenizer is not None else token_pattern,
            tokenizer=tokenizer,
            strip_accents=strip_accents,
        )
        texts = list(_strings(texts)) if empty else _strings(texts)
        matrix = vectorizer.fit_transform(texts)
    except InputError:
        raise
    except ValueError as error:
        if "empty vocabulary" in str(error):
            if isinstance(texts, list):
                return sp.csr_matrix((len(texts), 0), dtype=np.int64), []
            raise InputError(
                "The texts must hold at least one word after tokenisation and stop words. Got "
                "none; check that the right column is read, and stop_words and token_pattern."
            ) from None
        raise InputError(f"The texts could not be counted: {str(error).rstrip('.')}.") from None
    return matrix, vectorizer.get_feature_names_out().tolist()


def check_pattern(token_pattern: Any) -> None:
    """Raise an error if a pattern is not a regular expression."""
    try:
        re.compile(token_pattern)
    except (re.error, TypeError, RecursionError) as error:
        raise InputError(
            f"The 'token_pattern' parameter must be a regular expression. Got {token_pattern!r} "
            f"({error}); the default is {WORD!r}."
        ) from None


def stop_list(stop_words: Any) -> Any:
    """Return what CountVectorizer takes: "english", a list of words, or None.

    A string other than "english" and "none" is the path of a file with one word per line.
    """
    if stop_words is None or stop_words == "none":
        return None
    if isinstance(stop_words, str) and stop_words == "english":
        return "english"
    if isinstance(stop_words, str | Path):
        try:
            text = Path(stop_words).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                "The 'stop_words' parameter must be 'english', 'none', a list of words or a "
                f"UTF-8 file with one word per line. Got {str(stop_words)!r}, which cannot be read "
                f"({getattr(error, 'strerror', None) or 'not UTF-8'}); check the path."
            ) from None
        return [line.strip() for line in text.splitlines() if line.strip()]
    if not isinstance(stop_words, Iterable):
        raise InputError(
            "The 'stop_words' parameter must be 'english', 'none', a list of words or a file. Got "
            f"{stop_words!r} instead."
        )
    return list(stop_words)


def _strings(texts: Iterable[Any]) -> Iterable[str]:
    total = len(texts) if isinstance(texts, Sized) else None
    reported = texts if total is None else tracked(texts, "counting words of documents", total)
    for d, text in enumerate(reported):
        if not isinstance(text, str):
            listed = isinstance(text, list | tuple)
            remedy = "join the words with blanks" if listed else "replace missing texts by ''"
            raise InputError(
                f"The 'texts' parameter must hold strings. Got {type(text).__name__} "
                f"({text!r:.40}) at document {d}; {remedy}."
            )
        yield text
