"""Held-out scores of hierarchical Dirichlet processes after equal time: ours and peers'.

Every engine has one thread (NumPy's libraries, too), a process of its own, and the same seconds of
CPU for training, and is scored on the same held-out documents as in `race.py`. Peers do not report
the weights of topics: tomotopy's are taken from its topics, by tokens or by documents, whichever
scores better; gensim's are those of its `hdp_to_lda`. tomotopy and ours begin with alpha = 0.1,
gamma = 1 and beta = 0.01; gensim has its defaults but for beta.

    python benchmarks/hdp_race.py --corpora ap kos 20newsgroups --seconds 12 --seeds 1 2 3
"""

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import HDP, Corpus
from race_engines import documents, numbers
from race_score import completion, count, split

ALPHA, GAMMA, BETA = 0.1, 1.0, 0.01
STEP = 10  # sweeps of tomotopy between two looks at the time
CHUNK = 256  # documents of gensim's, its default
ENGINES = ("ours", "ours, beta learned", "tomotopy", "gensim")


def run_tomotopy(train: sp.csr_matrix, task: dict[str, Any]) -> dict[str, Any]:
    import tomotopy

    model = tomotopy.HDPModel(initial_k=2, alpha=ALPHA, gamma=GAMMA, eta=BETA, seed=task["seed"])
    rows, texts = documents(train)
    for text in texts:
        model.add_doc(text)
    model.train(0)
    begin, sweeps = time.process_time(), 0
    while time.process_time() - begin < task["seconds"]:
        model.train(STEP, workers=1)
        sweeps += STEP
    seconds = time.process_time() - begin
    tokens = [(np.asarray(d.words), np.asarray(d.topics)) for d in model.docs]
    word = numbers(model.used_vocabs)[np.concatenate([w for w, _ in tokens])]
    document = np.repeat(rows, [len(w) for w, _ in tokens])
    topic = np.concatenate([z for _, z in tokens])
    n, m = count(document, word, topic, train.shape, int(topic.max()) + 1)
    live = np.flatnonzero(np.asarray(n.sum(axis=1)).ravel())
    n, m = n[live], m[:, live]
    weights = [np.asarray(x.sum(axis=0), float).ravel() for x in (m, m > 0)]
    alphas = [float(model.alpha) * w / w.sum() for w in weights]
    return {
        "seconds": seconds, "sweeps": sweeps, "topics": len(live), "alpha": float(model.alpha),
        "gamma": float(model.gamma), "n": n, "alphas": alphas, "beta": BETA,
    }  # fmt: skip


def run_gensim(train: sp.csr_matrix, task: dict[str, Any]) -> dict[str, Any]:
    from gensim.models import HdpModel

    rows = [[(int(w), int(c)) for w, c in zip(r.indices, r.data, strict=True)] for r in train]
    rows = [row for row in rows if row]
    names = {v: f"w{v}" for v in range(train.shape[1])}
    begin = time.process_time()
    model = HdpModel(rows, names, eta=BETA, max_chunks=1, chunksize=CHUNK,
                     random_state=task["seed"])  # fmt: skip
    at, seen = CHUNK, min(CHUNK, len(rows))
    while time.process_time() - begin < task["seconds"]:
        chunk = rows[at : at + CHUNK]
        model.update_chunk(chunk)
        at, seen = at + CHUNK if at + CHUNK < len(rows) else 0, seen + len(chunk)
    model.update_expectations()
    seconds = time.process_time() - begin
    alpha = np.asarray(model.hdp_to_lda()[0], float)
    n = sp.csr_matrix(model.m_lambda)
    sizes = np.asarray(n.sum(axis=1)).ravel()
    large = int((sizes > 0.001 * sizes.sum()).sum())
    return {
        "seconds": seconds, "sweeps": round(seen / len(rows), 2), "topics": large,
        "n": n, "alphas": [np.maximum(alpha, 1e-12)], "beta": BETA,
    }  # fmt: skip


def run_ours(train: sp.csr_matrix, task: dict[str, Any]) -> dict[str, Any]:
    corpus = Corpus.from_matrix(train)
    learn = 10 if task["engine"] == "ours, beta learned" else 0
    given = {
        "doc_topic_prior": ALPHA, "gamma": GAMMA, "topic_word_prior": BETA, "n_jobs": 1,
        "evaluate_every": 0, "verbose": False, "random_state": task["seed"],
        "learn_priors_every": learn,
    }  # fmt: skip
    HDP(max_iter=2, **given).fit(corpus)  # compiles
    begin = time.process_time()
    probe = 40
    HDP(max_iter=probe, **given).fit(corpus)
    of_sweep = (time.process_time() - begin) / probe
    sweeps = max(int(task["seconds"] / of_sweep), 10)
    begin = time.process_time()
    hdp = HDP(max_iter=sweeps, **given).fit(corpus)
    seconds = time.process_time() - begin
    priors = hdp.model_.priors
    return {
        "seconds": seconds, "sweeps": sweeps, "topics": hdp.n_topics_.last,
        "large": hdp.n_topics_.large, "alpha": priors.top.alpha, "gamma": priors.top.gamma,
        "n": sp.csr_matrix(hdp.topic_word_counts_), "alphas": [priors.alpha],
        "beta": float(priors.beta.mean()),
    }  # fmt: skip


def child(task: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train, test = split(open_corpus(task["corpus"]).to_matrix())
        run = {"tomotopy": run_tomotopy, "gensim": run_gensim}.get(task["engine"], run_ours)
        found = run(train, task)
        n, beta = found.pop("n"), found["beta"]
        scores = [completion(n, test, alpha, beta) for alpha in found.pop("alphas")]
        print(json.dumps(found | {"score": max(scores), "scores": scores}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", nargs="+", default=["ap", "kos", "20newsgroups"])
    parser.add_argument("--seconds", type=float, default=15.0, help="of CPU, for training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--name", default="hdp-race")
    options = parse_options(parser, child)
    runs = []
    for corpus in options.corpora:
        for seed in options.seeds:
            for engine in options.engines:
                task = {"corpus": corpus, "engine": engine, "seed": seed,
                        "seconds": options.seconds}  # fmt: skip
                found = in_own_process(__file__, task, one_thread=True)
                runs.append(task | {"cpu_limit": options.seconds} | found)
                print(
                    f"{corpus}, seed {seed}, {engine}: score {found['score']:.4f} after "
                    f"{found['seconds']:.1f} s of CPU, {found['sweeps']} sweeps, "
                    f"{found['topics']} topics",
                    flush=True,
                )
                if not options.no_save:
                    write_result(options.name, {"runs": runs})


if __name__ == "__main__":
    main()
