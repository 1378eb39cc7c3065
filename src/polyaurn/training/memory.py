"""Whether a run will fit into memory, checked before it starts."""

import sys
from pathlib import Path

from polyaurn.base.errors import InputError
from polyaurn.base.threads import count_threads
from polyaurn.chain.samplers import COLLAPSED_START, SAMPLERS
from polyaurn.training.run import Run

SPARSE = "polya-urn"  # stores only what is not zero
TOKEN = 6  # bytes: its topic before and after a sweep, its place
_CGROUP = Path("/sys/fs/cgroup")


def least_bytes(
    n_tokens: int,
    n_words: int,
    n_topics: int,
    sampler: str,
    n_threads: int = 1,
    n_documents: int = 0,
    *,
    collapsed: bool = False,
) -> int:
    """Return what a run on the CPU needs besides the corpus, at least; it may start collapsed."""
    facts = SAMPLERS[sampler]
    cell = facts.bytes_of_cell(n_threads)
    first = SAMPLERS[COLLAPSED_START].row_bytes if collapsed else 0
    rows = max(facts.row_bytes, first) * n_documents * n_topics
    return TOKEN * n_tokens + cell * n_words * n_topics + rows


def free_bytes() -> int:
    """Return how much memory this process may still take; a huge number where that is unknown."""
    found = [sys.maxsize]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        found.append(sizes["MemAvailable"] + sizes.get("SwapFree", 0))
    except (OSError, KeyError, ValueError, IndexError):
        pass
    for most, used, reclaimable in (
        ("memory.max", "memory.current", "inactive_file "),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file "),
    ):  # of control groups, version 2 and version 1
        try:
            limit, taken = (int((_CGROUP / name).read_text("ascii")) for name in (most, used))
            lines = (_CGROUP / most).with_name("memory.stat").read_text("ascii").splitlines()
            spare = [int(line.split()[1]) for line in lines if line.startswith(reclaimable)]
            found.append(limit - taken + sum(spare))
        except (OSError, ValueError, IndexError):  # no such limit
            pass
    return max(0, min(found))


def _blocks(n_tokens: int) -> int:
    """Return how many blocks documents are cut into, at least, if none is longer than a block."""
    from polyaurn.backends.cpu.layout import BLOCKS, LEAST_BLOCK

    return -(-n_tokens // max(LEAST_BLOCK, -(-n_tokens // BLOCKS)))


def check_memory(run: Run) -> None:
    """Reject a run that cannot fit."""
    corpus, settings, K = run.corpus, run.settings, run.settings.n_components
    sizes = (corpus.n_tokens, corpus.n_words, K)
    n_threads = min(count_threads(settings.n_jobs), corpus.n_documents, _blocks(corpus.n_tokens))
    here = settings.sampler if run.backend.holds_phi else SPARSE
    collapsed = settings.schedule(*sizes[:2], settings.max_iter).collapsed > 0
    of_rows = (here, n_threads, corpus.n_documents)
    needed, free = least_bytes(*sizes, *of_rows, collapsed=collapsed), free_bytes()
    if needed <= free:
        return
    remedy = "train on fewer documents, or on a machine with more memory"
    if collapsed and least_bytes(*sizes, *of_rows) <= free:
        remedy = "begin with warm_start='anneal' (--warm-start anneal)"
    elif least_bytes(*sizes, here) <= free:
        remedy = "take fewer threads (n_jobs, --threads), each of which counts by itself"
    elif SAMPLERS[here].cell_bytes:
        remedy = f"take the sampler {SPARSE!r}, which stores only what is not zero"
    raise InputError(
        f"This run needs at least {needed / 1e9:,.1f} GB of memory ({corpus.n_tokens:,} tokens, "
        f"{corpus.n_words:,} words, {K:,} topics, {n_threads:,} threads), and {free / 1e9:,.1f} GB "
        f"are free; {remedy}."
    )
