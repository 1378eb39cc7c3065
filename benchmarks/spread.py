"""Whether two engines reach the same log posterior in as many sweeps, within the spread of chains.

Several chains of each from other seeds, one thread each; their levels, and Welch's test.

    python benchmarks/spread.py --corpus 20newsgroups --topics 100 --engines collapsed tomotopy
"""

import argparse
import json
from typing import Any

import numpy as np
from scipy import stats

from common import in_own_process, open_corpus, parse_options, write_result
from engines import NAMES, make_engine


def child(task: dict[str, Any]) -> None:
    corpus = open_corpus(task["corpus"])
    engine = make_engine(task["engine"], corpus, task["topics"], 1, task["sweeps"], task["seed"])
    seconds = engine.train(task["sweeps"])
    level = engine.log_posterior() / corpus.n_tokens
    print(json.dumps({"seed": task["seed"], "log_posterior": level, "seconds": seconds}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--engines", nargs=2, default=["collapsed", "tomotopy"], choices=NAMES)
    options = parse_options(parser, child)
    names = ("corpus", "topics", "sweeps", "seeds")
    setting = {name: getattr(options, name) for name in names}
    chains: dict[str, list[dict[str, float]]] = {name: [] for name in options.engines}
    for seed in range(options.seeds):
        for engine in options.engines:
            task = setting | {"engine": engine, "seed": seed}
            chains[engine].append(in_own_process(__file__, task))
    levels = {name: [run["log_posterior"] for run in runs] for name, runs in chains.items()}
    for name, values in levels.items():
        print(
            f"{name:<20} {np.mean(values):.4f} a token, standard deviation between chains "
            f"{np.std(values, ddof=1):.4f}"
        )
    p = float(stats.ttest_ind(*levels.values(), equal_var=False).pvalue)
    print(f"Welch's test: p = {p:.3f}")
    if not options.no_save:
        name = f"spread-{options.corpus}-{options.topics}-{'-'.join(options.engines)}"
        write_result(name, {"setting": setting, "chains": chains, "p": p})


if __name__ == "__main__":
    main()
