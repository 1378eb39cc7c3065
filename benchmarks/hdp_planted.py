"""How many of many planted topics a hierarchical Dirichlet process finds, and how many LDA finds.

A corpus is drawn from LDA's model. Chains of LDA with as many topics as were planted, and of the
HDP with its defaults, are run on it. Topics are paired with planted ones, one to one; one is found
where the Bhattacharyya coefficient of its words is above 0.8. Every chain has a process of its own.

    python benchmarks/hdp_planted.py --documents 20000 --planted 500 --sweeps 80
"""

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np

from common import in_own_process, parse_options, write_result
from polyaurn import datasets, sweeps
from polyaurn.chain.hdp import LARGE
from polyaurn.chain.state import topic_word_matrix
from polyaurn.model.distance import match_topics

FOUND = 0.8  # Bhattacharyya coefficient with a planted topic
CHAINS: dict[str, dict[str, Any]] = {
    "lda": {},
    "hdp": {"model": "hdp"},
    "hdp, 500 start topics": {"model": "hdp", "start_topics": 500},
    "hdp, 1000 start topics": {"model": "hdp", "start_topics": 1000},
}


def found_topics(n: Any, phi: Any) -> int:
    """Return how many rows of `phi` have a row of `n` of their own that is like them."""
    K = max(n.shape[0], len(phi))
    counts, planted = np.zeros((2, K, phi.shape[1]))
    counts[: n.shape[0]], planted[: len(phi)] = n.toarray(), phi
    return int((match_topics(counts, planted)[1] > FOUND).sum())


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Run one chain, and match its topics every so many sweeps; only sweeps are timed."""
    corpus, truth = datasets.generate(
        task["documents"], task["words"], task["planted"], task["length"],
        doc_topic_prior=task["concentration"] / task["planted"],
        topic_concentration=task["topic_concentration"], random_state=task["seed"],
        return_truth=True,
    )  # fmt: skip
    options = CHAINS[task["chain"]]
    K = task["topics"] if options.get("model") == "hdp" else task["planted"]
    if "start_topics" in options:
        options = options | {"start_topics": min(options["start_topics"], K)}
    common: dict[str, Any] = {"n_jobs": task["threads"], "evaluate_every": 0}
    for _ in sweeps(corpus, K, max_iter=1, **common | options):  # compiles
        pass
    chain = sweeps(
        corpus, K, max_iter=task["sweeps"], random_state=task["seed"], **common | options
    )
    points, used = [], 0.0
    while True:
        begin = time.process_time()
        drawn = next(chain, None)
        used += time.process_time() - begin
        if drawn is None:
            break
        state, info = drawn
        if info.sweep % task["every"] and info.sweep != task["sweeps"]:
            continue
        sizes = np.bincount(state.counts.topic, state.counts.number, minlength=K)
        n = topic_word_matrix(state.counts, K)[sizes > 0]
        points.append({
            "sweep": info.sweep, "phase": info.phase, "cpu": used,
            "topics": int((sizes > 0).sum()), "large": int((sizes > LARGE * sizes.sum()).sum()),
            "found": found_topics(n, truth.phi), "alpha_sum": float(state.priors.alpha.sum()),
            "beta": float(state.priors.beta.mean()), "gamma": info.gamma,
        })  # fmt: skip
    pairs = np.unique(np.repeat(np.arange(len(corpus.doc_ptr) - 1), np.diff(corpus.doc_ptr))
                      * task["planted"] + truth.z)  # fmt: skip
    per_document = len(pairs) / (len(corpus.doc_ptr) - 1)
    return {"tokens": corpus.n_tokens, "topics_per_document": per_document, "points": points}


def child(task: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps(run(task)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--planted", type=int, default=500)
    parser.add_argument("--length", type=float, default=95.0, help="mean tokens of a document")
    parser.add_argument("--concentration", type=float, default=1.2, help="of planted mixtures")
    parser.add_argument("--topic-concentration", type=float, default=100.0)
    parser.add_argument("--topics", type=int, default=1000, help="the most the HDP may use")
    parser.add_argument("--sweeps", type=int, default=80)
    parser.add_argument("--every", type=int, default=20, help="sweeps between points")
    parser.add_argument("--chains", nargs="+", choices=CHAINS, default=list(CHAINS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--name", default="hdp-planted")
    options = parse_options(parser, child)
    kept = {"no_save", "child", "chains", "name"}
    setting = {name: value for name, value in vars(options).items() if name not in kept}
    runs = []
    for chain in options.chains:
        ended = in_own_process(__file__, setting | {"chain": chain})
        runs.append({"chain": chain} | ended)
        for point in ended["points"]:
            print(
                f"{chain}, sweep {point['sweep']} ({point['phase']}): {point['found']} of "
                f"{options.planted} found, {point['topics']} topics, {point['large']} large, "
                f"{point['cpu']:.0f} s of CPU",
                flush=True,
            )
        if not options.no_save:
            write_result(options.name, setting | {"runs": runs})


if __name__ == "__main__":
    main()
