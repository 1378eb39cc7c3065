"""Tokens per second in steady state, ours and a peer's, in one run.

Each engine runs in a process of its own with the same corpus, priors and threads, hyperparameters
fixed, in turn for several rounds. Reading and compiling do not count. Medians are reported.

    python benchmarks/throughput.py --corpus 20newsgroups --topics 100 --threads 2
"""

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, write_result
from polyaurn import sweeps

ALPHA, BETA = 0.1, 0.01
ENGINES = ("polya-urn", "partially-collapsed", "tomotopy")


def ours(engine: str, corpus: Any, topics: int, threads: int, burn_in: int, timed: int) -> dict:
    kept = []
    chain = sweeps(
        corpus, topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, sampler=engine,
        n_jobs=threads, max_iter=burn_in + timed, evaluate_every=burn_in + timed,
    )  # fmt: skip
    for _, info in chain:
        if info.sweep > burn_in:
            kept.append(info)
    seconds = sum(info.phi_seconds + info.z_seconds for info in kept)
    return {
        "tokens_per_second": corpus.n_tokens * timed / seconds,
        "phi_share": sum(info.phi_seconds for info in kept) / seconds,
        "log_posterior_a_token": kept[-1].log_posterior / corpus.n_tokens,
    }


def tomotopy(engine: str, corpus: Any, topics: int, threads: int, burn_in: int, timed: int) -> dict:
    import tomotopy as tp

    warnings.simplefilter("ignore")  # it warns that several workers are not reproducible
    model = tp.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=0)
    names = np.array([str(v) for v in range(corpus.n_words)])
    for words in corpus:
        if len(words):
            model.add_doc(names[words].tolist())
    model.optim_interval = 0
    model.train(0)
    model.train(burn_in, workers=threads)
    start = time.perf_counter()
    model.train(timed, workers=threads)
    seconds = time.perf_counter() - start
    assert model.num_words == corpus.n_tokens
    return {"tokens_per_second": corpus.n_tokens * timed / seconds}


def child(arguments: dict[str, Any]) -> None:
    corpus = open_corpus(arguments.pop("corpus"))
    run = tomotopy if arguments["engine"] == "tomotopy" else ours
    print(json.dumps(run(corpus=corpus, **arguments)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--burn-in", type=int, default=50)
    parser.add_argument("--timed", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--no-save", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads(options.child))
        return
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
    peer = median.get("tomotopy")
    for engine, speed in median.items():
        ratio = f"  {speed / peer:.2f} x tomotopy" if peer else ""
        print(f"{engine:<20} {speed / 1e6:8.2f} M tokens/s{ratio}")
    if not options.no_save:
        name = f"throughput-{Path(options.corpus).name}-{options.topics}-{options.threads}"
        result = {"setting": setting, "median": median, "rounds": rounds}
        print(f"raw result in {write_result(name, result).relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
