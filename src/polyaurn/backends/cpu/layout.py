"""The corpus as the compiled kernels read it: derived once, the same for any number of threads.

Documents are cut into blocks. Given Phi, documents are independent, so that a block
may be visited word by word: a word's column is then read once for all its tokens in the block,
while the counts of the block's documents stay in the nearest caches. A document's tokens are in
increasing order of word, so that each document is still visited in the order of its tokens, and
any cut into blocks gives the same bytes.

Of every token a block stores its document's place in the block, two bytes; which of the
document's tokens it is follows from the order of visits. Blocks belong to shares of the corpus,
drawn at random and nested, with which a chain may begin.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I32, I64, U8, U16, U32, release
from polyaurn.base.compilation import njit
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, below, bits, key
from polyaurn.base.threads import Workers
from polyaurn.chain.state import NO_TOPIC, SHARES, WHOLE
from polyaurn.corpus.part import Documents

WORD_RANGES = 64  # where floating-point sums depend on the cut
RANGES_PER_THREAD = 3  # where they do not: enough to keep threads even
LEAST_WORK = 4_096  # cells of Phi that are worth a range of their own
BLOCKS = 24  # at least so many where they have LEAST_BLOCK tokens: keeps threads even
LEAST_BLOCK = 16_384  # tokens: some milliseconds of work
LEAST_SHARED = 1 << 18  # tokens of a corpus that is worth cutting into shares
WINDOW = 64  # full blocks: documents are put in order inside such a stretch, then the next
BLOCK_BYTES = 2 << 20  # counts of a block's documents: about the size of a core's own cache
MOST_DOCUMENTS = 65_536  # of a block: their places have 16 bits
MOST_TOPICS = 2_048  # beyond, rows of counts by topic are too long, and blocks have no runs
LONGEST = 65_535  # tokens of a document: counts in a block have 16 bits; others stay apart
LARGEST_STEP = 65_535  # of words and tokens of runs: they have 16 bits
MAX_TOKENS = 2**32 - 1


class Layout(NamedTuple):
    """Arrays that every sweep reads and none changes."""

    doc_ptr: I64
    word: I32
    documents: U32  # all documents, in the order of visits
    blocks: I64  # block b holds documents[blocks[b]:blocks[b + 1]]
    share: U8  # ... which all belong to this share of the corpus, in 64ths, and to larger ones
    first_run: I64  # its words are the runs first_run[b] to last_run[b]; none: document order
    last_run: I64
    step: U16  # from one run's word to the next one's
    length: U16  # tokens of a run
    start: I64  # the block's tokens are place[start[b]:start[b + 1]], run after run
    place: U16  # which document of the block
    word_tokens: I64  # how often each word occurs
    word_ranges: I64  # bounds of ranges of words, more of them for more threads
    fixed_ranges: I64  # the same for any number of threads
    n_words: int
    n_topics: int
    first_token: int = 0  # of a part of a corpus: the number of its first token in the whole


def make_layout(
    corpus: Documents, n_topics: int, workers: Workers | None = None, *, by_word: bool = True
) -> Layout:
    """Derive the layout of a corpus; `by_word` says whether blocks are visited word by word."""
    cut = cut_documents(corpus, n_topics)
    return layout_of_blocks(corpus, cut, n_topics, workers or Workers(1), by_word=by_word)


def layout_of_blocks(
    corpus: Documents, cut: tuple[U32, I64, U8], n_topics: int, workers: Workers, *, by_word: bool
) -> Layout:
    """Derive the layout of documents that are cut into blocks, some of which may be empty."""
    documents, blocks, share = cut
    by_word = by_word and n_topics <= MOST_TOPICS
    made = _sort_blocks(corpus, documents, blocks, by_word, workers)
    word_tokens = made[-1]
    return Layout(
        corpus.doc_ptr,
        corpus.word,
        documents,
        blocks,
        share,
        *made,
        word_ranges=range_words(word_tokens, n_topics, RANGES_PER_THREAD * workers.n_threads),
        fixed_ranges=range_words(word_tokens, n_topics, WORD_RANGES),
        n_words=corpus.n_words,
        n_topics=n_topics,
    )


def cut_documents(corpus: Documents, n_topics: int) -> tuple[U32, I64, U8]:
    """Cut documents into blocks, each of one share of the corpus; return arrays of `Layout`."""
    N = corpus.n_tokens
    if N > MAX_TOKENS:
        raise InputError(
            f"The corpus must have fewer than 2**32 tokens to be trained on one machine. "
            f"Got {N:,} instead; raise min_count or lower max_doc_fraction, or sample documents."
        )
    return cut_blocks(corpus.doc_ptr, n_topics)


def cut_blocks(doc_ptr: I64, n_topics: int) -> tuple[U32, I64, U8]:
    """Cut documents of any number of tokens into blocks."""
    N = int(doc_ptr[-1])
    most_documents = max(1, min(MOST_DOCUMENTS, BLOCK_BYTES // (2 * n_topics)))
    share_of_document = _draw_shares(len(doc_ptr) - 1, N >= LEAST_SHARED)
    documents = _order(share_of_document, WINDOW * most_documents)
    most_tokens = max(LEAST_BLOCK, -(-N // BLOCKS))
    blocks = _cut(doc_ptr, documents, share_of_document, most_documents, most_tokens, LONGEST)
    return documents, blocks, share_of_document[documents[blocks[:-1]]]


def range_words(word_tokens: I64, n_topics: int, n_ranges: int) -> I64:
    """Cut the words into at most so many ranges of similar work."""
    work = np.concatenate(([0], np.cumsum(np.minimum(word_tokens, n_topics) + 1)))
    return even_ranges(work, min(n_ranges, 1 + int(work[-1]) // LEAST_WORK))


def even_ranges(ptr: I64, n_ranges: int) -> I64:
    """Cut items with cumulative sizes `ptr` into at most `n_ranges` ranges of similar size."""
    goals = np.linspace(ptr[0], ptr[-1], max(1, n_ranges) + 1)[1:-1]
    inner = np.searchsorted(ptr, goals)
    return np.unique(np.concatenate(([0], inner, [len(ptr) - 1]))).astype(np.int64)


def block_of(layout: Layout, b: int) -> tuple[U32, U16, U16, U16]:
    """Return a block's documents, the steps and lengths of its runs, and its tokens' places."""
    runs = slice(layout.first_run[b], layout.last_run[b])
    return (
        layout.documents[layout.blocks[b] : layout.blocks[b + 1]],
        layout.step[runs],
        layout.length[runs],
        layout.place[layout.start[b] : layout.start[b + 1]],
    )


def clear_other_blocks(layout: Any, z: U16, blocks: I64) -> None:
    """Remove the topics of the tokens in all blocks but these."""
    others = np.ones(len(layout.blocks) - 1, bool)
    others[blocks] = False
    for b in np.flatnonzero(others):
        _clear(layout.documents[layout.blocks[b] : layout.blocks[b + 1]], layout.doc_ptr, z)


def _draw_shares(D: int, several: bool) -> U8:
    """Draw for each document the least share of the corpus, in 64ths, that it belongs to."""
    if not several:
        return np.full(D, WHOLE, np.uint8)
    share_key = key(0, 0, Purpose.SHARE)
    shares = np.array((*SHARES, WHOLE))
    least = shares[np.searchsorted(shares, np.arange(WHOLE), side="right")]
    return least.astype(np.uint8)[below(bits(share_key, np.arange(D)), WHOLE)]


def _order(share: U8, window: int) -> U32:
    """Order documents by share inside windows, so that a file is read from end to end once."""
    documents = np.empty(len(share), np.uint32)
    for lo in range(0, len(share), window):
        piece = share[lo : lo + window]
        documents[lo : lo + window] = lo + np.argsort(piece, kind="stable")
    return documents


def _sort_blocks(
    corpus: Documents, documents: U32, blocks: I64, by_word: bool, workers: Workers
) -> tuple[I64, I64, U16, U16, I64, U16, I64]:
    """Sort each block's tokens by word."""
    V, B = corpus.n_words, len(blocks) - 1
    size, n_runs = np.zeros(B, np.int64), np.zeros(B, np.int64)
    bounds = np.unique(np.linspace(0, B, min(B, 4 * workers.n_threads) + 1).astype(np.int64))
    ranges = list(pairwise(bounds.tolist()))
    source = (corpus.doc_ptr, corpus.word, documents, blocks)
    totals = np.zeros(V, np.int64)

    def read(kernel: Any, *arguments: Any) -> Any:
        found = kernel(*arguments)
        release(corpus.word)  # a corpus on disk need not be in memory as a whole
        return found

    counting = [(_count_runs, *r, *source, V, by_word, LONGEST, size, n_runs) for r in ranges]
    for total in workers.run(read, counting):
        totals += total
    first_run = np.concatenate(([0], np.cumsum(n_runs + (n_runs > 0) * _slack(V, size))))
    start = np.concatenate(([0], np.cumsum(size)))
    last_run = first_run[:-1].copy()
    step, length = (np.empty(first_run[-1], np.uint16) for _ in range(2))
    place = np.empty(start[-1], np.uint16)
    made = (first_run, last_run, step, length, start, place)
    workers.run(read, [(_fill_runs, *r, *source, V, LARGEST_STEP, n_runs, *made) for r in ranges])
    return first_run[:-1], last_run, step, length, start, place, totals


def _slack(V: int, size: I64) -> I64:
    """Return how many more runs a block may need because steps and lengths have 16 bits."""
    return V // LARGEST_STEP + size // LARGEST_STEP + 1


@njit(cache=True)
def _clear(documents, doc_ptr, z):
    for d in documents:
        z[doc_ptr[d] : doc_ptr[d + 1]] = NO_TOPIC


@njit(cache=True)
def _cut(doc_ptr, documents, share, most_documents, most_tokens, longest):
    """Cut documents into blocks of one share; one too long for a block stays by itself."""
    bounds = [0]
    begun, tokens = 0, 0
    for j in range(len(documents)):
        d = documents[j]
        n = doc_ptr[d + 1] - doc_ptr[d]
        full = j - begun == most_documents or tokens + n > most_tokens
        if j > begun and (full or n > longest or share[d] != share[documents[begun]]):
            bounds.append(j)
            begun, tokens = j, 0
        tokens += n if n <= longest else most_tokens
    bounds.append(len(documents))
    return np.array(bounds, np.int64)


@njit(nogil=True, cache=True)
def _count_runs(lo, hi, doc_ptr, word, documents, blocks, V, by_word, longest, size, n_runs):
    """Count tokens and different words of blocks; return how often each word occurs."""
    total = np.zeros(V, np.int64)
    seen = np.full(V, -1, np.int64)
    for b in range(lo, hi):
        for j in range(blocks[b], blocks[b + 1]):
            d = documents[j]
            n = doc_ptr[d + 1] - doc_ptr[d]
            sort = by_word and n <= longest
            if sort:
                size[b] += n
            for i in range(doc_ptr[d], doc_ptr[d + 1]):
                v = word[i]
                total[v] += 1
                if sort and seen[v] != b:
                    seen[v] = b
                    n_runs[b] += 1
    return total


@njit(nogil=True, cache=True)
def _fill_runs(
    lo, hi, doc_ptr, word, documents, blocks, V, most, n_runs,
    first_run, last_run, step, length, start, place,
):  # fmt: skip
    number = np.zeros(V, np.int64)  # tokens of a word in the block, then where the next one goes
    for b in range(lo, hi):
        if n_runs[b] == 0:
            continue
        words = np.empty(n_runs[b], np.int64)
        n = 0
        for j in range(blocks[b], blocks[b + 1]):
            d = documents[j]
            for i in range(doc_ptr[d], doc_ptr[d + 1]):
                v = word[i]
                if number[v] == 0:
                    words[n] = v
                    n += 1
                number[v] += 1
        words.sort()
        at, r, before = start[b], first_run[b], np.int64(0)
        for v in words:
            left = number[v]
            number[v] = at
            at += left
            while v - before > most or left > most:  # in several runs
                step[r] = min(v - before, most)
                before += np.int64(step[r])
                length[r] = min(left, most) if before == v else 0
                left -= np.int64(length[r])
                r += 1
            step[r], length[r], before = v - before, left, v
            r += 1
        last_run[b] = r
        for j in range(blocks[b], blocks[b + 1]):
            d = documents[j]
            for i in range(doc_ptr[d], doc_ptr[d + 1]):
                v = word[i]
                place[number[v]] = j - blocks[b]
                number[v] += 1
        begin = start[b]
        for v in words:
            _take_turns(place[begin : number[v]])
            begin = number[v]
            number[v] = 0


@njit(nogil=True, cache=True)
def _take_turns(run):
    """Visit the first token of each document, then second ones: neighbours need not wait."""
    most, turn = 0, 0
    for j in range(1, len(run)):
        turn = turn + 1 if run[j] == run[j - 1] else 0
        most = max(most, turn)
    if most == 0:
        return
    source = run.copy()
    at = np.zeros(most + 2, np.int64)  # where the next token of each turn goes
    for placing in (False, True):
        turn = 0
        for j in range(len(source)):
            turn = turn + 1 if j > 0 and source[j] == source[j - 1] else 0
            if placing:
                run[at[turn]] = source[j]
                at[turn] += 1
            else:
                at[turn + 1] += 1
        if not placing:
            for t in range(most + 1):
                at[t + 1] += at[t]
