"""How often to draw Phi in a sweep: held-out score after the same CPU time, for 1, 2, 4, 8 draws.

Every number of draws gets as many sweeps as take the CPU time of `--sweeps` sweeps with one draw.
The held-out score is the race's; priors are fixed, or learned with --learn. What "auto" chooses is
printed beside it.

    python benchmarks/phi_draws.py --corpora kos ap nips20 20newsgroups debian --topics 100 1000
"""

import argparse
import warnings
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import open_corpus, write_result
from polyaurn import LDA, Corpus
from polyaurn.chain.schedule import make_schedule
from race_engines import ALPHA, BETA, LEARN_EVERY
from race_score import completion, split

PROBE = 30  # sweeps of the run that measures a sweep, after the first


def train(corpus: Corpus, topics: int, sweeps: int, **given: Any) -> tuple[LDA, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of empty documents, and of starts cut short
        begin = process_time()
        lda = LDA(
            topics, max_iter=sweeps, doc_topic_prior=ALPHA, topic_word_prior=BETA,
            evaluate_every=0, verbose=False, **given,
        ).fit(corpus)  # fmt: skip
        return lda, process_time() - begin


def chosen(corpus: Corpus, topics: int, sampler: str) -> int:
    """Return the number of draws that "auto" takes."""
    return make_schedule(
        "auto", "auto", n_tokens=corpus.n_tokens, n_words=corpus.n_words, n_topics=topics,
        max_iter=1000, sampler=sampler,
    ).refreshes  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", nargs="+", default=["kos", "20newsgroups"])
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--samplers", nargs="+", default=["sparse-dirichlet", "polya-urn"])
    parser.add_argument("--draws", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--learn", action="store_true", help="learn the priors")
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.corpora:
        held_in, test = split(open_corpus(name).to_matrix())
        corpus = Corpus.from_matrix(held_in)
        for topics in options.topics:
            for sampler in options.samplers:
                given = {
                    "sampler": sampler, "n_jobs": options.threads,
                    "learn_priors_every": LEARN_EVERY if options.learn else 0,
                }  # fmt: skip
                seconds = {}
                for draws in options.draws:
                    probes = [
                        train(corpus, topics, n, phi_refreshes=draws, warm_start="anneal",
                              random_state=9, **given)[1]
                        for n in (3, 3, 3 + PROBE)
                    ]  # fmt: skip
                    seconds[draws] = max(1e-6, (probes[2] - probes[1]) / PROBE)
                budget = seconds[options.draws[0]] * options.sweeps
                auto = chosen(corpus, topics, sampler)
                for draws in options.draws:
                    sweeps = max(4, round(budget / seconds[draws]))
                    for seed in range(1, options.seeds + 1):
                        lda, took = train(
                            corpus, topics, sweeps, phi_refreshes=draws, warm_start="anneal",
                            random_state=seed, **given,
                        )  # fmt: skip
                        priors = lda.model_.priors
                        score = completion(
                            sp.csr_matrix(lda.topic_word_counts_), test,
                            np.asarray(priors.alpha), float(np.mean(priors.beta)),
                        )  # fmt: skip
                        rows.append(
                            {"corpus": name, "topics": topics, "sampler": sampler, "draws": draws,
                             "auto": auto, "seed": seed, "sweeps": sweeps, "cpu_seconds": took,
                             "score": score}
                        )  # fmt: skip
                        print(
                            f"{name:<13} K={topics:<5} {sampler:<17} {draws} draws per sweep "
                            f"({auto} by 'auto')  seed {seed} {sweeps:>5} sweeps {took:7.1f} s  "
                            f"score {score:.4f}",
                            flush=True,
                        )
    if not options.no_save:
        setting = {"threads": options.threads, "learn": options.learn}
        priors = "learned" if options.learn else "fixed"
        topics = "-".join(map(str, options.topics))
        write_result(f"phi-draws-{topics}-{priors}", {"setting": setting, "rows": rows})


if __name__ == "__main__":
    main()
