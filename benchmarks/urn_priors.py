"""What the urn makes of learned priors: those that it learns, and those of an exact sampler.

Chains on one thread with an annealed start, whose priors are learned every ten sweeps. The urn
learns them itself, or has those that "sparse-dirichlet" learned with the same seed; and it
continues at the end of that chain for as many sweeps, learning further or keeping its priors. Over
the last eighth of each chain's sweeps: nonzero counts (mean), and the race's held-out score of the
mean counts, on the tenth of the documents that the race holds out.

    python benchmarks/urn_priors.py --cells kos:50:240 20newsgroups:100:150 --seeds 3
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from common import SHARED, open_corpus, write_result
from polyaurn import Corpus
from polyaurn.backends.registry import load_steps
from polyaurn.chain.loop import begin, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.schedule import Schedule, make_schedule
from polyaurn.chain.state import Priors, State, topic_word_matrix
from race_engines import ALPHA, BETA, LEARN_EVERY
from race_score import completion, split

EXACT, URN = "sparse-dirichlet", "polya-urn"
LAST = 8  # the last eighth of the sweeps is looked at


class Cell:
    """A corpus, a number of topics and of sweeps, and a seed."""

    def __init__(self, corpus: Corpus, test: Any, topics: int, sweeps: int, seed: int) -> None:
        self.corpus, self.test, self.topics = corpus, test, topics
        self.sweeps, self.seed = sweeps, seed

    def annealed(self, sampler: str, beta: float) -> Schedule:
        """Return the schedule of a chain that begins annealed."""
        return make_schedule(
            "anneal", 1, n_tokens=self.corpus.n_tokens, n_words=self.corpus.n_words,
            n_topics=self.topics, max_iter=self.sweeps, sampler=sampler, beta=beta,
        )  # fmt: skip

    def run(
        self,
        sampler: str,
        *,
        learns: bool,
        priors: Priors | None = None,
        after: State | None = None,
    ) -> tuple[State, dict[str, float]]:
        """Run a chain, from the start with these priors or after another; return what it found."""
        steps = load_steps(sampler)(
            self.corpus, self.topics, learn_every=LEARN_EVERY if learns else 0
        )
        if after is None:
            given = priors or make_priors(ALPHA, BETA, self.topics, self.corpus.n_words)
            schedule = self.annealed(sampler, float(given.beta.mean()))
            state = begin(steps, given, schedule, self.seed)
        else:
            schedule = Schedule((), 1)
            state = after._replace(counts=steps.count(after.z), parts=())
        end, nonzeros, total = state.sweep + self.sweeps, [], 0
        while state.sweep < end:
            state, _ = sweep(state, steps, schedule.plan(state.sweep), self.seed)
            if end - state.sweep < max(1, self.sweeps // LAST):
                n = topic_word_matrix(state.counts, self.topics).astype(np.int64)
                nonzeros.append(n.nnz)
                total = n + total if nonzeros[1:] else n
        alpha, beta = np.asarray(state.priors.alpha), float(state.priors.beta.mean())
        return state, {
            "beta": beta,
            "alpha_sum": float(alpha.sum()),
            "nonzeros": float(np.mean(nonzeros)),
            "score": completion(total / len(nonzeros), self.test, alpha, beta),
        }

    def chains(self) -> dict[str, dict[str, float]]:
        """Run all chains; return what each found."""
        found = {"collapsed": self.run("collapsed", learns=True)[1]}
        exact, found[EXACT] = self.run(EXACT, learns=True)
        _, found[f"{EXACT}, from there"] = self.run(EXACT, learns=True, after=exact)
        _, found[f"{URN}, from there, learns"] = self.run(URN, learns=True, after=exact)
        _, found[f"{URN}, from there, keeps"] = self.run(URN, learns=False, after=exact)
        _, found[f"{URN}, learns"] = self.run(URN, learns=True)
        given = exact.priors
        _, found[f"{URN}, given those of {EXACT}"] = self.run(URN, learns=False, priors=given)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cells", nargs="+", default=["kos:50:240", "20newsgroups:100:150"],
        help="corpus:topics:sweeps",
    )  # fmt: skip
    parser.add_argument("--corpora", type=Path, default=SHARED, help="folder of docword files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    rows = []
    for cell in options.cells:
        name, topics, sweeps = cell.split(":")
        train, test = split(open_corpus(name, options.corpora).to_matrix())
        corpus = Corpus.from_matrix(train)
        for seed in range(1, options.seeds + 1):
            found = Cell(corpus, test, int(topics), int(sweeps), seed).chains()
            for chain, values in found.items():
                rows.append({"cell": cell, "seed": seed, "chain": chain} | values)
                print(
                    f"{cell:<22} seed {seed} {chain:<42} beta {values['beta']:.4f}  "
                    f"alpha {values['alpha_sum']:.2f}  nonzeros {values['nonzeros']:,.0f}  "
                    f"score {values['score']:.4f}",
                    flush=True,
                )
    if not options.no_save:
        write_result("urn-priors", {"learn_every": LEARN_EVERY, "rows": rows})


if __name__ == "__main__":
    main()
