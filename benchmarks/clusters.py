"""Document clusters: the time of a sweep over many short texts, and clusters beside topica's GSDMM.

First texts are drawn from planted clusters, and sweeps over them are timed. Then the first lines of
20 Newsgroups, their subjects, are clustered by `DocumentClusters` and by GSDMM, with the same
words, most clusters, priors and seeds, in turn, each in a process of its own; the adjusted Rand
index says how their labels agree with the newsgroups.

    python benchmarks/clusters.py --texts 500000 --clusters 1000
"""

import argparse
import csv
import gzip
import json
import re
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from common import SHARED, in_own_process, parse_options, write_result
from polyaurn import Corpus, DocumentClusters, datasets

REPLY = re.compile(r"^(\s*(re|fwd?)\s*:\s*)+", re.IGNORECASE)


def planted(task: dict[str, Any]) -> tuple[Corpus, np.ndarray]:
    """Return texts drawn from clusters, and the cluster of each; -1 for empty ones."""
    corpus, truth = datasets.generate(
        task["texts"], task["words"], task["clusters"], task["length"], doc_topic_prior=1e-9,
        topic_concentration=task["concentration"], return_truth=True,
    )  # fmt: skip
    labels = np.full(corpus.n_documents, -1)
    there = np.diff(corpus.doc_ptr) > 0
    labels[there] = truth.z[corpus.doc_ptr[:-1][there]]
    return corpus, labels


def subjects(most: int | None = None) -> tuple[Corpus, np.ndarray]:
    """Return the first lines of 20 Newsgroups that have words, and their newsgroups."""
    if not (SHARED / "20newsgroups.tsv.gz").exists():
        corpus, labels = planted(
            {"texts": 400, "words": 300, "clusters": 5, "length": 6.0, "concentration": 30.0}
        )
    else:
        csv.field_size_limit(1 << 30)
        with gzip.open(SHARED / "20newsgroups.tsv.gz", "rt", encoding="utf-8") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        texts = [REPLY.sub("", row[2].split(". ")[0])[:200] for row in rows]
        corpus = Corpus.from_texts(texts)
        labels = np.unique([row[1] for row in rows], return_inverse=True)[1]
    there = np.flatnonzero(np.diff(corpus.doc_ptr) > 0)[:most]
    return corpus.select(there), labels[there]


def time_sweeps(task: dict[str, Any]) -> dict[str, Any]:
    """Time sweeps over planted clusters, and compare what was found with what was planted."""
    corpus, labels = planted(task)
    DocumentClusters(5, max_iter=2, verbose=False).fit(corpus.select(range(20)))  # compiles
    walls, cpus = [perf_counter()], [process_time()]

    def note(state: Any, info: Any) -> None:
        walls.append(perf_counter())
        cpus.append(process_time())

    clusters = DocumentClusters(
        task["clusters"], word_prior=task["large_beta"], max_iter=task["sweeps"],
        n_jobs=task["threads"], verbose=False, evaluate_every=0, average_draws=1, callbacks=note,
    ).fit(corpus)  # fmt: skip
    there = labels >= 0
    return {
        "texts": corpus.n_documents, "tokens": corpus.n_tokens,
        "sweep_seconds": np.diff(walls)[1:].tolist(),  # the first has what comes before sweeps
        "sweep_cpu_seconds": np.diff(cpus)[1:].tolist(),
        "first_seconds": clusters.trace_[0]["z_seconds"], "clusters": clusters.n_clusters_,
        "rand_index": adjusted_rand_score(labels[there], clusters.labels_[there]),
    }  # fmt: skip


def race(task: dict[str, Any]) -> dict[str, Any]:
    """Cluster subjects by one engine; return seconds and how labels agree with newsgroups."""
    corpus, labels = subjects(task["most"])
    words = [
        [corpus.vocab[v] for v in corpus.word[lo:hi].tolist()]
        for lo, hi in zip(corpus.doc_ptr[:-1].tolist(), corpus.doc_ptr[1:].tolist(), strict=True)
    ]
    DocumentClusters(5, max_iter=2, verbose=False).fit(corpus.select(range(20)))  # compiles
    begin, busy = perf_counter(), process_time()
    if task["engine"].startswith("polyaurn"):
        clusters = DocumentClusters(
            task["most_clusters"], cluster_prior=task["alpha"], word_prior=task["beta"],
            max_iter=task["sweeps"], random_state=task["seed"], n_jobs=task["threads"],
            verbose=False, evaluate_every=0,
            learn_priors_every=10 if task["engine"].endswith("learned") else 0,
        ).fit(corpus)  # fmt: skip
        found = clusters.labels_
    else:
        import topica

        model = topica.GSDMM(
            task["most_clusters"], alpha=task["alpha"], beta=task["beta"], seed=task["seed"]
        )
        model.fit(words, iters=task["sweeps"])
        found = np.asarray(model.doc_cluster)
    seconds, cpu = perf_counter() - begin, process_time() - busy
    return {
        "texts": corpus.n_documents, "tokens": corpus.n_tokens, "words": corpus.n_words,
        "seconds": seconds, "cpu_seconds": cpu, "clusters": len(np.unique(found)),
        "rand_index": adjusted_rand_score(labels, found),
        "mutual_information": normalized_mutual_info_score(labels, found),
    }  # fmt: skip


def child(task: dict[str, Any]) -> None:
    print(json.dumps(time_sweeps(task) if "length" in task else race(task)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=500_000)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--length", type=float, default=10.0)
    parser.add_argument("--concentration", type=float, default=100.0)
    parser.add_argument("--large-beta", type=float, default=0.01)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most", type=int, help="subjects at most")
    parser.add_argument("--most-clusters", type=int, nargs="*", default=[20, 100])
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--beta", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--engines", nargs="+", default=["polyaurn:40", "polyaurn:100", "topica:30",
                                                         "topica:100"])  # fmt: skip
    parser.add_argument("--into", type=Path)
    options = parse_options(parser, child)
    result: dict[str, Any] = {"options": {k: str(v) for k, v in vars(options).items()}, "race": []}
    if options.texts:
        names = ("texts", "words", "clusters", "length", "concentration", "large_beta", "sweeps",
                 "threads")  # fmt: skip
        found = in_own_process(__file__, {name: getattr(options, name) for name in names})
        result["sweeps"] = found
        print(
            f"{found['texts']:,} texts, {found['tokens']:,} tokens: sweeps of "
            f"{np.median(found['sweep_seconds']):.2f} s, "
            f"{np.median(found['sweep_cpu_seconds']):.2f} s of CPU (the first sweep took "
            f"{found['first_seconds']:.2f} s); "
            f"{found['clusters']:,} clusters, adjusted Rand index {found['rand_index']:.3f}",
            flush=True,
        )
    for most_clusters in options.most_clusters:
        for seed in range(options.seeds):
            for named in options.engines:
                engine, sweeps = named.split(":")
                task = {
                    "engine": engine, "sweeps": int(sweeps), "seed": seed, "most": options.most,
                    "alpha": options.alpha, "beta": options.beta, "threads": options.threads,
                    "most_clusters": most_clusters,
                }  # fmt: skip
                found = in_own_process(__file__, task)
                result["race"].append(task | found)
                print(
                    f"{engine}, {sweeps} sweeps, at most {most_clusters} clusters, seed {seed}: "
                    f"{found['seconds']:.1f} s, {found['cpu_seconds']:.1f} s of CPU, "
                    f"{found['clusters']} clusters, adjusted Rand index {found['rand_index']:.4f}",
                    flush=True,
                )
    if not options.no_save:
        write_result("clusters", result, options.into)


if __name__ == "__main__":
    main()
