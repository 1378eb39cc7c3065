"""Whether the two samplers of the paper agree, sweep by sweep, on a real corpus.

Several chains of each from uniform starts; for each the log posterior and its two parts (topics
of documents, words of topics), topics a document, and nonzero counts, at chosen sweeps.

    python benchmarks/agreement.py --corpus kos --topics 20 --seeds 5
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from common import open_corpus, write_result
from polyaurn import sweeps
from polyaurn.backends.cpu.log_posterior import score_documents
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import doc_topic_matrix
from polyaurn.evaluate.diagnostics import log_posterior

ALPHA, BETA = 0.1, 0.01
SAMPLERS = ("polya-urn", "partially-collapsed")
STATISTICS = ("log_posterior", "documents_part", "words_part", "topics_a_document", "nonzeros")


def chain(corpus: Any, sampler: str, topics: int, seed: int, marks: list[int]) -> list[list[float]]:
    priors = make_priors(ALPHA, BETA, topics, corpus.n_words)
    rows = []
    run = sweeps(
        corpus, topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, sampler=sampler,
        random_state=seed, n_jobs=1, max_iter=max(marks), evaluate_every=0,
        warm_start="random", phi_refreshes=1,
    )  # fmt: skip
    for state, _ in run:
        if state.sweep in marks:
            total = log_posterior(corpus, state, priors)
            documents = score_documents(
                0, corpus.n_documents, corpus.doc_ptr, state.z, priors.alpha, priors.alpha.sum()
            )
            m = doc_topic_matrix(corpus.doc_ptr, state.z, topics)
            nonzeros = int((state.counts.last - state.counts.first).sum())
            rows.append([total, documents, total - documents, m.nnz / corpus.n_documents, nonzeros])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="kos")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--marks", type=int, nargs="+", default=[50, 100, 200, 500, 1000, 1500])
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    corpus = open_corpus(options.corpus)
    found = {}
    for sampler in SAMPLERS:
        with ThreadPoolExecutor() as pool:
            jobs = [
                pool.submit(chain, corpus, sampler, options.topics, seed, options.marks)
                for seed in range(options.seeds)
            ]
            found[sampler] = np.array([job.result() for job in jobs])
    for i, name in enumerate(STATISTICS):
        print(name)
        for j, mark in enumerate(options.marks):
            cells = [
                f"{v[:, j, i].mean():14.2f} ({v[:, j, i].std(ddof=1):.2f})" for v in found.values()
            ]
            print(f"  sweep {mark:>5}", *cells)
    if not options.no_save:
        result = {
            "setting": {k: getattr(options, k) for k in ("corpus", "topics", "seeds", "marks")},
            "statistics": STATISTICS,
            "chains": {sampler: values.tolist() for sampler, values in found.items()},
        }
        write_result(f"agreement-{options.corpus}-{options.topics}", result)


if __name__ == "__main__":
    main()
