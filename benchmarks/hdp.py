"""How many topics a hierarchical Dirichlet process finds, and how soon.

Chains of the direct assignment sampler (`polyaurn.backends.direct_assignment`, one thread) beside
our own, by seconds of sampling and of CPU: topics with tokens, those with more than 0.1% of them,
log p(w, z) given alpha Psi per token, alpha and gamma. Every chain has a process of its own and
ends when its seconds of CPU are over; chains take turns.

    python benchmarks/hdp.py --corpus ap --seconds 400 --share 0.1 --seeds 1 2 3
"""

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import Corpus, sweeps
from polyaurn.backends.direct_assignment import direct_assignment
from polyaurn.backends.registry import load_steps
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import LARGE, floored
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State

BETA = 0.01
OURS: dict[str, dict[str, Any]] = {
    "default": {},
    "not annealed": {"warm_start": "random"},
    "1000 topics": {"warm_start": "random", "start_topics": 1000},
    "one topic": {"warm_start": "random", "start_topics": 1},
    "sticks": {"topic_weights": "sticks"},
    "sparse-dirichlet": {"sampler": "sparse-dirichlet"},
    "sparse-dirichlet, annealed": {"sampler": "sparse-dirichlet", "warm_start": "anneal"},
    "sparse-dirichlet, not annealed": {"sampler": "sparse-dirichlet", "warm_start": "random"},
    "sparse-dirichlet, one topic": {
        "sampler": "sparse-dirichlet", "warm_start": "random", "start_topics": 1,
    },
    "polya-urn": {"sampler": "polya-urn"},
}  # fmt: skip


def cpu() -> float:
    """Return the seconds of CPU that this process has had."""
    return time.process_time()


def point(sweep: int, begin: tuple[float, float], sizes: Any, **facts: float) -> dict[str, Any]:
    """Return what is kept of a sweep."""
    return {
        "sweep": sweep, "seconds": begin[0], "cpu": begin[1],
        "topics": int((sizes > 0).sum()), "large": int((sizes > LARGE * sizes.sum()).sum()),
        **facts,
    }  # fmt: skip


def run_reference(corpus: Corpus, task: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the direct assignment sampler until its seconds of CPU are over."""
    options = {"beta": task["beta"], "start_topics": task["start_topics"], "seed": task["seed"]}
    options |= {name: task[name] for name in ("alpha", "gamma")} if task["fixed"] else {}
    if task["fixed"]:
        options |= {"alpha_prior": None, "gamma_prior": None}
    next(direct_assignment(corpus.select(range(20)), **options))  # compiles
    chain, found = direct_assignment(corpus, **options), []
    seconds = used = 0.0
    sweep = 0
    while used < task["seconds"]:
        begin, begin_cpu = time.perf_counter(), cpu()
        draw = next(chain)
        seconds, used = seconds + time.perf_counter() - begin, used + cpu() - begin_cpu
        sweep += 1
        if sweep % task["every"] == 0:
            sizes = np.bincount(draw.z, minlength=len(draw.psi))
            score = log_posterior(corpus, draw.z, draw.alpha * draw.psi, task["beta"])
            found.append(
                point(sweep, (seconds, used), sizes, log_posterior=score / corpus.n_tokens,
                      alpha=draw.alpha, gamma=draw.gamma)
            )  # fmt: skip
    return found


def log_posterior(corpus: Corpus, z: Any, alpha: Any, beta: float) -> float:
    """Return log p(w, z) given alpha Psi."""
    K = len(alpha)
    priors = make_priors(1.0, beta, K, corpus.n_words)._replace(alpha=floored(alpha))
    with Workers(1) as workers:
        steps = load_steps("partitioned")(corpus, K, workers)
        z = z.astype(np.uint16)
        return float(steps.log_posterior(State(z, steps.count(z), priors)))


def run_ours(corpus: Corpus, task: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one of our chains, planned for `sweeps` sweeps, until its seconds of CPU are over."""
    options: dict[str, Any] = {
        "model": "hdp", "n_jobs": task["threads"], "random_state": task["seed"],
        "topic_word_prior": task["beta"], "learn_priors_every": 0, "evaluate_every": 0,
        "max_iter": task["sweeps"], **task["options"],
    }  # fmt: skip
    first = options.get("start_topics")
    options |= {} if first is None else {"start_topics": min(first, task["topics"])}
    if task["fixed"]:
        options |= {"doc_topic_prior": task["alpha"], "gamma": task["gamma"]}
        options |= {"alpha_prior": None, "gamma_prior": None}
    for _ in sweeps(corpus, task["topics"], **options | {"max_iter": 1}):  # compiles
        pass
    found: list[dict[str, Any]] = []
    chain, used = sweeps(corpus, task["topics"], **options), 0.0
    while True:
        begin = cpu()
        drawn = next(chain, None)
        used += cpu() - begin
        if drawn is None or used > task["seconds"]:
            return found
        state, info = drawn
        if info.sweep % task["every"] == 0:
            sizes = np.bincount(state.counts.topic, state.counts.number)
            score = log_posterior(corpus, state.z, state.priors.alpha, task["beta"])
            top = state.priors.top
            assert top is not None
            found.append(
                point(info.sweep, (info.seconds, used), sizes, phase=info.phase,
                      log_posterior=score / corpus.n_tokens, alpha=top.alpha, gamma=top.gamma)
            )  # fmt: skip


def child(task: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpus = open_corpus(task["corpus"])
        run = run_reference if task["engine"] == "reference" else run_ours
        print(json.dumps(run(corpus, task)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="ap")
    parser.add_argument("--topics", type=int, default=1000, help="the most we may use")
    parser.add_argument("--seconds", type=float, default=400.0, help="of CPU, of the reference")
    parser.add_argument("--share", type=float, default=0.1, help="of these, for our chains")
    parser.add_argument("--sweeps", type=int, default=10_000, help="of our chains, at most")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--every", type=int, default=10, help="sweeps between points")
    parser.add_argument("--chains", nargs="+", default=["reference", *OURS])
    parser.add_argument("--start-topics", type=int, default=1, help="of the reference")
    parser.add_argument("--fixed", nargs=2, type=float, help="alpha and gamma that are kept")
    parser.add_argument("--name", default=None)
    options = parse_options(parser, child)
    common = {
        "corpus": options.corpus, "topics": options.topics, "beta": BETA,
        "threads": options.threads, "every": options.every, "sweeps": options.sweeps,
        "fixed": options.fixed is not None, "start_topics": options.start_topics,
    }  # fmt: skip
    if options.fixed:
        common |= {"alpha": options.fixed[0], "gamma": options.fixed[1]}
    runs = []
    for seed in options.seeds:
        for name in options.chains:
            reference = name == "reference"
            task = common | {"engine": name, "seed": seed, "options": OURS.get(name, {})}
            task["seconds"] = options.seconds * (1.0 if reference else options.share)
            points = in_own_process(__file__, task)
            runs.append({"chain": name, "seed": seed, "points": points})
            last = points[-1]
            print(
                f"{name}, seed {seed}: {last['sweep']} sweeps, {last['seconds']:.0f} s "
                f"({last['cpu']:.0f} of CPU), {last['topics']} topics, {last['large']} large, "
                f"{last['log_posterior']:.4f} per token, alpha {last['alpha']:.2f}, "
                f"gamma {last['gamma']:.2f}",
                flush=True,
            )
            if not options.no_save:
                setting = {name: value for name, value in common.items() if name != "options"}
                setting |= {"seconds": options.seconds, "share": options.share}
                write_result(options.name or f"hdp-{options.corpus}", setting | {"runs": runs})


if __name__ == "__main__":
    main()
