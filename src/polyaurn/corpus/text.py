"""Text to counts, and which words are worth keeping."""

import re
from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus


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
    """Count words with scikit-learn's CountVectorizer.

    Parameters
    ----------
    texts : iterable of str
        One string for each document.
    stop_words : "english", iterable of str, path of a file with one word a line, or None
        Words to leave out. The default is scikit-learn's English list.
    ngram_range : pair of int
        (1, 2) counts single words and pairs of neighbours.
    lowercase : bool
        Fold capitals.
    token_pattern : str
        Regular expression of a word; the default takes two or more word characters.
    tokenizer : callable, optional
        Splits a text into words, in place of `token_pattern`.
    strip_accents : {"ascii", "unicode"}, optional
        Fold accents.
    empty : bool
        Texts may all be without words.

    Returns
    -------
    counts : CSR matrix
        Documents by words.
    vocabulary : list of str
        In alphabetical order.
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
    """Refuse what is no regular expression."""
    try:
        re.compile(token_pattern)
    except (re.error, TypeError, RecursionError) as error:
        raise InputError(
            f"The 'token_pattern' parameter must be a regular expression. Got {token_pattern!r} "
            f"({error}); the default is {WORD!r}."
        ) from None


def stop_list(stop_words: Any) -> Any:
    """Return what CountVectorizer takes: "english", a list of words, or None.

    Parameters
    ----------
    stop_words : "english", "none", iterable of str, path of a file, or None
        A string other than the two words is taken as a file with one word a line.

    Returns
    -------
    "english", list of str or None
        For CountVectorizer.
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
                f"UTF-8 file with one word a line. Got {str(stop_words)!r}, which cannot be read "
                f"({getattr(error, 'strerror', None) or 'not UTF-8'}); check the path."
            ) from None
        return [line.strip() for line in text.splitlines() if line.strip()]
    if not isinstance(stop_words, Iterable):
        raise InputError(
            "The 'stop_words' parameter must be 'english', 'none', a list of words or a file. Got "
            f"{stop_words!r} instead."
        )
    return list(stop_words)


def words_to_keep(
    corpus: "Corpus", min_count: int, max_doc_fraction: float, max_words: int | None
) -> npt.NDArray[np.bool_]:
    """Decide which words survive pruning; see `Corpus.prune`."""
    counts = np.bincount(corpus.word, minlength=corpus.n_words)
    used = corpus.n_documents - corpus.n_empty
    return keep_words(
        counts, lambda: document_frequency(corpus), used, min_count, max_doc_fraction, max_words
    )


def keep_words(
    counts: npt.NDArray[np.int64],
    frequency_of_words: Callable[[], npt.NDArray[np.int64]],
    n_documents: int,
    min_count: int,
    max_doc_fraction: float,
    max_words: int | None,
) -> npt.NDArray[np.bool_]:
    """Decide which words survive pruning, from their counts and document frequencies."""
    check_pruning(min_count, max_doc_fraction, max_words)
    keep = counts >= min_count
    if max_doc_fraction >= 1.0 and max_words is None:
        return keep
    documents = max(n_documents, 1)
    frequency = frequency_of_words()
    keep &= frequency <= max_doc_fraction * documents
    if max_words is not None and keep.sum() > max_words:
        score = counts * np.log(documents / np.maximum(frequency, 1))
        score[~keep] = -1.0
        best = np.argsort(-score, kind="stable")[:max_words]
        keep = np.zeros_like(keep)
        keep[best] = True
    return keep


def check_pruning(min_count: Any, max_doc_fraction: Any, max_words: Any) -> None:
    """Refuse numbers by which words cannot be pruned."""
    check_number(min_count, "min_count")
    check_number(max_doc_fraction, "max_doc_fraction")
    check_number(1 if max_words is None else max_words, "max_words")
    if min_count < 0:
        raise InputError(
            f"The 'min_count' parameter must not be negative. Got {min_count!r} instead; 0 keeps "
            "every word."
        )
    if not 0.0 < max_doc_fraction <= 1.0:
        raise InputError(
            "The 'max_doc_fraction' parameter must be above 0 and at most 1. Got "
            f"{max_doc_fraction!r} instead; 0.5 drops words found in more than half of the "
            "documents."
        )
    if max_words is not None and max_words < 1:
        raise InputError(
            f"The 'max_words' parameter must be at least 1. Got {max_words!r} instead; leave it "
            "out to keep every word."
        )


def check_number(value: Any, name: str) -> None:
    """Refuse what is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"The '{name}' parameter must be a number. Got {value!r} instead.")


def document_frequency(corpus: "Corpus") -> npt.NDArray[np.int64]:
    """Return in how many documents each word occurs."""
    new = np.empty(corpus.n_tokens, bool)
    new[0] = True
    np.not_equal(corpus.word[1:], corpus.word[:-1], out=new[1:])
    new[corpus.doc_ptr[:-1][np.diff(corpus.doc_ptr) > 0]] = True
    return np.bincount(corpus.word[new], minlength=corpus.n_words)


def _strings(texts: Iterable[Any]) -> Iterable[str]:
    total = len(texts) if isinstance(texts, Sized) else None
    followed = texts if total is None else tracked(texts, "counting words of documents", total)
    for d, text in enumerate(followed):
        if not isinstance(text, str):
            listed = isinstance(text, list | tuple)
            remedy = "join the words with blanks" if listed else "replace missing texts by ''"
            raise InputError(
                f"The 'texts' parameter must hold strings. Got {type(text).__name__} "
                f"({text!r:.40}) at document {d}; {remedy}."
            )
        yield text
