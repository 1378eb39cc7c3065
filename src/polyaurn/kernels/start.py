"""Topics to begin with."""

from typing import Any

import numpy as np

from polyaurn.rng import Purpose, below, bits, key
from polyaurn.state import U16

_PIECE = 1 << 20  # tokens drawn at a time, to keep memory small


def uniform_topics(layout: Any, seed: int) -> U16:
    """Draw every token's first topic uniformly.

    Parameters
    ----------
    layout : Layout
        The corpus; only its sizes are read.
    seed : int
        Address of the draws.

    Returns
    -------
    ndarray of uint16
        One topic for each token.
    """
    z = np.empty(len(layout.word), np.uint16)
    chance = key(seed, 0, Purpose.START)
    for lo in range(0, len(z), _PIECE):
        index = np.arange(lo, min(lo + _PIECE, len(z)))
        z[lo : lo + _PIECE] = below(bits(chance, index), layout.n_topics)
    return z
