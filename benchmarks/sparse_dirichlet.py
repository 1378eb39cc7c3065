"""What the sampler "sparse-dirichlet" costs and keeps, beside the urn and the dense exact sampler.

A chain of each sampler on one thread from a uniform start; they take turns, a sweep each, so that
whatever else the machine does slows all of them alike. Over the last third of the sweeps: CPU
time per sweep (median), nonzero counts of words in topics and cells of Phi (means); at the end the
log posterior per token and the race's held-out score of the last draw, on the tenth of the
documents that the race holds out. A sampler may be followed by a cut, "sparse-dirichlet:0.01".

    python benchmarks/sparse_dirichlet.py --corpus 20newsgroups --topics 100 --sweeps 60
    python benchmarks/sparse_dirichlet.py --corpus kos --topics 20 --sweeps 1000 --seeds 5 \
        --samplers partially-collapsed sparse-dirichlet
"""

import argparse
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from common import open_corpus, write_result
from polyaurn import Corpus
from polyaurn.backends.cpu.phi_sparse import draw_phi
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State, topic_word_matrix
from polyaurn.chain.steps import Address
from race_score import completion, split

ALPHA, BETA = 0.1, 0.01
SAMPLERS = ["polya-urn", "sparse-dirichlet", "sparse-dirichlet:0.01", "sparse-dirichlet:0.1"]
FOUND = ("phi_ms", "z_ms", "nonzeros", "phi_nonzeros", "log_posterior", "held_out")


class Chain:
    """A chain, and what its sweeps took and gave."""

    def __init__(self, name: str, corpus: Any, n_topics: int, seed: int) -> None:
        self.corpus, self.seed = corpus, seed
        self.steps = steps_of(name)(corpus, n_topics)
        self.priors = make_priors(ALPHA, BETA, n_topics, corpus.n_words)
        self.z = self.steps.start(seed)
        self.counts = self.steps.count(self.z)
        self.rows: list[tuple[float, ...]] = []

    def sweep(self) -> None:
        """Sweep once."""
        address = Address(self.seed, len(self.rows))
        begin = process_time()
        phi = self.steps.draw_phi(self.counts, self.priors, address)
        middle = process_time()
        self.z, self.counts, _ = self.steps.draw_z(self.z, phi, self.priors, address)
        seconds = (middle - begin, process_time() - middle)
        nonzeros = int((self.counts.last - self.counts.first).sum())
        self.rows.append((1e3 * seconds[0], 1e3 * seconds[1], nonzeros, phi.nonzeros))

    def found(self, test: Any) -> list[float]:
        """Return what `FOUND` names."""
        kept = np.array(self.rows[2 * len(self.rows) // 3 :])
        score = self.steps.log_posterior(State(self.z, self.counts, self.priors))
        means = [*np.median(kept[:, :2], axis=0), *kept[:, 2:].mean(axis=0)]
        n = topic_word_matrix(self.counts, len(self.priors.alpha))
        held_out = completion(n, test, self.priors.alpha, BETA)
        return [float(x) for x in (*means, score / self.corpus.n_tokens, held_out)]


def steps_of(name: str) -> Any:
    """Return the class of a sampler's steps, with its cut where the name has one."""
    sampler, _, cut = name.partition(":")
    made = load_steps(sampler)
    if not cut:
        return made
    return type("Steps", (made,), {"phi_step": staticmethod(partial(draw_phi, cut=float(cut)))})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--samplers", nargs="+", default=SAMPLERS)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    train, test = split(open_corpus(options.corpus).to_matrix())
    corpus = Corpus.from_matrix(train)
    found: dict[str, list[list[float]]] = {name: [] for name in options.samplers}
    for seed in range(options.seeds):
        chains = {name: Chain(name, corpus, options.topics, seed) for name in options.samplers}
        for _ in range(options.sweeps):
            for chain in chains.values():
                chain.sweep()
        for name, chain in chains.items():
            found[name].append(chain.found(test))
    first = sum(np.mean(found[options.samplers[0]], axis=0)[:2])
    for name, rows in found.items():
        phi_ms, z_ms, nonzeros, phi_nonzeros, score, held_out = np.mean(rows, axis=0)
        errors = np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5 if rows[1:] else np.zeros(6)
        print(
            f"{name:<24} {phi_ms + z_ms:7.1f} ms of CPU per sweep ({(phi_ms + z_ms) / first:.2f}), "
            f"{phi_ms:.1f} of them for Phi; nonzeros {nonzeros:,.0f} (error {errors[2]:.0f}) of n, "
            f"{phi_nonzeros:,.0f} of Phi; log posterior {score:.4f} ({errors[4]:.4f}), held-out "
            f"score {held_out:.4f} ({errors[5]:.4f})"
        )
    if not options.no_save:
        names = ("corpus", "topics", "sweeps", "seeds")
        setting = {name: getattr(options, name) for name in names}
        result = {"setting": setting, "found": FOUND, "chains": found}
        write_result(f"sparse-dirichlet-{options.corpus}-{options.topics}", result)


if __name__ == "__main__":
    main()
