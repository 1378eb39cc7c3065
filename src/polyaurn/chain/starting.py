"""Where a chain may go on from, and for how many sweeps: checked before it runs."""

from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.chain.state import NO_TOPIC, WHOLE, Halt, State, check_invariants
from polyaurn.corpus.corpus import Corpus


def check_start(start: Any, corpus: Corpus, K: int) -> None:
    """Refuse a state of another corpus or number of topics, or one that contradicts itself."""
    expected = f"a State of this corpus ({corpus.n_tokens:,} tokens) with at most {K:,} topics"
    if not isinstance(start, State | Halt):
        raise InputError(
            f"The 'start' parameter must be {expected}. Got {type(start).__name__} instead."
        )
    growing = start.share < WHOLE
    topics = int(start.z[start.z != NO_TOPIC].max(initial=0) if growing else start.z.max()) + 1
    if len(start.z) != corpus.n_tokens or topics > K:
        raise InputError(
            f"The 'start' parameter must be {expected}. Got one of {len(start.z):,} tokens and "
            f"{topics:,} topics; use the corpus and the number of topics it came from."
        )
    if isinstance(start, Halt):
        return
    try:
        check_invariants(corpus.word, corpus.n_words, K, start)
    except AssertionError as error:
        raise InputError(
            f"The 'start' parameter must be {expected}. Got one that contradicts itself "
            f"({error}); start anew."
        ) from None


def check_share(layout: Any, state: State) -> None:
    """Refuse a state in which a document that should be in has no topics."""
    expected = np.zeros(len(layout.doc_ptr) - 1, bool)
    for b in np.flatnonzero(layout.share <= state.share):
        expected[layout.documents[layout.blocks[b] : layout.blocks[b + 1]]] = True
    if ((state.z != NO_TOPIC) != np.repeat(expected, np.diff(layout.doc_ptr))).any():
        raise InputError(
            "The 'start' parameter must be a State of this corpus and number of topics. Got one "
            f"whose share of {state.share}/{WHOLE} of the documents is another; start anew."
        )


def check_sweeps(value: Any, name: str, least: int, *, optional: bool = False) -> None:
    """Refuse what is no whole number of sweeps."""
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(
            f"The '{name}' parameter must be a whole number of sweeps, at least {least}. "
            f"Got {value!r} instead."
        )
