"""Document clusters: what beta and the first sweeps do to how many clusters are found.

Texts of planted clusters, few and many for their words, and the subjects of `clusters.py` are
clustered with the default, with the same beta as a number, which leaves out the first sweeps of a
smaller one, with other numbers, and with a learned beta.

    python benchmarks/cluster_priors.py
"""

import argparse
import json
from pathlib import Path
from time import process_time
from typing import Any

from sklearn.metrics import adjusted_rand_score

from clusters import planted, subjects
from common import in_own_process, parse_options, write_result
from polyaurn import DocumentClusters
from polyaurn.training.clusters import word_prior

SHAPES = ("60000:1000:20000", "10000:50:5000", "subjects")  # texts, clusters, words
PRIORS = ("default", "as a number", "0.1", "0.02", "learned")


def child(task: dict[str, Any]) -> None:
    if task["shape"] == "subjects":
        corpus, labels = subjects(task["most"])
    else:
        texts, clusters, words = map(int, task["shape"].split(":"))
        corpus, labels = planted({"texts": texts, "clusters": clusters, "words": words,
                                  "length": 10.0, "concentration": 100.0})  # fmt: skip
    K, prior, there = task["most_clusters"], task["prior"], labels >= 0
    chosen = {"default": None, "learned": None, "as a number": word_prior(corpus, K)}
    DocumentClusters(5, max_iter=2, verbose=False).fit(corpus.select(range(20)))  # compiles
    begin = process_time()
    found = DocumentClusters(
        K, word_prior=chosen[prior] if prior in chosen else float(prior), n_jobs=1, verbose=False,
        max_iter=task["sweeps"], random_state=task["seed"], evaluate_every=0,
        learn_priors_every=10 if prior == "learned" else 0,
    ).fit(corpus)  # fmt: skip
    print(json.dumps({
        "beta": float(found.model_.priors.beta[0]), "clusters": found.n_clusters_,
        "rand_index": adjusted_rand_score(labels[there], found.labels_[there]),
        "cpu_seconds": process_time() - begin,
    }))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--priors", nargs="+", default=PRIORS)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 2], help="clusters allowed")
    parser.add_argument("--sweeps", type=int, default=30)
    parser.add_argument("--subject-sweeps", type=int, default=100)
    parser.add_argument("--subject-clusters", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--seeds", type=int, default=1, help="of planted clusters")
    parser.add_argument("--subject-seeds", type=int, default=3)
    parser.add_argument("--most", type=int, help="subjects at most")
    parser.add_argument("--into", type=Path)
    options = parse_options(parser, child)
    runs = []
    for shape in options.shapes:
        real = shape == "subjects"
        times = [n * int(shape.split(":")[1]) for n in options.times] if not real else []
        for K in options.subject_clusters if real else times:
            for prior in options.priors:
                for seed in range(options.subject_seeds if real else options.seeds):
                    task = {
                        "shape": shape, "most_clusters": K, "prior": prior, "seed": seed,
                        "sweeps": options.subject_sweeps if real else options.sweeps,
                        "most": options.most,
                    }  # fmt: skip
                    found = in_own_process(__file__, task, one_thread=True)
                    runs.append(task | found)
                    print(
                        f"{shape}, at most {K} clusters, {prior} (beta {found['beta']:.4f}), seed "
                        f"{seed}: {found['clusters']} clusters, adjusted Rand index "
                        f"{found['rand_index']:.4f}, {found['cpu_seconds']:.1f} s of CPU",
                        flush=True,
                    )
                    if not options.no_save:
                        write_result("cluster-priors", {"runs": runs}, options.into)


if __name__ == "__main__":
    main()
