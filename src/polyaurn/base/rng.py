"""Random numbers, addressed by what is drawn.

There is no stream of random numbers whose order could matter. Every draw has an address,
``(seed, sweep, purpose, index)``, and its 64 bits are a function of that address only, so
that one thread and sixteen, or a run and its resumption, draw the same numbers.

A ``Key`` stands for ``(seed, sweep, purpose)``; the index is the token, cell or ball.
The mixing is the finaliser of SplitMix64 (Steele, Lea and Flood 2014) over a Weyl sequence,
with the key's second word added half-way so that no two keys give shifted copies of the same
sequence. `polyaurn.backends.variates` holds the same functions for compiled code.
"""

import hashlib
import secrets
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polyaurn.base.checks import is_whole, wrong
from polyaurn.base.errors import InputError

WEYL = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB


class Purpose(IntEnum):
    """What a draw is for; numbers are part of the address and never change."""

    START = 1  # first topic of a token
    CELL = 2  # Poisson(n) or gamma of one cell of Phi
    BALLS = 3  # how many prior balls a word receives
    BALL = 4  # where a prior ball goes
    COLUMN = 5  # a word whose column came out empty
    ROW = 6  # a topic whose row came out empty
    Z = 7  # topic of a token
    SPLIT = 9  # training and test documents
    SYNTHETIC = 10  # corpora drawn from the generative model
    SHARE = 11  # when a document joins the burn-in
    ENTER = 12  # first topic of a token whose document joins a running chain
    FOLD = 13  # topic of a token of a new document
    LEFT_TO_RIGHT = 14  # the same, when held-out documents are scored
    POSTERIOR = 15  # Phi and Theta of a draw that is kept, given its topics
    PRIOR = 16  # topic of a token, where it comes from alpha and not from its document
    FRACTION = 17  # Poisson of the fraction of a cell of Phi that pseudo-counts give
    REPORT = 21  # which documents a report shows
    CLUSTER = 27  # cluster of a document
    BATCH = 24  # which training documents a batch is compared with, and resamples of both
    TABLES = 31  # of an HDP: how many draws of a topic came from the weights of topics
    WEIGHTS = 32  # ... the weights of topics
    ALPHA = 33  # ... its concentration alpha
    GAMMA = 34  # ... its concentration gamma
    STICKS = 35  # ... the order in which a stick is broken


class Key(NamedTuple):
    """Two 64-bit words that stand for (seed, sweep, purpose)."""

    a: np.uint64
    b: np.uint64


Moment = int | str  # a sweep, or "sweep.part" where Phi is drawn several times in one


def moment(sweep: int, part: int) -> Moment:
    """Return the address of a part of a sweep; the first part is the sweep itself."""
    return f"{sweep}.{part}" if part else sweep


def key(seed: int, sweep: Moment, purpose: Purpose) -> Key:
    """Return the key of one kind of draw in one sweep, or part of a sweep; see `moment`."""
    digest = hashlib.blake2b(f"{seed}/{sweep}/{int(purpose)}".encode(), digest_size=16).digest()
    a, b = np.frombuffer(digest, "<u8").astype(np.uint64)
    return Key(a, b)


def shifted(key: Key, first: int) -> Key:
    """Return the key whose index i is the index first + i of another: for a part of the tokens."""
    return Key(np.uint64((int(key.a) + first * WEYL) % 2**64), key.b)


def chain_seed(seed: int, chain: int) -> int:
    """Return the seed of one of several chains: of the first the seed itself, of others a hash.

    Hashed seeds have 128 bits, the highest set, so that no chain has a seed that a user would give,
    and chains of neighbouring seeds have nothing in common.
    """
    if chain == 0:
        return seed
    digest = hashlib.blake2b(f"chain/{seed}/{chain}".encode(), digest_size=16).digest()
    return int.from_bytes(digest, "little") | 1 << 127


def bits(key: Key, index: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Return 64 random bits for each index, always the same for the same key and index."""
    with np.errstate(over="ignore"):
        x = np.asarray(index).astype(np.uint64) * np.uint64(WEYL) + key.a
        x = (x ^ (x >> np.uint64(30))) * np.uint64(MIX_1)
        x = ((x ^ (x >> np.uint64(27))) + key.b) * np.uint64(MIX_2)
        return np.asarray(x ^ (x >> np.uint64(31)), dtype=np.uint64)


def unit(r: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Turn random bits into numbers in [0, 1): the top 53 bits."""
    return np.asarray((r >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def open_unit(r: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Turn random bits into numbers in (0, 1): the top 52 bits and a half."""
    return np.asarray(((r >> np.uint64(12)) + 0.5) * 2.0**-52, dtype=np.float64)


def below(r: npt.NDArray[np.uint64], n: int) -> npt.NDArray[np.int64]:
    """Turn random bits into integers in [0, n), n < 2**31: the top 32 bits scaled."""
    return np.asarray(((r >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32), dtype=np.int64)


def check_seed(random_state: Any, name: str = "random_state") -> int:
    """Return a seed as a non-negative integer; `name` is the parameter, for the error message.

    None takes a seed from the operating system, and a NumPy generator gives one draw.
    """
    if random_state is None:
        return secrets.randbits(31)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not is_whole(random_state):
        remedy = "give an integer such as 0 to make the run repeatable"
        raise wrong(name, "an integer, None or a NumPy generator", random_state, remedy)
    if random_state < 0:
        raise InputError(
            f"The '{name}' parameter must not be negative. Got {random_state} instead; "
            "give an integer such as 0."
        )
    return int(random_state)
