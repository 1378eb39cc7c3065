"""Documents and words in a fixed number of groups, so that collapsed sampling can run in parallel.

With P groups of documents and P ranges of words, a sweep has P steps. In step s, group g is visited
with the words of range (g + s) mod P: no two visits of a step share a document or a word, so that
their counts are always current, whichever threads do the visits. P depends only on the corpus.

Inside a group, documents are cut into blocks whose rows of counts fit into a core's cache, and a
block's tokens are sorted by word.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from polyaurn.backends.cpu.layout import even_ranges
from polyaurn.base.arrays import I32, I64, U16, U32
from polyaurn.base.compilation import njit
from polyaurn.base.threads import Workers
from polyaurn.corpus.corpus import Corpus

GROUPS = ((1 << 14, 4), (1 << 17, 8), (1 << 23, 16), (1 << 26, 32))  # from so many tokens on
BLOCK_BYTES = 2 << 20  # rows of counts of a block's documents
MOST_DOCUMENTS = 65_536  # of a block: their places have 16 bits
LONGEST_ROW = 65_535  # tokens of a document whose counts have 16 bits


class Block(NamedTuple):
    """Some documents of a group, and their tokens in the order of visits."""

    group: int
    documents: U32
    begin: int  # number of its first token among those of all blocks
    word: I32  # of each run of tokens
    end: I64  # where a run ends
    place: U16  # which document of the block a token belongs to
    first_run: I64  # runs first_run[r] to first_run[r + 1] are those of word range r


class Partition(NamedTuple):
    """The blocks of all groups, in the order of groups."""

    n_groups: int
    blocks: list[Block]
    tokens: I64  # of each group of documents and range of words
    longest: int  # tokens of the longest document


def count_groups(n_tokens: int) -> int:
    """Return the number of groups for a corpus of this size."""
    return next((groups for least, groups in reversed(GROUPS) if n_tokens >= least), 1)


def make_partition(corpus: Corpus, word_tokens: I64, n_topics: int, workers: Workers) -> Partition:
    """Cut a corpus into groups of documents and ranges of words of similar numbers of tokens."""
    P = min(count_groups(corpus.n_tokens), max(1, corpus.n_documents))
    bounds = even_ranges(np.concatenate(([0], np.cumsum(word_tokens))), P)
    bounds = np.concatenate((bounds, np.full(P + 1 - len(bounds), corpus.n_words)))
    most = max(1, min(MOST_DOCUMENTS, BLOCK_BYTES // (2 * n_topics)))
    parts = []
    for group in range(P):
        documents = np.arange(group, corpus.n_documents, P, dtype=np.uint32)
        n_blocks = max(1, -(-len(documents) // most))
        cuts = np.linspace(0, len(documents), n_blocks + 1).astype(np.int64)
        parts += [(group, documents[lo:hi]) for lo, hi in pairwise(cuts) if hi > lo]
    lengths = np.diff(corpus.doc_ptr)
    sizes = [int(lengths[documents].sum()) for _, documents in parts]
    begins = np.concatenate(([0], np.cumsum(sizes)))

    def build(group: int, documents: U32, begin: int) -> Block:
        word, end, place = _sort_block(corpus.doc_ptr, corpus.word, documents, corpus.n_words)
        first_run = np.searchsorted(word, bounds).astype(np.int64)
        return Block(group, documents, begin, word, end, place, first_run)

    blocks = workers.run(
        build, [(*part, int(begin)) for part, begin in zip(parts, begins[:-1], strict=True)]
    )
    tokens = np.zeros((P, P), np.int64)
    for block in blocks:
        ends = np.concatenate(([0], block.end))
        tokens[block.group] += np.diff(ends[block.first_run])
    return Partition(P, blocks, tokens, int(lengths.max(initial=0)))


@njit(nogil=True, cache=True)
def _sort_block(doc_ptr, word, documents, V):
    """Return the words of a block, where their tokens end, and the document of each token."""
    place = np.zeros(V + 1, np.int64)  # where a word's next token goes
    for d in documents:
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            place[word[i] + 1] += 1
    n_runs = 0
    for v in range(V):
        n_runs += place[v + 1] > 0
        place[v + 1] += place[v]
    words, end = np.empty(n_runs, np.int32), np.empty(n_runs, np.int64)
    r = 0
    for v in range(V):
        if place[v + 1] > place[v]:
            words[r], end[r] = v, place[v + 1]
            r += 1
    documents_of = np.empty(place[V], np.uint16)
    for j in range(len(documents)):
        d = documents[j]
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            documents_of[place[word[i]]] = j
            place[word[i]] += 1
    return words, end, documents_of
