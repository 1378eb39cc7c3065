"""Let coverage choose the inputs: `python fuzz/atheris_run.py uci -runs=100000 -seed=1`.

Needs atheris (`pip install 'polyaurn[fuzz]'`). polyaurn's Python modules are instrumented; its
compiled kernels are not. Options after the target are libFuzzer's.
"""

import random
import resource
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))

with atheris.instrument_imports(include=["polyaurn"]):
    from mutations import GZIP_WAYS, TEXT_WAYS, good_files, pack_a_bomb
    from targets import TARGETS

    from polyaurn.files import reading as files

MEMORY = 1 << 30


def main() -> None:
    """Run one target from the command line."""
    name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"usage: python fuzz/atheris_run.py TARGET; one of {', '.join(TARGETS)}")
    files.SMALL = 1 << 25  # less than readers grant, so that no input takes seconds
    good = good_files(name)
    TARGETS[name](good[0])
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if not data.strip(b"\n\0"):  # libFuzzer begins with nothing
            return rng.choice(good)[:max_size]
        ways = [w for w in (*TEXT_WAYS, *TEXT_WAYS, *GZIP_WAYS) if w is not pack_a_bomb]
        if rng.random() < 0.5:
            return atheris.Mutate(data, max_size)
        return rng.choice(ways)(data, rng)[:max_size]

    options = ["-max_len=8192", "-timeout=60", "-rss_limit_mb=4096"]
    atheris.Setup(
        [sys.argv[0], *options, *sys.argv[1:]],
        lambda data: TARGETS[name](data) and None,
        custom_mutator=mutate,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
