"""A whole run on one GPU, from the corpus on the disk to the last sweep, by the wall clock.

The corpus is that of `gpu.py`, PubMed's shape at full size. Topics begin at random, burn-in aids
are off, and the log posterior is computed every 100 sweeps; compiling is counted.

    python benchmarks/gpu_whole_run.py
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from common import write_result
from gpu import generate
from polyaurn import read_corpus, sweeps
from polyaurn.backends.gpu import toolkit
from polyaurn.corpus.urn_file import write_urn


def run(path: Path, K: int, n_sweeps: int, every: int) -> dict:
    """Return seconds since the corpus was asked for, by sweep."""
    begin = time.perf_counter()
    corpus = read_corpus(path)
    trace, first = [], 0.0
    for _, info in sweeps(
        corpus,
        K,
        device="gpu",
        max_iter=n_sweeps,
        evaluate_every=every,
        warm_start="random",
        phi_refreshes=1,
    ):
        now = time.perf_counter() - begin
        first = first or now
        if info.log_posterior is not None:
            level = info.log_posterior / corpus.n_tokens
            trace.append({"sweep": info.sweep, "seconds": now, "log_posterior": level})
            print(json.dumps(trace[-1]), flush=True)
    return {
        "tokens": corpus.n_tokens,
        "documents": corpus.n_documents,
        "words": corpus.n_words,
        "topics": K,
        "sweeps": n_sweeps,
        "seconds": time.perf_counter() - begin,
        "seconds_to_first_sweep": first,
        "bytes_per_token": toolkit.cupy().get_default_memory_pool().total_bytes() / corpus.n_tokens,
        "trace": trace,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=8_200_000)
    parser.add_argument("--words", type=int, default=90_000)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--out", type=Path, help="in place of results/gpu-whole-run.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus, _ = generate(options.documents, options.words)
        path = write_urn(corpus, Path(folder) / "corpus.urn")
        del corpus
        found = run(path, options.topics, options.sweeps, options.every)
    print(json.dumps({name: value for name, value in found.items() if name != "trace"}))
    write_result("gpu-whole-run", found, options.out, on_gpu=True)


if __name__ == "__main__":
    main()
