"""scikit-learn's CountVectorizer for a `Tokenization`, and what is done to text before it."""

import unicodedata
from collections.abc import Callable
from typing import Any

from polyaurn.corpus.patterns import expression
from polyaurn.corpus.segmenters import spaced
from polyaurn.corpus.stems import Tally, stemmer_of, stemming
from polyaurn.corpus.stop_words import ENGLISH
from polyaurn.corpus.tokenization import Tokenization

_DOTTED = str.maketrans({"İ": "i", "I": "ı"})  # small letters in Turkish


def vectorizer_of(rules: Tokenization, tally: Tally) -> Any:
    """Return a CountVectorizer; where words are stemmed, the forms of each stem go to `tally`."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    options = {
        "lowercase": rules.lowercase,
        "token_pattern": None if rules.tokenizer else _pattern(rules),
        "tokenizer": rules.tokenizer,
        "strip_accents": rules.strip_accents,
    }
    stop: Any = rules.stop_words
    if isinstance(stop, tuple):
        stop = [in_form(word, rules.normalization) for word in stop]
        if rules.language not in (None, "en"):
            cut = CountVectorizer(**options).build_analyzer()
            stop = sorted({part for word in stop for part in cut(word)}.union(stop))
    if rules.stem:
        cut = CountVectorizer(**options).build_tokenizer()
        left_out = frozenset(ENGLISH_STOP_WORDS if stop == ENGLISH else stop or ())
        options["tokenizer"] = stemming(cut, stemmer_of(rules.language), left_out, tally)
        options["token_pattern"] = stop = None
    return CountVectorizer(stop_words=stop, ngram_range=rules.ngram_range, **options)


def preparation_of(rules: Tokenization) -> Callable[[str], str]:
    """Return what is done to a text first: its Unicode form, and blanks between its words."""
    cut = None if rules.tokenizer else spaced(rules.language)
    turkish = rules.lowercase and rules.language == "tr"

    def prepared(text: str) -> str:
        text = in_form(text, rules.normalization)
        text = text.translate(_DOTTED) if turkish else text
        return cut(text) if cut else text

    return prepared


def in_form(text: str, form: Any) -> str:
    """Return a text in a Unicode form; None leaves it as it is."""
    if form is None or text.isascii() or unicodedata.is_normalized(form, text):
        return text
    return unicodedata.normalize(form, text)


def _pattern(rules: Tokenization) -> str:
    """Return the expression of a word; the Japanese segmenter decides which may be single."""
    return expression(rules.token_pattern, single=rules.language == "ja")
