"""Texts of documents on the page, each word in the colour of its topic."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.known_words import in_words_of
from polyaurn.corpus.patterns import WORDS, expression
from polyaurn.corpus.tokenization import TOKEN_LISTS
from polyaurn.model.checks import check_value_per_document
from polyaurn.model.data import ModelData
from polyaurn.pages.report.documents import pairs_of

MOST_CHARACTERS = 5_000  # of a document
SNIPPET = 160  # characters
IN_A_BLOCK = 40  # documents that are unpacked together
MARK = "\x7f"  # before and after a coloured word; JSON needs no escape for it

Texts = Sequence[str] | Callable[[I64], list[str]]  # all, or a function that reads some


def texts_of(model: ModelData, texts: Texts, documents: I64) -> list[str]:
    """Return the texts of some documents, the long ones cut, in Unicode's composed form."""
    if callable(texts):
        found = texts(documents)
    else:
        listed = check_value_per_document(model, texts, "texts")
        found = [listed[d] for d in documents.tolist()]
    for text in found:
        if not isinstance(text, str):
            raise InputError(
                "The 'texts' parameter must have a string for each document. Got "
                f"{type(text).__name__} instead; give the texts that the corpus was made of."
            )
    return [_cut(unicodedata.normalize("NFC", text)) for text in found]


def _cut(text: str) -> str:
    """Return a text without marks of our own; a long one ends at a word, with an ellipsis."""
    plain = text.replace(MARK, " ").strip()
    if len(plain) <= MOST_CHARACTERS:
        return plain
    return plain[:MOST_CHARACTERS].rpartition(" ")[0] + " …"


def snippet_of(text: str) -> str:
    """Return how a text begins, on one line."""
    line = " ".join(text[: 3 * SNIPPET].split())
    return line if len(line) <= SNIPPET else line[:SNIPPET].rpartition(" ")[0] + " …"


def colour_texts(
    model: ModelData, corpus: Corpus, documents: I64, texts: list[str]
) -> list[list[Any]]:
    """Return texts with marks around the words that have topics, and the topics in their order.

    A model knows how many tokens of a word have each topic in a document, but not which: every
    occurrence is given the topic that most of them have, the first of equal ones.
    """
    pattern = _pattern(model)
    spans = [[match.span() for match in pattern.finditer(text)] for text in texts]
    pieces = sorted({text[a:b] for text, found in zip(texts, spans, strict=True) for a, b in found})
    words = _words_of(model, pieces)
    return [
        _colour(text, found, words, _topics_of(model, corpus, d))
        for d, text, found in zip(documents.tolist(), texts, spans, strict=True)
    ]


def _pattern(model: ModelData) -> re.Pattern[str]:
    """Return what finds the pieces of a text that may be words."""
    rules = model.tokenization
    if _was_listed(model):
        return re.compile(r"\S+")
    own = rules is not None and rules.trusted and not rules.tokenizer_name
    return re.compile(expression(rules.token_pattern if own and rules is not None else WORDS))


def _was_listed(model: ModelData) -> bool:
    """Return whether a model's documents were lists of tokens, whose texts are these in a row."""
    rules = model.tokenization
    return rules is not None and rules.tokenizer is None and rules.tokenizer_name == TOKEN_LISTS


def _words_of(model: ModelData, pieces: list[str]) -> dict[str, list[int]]:
    """Return the words of the model that each piece is cut into, by the model's own rules."""
    if not pieces:
        return {}
    listed = [[piece] for piece in pieces] if _was_listed(model) else pieces
    known = in_words_of(model.vocab, listed, model.tokenization)
    ends = known.doc_ptr.tolist()
    word = known.word.tolist()
    return {piece: word[a:b] for piece, (a, b) in zip(pieces, pairwise(ends), strict=True)}


def _topics_of(model: ModelData, corpus: Corpus, d: int) -> dict[int, int]:
    """Return the topic that most tokens of each word of a document have."""
    best: dict[int, tuple[int, int]] = {}
    for k, v, n in zip(*(part.tolist() for part in pairs_of(model, corpus, d)), strict=True):
        if v not in best or n > best[v][1]:
            best[v] = (k, n)
    return {v: k for v, (k, _) in best.items()}


def _colour(
    text: str, spans: list[tuple[int, int]], words: dict[str, list[int]], topic_of: dict[int, int]
) -> list[Any]:
    parts, topics, at = [], [], 0
    for a, b in spans:
        known = [v for v in words[text[a:b]] if v in topic_of]
        if not known:
            continue
        # a piece of several words, as where a language has no blanks, has the topic of its first
        parts += [text[at:a], text[a:b]]
        topics.append(topic_of[known[0]])
        at = b
    return [MARK.join([*parts, text[at:]]), topics]
