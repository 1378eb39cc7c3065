"""Corpora of any size, drawn piece by piece into a mapped file.

Topics are samples from Zipf's law over words shuffled for each topic, mixed with a tenth of
words from one distribution for all; a document's topics follow a Chinese restaurant process;
lengths are lognormal. Made for measuring memory and speed at a shape, not for judging topics.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit

from polyaurn.corpus.urn_file import UrnWriter

TRUE_TOPICS, SAMPLE = 500, 1 << 16
DOCUMENTS_PER_PIECE = 20_000


def write_generated(path: Path, D: int, V: int, mean_length: float, threads: int = 2) -> int:
    """Write a corpus file; return its number of tokens."""
    rng = np.random.default_rng(0)
    base = (np.arange(1, V + 1) + 2.7) ** -1.0
    edges = np.cumsum(base / base.sum())
    common = _draw(edges, rng, SAMPLE)
    topics = np.empty((TRUE_TOPICS, SAMPLE), np.int32)
    for k in range(TRUE_TOPICS):
        ranks = _draw(edges, rng, SAMPLE)
        topics[k] = rng.permutation(V)[ranks]
    sigma = 0.5
    with UrnWriter(path) as writer, ThreadPoolExecutor(threads) as pool:

        def piece(lo: int) -> tuple[np.ndarray, np.ndarray]:
            n = min(DOCUMENTS_PER_PIECE, D - lo)
            draw = np.random.default_rng((1, lo))
            log_mean = np.log(mean_length) - sigma**2 / 2
            lengths = np.maximum(1, draw.lognormal(log_mean, sigma, n)).astype(np.int64)
            word = np.empty(lengths.sum(), np.int32)
            _fill(lengths, topics, common, draw, word)
            return lengths, word

        todo = list(range(0, D, DOCUMENTS_PER_PIECE))
        for first in range(0, len(todo), 2 * threads):  # a few pieces in memory at a time
            for lengths, word in pool.map(piece, todo[first : first + 2 * threads]):
                writer.add(lengths, word)
        writer.finish([f"w{v}" for v in range(V)], _numbered(D))
        return writer.n_tokens


def _numbered(D: int):
    from polyaurn.corpus.names import Numbered

    return Numbered(D)


def _draw(edges: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    return np.minimum(np.searchsorted(edges, rng.random(n)), len(edges) - 1).astype(np.int32)


@njit(nogil=True, cache=True)
def _fill(lengths, topics, common, rng, word):
    at = 0
    for n in lengths:
        z = np.empty(n, np.int64)
        for i in range(n):
            if rng.random() < 5.0 / (5.0 + i):
                z[i] = rng.integers(0, len(topics))
            else:
                z[i] = z[rng.integers(0, i)]
            j = rng.integers(0, len(common))
            word[at + i] = common[j] if rng.random() < 0.1 else topics[z[i], j]
        word[at : at + n].sort()
        at += n


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--words", type=int, required=True)
    parser.add_argument("--length", type=float, required=True)
    options = parser.parse_args()
    n = write_generated(options.path, options.documents, options.words, options.length)
    print(f"{n:,} tokens")
