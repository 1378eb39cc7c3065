"""Words, topics and documents for which draws of Phi and Theta are kept."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.checks import is_whole
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
    """Look up the words, topics and documents that the user named.

    Phi is wanted where words or topics are named, Theta where documents are. Words and topics
    that are None mean all of them; documents that are None mean none.
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
    named = any(isinstance(item, str) for item in chosen)
    place = {name: i for i, name in enumerate(names)} if named else {}
    found = []
    for item in chosen:
        number = place.get(item, -1) if isinstance(item, str) else item
        known = is_whole(number) and 0 <= number < len(names)
        if not known or (what == "topics" and item in place):
            raise InputError(f"{expected} Got {item!r}; leave it out.")
        found.append(int(number))
    if not found or len(set(found)) < len(found):
        got = "none" if not found else "one of them twice"
        raise InputError(f"{expected} Got {got}; name each once.")
    return np.array(found, np.int64)
