"""Lemmas of a spaCy pipeline, as a tokenizer."""

from typing import Any


class Lemmas:
    """A tokenizer that gives the lemmas of a spaCy pipeline.

    Punctuation, numbers, blanks and what the pipeline takes for stop words are left out. As for
    every tokenizer, text is folded to small letters first unless ``lowercase=False``, which
    pipelines of German and other languages need to find nouns and names.

    Parameters
    ----------
    nlp : callable
        A pipeline, such as ``spacy.load("de_core_news_sm")``: called with a text it gives tokens
        with `lemma_`, `is_alpha` and `is_stop`.

    Examples
    --------
    >>> from types import SimpleNamespace as Token
    >>> def nlp(text):
    ...     return [Token(lemma_=w.rstrip("s"), is_alpha=True, is_stop=False) for w in text.split()]
    >>> Lemmas(nlp)("red apples")
    ['red', 'apple']
    """

    def __init__(self, nlp: Any) -> None:
        self.nlp = nlp

    def __call__(self, text: str) -> list[str]:
        """Return the lemmas of a text."""
        return [
            str(token.lemma_) for token in self.nlp(text) if token.is_alpha and not token.is_stop
        ]
