"""Whether two samplers give models that predict held-out documents equally well.

Several chains of each on the same training documents; left-to-right log likelihood of the others,
with the spread between chains, and Welch's test.

    python benchmarks/held_out.py --corpus kos --topics 20 --sweeps 600
"""

import argparse

import numpy as np
from scipy import stats

from common import open_corpus, write_result
from polyaurn import LDA
from polyaurn.evaluate import document_completion, left_to_right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="kos")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--documents", type=int, default=300, help="of the test set, at most")
    parser.add_argument("--particles", type=int, default=20)
    parser.add_argument("--samplers", nargs=2, default=["polya-urn", "partially-collapsed"])
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    train, test = open_corpus(options.corpus).split(0.2)
    test = test.select(np.arange(min(options.documents, test.n_documents)))
    found: dict[str, list[dict[str, float]]] = {}
    for sampler in options.samplers:
        found[sampler] = []
        for seed in range(options.seeds):
            lda = LDA(
                options.topics, max_iter=options.sweeps, sampler=sampler, random_state=seed,
                evaluate_every=0, verbose=False,
            ).fit(train)  # fmt: skip
            score = left_to_right(lda, test, options.particles)
            found[sampler].append(
                {
                    "left_to_right": score.per_token,
                    "error": score.per_token_error,
                    "completion": document_completion(lda, test).per_token,
                }
            )
    p = {}
    for measure in ("left_to_right", "completion"):
        values = {name: [run[measure] for run in runs] for name, runs in found.items()}
        p[measure] = float(stats.ttest_ind(*values.values(), equal_var=False).pvalue)
        for name, levels in values.items():
            print(
                f"{measure:<14} {name:<20} {np.mean(levels):.4f} a token, standard deviation "
                f"between chains {np.std(levels, ddof=1):.4f}"
            )
        print(f"{measure:<14} Welch's test: p = {p[measure]:.3f}")
    if not options.no_save:
        names = ("corpus", "topics", "sweeps", "seeds", "documents", "particles")
        setting = {name: getattr(options, name) for name in names}
        name = f"held-out-{options.corpus}-{options.topics}-{'-'.join(options.samplers)}"
        write_result(name, {"setting": setting, "chains": found, "p": p})


if __name__ == "__main__":
    main()
