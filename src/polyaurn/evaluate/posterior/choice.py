"""What draws of Phi and Theta are kept for: words, topics and documents that the user names."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus


class Choice(NamedTuple):
    """Numbers of words, topics and documents, and whether Phi and Theta are wanted."""

    words: I64
    topics: I64
    documents: I64
    wants_phi: bool
    wants_theta: bool


def make_choice(corpus: Corpus, K: int, words: Any, topics: Any, documents: Any) -> Choice:
    """Look up what the user named.

    Parameters
    ----------
    corpus : Corpus
        Where words and documents are.
    K : int
        Number of topics.
    words : sequence of str or int, or None
        Words to keep Phi for; None with `topics` keeps all words.
    topics : sequence of int, or None
        Topics to keep Phi and Theta for; None keeps all.
    documents : sequence of str or int, or None
        Documents to keep Theta for; None keeps none.

    Returns
    -------
    Choice
        Phi is wanted where words or topics are named, Theta where documents are.
    """
    every_topic = [str(k) for k in range(K)]
    return Choice(
        words=_numbers(words, corpus.vocab, "words"),
        topics=_numbers(topics, every_topic, "topics"),
        documents=_numbers(documents, corpus.doc_names, "documents", all_when_none=False),
        wants_phi=words is not None or (topics is not None and documents is None),
        wants_theta=documents is not None,
    )


def _numbers(chosen: Any, names: Sequence[str], what: str, *, all_when_none: bool = True) -> I64:
    if chosen is None:
        return np.arange(len(names) if all_when_none else 0)
    one = f"a number from 0 to {len(names) - 1:,}" + (", or a name" if what != "topics" else "")
    expected = f"The '{what}' parameter must be a list of {what}, each {one}."
    if isinstance(chosen, str | bytes) or not isinstance(chosen, Sequence | np.ndarray):
        raise InputError(f"{expected} Got {chosen!r} instead; put it into a list.")
    place = {name: i for i, name in enumerate(names)} if _has_names(chosen) else {}
    found = []
    for item in chosen:
        number = place.get(item, -1) if isinstance(item, str) else item
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not 0 <= number < len(names) or (what == "topics" and item in place):
            raise InputError(f"{expected} Got {item!r}, which is none; leave it out.")
        found.append(int(number))
    if not found or len(set(found)) < len(found):
        got = "none" if not found else "one of them twice"
        raise InputError(f"{expected} Got {got}; name each once.")
    return np.array(found, np.int64)


def _has_names(chosen: Any) -> bool:
    return any(isinstance(item, str) for item in chosen)
