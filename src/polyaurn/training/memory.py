"""Whether a run will fit into memory, told before it starts."""

import sys
from pathlib import Path

from polyaurn.base.errors import InputError

TOKEN = 6  # bytes: its topic before and after a sweep, its place
CELL = {"partially-collapsed": 14, "collapsed-dense": 4}  # bytes for each word and topic
_CGROUP = Path("/sys/fs/cgroup")


def least_bytes(n_tokens: int, n_words: int, n_topics: int, sampler: str) -> int:
    """Return what a run needs besides the corpus, at least.

    Parameters
    ----------
    n_tokens, n_words, n_topics : int
        N, V and K.
    sampler : str
        Its name.

    Returns
    -------
    int
        Bytes; what a run takes in the end is more.
    """
    return TOKEN * n_tokens + CELL.get(sampler, 0) * n_words * n_topics


def free_bytes() -> int:
    """Return how much memory this process may still take; a great deal where nobody can tell."""
    found = [sys.maxsize]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        found.append(sizes["MemAvailable"] + sizes.get("SwapFree", 0))
    except (OSError, KeyError, ValueError, IndexError):
        pass
    try:
        most = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        found.append(most - used + _reclaimable())
    except (OSError, ValueError):  # no such limit
        pass
    return max(0, min(found))


def _reclaimable() -> int:
    lines = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("inactive_file ")), 0)


def check_memory(n_tokens: int, n_words: int, n_topics: int, sampler: str) -> None:
    """Refuse a run that cannot fit.

    Parameters
    ----------
    n_tokens, n_words, n_topics : int
        N, V and K.
    sampler : str
        Its name.
    """
    needed, free = least_bytes(n_tokens, n_words, n_topics, sampler), free_bytes()
    if needed > free:
        remedy = (
            "take the sampler 'polya-urn', which keeps what is not zero"
            if sampler in CELL
            else "train on fewer documents, or on a machine with more memory"
        )
        raise InputError(
            f"This run needs at least {needed / 1e9:,.1f} GB of memory ({n_tokens:,} tokens, "
            f"{n_words:,} words, {n_topics:,} topics), and {free / 1e9:,.1f} GB are free; {remedy}."
        )
