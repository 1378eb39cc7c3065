"""What a chain's start does for its held-out score: growing, annealing, a collapsed start.

Each start is followed by its number of sweeps. CPU time of training and the race's held-out score,
on the tenth of the documents that the race holds out; priors are learned, or fixed with --fixed.

    python benchmarks/warm_starts.py --corpus debian --topics 1000 --sampler sparse-dirichlet \
        --starts grow:160 anneal:80 collapsed:83
"""

import argparse
import warnings
from time import process_time

import numpy as np
import scipy.sparse as sp

from common import open_corpus, write_result
from polyaurn import LDA, Corpus
from race_engines import ALPHA, BETA, LEARN_EVERY
from race_score import completion, split


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="debian")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--sampler", default="sparse-dirichlet")
    parser.add_argument("--starts", nargs="+", default=["grow:160", "anneal:80", "collapsed:83"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fixed", action="store_true", help="keep the priors as they are")
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    train, test = split(open_corpus(options.corpus).to_matrix())
    corpus = Corpus.from_matrix(train)
    runs = []
    for start in options.starts:
        warm_start, sweeps = start.split(":")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty documents, and of starts cut short
            begin = process_time()
            lda = LDA(
                options.topics, max_iter=int(sweeps), doc_topic_prior=ALPHA, topic_word_prior=BETA,
                learn_priors_every=0 if options.fixed else LEARN_EVERY, evaluate_every=0,
                sampler=options.sampler, warm_start=warm_start, n_jobs=options.threads,
                random_state=1, verbose=False,
            ).fit(corpus)  # fmt: skip
            seconds = process_time() - begin
        alpha, beta = lda.model_.priors.alpha, float(np.mean(lda.model_.priors.beta))
        score = completion(sp.csr_matrix(lda.topic_word_counts_), test, np.asarray(alpha), beta)
        runs.append(
            {"start": warm_start, "sweeps": int(sweeps), "cpu_seconds": seconds, "score": score,
             "alpha_sum": float(alpha.sum()), "beta": beta}
        )  # fmt: skip
        print(
            f"{warm_start:<8} {sweeps:>5} sweeps {seconds:7.1f} s of CPU  score {score:.4f}  "
            f"alpha {alpha.sum():.2f}  beta {beta:.4f}",
            flush=True,
        )
    if not options.no_save:
        names = ("corpus", "topics", "sampler", "threads", "fixed")
        setting = {name: getattr(options, name) for name in names}
        priors = "fixed" if options.fixed else "learned"
        starts = "-".join(run["start"] for run in runs)
        name = f"warm-starts-{options.corpus}-{options.topics}-{priors}-{starts}"
        write_result(name, {"setting": setting, "runs": runs})


if __name__ == "__main__":
    main()
