"""Texts, and lists of tokens, to counts of words."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.corpus.columns import listed
from polyaurn.corpus.cutter import cutter, filter_of, in_view, plain_texts
from polyaurn.corpus.stems import Tally, forms_by_stem, shown_forms
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.corpus.word_filter import WordFilter

Counts = tuple[sp.csr_matrix, list[str]]  # documents by words, and the words


def count_words(
    texts: Iterable[str],
    tokenization: Tokenization,
    *,
    empty: bool = False,
    words: WordFilter | None = None,
    stems: Tally | None = None,
) -> Counts:
    """Count the words of texts with scikit-learn's CountVectorizer.

    Return a CSR matrix, documents by words, and the words in alphabetical order. With `empty`, it
    is no error if no text has any word. A filter that is given remembers the words left out. With
    `stems`, stemmed words are left as they are, and their forms are added to it.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if isinstance(texts, str):
        raise InputError(
            "The 'texts' parameter must be several strings, one for each document. Got a single "
            "string instead; put it in a list, or use polyaurn.read_corpus for a file."
        )
    tally: Tally = {}
    vectorizer = CountVectorizer(
        tokenizer=cutter(tokenization, filter_of(tokenization) if words is None else words, tally),
        token_pattern=None,
        ngram_range=tokenization.ngram_range,
        lowercase=tokenization.lowercase,
        strip_accents=tokenization.strip_accents,
    )
    matrix, found = _count(vectorizer, plain_texts(texts, tokenization), empty)
    if not tokenization.stem:
        return matrix, found
    if stems is not None:
        for stem, seen in tally.items():
            stems.setdefault(stem, Counter()).update(seen)
        return matrix, found
    known = forms_by_stem(tokenization.forms, tokenization.language)
    shown = shown_forms(found, tally, known)
    order = sorted(range(len(shown)), key=shown.__getitem__)
    return matrix[:, order].tocsr(), [shown[v] for v in order]


def count_tokens(documents: Iterable[Iterable[str]], *, empty: bool = False) -> Counts:
    """Count tokens as they are given, one list for each document; see `count_words`."""
    from sklearn.feature_extraction.text import CountVectorizer

    documents = listed(documents, "documents")
    return _count(CountVectorizer(analyzer=_same), _token_lists(documents), empty)


def is_token_lists(X: Any) -> bool:
    """Return whether something is a sequence of documents, each a list of strings."""
    if isinstance(X, str | dict) or len(getattr(X, "shape", (0,))) != 1:
        return False
    if not isinstance(X, Iterable):
        return False
    items = list(X)
    if not all(isinstance(item, list | tuple | np.ndarray) for item in items):
        return False
    return any(isinstance(token, str) for item in items for token in item[:1])


def _count(vectorizer: Any, documents: Iterable[Any], empty: bool) -> Counts:
    documents = list(documents) if empty else documents
    try:
        matrix = vectorizer.fit_transform(documents)
    except InputError:
        raise
    except ValueError as error:
        if "empty vocabulary" in str(error):
            if isinstance(documents, list):
                return sp.csr_matrix((len(documents), 0), dtype=np.int64), []
            raise InputError(
                "The texts must hold at least one word after tokenisation and stop words. Got "
                "none; check that the right column is read, and stop_words and token_pattern."
            ) from None
        raise InputError(f"The texts could not be counted: {str(error).rstrip('.')}.") from None
    return matrix, vectorizer.get_feature_names_out().tolist()


def _same(document: Iterable[str]) -> Iterable[str]:
    return document


def _token_lists(documents: Iterable[Any]) -> Iterable[list[str]]:
    for d, document in enumerate(in_view(documents)):
        if isinstance(document, str) or not isinstance(document, Iterable):
            raise InputError(
                "The 'documents' parameter must hold lists of tokens. Got "
                f"{type(document).__name__} ({document!r:.40}) at document {d}; for texts use "
                "Corpus.from_texts."
            )
        tokens = list(document)
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(
                    "The 'documents' parameter must hold tokens that are strings. Got "
                    f"{token!r:.40} at document {d}; convert it, or drop it."
                )
        yield tokens
