"""Time to the same log posterior: the GPU against threads of the CPU.

Both run the same chain, byte for byte, so that they reach the same log posterior at the same sweep;
what differs is the clock. The GPU's chain is run twice: the first time kernels may be compiled, as
happens once on a machine.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from common import open_corpus, write_result
from polyaurn import Corpus, sweeps


def run(corpus: Corpus, device: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds and log posteriors of a chain on one device."""
    begin = time.perf_counter()
    trace = []
    for _, info in sweeps(
        corpus,
        options.topics,
        device=device,
        n_jobs=options.threads,
        max_iter=options.sweeps,
        evaluate_every=options.every,
        random_state=0,
    ):
        if info.log_posterior is not None:
            level = info.log_posterior / corpus.n_tokens
            trace.append({"sweep": info.sweep, "seconds": info.seconds, "log_posterior": level})
    return {"device": device, "trace": trace, "wall_seconds": time.perf_counter() - begin}


def main() -> None:
    """Run both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    corpus = open_corpus(options.corpus)
    runs = [run(corpus, device, options) for device in ("cpu", "gpu", "gpu")]
    last = [found["trace"][-1] for found in runs]
    result = {
        "corpus": options.corpus,
        "tokens": corpus.n_tokens,
        "topics": options.topics,
        "threads": options.threads,
        "log_posterior": [end["log_posterior"] for end in last],
        "seconds": [end["seconds"] for end in last],
        "ratio": last[0]["seconds"] / last[2]["seconds"],
        "runs": runs,
    }
    print(json.dumps({name: result[name] for name in ("log_posterior", "seconds", "ratio")}))
    name = f"gpu-time-to-quality-{Path(options.corpus).stem}-{options.topics}"
    write_result(name, result, options.out, on_gpu=True)


if __name__ == "__main__":
    main()
