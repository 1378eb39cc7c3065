"""Whether a run will fit into memory, checked before it starts."""

import sys
from pathlib import Path

from polyaurn.backends.backend import Backend
from polyaurn.base.errors import InputError
from polyaurn.chain.samplers import DEFAULT_SAMPLER, SAMPLERS

TOKEN = 6  # bytes: its topic before and after a sweep, its place
_CGROUP = Path("/sys/fs/cgroup")


def least_bytes(n_tokens: int, n_words: int, n_topics: int, cell_bytes: int) -> int:
    """Return what a run needs besides the corpus, at least."""
    return TOKEN * n_tokens + cell_bytes * n_words * n_topics


def free_bytes() -> int:
    """Return how much memory this process may still take; a great deal where that is not known."""
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


def check_memory(
    n_tokens: int, n_words: int, n_topics: int, sampler: str, backend: Backend
) -> None:
    """Reject a run that cannot fit."""
    cell_bytes = SAMPLERS[sampler].cell_bytes if backend.holds_phi else 0
    needed, free = least_bytes(n_tokens, n_words, n_topics, cell_bytes), free_bytes()
    if needed > free:
        remedy = (
            f"take the sampler {DEFAULT_SAMPLER!r}, which stores only what is not zero"
            if cell_bytes
            else "train on fewer documents, or on a machine with more memory"
        )
        raise InputError(
            f"This run needs at least {needed / 1e9:,.1f} GB of memory ({n_tokens:,} tokens, "
            f"{n_words:,} words, {n_topics:,} topics), and {free / 1e9:,.1f} GB are free; {remedy}."
        )
