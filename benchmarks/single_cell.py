"""Cells by regions: sweeps of ours, tomotopy and the package lda in turn, and memory.

Cells are generated: a cell mixes programs, a program opens some regions more often than others, and
a region is open or not. Priors are those that pycisTopic takes, alpha = 50 / K and eta = 0.1, and
stay fixed. Each engine runs in a process of its own with the same cells, in turn for several
rounds; reading, compiling and burn-in do not count. Of a sweep, the time on the wall and the CPU
time of all threads are reported, the latter because the machine may have other work.

    python benchmarks/single_cell.py --cells 2000 --regions 150000 --length 4000 --topics 40
    python benchmarks/single_cell.py --cells 20000 --topics 300 --engines polya-urn --rounds 1
    python benchmarks/single_cell.py --engines polya-urn tomotopy --device gpu --name gpu-40

With --device gpu our samplers run on the GPU, and the peers on the CPU. Peaks are those of the
host's memory.
"""

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import in_own_process, parse_options, write_result

PROGRAMS, SAMPLE = 60, 1 << 16
ETA = 0.1
ROWS = "polya-urn-rows"  # with a dense row for every column longer than K / 3
OURS = ("auto", "partitioned", "polya-urn", "sparse-dirichlet", ROWS)
PEERS = ("tomotopy", "lda")


def write_cells(path: Path, cells: int, regions: int, length: float) -> int:
    """Write a file of cells by regions, 0 or 1; return its number of tokens."""
    from polyaurn.corpus.entries import distinct
    from polyaurn.corpus.names import Numbered
    from polyaurn.corpus.urn_file import UrnWriter

    rng = np.random.default_rng(0)
    common = rng.lognormal(0.0, 1.0, regions)
    programs = np.empty((PROGRAMS, SAMPLE), np.int32)
    for k in range(PROGRAMS):
        open_ = common * np.where(rng.random(regions) < 0.05, 20.0, 1.0)
        edges = np.cumsum(open_ / open_.sum())
        programs[k] = np.minimum(np.searchsorted(edges, rng.random(SAMPLE)), regions - 1)
    with UrnWriter(path) as writer:
        for lo in range(0, cells, 500):
            draw = np.random.default_rng((1, lo))
            n = min(500, cells - lo)
            lengths = np.maximum(1, 1.06 * draw.lognormal(np.log(length) - 0.125, 0.5, n))
            lengths = lengths.astype(np.int64)
            word = np.concatenate([
                programs[draw.choice(PROGRAMS, size, p=draw.dirichlet(np.full(PROGRAMS, 0.1))),
                         draw.integers(0, SAMPLE, size)]
                for size in lengths
            ])  # fmt: skip
            writer.add(*distinct(lengths, word))
        names = [f"chr1:{1000 * v}-{1000 * v + 500}" for v in range(regions)]
        writer.finish(names, Numbered(cells))
        return writer.n_tokens


def peak_mb() -> float:
    """Return the most memory this process ever had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / 1e6


class Clock:
    """Time on the wall, and of the process on all processors."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def stop(self, sweeps: int) -> dict[str, float]:
        """Return seconds per sweep."""
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        return {"wall": wall / sweeps, "cpu": cpu / sweeps}


def child(arguments: dict[str, Any]) -> None:
    from polyaurn import read_corpus

    if "write" in arguments:
        print(json.dumps(write_cells(Path(arguments["write"]), *arguments["shape"])))
        return
    corpus = read_corpus(arguments["path"])
    train = {"tomotopy": of_tomotopy, "lda": of_lda}.get(arguments["engine"], of_ours)
    found = train(corpus, arguments)
    print(json.dumps({"peak_mb": peak_mb(), "tokens": corpus.n_tokens} | found))


def of_ours(corpus: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    from polyaurn import sweeps
    from polyaurn.backends.cpu import columns
    from polyaurn.chain.state import on_host

    K, burn_in, timed = (arguments[name] for name in ("topics", "burn_in", "timed"))
    sampler = arguments["engine"]
    if sampler == ROWS:
        sampler, columns.WALKED, columns.SUMMED = "polya-urn", 0, columns.HOT
    chain = sweeps(
        corpus, K, doc_topic_prior=50 / K, topic_word_prior=ETA, sampler=sampler,
        n_jobs=arguments["threads"], max_iter=burn_in + timed, evaluate_every=0, random_state=0,
        warm_start="random", phi_refreshes=1, learn_priors_every=0, device=arguments["device"],
    )  # fmt: skip
    for _ in range(burn_in):
        state, info = next(chain)
    clock = Clock()
    for _ in range(timed):
        state, info = next(chain)
    seconds = clock.stop(timed) | {"peak_mb": peak_mb()}
    state = on_host(state)
    length = state.counts.last - state.counts.first  # topics of each word
    tokens = np.bincount(corpus.word, minlength=corpus.n_words)
    cell = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
    pairs = len(np.unique(cell * K + state.z))
    seconds |= {
        "topics_of_word": float((length * tokens).sum() / corpus.n_tokens),
        "topics_of_cell": pairs / corpus.n_documents,
    }
    return seconds | {"phi_seconds": info.phi_seconds, "z_seconds": info.z_seconds,
                      "nonzeros": int((state.counts.last - state.counts.first).sum())}  # fmt: skip


def of_tomotopy(corpus: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    import tomotopy

    K = arguments["topics"]
    model = tomotopy.LDAModel(k=K, alpha=50 / K, eta=ETA, seed=1)
    names = np.array([str(v) for v in range(corpus.n_words)])
    for words in corpus:
        model.add_doc(names[words].tolist())
    model.optim_interval = 0
    model.train(arguments["burn_in"], workers=arguments["threads"])
    clock = Clock()
    model.train(arguments["timed"], workers=arguments["threads"])
    return clock.stop(arguments["timed"])


def of_lda(corpus: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    import logging

    import lda

    logging.getLogger("lda").setLevel(logging.ERROR)
    K = arguments["topics"]
    model = lda.LDA(K, n_iter=1, alpha=50 / K, eta=ETA, random_state=1)
    model._initialize(corpus.to_matrix())
    draws = model._rands.copy()
    model._sample_topics(draws)
    clock = Clock()
    model._sample_topics(draws)
    return clock.stop(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=2_000)
    parser.add_argument("--regions", type=int, default=150_000)
    parser.add_argument("--length", type=float, default=4_000.0)
    parser.add_argument("--topics", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"), help="of our samplers")
    parser.add_argument("--burn-in", type=int, default=10)
    parser.add_argument("--timed", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for the cells; a temporary one by default")
    parser.add_argument("--name", help="of the result, if not by its shape")
    parser.add_argument(
        "--engines", nargs="+", default=["auto", "polya-urn", *PEERS], choices=(*OURS, *PEERS)
    )
    options = parse_options(parser, child)
    on_gpu = options.device == "gpu"
    if on_gpu and (only := {"partitioned", ROWS} & {*options.engines}):
        parser.error(f"--device gpu is not for {', '.join(sorted(only))}; leave them out")
    if on_gpu and not options.name and not options.no_save:
        parser.error("--device gpu needs a --name for its result, such as gpu-300")
    names = ("cells", "regions", "length", "topics", "threads", "device", "burn_in", "timed")
    setting = {name: getattr(options, name) for name in names}
    shape = [options.cells, options.regions, options.length]
    rounds: dict[str, list[dict[str, Any]]] = {engine: [] for engine in options.engines}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        path = folder / f"cells-{options.cells}-{options.regions}-{options.length:g}.urn"
        if not path.exists():
            in_own_process(__file__, {"write": str(path), "shape": shape})
        for _ in range(options.rounds):
            for engine in options.engines:
                arguments = setting | {"path": str(path), "engine": engine}
                rounds[engine].append(in_own_process(__file__, arguments))
    for engine, found in rounds.items():
        tokens = found[0]["tokens"]
        wall, cpu = (statistics.median(one[name] for one in found) for name in ("wall", "cpu"))
        memory = max(one["peak_mb"] for one in found)
        print(
            f"{engine:<17} {tokens / wall / 1e6:8.2f} M tokens/s, {1e9 * cpu / tokens:8.1f} ns of "
            f"CPU per token, peak {memory:,.0f} MB, {1e6 * memory / tokens:.1f} bytes per token"
        )
    if not options.no_save:
        name = options.name or f"{options.cells}-{options.regions}-{options.topics}"
        result = {"setting": setting, "rounds": rounds}
        kept = write_result(f"single-cell-{name}", result, on_gpu=on_gpu)
        print(f"raw result in {kept.name}")


if __name__ == "__main__":
    main()
