"""Log posterior against time: today's defaults beside version 0.1's.

Each chain has its own number of sweeps, since an annealed start depends on it. The log posterior is
log p(w, z) given the chain's own priors: for learned ones those learned so far. Chains are run in
turn; only sweeps are timed.

    python benchmarks/defaults.py --corpus imdb --topics 1000 --sweeps 130 60 120
"""

import argparse
import warnings
from typing import Any

from common import open_corpus, write_result
from polyaurn import LDA
from race_engines import ALPHA, BETA

FIXED = {"learn_priors_every": 0}
CHAINS: dict[str, dict[str, Any]] = {
    "version 0.1": FIXED | {"sampler": "polya-urn", "warm_start": "grow", "average_draws": 1},
    "fixed priors": FIXED,
    "learned priors": {},
}


def time_to(points: list[dict[str, float]], level: float) -> float | None:
    """Return when a chain's log posterior first reached a level, between two of its scores."""
    for before, after in zip([points[0], *points], points, strict=False):
        if after["log_posterior"] >= level:
            gained = after["log_posterior"] - before["log_posterior"]
            share = (level - before["log_posterior"]) / gained if gained else 1.0
            return before["seconds"] + share * (after["seconds"] - before["seconds"])
    return None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--sweeps", type=int, nargs="+", default=[130, 60, 120],
        help="of version 0.1, then of each chain with today's defaults",
    )  # fmt: skip
    parser.add_argument("--every", type=int, default=10, help="sweeps between scores")
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    corpus = open_corpus(options.corpus)
    first, *others = options.sweeps
    plan = [("version 0.1", first)]
    plan += [(name, sweeps) for name in list(CHAINS)[1:] for sweeps in others]
    runs: list[dict[str, Any]] = []
    for name, sweeps in plan:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty documents, and of starts cut short
            given = {"doc_topic_prior": ALPHA, "topic_word_prior": BETA, "verbose": False}
            given |= {"n_jobs": options.threads, "random_state": 0} | CHAINS[name]
            LDA(options.topics, max_iter=2, evaluate_every=0, **given).fit(corpus)  # compiles
            lda = LDA(options.topics, max_iter=sweeps, evaluate_every=options.every, **given)
            lda.fit(corpus)
        points = [
            {"sweep": record["sweep"], "seconds": record["seconds"],
             "log_posterior": record["log_posterior"] / corpus.n_tokens}
            for record in lda.trace_ if record["log_posterior"] is not None
        ]  # fmt: skip
        sampler = lda.model_.parameters["sampler"]
        runs.append({"chain": name, "sampler": sampler, "sweeps": sweeps, "points": points})
        goal = runs[0]["points"][-1]
        reached = time_to(points, goal["log_posterior"])
        print(
            f"{name} ({sampler}), {sweeps} sweeps: {points[-1]['log_posterior']:.4f} per token "
            f"after {points[-1]['seconds']:.1f} s; version 0.1's {goal['log_posterior']:.4f} "
            + ("not reached" if reached is None else f"after {reached:.1f} s"),
            flush=True,
        )
    if not options.no_save:
        setting = {name: getattr(options, name) for name in ("corpus", "topics", "threads")}
        write_result(
            f"defaults-{options.corpus}-{options.topics}", {"setting": setting, "runs": runs}
        )


if __name__ == "__main__":
    main()
