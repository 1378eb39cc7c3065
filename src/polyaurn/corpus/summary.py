"""What a notebook shows of a corpus."""

from typing import Any

import numpy as np

from polyaurn.base.html import bar, note, summary, table, text

WORDS = 10


class Shown:
    """Base of `Corpus`: its sizes and most frequent words, for notebooks."""

    def _repr_html_(self) -> str:
        return corpus_html(self)


def corpus_html(corpus: Any) -> str:
    """Return sizes and the most frequent words."""
    D, N = corpus.n_documents, corpus.n_tokens
    facts = f"{D:,} documents, {corpus.n_words:,} words, {N:,} tokens"
    if D:
        lengths = np.diff(corpus.doc_ptr)
        facts += f"; {N / D:,.1f} tokens per document, {int(np.median(lengths)):,} in the median"
    if corpus.n_empty:
        facts += f"; {corpus.n_empty:,} documents are empty"
    times = np.bincount(corpus.word, minlength=corpus.n_words)
    first = np.argsort(-times, kind="stable")[:WORDS]
    most = max(int(times.max(initial=0)), 1)
    rows = [(text(corpus.vocab[v], 40), bar(times[v] / most, f"{times[v]:,}")) for v in first]
    shown = [table(("word", "tokens"), rows)] if rows else []
    if corpus.n_words > WORDS:
        shown.append(note(f"The {WORDS} most frequent of {corpus.n_words:,} words."))
    return summary("Corpus", facts, *shown)
