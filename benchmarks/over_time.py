"""Topics over time: how long a large corpus takes, and how models of other packages compare.

First a corpus is cut into slices at random and trained, and timed. Then `TopicsOverTime`, gensim's
LdaSeqModel and tomotopy's DTModel are trained on the same small corpora: one drawn from the dynamic
topic model itself, whose topics drift, and a real one cut at random, where nothing changes. All are
scored by one formula, the race's completion, with each slice's word probabilities and the same
alpha, on documents that none was trained on.

    python benchmarks/over_time.py --large 20newsgroups --topics 50

With `--carries` only `TopicsOverTime` is trained, with each of these values of `carry` and several
seeds, on documents of topics that drift, of one topic that changes at once, and of real corpora.

    python benchmarks/over_time.py --carries 0 0.3 0.5 0.8 1 --small drifting abrupt ap kos
"""

import argparse
import importlib.util
import json
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import Corpus, TopicsOverTime
from polyaurn.model.data import word_probabilities
from race_score import completion

ALPHA = 0.1  # of mixtures, when held-out documents are scored
LARGE_CARRY = 0.8  # of a corpus in which nothing changes
ENGINES = ("polyaurn", "polyaurn both ways", "polyaurn independent", "tomotopy",
           "tomotopy larger steps", "gensim")  # fmt: skip
LARGER_STEPS = {"lr_a": 0.1, "lr_b": 0.1, "lr_c": 0.55}  # its defaults move little in 1,000 sweeps


def drifting(
    n_documents: int, n_words: int, K: int, T: int, seed: int = 0, *, abrupt: bool = False
) -> Any:
    """Draw a corpus from the dynamic topic model: logits of words walk at random.

    With `abrupt` they stay, but for one topic, which has other words from the middle on.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.0, 2.0, (K, n_words))
    rows, slices, truth = [], [], []
    for t in range(T):
        phi = np.exp(logits)
        phi /= phi.sum(axis=1, keepdims=True)
        truth.append(phi)
        for _ in range(n_documents // T):
            rows.append(rng.multinomial(60, rng.dirichlet(np.full(K, 0.2)) @ phi))
            slices.append(t)
        if not abrupt:
            logits = logits + rng.normal(0.0, 0.7, logits.shape)
        elif t + 1 == T // 2:
            logits[0] = rng.normal(0.0, 2.0, n_words)
    corpus = Corpus.from_matrix(np.array(rows), [f"w{v}" for v in range(n_words)])
    return corpus, np.array(slices), truth


def small(name: str, n_documents: int, K: int, T: int, seed: int = 0) -> Any:
    """Return a small corpus, the slice of each document, and its topics where they are known."""
    if name in ("drifting", "abrupt"):
        return drifting(n_documents, 500, K, T, seed, abrupt=name == "abrupt")
    corpus = open_corpus(name)
    corpus = at_random(corpus, n_documents, seed).prune(min_count=10)
    return corpus, np.arange(corpus.n_documents) % T, None


def at_random(corpus: Corpus, n_documents: int, seed: int = 0) -> Corpus:
    """Return some of the documents, in random order."""
    order = np.random.default_rng(seed).permutation(corpus.n_documents)
    return corpus.select(order[:n_documents])


def first_tokens(corpus: Corpus, tokens: int) -> Corpus:
    """Return documents in random order up to about so many tokens."""
    shuffled = at_random(corpus, corpus.n_documents)
    return shuffled.select(range(max(20, int(np.searchsorted(shuffled.doc_ptr, tokens)) - 1)))


def large(task: dict[str, Any]) -> dict[str, Any]:
    """Train a large corpus in slices; return seconds and scores."""
    corpus = first_tokens(open_corpus(task["large"]), task["tokens"])
    T = task["slices"]
    slices = np.arange(corpus.n_documents) % T
    compile_kernels(corpus)
    begin, busy = perf_counter(), process_time()
    topics = TopicsOverTime(
        task["topics"], n_jobs=task["threads"], max_iter=task["sweeps"], verbose=False,
        both_ways=task["both_ways"], carry=LARGE_CARRY,
    ).fit(corpus, slices=slices)  # fmt: skip
    seconds, cpu_seconds = perf_counter() - begin, process_time() - busy
    scores = topics.held_out_scores(as_frame=False)
    return {
        "documents": corpus.n_documents, "tokens": corpus.n_tokens, "words": corpus.n_words,
        "seconds": seconds, "cpu_seconds": cpu_seconds, "scores": scores["score"].tolist(),
    }  # fmt: skip


def compile_kernels(corpus: Corpus) -> None:
    """Train a few documents, so that compiling is not counted."""
    topics = TopicsOverTime(2, max_iter=2, slice_iter=2, both_ways=True, verbose=False)
    topics.fit(corpus.select(range(20)), slices=np.arange(20) % 2)


def beside(task: dict[str, Any]) -> dict[str, Any]:
    """Train one engine on a small corpus; return seconds and the held-out score."""
    corpus, slices, truth = small(task["corpus"], task["documents"], task["topics"], task["slices"])
    held = np.random.default_rng(7).random(corpus.n_documents) < 0.1
    train, cut = corpus.select(~held), slices[~held]
    order = np.argsort(cut, kind="stable")
    train, cut = train.select(order), cut[order]
    compile_kernels(train)
    begin, busy = perf_counter(), process_time()
    phi = TRAINERS[task["engine"].split()[0]](train, cut, task)
    seconds, cpu_seconds = perf_counter() - begin, process_time() - busy
    counts = sp.csr_matrix(corpus.to_matrix())
    return {
        "seconds": seconds, "cpu_seconds": cpu_seconds, "score": scored(phi, counts, slices, held),
        "truth": scored(truth, counts, slices, held) if truth else None,
    }  # fmt: skip


def by_carry(task: dict[str, Any]) -> dict[str, Any]:
    """Train a small corpus with each value of carry; return the held-out scores, one per seed."""
    begin, scores = process_time(), {str(carry): list[float]() for carry in task["carries"]}
    truths = []
    for seed in range(task["seeds"]):
        corpus, slices, truth = small(
            task["corpus"], task["documents"], task["topics"], task["slices"], seed
        )
        held = np.random.default_rng((7, seed)).random(corpus.n_documents) < 0.2
        train, cut = corpus.select(~held), slices[~held]
        counts = sp.csr_matrix(corpus.to_matrix())
        truths += [scored(truth, counts, slices, held)] if truth else []
        for carry in task["carries"]:
            own = task | {"engine": "polyaurn", "carry": carry}
            phi = by_polyaurn(train, cut, own, random_state=seed)
            scores[str(carry)].append(scored(phi, counts, slices, held))
    return {"scores": scores, "truth": truths, "cpu_seconds": process_time() - begin}


def compare_carries(options: argparse.Namespace) -> None:
    """Compare values of carry on small corpora; print means and paired errors, and write all."""
    result: dict[str, Any] = {"options": vars(options), "corpora": []}
    for corpus in options.small:
        task = {"corpus": corpus, "carries": options.carries, "seeds": options.seeds,
                "documents": options.documents, "topics": options.small_topics,
                "slices": options.small_slices, "sweeps": options.sweeps,
                "threads": options.threads}  # fmt: skip
        found = in_own_process(__file__, task)
        result["corpora"].append(task | found)
        scores = {carry: np.array(seeds) for carry, seeds in found["scores"].items()}
        best = max(scores, key=lambda carry: scores[carry].mean())
        for carry, level in scores.items():
            below = scores[best] - level
            error = below.std(ddof=1) / np.sqrt(len(below)) if len(below) > 1 else np.nan
            print(f"{corpus}, carry {carry}: {level.mean():.4f}, "
                  f"{below.mean():.4f} +- {error:.4f} below carry {best}", flush=True)  # fmt: skip
        print(f"{corpus}: {found['cpu_seconds']:.0f} s of CPU", flush=True)
        if not options.no_save:
            write_result("over-time-carry", result)


def scored(phi: list[np.ndarray], counts: sp.csr_matrix, slices: np.ndarray, held: Any) -> float:
    """Return the completion of held-out documents, each by the topics of its slice."""
    level, tokens = 0.0, 0
    for t, topics in enumerate(phi):
        test = counts[held & (slices == t)]
        alpha = np.full(len(topics), ALPHA)
        n = int(test.sum())
        level += n * completion(sp.csr_matrix(topics), test, alpha, 0.0)
        tokens += n
    return level / tokens


def by_polyaurn(
    train: Corpus, cut: np.ndarray, task: dict[str, Any], random_state: int = 0
) -> list[np.ndarray]:
    kind = task["engine"]
    topics = TopicsOverTime(
        task["topics"], carry=0.0 if kind.endswith("independent") else task["carry"],
        both_ways=kind.endswith("both ways"), held_out=0.0, max_iter=task["sweeps"],
        n_jobs=task["threads"], random_state=random_state, verbose=False,
    )  # fmt: skip
    topics.fit(train, slices=cut)
    return [word_probabilities(model) for model in topics.models_.values()]


def by_tomotopy(train: Corpus, cut: np.ndarray, task: dict[str, Any]) -> list[np.ndarray]:
    import tomotopy

    more = LARGER_STEPS if task["engine"].endswith("larger steps") else {}
    model = tomotopy.DTModel(k=task["topics"], t=task["slices"], seed=1, **more)
    for (lo, hi), t in zip(
        zip(train.doc_ptr[:-1].tolist(), train.doc_ptr[1:].tolist(), strict=True),
        cut.tolist(), strict=True,
    ):  # fmt: skip
        if hi > lo:
            model.add_doc([train.vocab[v] for v in train.word[lo:hi].tolist()], timepoint=t)
    model.train(task["sweeps"], workers=task["threads"])
    place = np.array([train.vocab.index(word) for word in model.used_vocabs])
    found = []
    for t in range(task["slices"]):
        phi = np.full((task["topics"], train.n_words), 1e-9)
        for k in range(task["topics"]):
            phi[k, place] = model.get_topic_word_dist(k, timepoint=t)
        found.append(phi / phi.sum(axis=1, keepdims=True))
    return found


def by_gensim(train: Corpus, cut: np.ndarray, task: dict[str, Any]) -> list[np.ndarray]:
    from gensim.models import LdaSeqModel

    counts = sp.csr_matrix(train.to_matrix())
    bags = [
        list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for row in (counts[d] for d in range(counts.shape[0]))
    ]
    lengths = np.bincount(cut, minlength=task["slices"]).tolist()
    names = dict(enumerate(train.vocab))
    model = LdaSeqModel(
        corpus=bags, time_slice=lengths, id2word=names, num_topics=task["topics"], random_state=0,
        em_min_iter=1, em_max_iter=task["em"], chunksize=len(bags), passes=10,
    )  # fmt: skip
    found = []
    for t in range(task["slices"]):
        phi = np.array([np.exp(chain.e_log_prob[:, t]) for chain in model.topic_chains])
        found.append(phi / phi.sum(axis=1, keepdims=True))
    return found


TRAINERS = {"polyaurn": by_polyaurn, "tomotopy": by_tomotopy, "gensim": by_gensim}


def child(task: dict[str, Any]) -> None:
    train = large if "large" in task else by_carry if "carries" in task else beside
    print(json.dumps(train(task)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", default="20newsgroups")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--small", nargs="*", default=["drifting", "ap"])
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--small-topics", type=int, default=5)
    parser.add_argument("--small-slices", type=int, default=4)
    parser.add_argument("--carry", type=float, default=0.5)
    parser.add_argument("--em", type=int, default=4, help="most iterations of LdaSeqModel")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--carries", type=float, nargs="+", help="compare these, and nothing else")
    parser.add_argument("--seeds", type=int, default=5, help="of each value of carry")
    options = parse_options(parser, child)
    if options.carries:
        compare_carries(options)
        return
    result: dict[str, Any] = {"options": vars(options), "large": [], "beside": []}
    for both_ways in (False, True):
        task = {n: getattr(options, n) for n in ("large", "tokens", "topics", "slices", "sweeps",
                                                 "threads")}  # fmt: skip
        task["both_ways"] = both_ways
        found = in_own_process(__file__, task)
        result["large"].append(task | found)
        print(
            f"{options.large}: {found['tokens']:,} tokens in {options.slices} slices, "
            f"{options.topics} topics{', both ways' if both_ways else ''}: "
            f"{found['seconds']:.1f} s ({found['cpu_seconds']:.1f} s of CPU), "
            f"mean score {np.mean(found['scores']):.4f}",
            flush=True,
        )
    for corpus in options.small:
        for engine in options.engines:
            if importlib.util.find_spec(engine.split()[0]) is None:
                print(f"{engine} is not installed")
                continue
            task = {"corpus": corpus, "engine": engine, "documents": options.documents,
                    "topics": options.small_topics, "slices": options.small_slices,
                    "sweeps": options.sweeps, "threads": options.threads, "carry": options.carry,
                    "em": options.em}  # fmt: skip
            found = in_own_process(__file__, task)
            result["beside"].append(task | found)
            if not options.no_save:
                write_result("over-time", result)
            of_truth = "" if found["truth"] is None else f" (truth {found['truth']:.4f})"
            print(
                f"{corpus}, {engine}: {found['seconds']:.1f} s "
                f"({found['cpu_seconds']:.1f} s of CPU), {found['score']:.4f}{of_truth}",
                flush=True,
            )


if __name__ == "__main__":
    main()
