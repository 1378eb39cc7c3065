"""Mixtures and left-to-right scores of new documents: the CPU with all threads, and one GPU.

A corpus is drawn from LDA, a model trained on most of it for a few sweeps, and the rest inferred
and scored on both devices. Each call is made once on a few documents, to compile, then timed
as often as asked; seconds are medians. Bytes are compared. Prints one line of JSON.

    python benchmarks/gpu_inference.py --topics 100,1000
    python benchmarks/gpu_inference.py --tiny --devices cpu
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import write_result
from polyaurn import LDA, Corpus, TopicModel, datasets
from polyaurn.base.threads import count_threads
from polyaurn.evaluate import left_to_right

SIZES = {"train": 20_000, "words": 20_000, "inferred": 10_000, "scored": 1_000, "length": 100.0}
TINY = {"train": 100, "words": 80, "inferred": 40, "scored": 10, "length": 20.0}


def train(corpus: Corpus, K: int, sweeps: int, device: str) -> TopicModel:
    """Train for a few sweeps; on a GPU where estimators know of one."""
    options = {"device": device} if "device" in LDA().get_params() else {}
    return LDA(K, max_iter=sweeps, verbose=False, **options).fit(corpus).model_


def timed(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return median seconds, and what came out."""
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds), found


def compare(model: TopicModel, new: Corpus, sizes: dict[str, Any], options: Any) -> dict[str, Any]:
    """Return seconds of both tasks on each device, and whether their bytes are the same."""
    few, scored = new.select(np.arange(5)), new.select(np.arange(sizes["scored"]))
    inferred = new.select(np.arange(sizes["inferred"]))
    tasks = {
        "transform": lambda docs, device: model.transform(docs, sparse=True, device=device).data,
        "left_to_right": lambda docs, device: (
            left_to_right(model, docs, options.particles, device=device).log_likelihood
        ),
    }
    found: dict[str, Any] = {}
    for name, docs in (("transform", inferred), ("left_to_right", scored)):
        seen = {}
        for device in options.devices.split(","):
            tasks[name](few, device)
            seconds, values = timed(lambda: tasks[name](docs, device), options.rounds)  # noqa: B023
            seen[device] = values.tobytes()
            found[f"{name}_{device}_seconds"] = round(seconds, 4)
        found[f"{name}_documents"], found[f"{name}_tokens"] = docs.n_documents, docs.n_tokens
        found[f"{name}_same_bytes"] = len(set(seen.values())) == 1 if len(seen) > 1 else None
        if len(seen) > 1:
            cpu, gpu = (found[f"{name}_{device}_seconds"] for device in ("cpu", "gpu"))
            found[f"{name}_ratio"] = round(cpu / gpu, 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", default="100,1000")
    parser.add_argument("--devices", default="cpu,gpu")
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--particles", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="in place of results/gpu-inference.json")
    parser.add_argument("--tiny", action="store_true", help="see that it runs")
    options = parser.parse_args()
    sizes = TINY if options.tiny else SIZES
    n = sizes["train"] + sizes["inferred"]
    corpus = datasets.generate(n, sizes["words"], 20 if options.tiny else 200, sizes["length"])
    old, new = corpus.select(np.arange(sizes["train"])), corpus.select(np.arange(sizes["train"], n))
    results = []
    for K in map(int, options.topics.split(",")):
        model = train(old, K, options.sweeps, options.devices.split(",")[-1])
        column = model.topic_word_counts.nnz / max(1, len(model.vocab))
        found = {"topics": K, "topics_of_a_word": round(column, 1)}
        results.append(found | compare(model, new, sizes, options))
    found = {"threads": count_threads(-1), "results": results}
    print(json.dumps(found))
    if not options.tiny:
        write_result("gpu-inference", found, options.out, on_gpu=True)


if __name__ == "__main__":
    main()
