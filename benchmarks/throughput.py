"""Tokens per second in steady state, ours and peers', in one run; Phi and z apart.

Each engine runs in a process of its own with the same corpus, priors and threads, hyperparameters
fixed, in turn for several rounds. Reading and compiling do not count. Medians are reported.

    python benchmarks/throughput.py --corpus 20newsgroups --topics 100 --threads 2
    python benchmarks/throughput.py --corpus generated:20000:5000:100 --topics 100

A generated corpus is named by its documents, words and mean document length.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from common import in_own_process, open_corpus, parse_options, write_result
from engines import NAMES, make_engine


def child(arguments: dict[str, Any]) -> None:
    corpus = open_corpus(arguments["corpus"])
    burn_in, timed = arguments["burn_in"], arguments["timed"]
    engine = make_engine(
        arguments["engine"], corpus, arguments["topics"], arguments["threads"], burn_in + timed
    )
    if arguments["engine"] == "topica":
        engine.train(burn_in + timed)
        (a, start), (b, end) = engine.clock[0], engine.clock[-1]
        print(json.dumps({"tokens_per_second": corpus.n_tokens * (b - a) / (end - start)}))
        return
    engine.train(burn_in)
    phi_before = getattr(engine, "phi_seconds", 0.0)
    seconds = engine.train(timed)
    result = {
        "tokens_per_second": corpus.n_tokens * timed / seconds,
        "log_posterior_a_token": engine.log_posterior() / corpus.n_tokens,
    }
    if hasattr(engine, "phi_seconds"):
        result["phi_share"] = (engine.phi_seconds - phi_before) / seconds
    print(json.dumps(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--burn-in", type=int, default=100)
    parser.add_argument("--timed", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    engines = ["polyaurn-plain", "partially-collapsed", "tomotopy"]
    parser.add_argument("--engines", nargs="+", default=engines, choices=NAMES)
    options = parse_options(parser, child)
    setting = {
        name: getattr(options, name) for name in ("corpus", "topics", "threads", "burn_in", "timed")
    }
    rounds: dict[str, list[dict]] = {engine: [] for engine in options.engines}
    for _ in range(options.rounds):
        for engine in options.engines:
            rounds[engine].append(in_own_process(__file__, setting | {"engine": engine}))
    median = {
        engine: statistics.median(r["tokens_per_second"] for r in found)
        for engine, found in rounds.items()
    }
    first = options.engines[0]
    for engine, speed in median.items():
        share = [r["phi_share"] for r in rounds[engine] if "phi_share" in r]
        phi = f"  Phi {statistics.median(share):.1%} of it" if share else ""
        ratio = "" if engine == first else f"  {first} is {median[first] / speed:.2f} x as fast"
        print(f"{engine:<20} {speed / 1e6:8.2f} M tokens/s{phi}{ratio}")
    if not options.no_save:
        corpus = Path(options.corpus).name.replace(":", "-")
        name = f"throughput-{corpus}-{options.topics}-{options.threads}"
        result = {"setting": setting, "median": median, "rounds": rounds}
        print(f"raw result in {write_result(name, result).name}")


if __name__ == "__main__":
    main()
