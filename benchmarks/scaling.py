"""How a sweep's time grows: with threads, tokens, words or topics; fits the growth exponent.

With threads, the corpus and the topics stay, and the program fails if they change a byte.

    python benchmarks/scaling.py --vary threads --values 1 2 4 8 16 --corpus imdb --topics 1000
    python benchmarks/scaling.py --vary tokens --values 500000 1000000 2000000 4000000
    python benchmarks/scaling.py --vary words --values 2000 8000 32000
    python benchmarks/scaling.py --vary topics --values 50 100 200 400 800 1600
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import sweeps

VARIED = ("threads", "tokens", "words", "topics")
LENGTH = 100  # tokens of a generated document


def child(arguments: dict[str, Any]) -> None:
    corpus = open_corpus(arguments["corpus"])
    burn_in, timed = arguments["burn_in"], arguments["timed"]
    phi_seconds = z_seconds = 0.0
    chain = sweeps(
        corpus, arguments["topics"], sampler=arguments["sampler"], n_jobs=arguments["threads"],
        max_iter=burn_in + timed, evaluate_every=0, warm_start="random", phi_refreshes=1,
    )  # fmt: skip
    digest = ""
    for state, info in chain:
        if info.sweep > burn_in:
            phi_seconds += info.phi_seconds
            z_seconds += info.z_seconds
        if info.sweep == burn_in + timed:
            digest = hashlib.sha256(state.z.tobytes()).hexdigest()
            nonzeros = int((state.counts.last - state.counts.first).sum())
    result = {
        "tokens": corpus.n_tokens,
        "tokens_per_second": corpus.n_tokens * timed / (phi_seconds + z_seconds),
        "phi_seconds": phi_seconds / timed,
        "z_seconds": z_seconds / timed,
        "work_per_token": info.work_per_token,
        "nonzero_counts": nonzeros,
        "sha256_of_z": digest,
    }
    print(json.dumps(result))


def exponent(x: list[float], y: list[float]) -> float:
    """Return the slope of log y against log x, by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--vary", default="threads", choices=("threads", "tokens", "words", "topics")
    )
    parser.add_argument("--values", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--corpus", help="generated when not given")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sampler", default="polya-urn")
    parser.add_argument("--burn-in", type=int, default=30)
    parser.add_argument("--timed", type=int, default=10)
    options = parse_options(parser, child)
    names = ("corpus", "tokens", "words", "topics", "threads", "sampler", "burn_in", "timed")
    setting = {name: getattr(options, name) for name in names}
    rows = []
    for value in options.values:
        now = setting | {options.vary: value}
        shape = f"generated:{now['tokens'] // LENGTH}:{now['words']}:{LENGTH}"
        row = in_own_process(__file__, now | {"corpus": options.corpus or shape})
        rows.append({options.vary: value} | row)
        ratio = row["tokens_per_second"] / rows[0]["tokens_per_second"]
        print(
            f"{value:>9} {options.vary}  {row['tokens_per_second'] / 1e6:8.2f} M tokens/s  "
            f"{ratio:5.2f} x  Phi {row['phi_seconds'] * 1e3:7.1f} ms  "
            f"z {row['z_seconds'] * 1e3:7.1f} ms",
            flush=True,
        )
    if options.vary == "threads":
        assert len({row["sha256_of_z"] for row in rows}) == 1, "threads changed the result"
    fits = {}
    if len(rows) > 1:
        x = [row[options.vary] for row in rows]
        fits = {part: exponent(x, [row[part] for row in rows])
                for part in ("phi_seconds", "z_seconds")}  # fmt: skip
        fits["sweep_seconds"] = exponent(x, [r["phi_seconds"] + r["z_seconds"] for r in rows])
        print(
            f"seconds grow as {options.vary}^{fits['sweep_seconds']:.2f} "
            f"(Phi {fits['phi_seconds']:.2f}, z {fits['z_seconds']:.2f})"
        )
    if not options.no_save:
        where = Path(options.corpus).name if options.corpus else "generated"
        name = f"scaling-{options.vary}-{where}-{options.topics}-{options.sampler}"
        write_result(name, {"setting": setting, "exponents": fits, "rows": rows})


if __name__ == "__main__":
    main()
