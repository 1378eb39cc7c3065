"""Which number of topics is suggested, and what more sweeps do to the scores.

Corpora are generated from some topics, or read, and models with several numbers of topics are
trained and scored as `polyaurn choose-topics` does, with few sweeps and with more.

    python benchmarks/topic_grid.py --corpora 4 --sweeps 80 200
    python benchmarks/topic_grid.py --named kos ap --topics 20 50 --seeds 1 --sweeps 200 500
"""

import argparse
import json
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import datasets, topic_grid


def child(task: dict[str, Any]) -> None:
    """Suggest a number of topics for one corpus."""
    shape = (task["documents"], task["words"], task["planted"])
    seed = task["corpus"]
    named = isinstance(seed, str)
    corpus = open_corpus(seed) if named else datasets.generate(*shape, random_state=seed)
    begin = process_time()
    with TemporaryDirectory() as folder:
        found = topic_grid(
            corpus, task["topics"], task["seeds"], out=f"{folder}/grid", max_iter=task["sweeps"]
        )
    scores = {row["topics"]: row["held_out"]["mean"] for row in found["topics"]}
    print(
        json.dumps(
            {"suggestion": found["suggestion"], "held_out": scores,
             "cpu_seconds": process_time() - begin}
        )
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=int, default=4)
    parser.add_argument("--named", nargs="+", help="corpora that are read, not generated")
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--planted", type=int, default=10)
    parser.add_argument("--topics", nargs="+", type=int, default=[3, 5, 8, 10, 15, 20])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sweeps", nargs="+", type=int, default=[80, 200])
    options = parse_options(parser, child)
    setting = {n: getattr(options, n) for n in ("documents", "words", "planted", "topics", "seeds")}
    grids = []
    for corpus in options.named or range(options.corpora):
        for sweeps in options.sweeps:
            task = {"corpus": corpus, "sweeps": sweeps}
            grids.append(task | in_own_process(__file__, setting | task))
            scores = ", ".join(f"{score:.3f}" for score in grids[-1]["held_out"].values())
            print(
                f"corpus {corpus}, {sweeps} sweeps: {grids[-1]['suggestion']['topics']} topics are "
                f"suggested; held-out scores {scores}",
                flush=True,
            )
    if not options.no_save:
        name = "-".join(["topic-grid", *(options.named or [])])
        write_result(name, {"setting": setting, "grids": grids})


if __name__ == "__main__":
    main()
