"""Traffic and time of a sweep on a cluster, simulated from what was measured on one machine.

With --measure, chains on real corpora give the cells of counts and Phi by how often a word occurs,
and the time per token; two local workers give the bytes per cell. Without it, the program reads
those from results/cluster-traffic.json and prints the table of docs/cluster.md, which --write puts
into the page.

    python benchmarks/cluster_traffic.py --measure --corpus imdb --topics 1000 10000
    python benchmarks/cluster_traffic.py --times 20newsgroups
    python benchmarks/cluster_traffic.py --histograms 20newsgroups --sweeps 20 --warm-start random
    python benchmarks/cluster_traffic.py --write
"""

import argparse
import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from common import HERE, RESULTS, in_own_process, open_corpus, parse_options, write_result

NAME = "cluster-traffic"
PAGE = HERE.parent / "docs" / "cluster.md"
MARKS = ("<!-- table of benchmarks/cluster_traffic.py -->", "<!-- end of the table -->")
TOKENS = (1e9, 1e10, 1e12)
TOPICS = (1000, 10_000)
WORKERS = (4, 16, 64, 256, 1024)
GIGABITS = (10, 25, 100)
WORDS = 1_000_000
BETA = 0.01
HISTOGRAM = (3 * 8, 2 * 8)  # bytes for each cell of a histogram, and for each length of documents
PER_WORD = (2, 4)  # bytes beside the cells of a word: of counts, of Phi
OWNERS = 64  # words have at most so many owners, since sums over words have fixed ranges
IMDB = 9_380_852  # tokens of the corpus that was measured on 16 cores
SHARES = (4, 16, 64)  # of the documents, on which the rule is compared with counts


class Rule(NamedTuple):
    """A word that occurs c times has min(a c^b, c, K) topics, and r times that and beta K in Phi.

    Frequencies of words follow Zipf's law with the exponent `zipf`.
    """

    a: float
    b: float
    r: float
    zipf: float


def occurrences(tokens: float, words: int, zipf: float) -> np.ndarray[Any, Any]:
    """Return how often each word occurs, by Zipf's law."""
    p = np.arange(1.0, words + 1) ** -zipf
    return tokens * p / p.sum()


def count_cells(c: np.ndarray[Any, Any], K: int, rule: Rule) -> float:
    """Return how many counts are not zero where words occur c times."""
    return float(np.minimum(np.minimum(rule.a * c**rule.b, c), K).sum())


def phi_cells(c: np.ndarray[Any, Any], K: int, rule: Rule) -> float:
    """Return how many cells of Phi are not zero."""
    counted = np.minimum(np.minimum(rule.a * c**rule.b, c), K)
    return float(np.minimum(rule.r * counted + BETA * K, K).sum())


def draws_of_phi(tokens: float, words: int) -> int:
    """Return how often a sweep draws Phi by default."""
    from polyaurn.chain.schedule import make_schedule

    return make_schedule(
        "random", "auto", n_tokens=int(tokens), n_words=words, n_topics=TOPICS[0], max_iter=None
    ).refreshes


def fit(bins: list[dict[str, float]], K: int, zipf: float) -> Rule:
    """Fit the rule to the mean topics of words by how often they occur; full columns are left out.

    Bins weigh as many cells as they have, since it is cells that are sent.
    """
    kept = [row for row in bins if row["count_cells"] < K / 3 and row["words"] >= 5]
    c, cells, phi, words = (
        np.array([row[name] for row in kept])
        for name in ("occurrences", "count_cells", "phi_cells", "words")
    )
    b, log_a = np.polyfit(np.log(c), np.log(cells), 1, w=np.sqrt(words * cells))
    r = float((words * np.maximum(phi - BETA * K, 0)).sum() / (words * cells).sum())
    return Rule(float(np.exp(log_a)), float(b), r, zipf)


def child(arguments: dict[str, Any]) -> None:
    """Run a chain; print columns by occurrences of the word, and the time of sweeps.

    Or print only the size of the histogram of documents that priors are learned from.
    """
    from polyaurn import sweeps
    from polyaurn.backends.reference import document_histogram

    corpus = open_corpus(arguments["corpus"])
    K, sweeps_done, timed = arguments["topics"], arguments["sweeps"], arguments["timed"]
    times = []
    chain = sweeps(
        corpus, K, sampler="polya-urn", n_jobs=arguments["threads"], max_iter=sweeps_done,
        evaluate_every=0, warm_start=arguments["warm_start"], phi_refreshes=1,
        learn_priors_every=0, topic_word_prior=BETA,
    )  # fmt: skip
    before = process_time()
    for state, info in chain:  # noqa: B007
        times.append((info.phi_seconds, info.z_seconds, process_time() - before))
        before = process_time()
    if arguments.get("histogram"):
        found = document_histogram(corpus.doc_ptr, state.z, K)
        print(json.dumps({"topics": K, "cells": len(found.topic), "lengths": len(found.length)}))
        return
    counts, phi = state.counts, info.phi
    occurs = np.bincount(corpus.word, minlength=corpus.n_words)
    in_counts, in_phi = counts.last - counts.first, phi.last - phi.first
    bin_of = np.floor(2 * np.log2(np.maximum(occurs, 1))).astype(int)
    bins = [
        {
            "occurrences": float(occurs[chosen].mean()),
            "words": int(chosen.sum()),
            "count_cells": float(in_counts[chosen].mean()),
            "phi_cells": float(in_phi[chosen].mean()),
        }
        for chosen in (((bin_of == b) & (occurs > 0)) for b in range(bin_of.max() + 1))
        if chosen.any()
    ]
    shares = []
    draws = np.random.default_rng(0)
    lengths = np.diff(corpus.doc_ptr)
    for share in SHARES:
        kept = np.repeat(draws.random(corpus.n_documents) < 1 / share, lengths)
        cells = corpus.word[kept].astype(np.int64) * K + state.z[kept]
        shares.append({"share": share, "tokens": len(cells), "count_cells": len(np.unique(cells))})
    rank = np.unique(np.geomspace(10, (occurs > 0).sum(), 60).astype(int)) - 1
    ranked = np.sort(occurs)[::-1][rank]
    last = np.array(times[-timed:])
    print(
        json.dumps(
            {
                "corpus": arguments["corpus"],
                "topics": K,
                "tokens": corpus.n_tokens,
                "words": corpus.n_words,
                "sweeps": sweeps_done,
                "warm_start": arguments["warm_start"],
                "threads": arguments["threads"],
                "phi_seconds": float(np.median(last[:, 0])),
                "z_seconds": float(np.median(last[:, 1])),
                "cpu_seconds": float(np.median(last[:, 2])),
                "count_cells": int(in_counts.sum()),
                "phi_cells": int(in_phi.sum()),
                "zipf": float(-np.polyfit(np.log(rank + 1), np.log(ranked), 1)[0]),
                "bins": bins,
                "shares": shares,
            }
        )
    )


def one_sweep(group: Any, task: dict[str, Any], caller: Any) -> dict[str, Any]:
    """Sweep a few times as one of several workers; return what the last sweep sent, and cells."""
    from polyaurn.backends.registry import load_steps
    from polyaurn.backends.sharded.shards import check_shards, cut_shards, piece_of
    from polyaurn.backends.sharded.steps import ShardedSteps
    from polyaurn.base.rng import moment
    from polyaurn.base.threads import Workers
    from polyaurn.chain.priors import make_priors
    from polyaurn.chain.steps import Address
    from polyaurn.corpus.urn_file import map_documents

    documents, K = map_documents(Path(task["corpus"])), task["topics"]
    shards = cut_shards(documents.doc_ptr)
    check_shards(shards, group.size)
    own = shards.of_worker(group.rank, group.size)
    piece = piece_of(documents.doc_ptr, shards, own, K, documents.part)
    steps = ShardedSteps(load_steps("polya-urn"), piece, K, Workers(1), group)
    priors = make_priors(0.1, BETA, K, documents.n_words)
    z = steps.start(0)
    counts = steps.count(z)
    for sweep in range(task["sweeps"]):
        address = Address(0, moment(sweep, 0))
        before = group.moved
        phi = steps.draw_phi(counts, priors, address)
        middle = group.moved
        z, counts, _ = steps.draw_z(z, phi, priors, address)
        after = group.moved
    here = steps.inner.count(z)
    cells = int((here.last - here.first).sum())
    sent = group.total(np.array([middle - before, after - middle, cells]))
    found = dict(zip(("phi_bytes", "count_bytes", "count_cells"), sent.tolist(), strict=True))
    return found | {
        "topics": K, "workers": group.size, "phi_cells": phi.nonzeros,
        "owners": int((np.diff(steps.words.bounds) > 0).sum()), "words": documents.n_words,
    }  # fmt: skip


def bytes_sent(corpus: str, topics: int, workers: int, sweeps: int) -> dict[str, Any]:
    """Return what local workers send in a sweep, and bytes per cell that are not per word."""
    import cluster_traffic  # as workers import it, while this module may be the program
    from polyaurn.backends.sharded.local import Local
    from polyaurn.corpus.urn_file import write_urn

    with tempfile.TemporaryDirectory() as folder:
        path = write_urn(open_corpus(corpus), Path(folder) / "corpus.urn")
        task = {"corpus": str(path), "topics": topics, "sweeps": sweeps}
        found = Local().run(workers, cluster_traffic.one_sweep, task)
    W, V = found["workers"], found["words"]
    elsewhere = 1 - 1 / found["owners"]
    return found | {
        "count_cell": (found["count_bytes"] / elsewhere - PER_WORD[0] * V * W)
        / found["count_cells"],
        "phi_cell": (found["phi_bytes"] / (W - 1) - PER_WORD[1] * V) / found["phi_cells"],
        "by_the_formula": total_sent(W, found["owners"], V, found["count_cells"],
                                     found["phi_cells"], (6.0, 6.0)),
    }  # fmt: skip


def total_sent(
    W: int, owners: int, V: int, count_cells: float, phi_cells: float, cell: tuple[float, float]
) -> float:
    """Return the bytes that all workers send in a sweep; cells of counts are those of all."""
    counts = (1 - 1 / owners) * (cell[0] * count_cells + PER_WORD[0] * V * W)
    return counts + (W - 1) * (cell[1] * phi_cells + PER_WORD[1] * V)


class Cluster(NamedTuple):
    """A sweep of W workers: draws of Phi and its cells, bytes that the busiest receives, seconds.

    Seconds are of arithmetic.
    """

    draws: int
    phi_cells: float
    received: float
    seconds: dict[str, float]


def simulate(N: float, K: int, W: int, rule: Rule, measured: dict[str, Any]) -> Cluster:
    """Return what a sweep of W workers takes, by the formula of the page."""
    whole = occurrences(N, WORDS, rule.zipf)
    phi = phi_cells(whole, K, rule)
    draws = draws_of_phi(N, WORDS)
    local = count_cells(whole / W / draws, K, rule)
    b_n, b_phi = measured["bytes"]["count_cell"], measured["bytes"]["phi_cell"]
    owners = min(W, OWNERS)
    counts = (W - 1) / owners * (b_n * local + PER_WORD[0] * WORDS)
    gathered = (1 - 1 / owners) * (b_phi * phi + PER_WORD[1] * WORDS)
    rates = measured["tokens_per_second"]
    return Cluster(
        draws, phi, draws * (counts + gathered) + learning(K, W, measured),
        {who: N / W / rate[str(K)] for who, rate in rates.items()},
    )  # fmt: skip


def learning(K: int, W: int, measured: dict[str, Any]) -> float:
    """Return the bytes that a worker receives in a sweep to learn priors, which few sweeps do.

    It is as if each worker had all cells, which is more than it has.
    """
    from polyaurn.training.settings import LEARN_EVERY

    n = measured["histograms"]["sizes"][str(K)]
    once = HISTOGRAM[0] * n["cells"] + HISTOGRAM[1] * n["lengths"]
    return 2 * (1 - 1 / W) * once / LEARN_EVERY


def rates(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return tokens per second of a worker of 16 cores, and of one with a GPU, by topics.

    More topics than were measured on 16 cores take as much more CPU time as on this machine.
    """
    per_token = {row["topics"]: row["cpu_seconds"] / row["tokens"] for row in rows}
    kept = json.loads((RESULTS / "threads-imdb-16-cores.json").read_text())["runs"]
    on_16 = IMDB / next(
        run["sweep"] for run in reversed(kept) if (run["K"], run["n"]) == (1000, 16)
    )
    gpu = json.loads((RESULTS / "gpu-pubmed.json").read_text())["results"]
    return {
        "16 cores": {str(K): on_16 * per_token[1000] / each for K, each in per_token.items()},
        "H200": {
            str(run["topics"]): run["tokens_per_second"]
            for run in gpu if run["sampler"] == "polya-urn"
        },
    }  # fmt: skip


def compare(rule: Rule, row: dict[str, Any]) -> list[dict[str, float]]:
    """Return the rule's cells beside those counted, on shares of the documents."""
    found = []
    for share in row["shares"]:
        c = occurrences(share["tokens"], row["words"], rule.zipf)
        said = count_cells(c, row["topics"], rule)
        found.append(share | {"by_the_rule": said, "ratio": said / share["count_cells"]})
    return found


def table(measured: dict[str, Any]) -> str:
    """Return the table of the page, in Markdown."""
    lines = [
        "| tokens | topics | workers | draws of Phi | cells of Phi | received | 16 cores | H200 | "
        + " | ".join(f"{g} Gbit/s" for g in GIGABITS) + " |",
        "|---|---|---|---|---|---|---|---|" + "---|" * len(GIGABITS),
    ]  # fmt: skip
    for N in TOKENS:
        for K in TOPICS:
            rule = Rule(**measured["rules"][str(K)])
            for W in WORKERS:
                run = simulate(N, K, W, rule, measured)
                cells = [
                    f"10^{np.log10(N):.0f}", f"{K:,}", f"{W:,}", f"{run.draws}",
                    quantity(run.phi_cells), f"{quantity(run.received)}B",
                    *(seconds(run.seconds[who]) for who in ("16 cores", "H200")),
                    *(seconds(run.received * 8 / (g * 1e9)) for g in GIGABITS),
                ]  # fmt: skip
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def quantity(n: float) -> str:
    """Return a number to two digits, with a letter for its thousands."""
    for power, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if n >= power:
            return f"{n / power:.{0 if n >= 10 * power else 1}f} {letter}"
    return f"{n:.0f} "


def seconds(s: float) -> str:
    """Return a time to two digits."""
    number = float(f"{s if s >= 1 else 1000 * s:.2g}")
    return f"{number:,g} {'s' if s >= 1 else 'ms'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--times", help="measure times again, on this corpus")
    parser.add_argument("--histograms", help="measure histograms of documents, on this corpus")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--topics", type=int, nargs="+", default=list(TOPICS))
    parser.add_argument("--sweeps", type=int, default=60)
    parser.add_argument("--timed", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warm-start", default="grow")
    options = parse_options(parser, child)
    names = ("sweeps", "timed", "threads", "warm_start")
    setting = {name: getattr(options, name) for name in names}

    def chains(corpus: str, **more: Any) -> list[dict[str, Any]]:
        return [
            in_own_process(__file__, setting | {"corpus": corpus, "topics": K} | more)
            for K in options.topics
        ]

    if options.histograms:
        measured = json.loads((RESULTS / f"{NAME}.json").read_text())
        found = chains(options.histograms, histogram=True)
        measured["histograms"] = setting | {
            "corpus": options.histograms, "sizes": {str(row["topics"]): row for row in found},
        }  # fmt: skip
        print(measured["histograms"])
        if not options.no_save:
            write_result(NAME, measured)
        return

    if options.times:
        measured = json.loads((RESULTS / f"{NAME}.json").read_text())
        measured["times"] = chains(options.times)
        for row in measured["times"]:
            del row["bins"], row["shares"]
        measured["tokens_per_second"] = rates(measured["times"])
        print(measured["tokens_per_second"])
        write_result(NAME, measured)
        return
    if options.measure:
        rows = chains(options.corpus)
        fitted = {row["topics"]: fit(row["bins"], row["topics"], row["zipf"]) for row in rows}
        measured = {
            "chains": rows,
            "rules": {str(K): rule._asdict() for K, rule in fitted.items()},
            "bytes": bytes_sent(options.corpus, options.topics[0], 2, 10),
            "tokens_per_second": rates(rows) if 1000 in fitted else {},
            "shares_by_the_rule": {
                str(row["topics"]): compare(fitted[row["topics"]], row) for row in rows
            },
        }
        for K, rule in fitted.items():
            near = ", ".join(f"{s['ratio']:.2f}" for s in measured["shares_by_the_rule"][str(K)])
            print(f"K = {K:,}: {rule}; cells by the rule over cells counted on shares: {near}")
        sent = measured["bytes"]
        both = sent["count_bytes"] + sent["phi_bytes"]
        print(f"{both:,} bytes sent in a sweep, {both / sent['by_the_formula']:.3f} of the formula")
        if not options.no_save:
            write_result(NAME, measured)
        return
    text = table(json.loads((RESULTS / f"{NAME}.json").read_text()))
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
