"""Shards: documents of similar numbers of tokens, a property of the corpus and not of a cluster.

A worker has some that follow one another. Blocks of documents, and so the parts of a sweep and the
shares of a growing chain, are those of the whole corpus: a worker has of each block the documents
that are its own, perhaps none.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polyaurn.backends.cpu.layout import Layout, cut_blocks, even_ranges, layout_of_blocks
from polyaurn.backends.cpu.log_posterior import document_ranges
from polyaurn.base.arrays import I64, U8, U32
from polyaurn.base.errors import InputError
from polyaurn.base.threads import Workers
from polyaurn.corpus.part import Part

MOST_SHARDS = 1024
MOST_DOCUMENTS = 2**32  # whose numbers have 32 bits in blocks
MOST_OF_A_WORD = 2**31  # tokens, of which one topic may have all: counts have 32 bits with a sign


class Shards(NamedTuple):
    """How a corpus is cut.

    Shard s has the documents from ``documents[s]`` up to ``documents[s + 1]``, and the tokens from
    ``tokens[s]`` on. Bounds of shards are bounds of ranges of documents whose scores are added up
    in order, so that the log posterior does not depend on them.
    """

    documents: I64
    tokens: I64

    def __len__(self) -> int:
        """Return how many shards there are."""
        return len(self.documents) - 1

    def of_worker(self, rank: int, size: int) -> tuple[int, int]:
        """Return the first shard of a worker, and the first one after its last."""
        bounds = np.linspace(0, len(self), size + 1).astype(np.int64)
        return int(bounds[rank]), int(bounds[rank + 1])


class BlocksOnly(NamedTuple):
    """The layout of the whole corpus as the loop needs it: each block counts as one document."""

    doc_ptr: I64
    documents: U32
    blocks: I64
    share: U8


class Piece(NamedTuple):
    """What a worker has of the corpus, and what it knows of the whole.

    `scored` are the ranges of its documents whose scores are added up in order.
    """

    part: Part
    cut: tuple[U32, I64, U8]
    whole: BlocksOnly
    scored: I64


def cut_shards(doc_ptr: I64, n_shards: int = MOST_SHARDS) -> Shards:
    """Cut documents into at most so many shards of similar numbers of tokens."""
    ranges = document_ranges(doc_ptr)
    documents = ranges[even_ranges(doc_ptr[ranges], n_shards)]
    return Shards(documents, doc_ptr[documents])


def check_shards(shards: Shards, n_workers: int) -> None:
    """Reject more workers than there are shards."""
    if n_workers > len(shards):
        raise InputError(
            f"The 'n_workers' parameter must be at most {len(shards):,}, the number of shards that "
            f"a corpus of {int(shards.tokens[-1]):,} tokens has. Got {n_workers:,} instead; take "
            "fewer workers."
        )


def check_documents(n_documents: int) -> None:
    """Reject more documents than blocks can number."""
    if n_documents >= MOST_DOCUMENTS:
        raise InputError(
            f"The corpus must have fewer than {MOST_DOCUMENTS:,} documents where 'cluster' is "
            f"given. Got {n_documents:,}; join short ones, or train on fewer."
        )


def check_words(word_tokens: I64) -> None:
    """Reject words so frequent that the count of a topic might overflow."""
    most = int(word_tokens.argmax())
    if word_tokens[most] >= MOST_OF_A_WORD:
        raise InputError(
            f"The corpus must have fewer than {MOST_OF_A_WORD:,} tokens of each word where "
            f"'cluster' is given. Got {int(word_tokens[most]):,} of word number {most} (from 0); "
            "leave frequent words out with a lower 'max_df' or more 'stop_words'."
        )


def piece_of(
    doc_ptr: I64, shards: Shards, bounds: tuple[int, int], n_topics: int,
    open_part: Callable[[int, int], Part],
) -> Piece:  # fmt: skip
    """Return the shards from `bounds[0]` up to `bounds[1]`; `doc_ptr` is the whole corpus'."""
    lo, hi = (int(shards.documents[bound]) for bound in bounds)
    documents, blocks, share = cut_blocks(doc_ptr, n_topics)
    sizes = np.add.reduceat(np.diff(doc_ptr)[documents], blocks[:-1], dtype=np.int64)
    B = len(blocks) - 1
    whole = BlocksOnly(
        np.concatenate(([0], np.cumsum(sizes))), np.arange(B, dtype=np.uint32),
        np.arange(B + 1), share,
    )  # fmt: skip
    own = (documents >= lo) & (documents < hi)
    before = np.concatenate(([0], np.cumsum(own)))
    cut = ((documents[own] - np.uint32(lo)).astype(np.uint32), before[blocks], share)
    ranges = document_ranges(doc_ptr)
    scored = ranges[(ranges >= lo) & (ranges <= hi)] - lo
    return Piece(open_part(lo, hi), cut, whole, scored)


def layout_of_piece(piece: Piece, n_topics: int, workers: Workers, *, by_word: bool) -> Layout:
    """Return the layout of a worker's documents."""
    layout = layout_of_blocks(piece.part, piece.cut, n_topics, workers, by_word=by_word)
    return layout._replace(first_token=piece.part.first_token)
