"""What stale counts do to held-out scores: AD-LDA on several threads beside a larger beta.

Chains of fully collapsed sampling that differ in their threads and in beta, which is fixed and also
used to score: the number of nonzeros of n, the log posterior and the race's held-out score of the
last draw, all of which start from random topics. On several threads "collapsed" is AD-LDA, whose
counts are as old as the sweep; those of "partitioned" are current but for the totals of topics.

    python benchmarks/stale_counts.py --corpus 20newsgroups --topics 100 --sweeps 200 --seeds 2
"""

import argparse
import warnings
from typing import Any

import numpy as np

from common import open_corpus, write_result
from polyaurn import LDA, Corpus
from race_engines import ALPHA
from race_score import completion, split

CHAINS = [  # sampler, threads, beta
    ("collapsed", 1, 0.01),
    ("collapsed", 1, 0.02),
    ("collapsed", 1, 0.03),
    ("collapsed", 2, 0.01),
    ("collapsed", 4, 0.01),
    ("collapsed", 8, 0.01),
    ("partitioned", 2, 0.01),
    ("partitioned", 2, 0.02),
    ("partitioned", 2, 0.03),
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    held_in, test = split(open_corpus(options.corpus).to_matrix())
    corpus = Corpus.from_matrix(held_in)
    rows: list[dict[str, Any]] = []
    for sampler, threads, beta in CHAINS:
        for seed in range(1, options.seeds + 1):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of empty documents
                lda = LDA(
                    options.topics, max_iter=options.sweeps, sampler=sampler, n_jobs=threads,
                    doc_topic_prior=ALPHA, topic_word_prior=beta, learn_priors_every=0,
                    average_draws=1, warm_start="random", evaluate_every=options.sweeps,
                    random_state=seed, verbose=False,
                ).fit(corpus)  # fmt: skip
            n = lda.topic_word_counts_
            rows.append({
                "sampler": sampler, "threads": threads, "beta": beta, "seed": seed,
                "nonzeros": int(n.nnz),
                "log_posterior": lda.trace_[-1]["log_posterior"] / corpus.n_tokens,
                "score": completion(n, test, np.full(options.topics, ALPHA), beta),
            })  # fmt: skip
            said = rows[-1]
            print(
                f"{sampler}, {threads} threads, beta {beta}, seed {seed}: {said['nonzeros']:,} "
                f"nonzeros, log posterior {said['log_posterior']:.4f}, held-out "
                f"{said['score']:.4f}",
                flush=True,
            )
    if not options.no_save:
        setting = {name: getattr(options, name) for name in ("corpus", "topics", "sweeps")}
        write_result(
            f"stale-counts-{options.corpus}-{options.topics}", {"setting": setting, "runs": rows}
        )


if __name__ == "__main__":
    main()
