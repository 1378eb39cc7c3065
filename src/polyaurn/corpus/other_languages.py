"""Stop words of the languages that some documents of a corpus are in, beside its own."""

import re
from collections import Counter
from collections.abc import Sequence

from polyaurn.corpus.english import without_contractions
from polyaurn.corpus.languages import Recognised
from polyaurn.corpus.patterns import WORDS, expression
from polyaurn.corpus.stop_words import stop_words_of
from polyaurn.corpus.word_filter import stop_set


def other_stop_words(found: Recognised, texts: Sequence[str]) -> frozenset[str]:
    """Return the stop words of the other languages of texts.

    A word that is in a larger share of the documents of the corpus's own language is no stop word
    here: "kind" is one in English, and a child in German.
    """
    words: frozenset[str] = frozenset()
    find = re.compile(expression(WORDS)).findall
    seen: dict[str | None, Counter[str]] = {}
    documents = Counter(found.by_document)
    for text, code in zip(texts, found.by_document, strict=False):
        seen.setdefault(code, Counter()).update(set(find(without_contractions(text).lower())))
    own, n_own = seen.get(None, Counter()), max(documents[None], 1)
    for code in found.beside():
        theirs, n = seen[code], documents[code]
        listed = stop_set(stop_words_of(code))
        words |= {word for word in listed if own[word] * n <= theirs[word] * n_own}
    return words
