"""Time of a sweep of a hierarchical Dirichlet process beside LDA's with as many topics in use.

A chain runs for a number of sweeps. Its state is then continued in turn as what it is, and as LDA
of the topics that have tokens, with alpha Psi as its priors. Seconds of CPU, on one thread.

    python benchmarks/hdp_sweeps.py --corpus ap --sweeps 300
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

from common import open_corpus, write_result
from polyaurn import sweeps
from polyaurn.chain.state import Halt

COMMON: dict[str, Any] = {
    "topic_word_prior": 0.01, "n_jobs": 1, "evaluate_every": 0, "learn_priors_every": 0,
    "warm_start": "random",
}  # fmt: skip


def timed(corpus: Any, topics: int, start: Halt, number: int, **options: Any) -> float:
    """Return the seconds of CPU per sweep, the first one left out."""
    chain = sweeps(corpus, topics, start=start, phi_refreshes="auto", **COMMON | options)
    next(chain)
    begin = time.process_time()
    for _ in range(number):
        next(chain)
    return (time.process_time() - begin) / number


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="ap")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--timed", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samplers", nargs="+", default=["partitioned", "sparse-dirichlet"])
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    corpus, K = open_corpus(options.corpus), options.topics
    warnings.simplefilter("ignore")
    chain = sweeps(
        corpus, K, model="hdp", sampler="partitioned", max_iter=options.sweeps,
        **COMMON | {"warm_start": "anneal"},
    )  # fmt: skip
    *_, (state, _) = chain
    used, z = np.unique(state.z, return_inverse=True)
    whole = Halt(state.z, state.sweep, priors=state.priors)
    part = Halt(z.astype(np.uint16), state.sweep)
    result: dict[str, Any] = {"topics_in_use": len(used), "sweeps": state.sweep}
    for sampler in options.samplers:
        rounds: dict[str, list[float]] = {"hdp": [], "lda": []}
        for _ in range(options.rounds):
            rounds["hdp"].append(
                timed(corpus, K, whole, options.timed, sampler=sampler, model="hdp")
            )
            rounds["lda"].append(
                timed(corpus, len(used), part, options.timed, sampler=sampler,
                      doc_topic_prior=state.priors.alpha[used])
            )  # fmt: skip
        hdp, lda = (float(np.median(rounds[name])) for name in ("hdp", "lda"))
        result[sampler] = rounds | {"ratio": hdp / lda}
        print(
            f"{options.corpus}, {sampler}, {len(used)} topics in use: {hdp * 1e3:.1f} ms of CPU "
            f"per sweep of the HDP (at most {K}), {lda * 1e3:.1f} ms of LDA: ratio {hdp / lda:.2f}",
            flush=True,
        )
    if not options.no_save:
        setting = {name: getattr(options, name) for name in ("corpus", "topics", "timed")}
        write_result(f"hdp-sweeps-{options.corpus}", setting | result)


if __name__ == "__main__":
    main()
