"""The same models by several held-out scores: what each difference between the scores does.

A peer and the urn are trained on the race's split, and scored by the race's rule, with fewer steps,
with every second token in place of a coin for each, and on 300 documents; ours by Gibbs sampling,
too. The priors are fixed.

    python benchmarks/held_out_scores.py --corpus kos --topics 20 --peer-sweeps 50 --sweeps 100
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import SHARED, open_corpus, write_result
from engines import ALPHA, BETA, held_out, smooth
from polyaurn import LDA, Corpus
from polyaurn.evaluate import document_completion
from race_engines import PEERS
from race_score import STEPS, completion, split

FEW_STEPS, FEW_DOCUMENTS = 30, 300  # of time_to_quality.py


def scores(n: sp.csr_matrix, test: sp.csr_matrix) -> dict[str, float]:
    """Return the scores of a model by its counts, each with one change from the one before."""
    alpha = np.full(n.shape[0], ALPHA)
    phi, corpus = smooth(n.toarray().astype(float)), Corpus.from_matrix(test)
    D = corpus.n_documents
    some = np.random.default_rng(0).choice(D, min(FEW_DOCUMENTS, D), replace=False)
    return {
        "race": completion(n, test, alpha, BETA),
        f"{FEW_STEPS} steps instead of {STEPS}": completion(n, test, alpha, BETA, FEW_STEPS),
        "every second token": held_out(phi, corpus, FEW_STEPS),
        f"{FEW_DOCUMENTS} documents": held_out(phi, corpus.select(some), FEW_STEPS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="kos")
    parser.add_argument("--corpora", type=Path, default=SHARED)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", default="tomotopy", choices=tuple(PEERS))
    parser.add_argument("--peer-sweeps", type=int, default=50)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    K, threads = options.topics, options.threads
    train, test = split(open_corpus(options.corpus, options.corpora).to_matrix())
    corpus, found = Corpus.from_matrix(train), []
    for seed in range(1, options.seeds + 1):
        peer = PEERS[options.peer](train, K, options.peer_sweeps, threads, seed, False)
        lda = LDA(
            K, doc_topic_prior=ALPHA, topic_word_prior=BETA, max_iter=options.sweeps,
            sampler="polya-urn", warm_start="smooth", average_draws=1, random_state=seed,
            learn_priors_every=0, evaluate_every=0, n_jobs=threads, verbose=False,
        ).fit(corpus)  # fmt: skip
        row: dict[str, Any] = {
            "seed": seed,
            "peer": scores(peer.estimate, test),
            "ours": scores(sp.csr_matrix(lda.topic_word_counts_), test),
            "ours_by_gibbs": document_completion(lda, Corpus.from_matrix(test)).per_token,
        }
        found.append(row)
        for name, level in row["peer"].items():
            ours = row["ours"][name]
            print(
                f"seed {seed} {name:<24} {options.peer} {level:.4f}  ours {ours:.4f}  "
                f"difference {ours - level:+.4f}",
                flush=True,
            )
        print(f"seed {seed} {'Gibbs sampling':<24} ours {row['ours_by_gibbs']:.4f}")
    if not options.no_save:
        names = ("corpus", "topics", "threads", "peer", "peer_sweeps", "sweeps")
        setting = {name: getattr(options, name) for name in names}
        name = f"held-out-scores-{Path(options.corpus).name}-{K}-{options.peer}"
        write_result(name, {"setting": setting, "chains": found})


if __name__ == "__main__":
    main()
