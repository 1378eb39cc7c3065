"""A sweep of local workers compared with one of as many threads; and the memory of both.

Both draw the same topics. Runs alternate, each in a process of its own; a sweep's time is the
median over the sweeps after the first third. Bytes are compared with what cells of Phi take: each
worker sends the columns that it drew, 6 bytes per cell and 4 per word, to all others.

python benchmarks/cluster.py --corpus imdb --topics 100 --workers 2
python benchmarks/cluster.py --corpus skewed:2000000:100000:100 --topics 100 --sweeps 3 --memory
"""

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import LDA, read_corpus
from polyaurn.backends.sharded import local
from polyaurn.corpus.names import Numbered
from polyaurn.corpus.urn_file import UrnWriter, write_urn
from polyaurn.training import cluster

PIECE = 20_000  # documents written at once
LOOK = 0.05  # seconds between looks at the memory of workers


def write_corpus(name: str, path: Path) -> None:
    """Write a corpus to a file; "skewed:D:V:length" is made piece by piece, and has no topics."""
    if not name.startswith("skewed:"):
        write_urn(open_corpus(name), path)
        return
    D, V, length = (int(part) for part in name.split(":")[1:])
    rng = np.random.default_rng(0)
    with UrnWriter(path) as writer:
        for lo in range(0, D, PIECE):
            n = min(PIECE, D - lo)
            word = (V * rng.random((n, length)) ** 4).astype(np.int32)
            word.sort(axis=1)
            writer.add(np.full(n, length), word.reshape(-1))
        writer.finish([f"w{v}" for v in range(V)], Numbered(D))


def options_of(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "n_components": arguments["topics"], "max_iter": arguments["sweeps"],
        "sampler": arguments["sampler"], "learn_priors_every": 0, "evaluate_every": 0,
        "warm_start": "random", "phi_refreshes": 1, "average_draws": 1, "verbose": False,
    }  # fmt: skip


def with_threads(arguments: dict[str, Any]) -> None:
    """Print seconds and CPU seconds of each sweep on threads."""
    seen: list[dict[str, float]] = []

    def note(state: Any, info: Any) -> None:
        seconds = info.phi_seconds + info.z_seconds
        seen.append({"seconds": seconds, "cpu": time.process_time(), "cells": info.phi_nonzeros})

    corpus = read_corpus(arguments["file"])
    LDA(**options_of(arguments), n_jobs=arguments["workers"], callbacks=note).fit(corpus)
    before = 0.0
    for record in seen:
        record["cpu"], before = record["cpu"] - before, record["cpu"]
    print(json.dumps({"sweeps": seen, "peak": peak()}))


def with_workers(arguments: dict[str, Any]) -> None:
    """Print what workers say of each sweep, and the most memory of the driver and of workers."""
    seen: list[dict[str, float]] = []
    hear = cluster._Listener.hear
    heard = threading.Event()
    most: dict[int, int] = {}
    highest: dict[int, int] = {}

    def note(listener: Any, record: dict[str, Any]) -> None:
        if "info" in record:
            info = record["info"]
            seconds = info["phi_seconds"] + info["z_seconds"]
            seen.append(record["cluster"] | {"seconds": seconds, "cells": info["phi_nonzeros"]})
        hear(listener, record)

    def watch() -> None:
        while not heard.wait(LOOK):
            for number in list(started):
                sizes = memory_of(number)
                own = sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0)
                most[number] = max(most.get(number, 0), own)
                highest[number] = max(highest.get(number, 0), sizes.get("VmHWM", 0))

    started: list[int] = []
    popen = local.subprocess.Popen

    def start(*given: Any, **named: Any) -> Any:
        process = popen(*given, **named)
        started.append(process.pid)
        return process

    cluster._Listener.hear = note  # type: ignore[method-assign]
    local.subprocess.Popen = start  # type: ignore[misc,assignment]
    watcher = threading.Thread(target=watch)
    watcher.start()
    warnings.simplefilter("ignore")
    try:
        corpus = read_corpus(arguments["file"])
        if arguments["memory"]:
            drive(corpus, arguments)
        else:
            common = {"cluster": "local", "n_workers": arguments["workers"], "n_jobs": 1}
            LDA(**options_of(arguments), **common).fit(corpus)
    finally:
        heard.set()
        watcher.join()
    print(json.dumps({
        "sweeps": seen, "peak": peak(), "anonymous_of_workers": sorted(most.values()),
        "peak_of_largest_child": max(highest.values(), default=0), "words": corpus.n_words,
        "tokens": corpus.n_tokens,
    }))  # fmt: skip


def drive(corpus: Any, arguments: dict[str, Any]) -> None:
    """Train as the command line does, which keeps topics of tokens out of this process."""
    from polyaurn.estimator.model_parts import LDAInParts

    with tempfile.TemporaryDirectory() as folder:
        LDAInParts(
            **options_of(arguments), cluster="local", n_workers=arguments["workers"], n_jobs=1,
            checkpoint=Path(folder) / "run",
        ).fit(corpus)  # fmt: skip


def peak() -> int:
    """Return the most memory that this process had, file mappings included.

    What `resource` says would include the process that started this one.
    """
    return memory_of("self")["VmHWM"]


def memory_of(process: int | str) -> dict[str, int]:
    """Return the sizes in bytes of a process that the system states; of one that ended, nothing."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = [line.split() for line in lines if line.endswith("kB")]
    return {name.rstrip(":"): 1024 * int(size) for name, size, _ in pairs}


def child(arguments: dict[str, Any]) -> None:
    (with_threads if arguments["threads"] else with_workers)(arguments)


def late(sweeps: list[dict[str, float]], name: str) -> float:
    """Return the median of a number after the first third of the sweeps."""
    return statistics.median(record[name] for record in sweeps[len(sweeps) // 3 :])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sampler", default="polya-urn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="workers only, once")
    options = parse_options(parser, child)
    names = ("corpus", "topics", "sweeps", "workers", "sampler", "memory")
    setting = {name: getattr(options, name) for name in names}
    found: dict[str, list[Any]] = {"threads": [], "workers": []}
    with tempfile.TemporaryDirectory(dir=os.environ.get("POLYAURN_BENCHMARK_FOLDER")) as folder:
        path = Path(folder) / "corpus.urn"
        write_corpus(options.corpus, path)
        given = setting | {"file": str(path)}
        for _ in range(1 if options.memory else options.rounds):
            if not options.memory:
                found["threads"].append(in_own_process(__file__, given | {"threads": True}))
            found["workers"].append(in_own_process(__file__, given | {"threads": False}))
    result: dict[str, Any] = {"setting": setting, **found}
    of_workers = [late(run["sweeps"], "seconds") for run in found["workers"]]
    if not options.memory:
        of_threads = [late(run["sweeps"], "seconds") for run in found["threads"]]
        cpu = [
            statistics.median(late(run["sweeps"], "cpu") for run in found[kind])
            for kind in ("workers", "threads")
        ]
        result["seconds_ratio"] = statistics.median(of_workers) / statistics.median(of_threads)
        result["best_seconds_ratio"] = min(of_workers) / min(of_threads)
        result["cpu_ratio"] = cpu[0] / cpu[1]
        print(f"workers take {result['seconds_ratio']:.2f} of the threads' time per sweep, "
              f"{result['cpu_ratio']:.2f} of their CPU time")  # fmt: skip
    last = found["workers"][-1]
    cells, moved = late(last["sweeps"], "cells"), late(last["sweeps"], "bytes")
    of_phi = (options.workers - 1) * (6 * cells + 4 * last["words"])
    result |= {"bytes": moved, "bytes_of_phi": of_phi}
    print(f"{moved / 1e6:.2f} MB per sweep, {of_phi / 1e6:.2f} MB of them Phi; "
          f"driver {last['peak'] / 1e6:.0f} MB, largest worker "
          f"{max(last['anonymous_of_workers'], default=0) / 1e6:.0f} MB")  # fmt: skip
    if not options.no_save:
        what = "memory" if options.memory else str(options.workers)
        write_result(f"cluster-{options.corpus.replace(':', '-')}-{options.topics}-{what}", result)


if __name__ == "__main__":
    main()
