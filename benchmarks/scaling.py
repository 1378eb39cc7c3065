"""Tokens per second by number of threads, and proof that the threads change nothing.

python benchmarks/scaling.py --corpus imdb --topics 1000 --threads 1 2 4 8 16
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from common import in_own_process, open_corpus, write_result
from polyaurn import sweeps


def child(arguments: dict[str, Any]) -> None:
    corpus = open_corpus(arguments["corpus"])
    burn_in, timed = arguments["burn_in"], arguments["timed"]
    phi_seconds = z_seconds = 0.0
    chain = sweeps(
        corpus, arguments["topics"], sampler=arguments["sampler"], n_jobs=arguments["threads"],
        max_iter=burn_in + timed, evaluate_every=0,
    )  # fmt: skip
    digest = ""
    for state, info in chain:
        if info.sweep > burn_in:
            phi_seconds += info.phi_seconds
            z_seconds += info.z_seconds
        if info.sweep == burn_in + timed:
            digest = hashlib.sha256(state.z.tobytes()).hexdigest()
    result = {
        "tokens_per_second": corpus.n_tokens * timed / (phi_seconds + z_seconds),
        "phi_seconds": phi_seconds / timed,
        "z_seconds": z_seconds / timed,
        "sha256_of_z": digest,
    }
    print(json.dumps(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sampler", default="polya-urn")
    parser.add_argument("--burn-in", type=int, default=10)
    parser.add_argument("--timed", type=int, default=5)
    parser.add_argument("--no-save", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads(options.child))
        return
    names = ("corpus", "topics", "sampler", "burn_in", "timed")
    setting = {name: getattr(options, name) for name in names}
    rows = []
    for threads in options.threads:
        rows.append({"threads": threads} | in_own_process(__file__, setting | {"threads": threads}))
        ratio = rows[-1]["tokens_per_second"] / rows[0]["tokens_per_second"]
        print(
            f"{threads:>3} threads  {rows[-1]['tokens_per_second'] / 1e6:8.2f} M tokens/s  "
            f"{ratio:5.2f} x  Phi {rows[-1]['phi_seconds'] * 1e3:7.1f} ms  "
            f"z {rows[-1]['z_seconds'] * 1e3:7.1f} ms",
            flush=True,
        )
    assert len({row["sha256_of_z"] for row in rows}) == 1, "threads changed the result"
    if not options.no_save:
        name = f"scaling-{Path(options.corpus).name}-{options.topics}-{options.sampler}"
        write_result(name, {"setting": setting, "rows": rows})


if __name__ == "__main__":
    main()
