"""Which documents a launch takes: those of similar length, with lanes to suit.

Lanes of a warp wait for its longest document, and the lists of a block's documents share its
memory; so documents are sorted by length and cut where either would be wasted.
"""

from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.gpu.sizes import DENSE_AT_ONCE, LANES, LONGEST, PACKED_AT_ONCE, TOKEN_WORDS
from polyaurn.base.arrays import I64

EDGES = (32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024, LONGEST)  # tokens, at most
SHARED_BYTES = 48_000  # of a block, which every GPU has; a test sees that no shape takes more
BLOCK = 128  # threads
WARPS = BLOCK // LANES
LONG_BYTES = 1 << 28  # counts of the long documents that are drawn at once


class Bucket(NamedTuple):
    """Documents of one launch: ``order[begin:end]`` of their chunk's visit."""

    begin: int
    end: int
    longest: int  # tokens
    log_lanes: int


class Shape(NamedTuple):
    """How a bucket is launched."""

    room: int  # entries of a lane's stretch
    batch: int  # of which the weights are requested at once
    block: int  # threads

    @property
    def shared(self) -> int:
        """Bytes of shared memory, which are taken from the cache."""
        in_batches = -(-self.room // self.batch) * self.batch
        return (in_batches + self.batch + TOKEN_WORDS) * self.block * 4


def shape_for(n_listed: int, longest: int, log_lanes: int, n_topics: int, dense: bool) -> Shape:
    """Return the shape of a launch for documents of up to so many tokens.

    Lists get space for some more topics than `n_listed`, the most that a document has.
    """
    entries = min(n_listed + n_listed // 16 + 4, longest, n_topics)
    room = -(-entries // (1 << log_lanes)) + 1
    return Shape(room, DENSE_AT_ONCE if dense else PACKED_AT_ONCE, BLOCK)


def lanes_for(longest: int, n_topics: int) -> int:
    """Return the logarithm of how many lanes draw a document of at most so many tokens."""
    if n_topics <= 256:
        return 3 if longest <= 512 else 4
    if n_topics <= 4096:
        return 3 if longest <= 128 else 4 if longest <= 512 else 5
    return 4 if longest <= 64 else 5


def make_buckets(lengths: I64, n_topics: int) -> tuple[list[Bucket], int]:
    """Cut documents into buckets; also return how many come first that are too long for `z_short`.

    Lengths are in decreasing order. Documents without tokens are in no bucket.
    """
    n_long = int(np.searchsorted(-lengths, -LONGEST, side="left"))
    buckets = []
    for low, high in zip((0, *EDGES[:-1]), EDGES, strict=True):
        begin, end = np.searchsorted(-lengths, (-high, -low), side="left").tolist()
        if begin < end:
            longest = int(lengths[begin])
            buckets.append(Bucket(begin, end, longest, lanes_for(longest, n_topics)))
    return buckets[::-1], n_long


def long_batches(n_long: int, n_topics: int) -> list[tuple[int, int]]:
    """Cut the long documents into batches whose counts fit."""
    most = max(1, LONG_BYTES // (4 * n_topics))
    return [(low, min(low + most, n_long)) for low in range(0, n_long, most)]


def sorting_size(longest: Any) -> int:
    """Return the power of two that holds so many tokens."""
    return 1 << max(0, int(longest) - 1).bit_length()
