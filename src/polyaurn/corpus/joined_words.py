"""New documents beside the vocabulary of a model: its words keep their columns, new ones follow."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.inputs import as_corpus
from polyaurn.corpus.known_words import NamedCounts, in_words_of
from polyaurn.corpus.names import Numbered, index_names
from polyaurn.corpus.pruning import choice_for_text, document_frequency, words_to_keep
from polyaurn.corpus.tokenization import Tokenization, tokenization_for


def join_words(
    vocab: tuple[str, ...],
    X: Any,
    tokenization: Tokenization | None = None,
    *,
    of_text: bool = False,
    name: str = "'X' parameter",
) -> Corpus:
    """Return new documents whose vocabulary is that of a model, and after it their new words.

    Strings are cut as `tokenization` says; new words of text are kept where training would keep
    them, those of counts always. `of_text` says that a corpus is text none of whose words was left
    out. `name` is what the user calls the documents, for error messages.
    """
    corpus, strings = _documents(vocab, X, tokenization)
    of_text = of_text or strings
    number = {word: v for v, word in enumerate(vocab)}
    theirs = np.array([number.get(word, -1) for word in corpus.vocab], np.int32)
    seen = np.bincount(corpus.word, minlength=corpus.n_words) > 0
    if not len(corpus.word):
        raise InputError(
            f"The {name} must hold documents with words. Got "
            f"{corpus.n_documents:,} without any; there is nothing to learn from them."
        )
    if not (seen & (theirs >= 0)).any():
        raise InputError(
            f"The {name} must hold words of the model. Got {seen.sum():,} words, none "
            "of which it has; is it the model of another language, or are words cut differently?"
        )
    new = (theirs < 0) & (_kept(corpus) if of_text else True)
    theirs[new] = len(vocab) + np.arange(new.sum(), dtype=np.int32)
    word = theirs[corpus.word]
    stays = word >= 0
    words = (*vocab, *(w for w, is_new in zip(corpus.vocab, new.tolist(), strict=True) if is_new))
    doc_ptr = np.concatenate(([0], np.cumsum(stays)))[corpus.doc_ptr]
    rules = tokenization or corpus.tokenization
    return Corpus(doc_ptr, word[stays], words, corpus.doc_names, rules and rules.with_forms(words))


def earlier_documents(
    vocab: tuple[str, ...], X: Any, tokenization: Tokenization | None = None
) -> Corpus:
    """Return documents in the words of a model that was trained on them, without other words."""
    known = in_words_of(vocab, X, tokenization)
    if not len(known.word):
        raise InputError(
            "The earlier documents must be those that the model was trained on. Got "
            f"{len(known.tokens):,} documents without any of its words; is this the right file?"
        )
    return Corpus(known.doc_ptr, known.word, vocab, known.doc_names)


def one_after_another(first: Corpus, second: Corpus) -> Corpus:
    """Return the documents of two corpora, the second's vocabulary beginning with the first's."""
    names: Sequence[str] = (*first.doc_names, *second.doc_names)
    if isinstance(first.doc_names, Numbered) and isinstance(second.doc_names, Numbered):
        names = Numbered(len(names))
    return replace(
        second,
        doc_ptr=np.concatenate((first.doc_ptr, first.n_tokens + second.doc_ptr[1:])),
        word=np.concatenate((first.word, second.word)),
        doc_names=names,
    )


def as_one(corpora: Sequence[Corpus]) -> Corpus:
    """Return the documents of several corpora, each in its own words, as one corpus."""
    vocab = tuple(dict.fromkeys(word for corpus in corpora for word in corpus.vocab))
    number = {word: v for v, word in enumerate(vocab)}
    whole: Corpus | None = None
    for corpus in corpora:
        theirs = np.array([number[word] for word in corpus.vocab], np.int32)
        part = Corpus(
            corpus.doc_ptr, theirs[corpus.word], vocab, corpus.doc_names, corpus.tokenization
        )
        whole = part if whole is None else one_after_another(whole, part)
    assert whole is not None
    return whole


def _documents(
    vocab: tuple[str, ...], X: Any, tokenization: Tokenization | None
) -> tuple[Corpus, bool]:
    """Return documents in their own words, and whether they were text."""
    if isinstance(X, NamedCounts):
        return Corpus.from_matrix(X.matrix, X.words, doc_names=X.doc_names), False
    if sp.issparse(X) or (hasattr(X, "ndim") and X.ndim == 2 and not hasattr(X, "columns")):
        return Corpus.from_matrix(X, vocab if X.shape[1] == len(vocab) else None), False
    items = X if isinstance(X, str | Corpus | dict) or not hasattr(X, "__iter__") else list(X)
    if isinstance(items, list) and items and all(isinstance(item, str) for item in items):
        rule = tokenization or tokenization_for(vocab)
        return Corpus.cut(items, rule, doc_names=index_names(X)), True
    return as_corpus(X), False


def _kept(corpus: Corpus) -> Any:
    """Return which words of text training would keep."""
    keep, _ = words_to_keep(
        choice_for_text(),
        corpus.vocab,
        np.bincount(corpus.word, minlength=corpus.n_words),
        lambda: document_frequency(corpus.doc_ptr, corpus.word, corpus.n_words),
        corpus.n_documents - corpus.n_empty,
        lambda places: corpus.to_matrix()[places],
    )
    return keep
