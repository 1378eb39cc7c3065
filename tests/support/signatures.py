"""A program that runs every sampler and prints the kernels that were compiled more than once.

It is a process of its own: kernels that other tests called keep the types of those calls.
"""

import importlib
import json
import pkgutil

import numpy as np

import polyaurn.backends.cpu
from polyaurn import Corpus, datasets, sweeps
from polyaurn.chain.samplers import SAMPLERS

KERNELS = ("_draw", "draw_doc", "_count", "count_", "_gather", "_replace", "_fill", "_cut",
           "_enter", "_finish", "_throw", "_spread", "_sort", "_add", "score_")  # fmt: skip


def main() -> None:
    X = np.zeros((7, 6), int)
    X[1], X[4], X[5] = [3, 0, 1, 0, 0, 2], [0, 500, 1, 0, 2, 0], [1, 1, 1, 0, 1, 1]
    corpora = (datasets.generate(n_documents=60, n_words=80, n_topics=4), Corpus.from_matrix(X))
    for sampler in SAMPLERS:
        for corpus in corpora:
            options = {"max_iter": 6, "learn_priors_every": 3}  # two of them smooth
            list(sweeps(corpus, 6, sampler=sampler, **options))
    compiled = {}
    for module in pkgutil.iter_modules(polyaurn.backends.cpu.__path__, "polyaurn.backends.cpu."):
        for name, item in vars(importlib.import_module(module.name)).items():
            if hasattr(item, "signatures") and name.startswith(KERNELS):
                compiled[f"{module.name}.{name}"] = len(item.signatures)
    several = [name for name, times in compiled.items() if times > 1]
    print(json.dumps({"compiled": sum(compiled.values()), "several": several}))


if __name__ == "__main__":
    main()
