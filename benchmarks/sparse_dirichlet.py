"""What the sampler "sparse-dirichlet" costs and keeps, beside the urn and the dense exact sampler.

Chains of each on one thread from uniform starts. Over the last third of the sweeps: CPU time per
sweep (median), nonzero counts of words in topics and cells of Phi (means), and the log posterior
per token at the end. A sampler may be followed by a cut, "sparse-dirichlet:0.01".

    python benchmarks/sparse_dirichlet.py --corpus 20newsgroups --topics 100 --sweeps 90
    python benchmarks/sparse_dirichlet.py --corpus kos --topics 20 --sweeps 600 --seeds 5 \
        --samplers partially-collapsed sparse-dirichlet
"""

import argparse
import json
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn.backends.cpu.phi_sparse import draw_phi
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from polyaurn.chain.steps import Address

ALPHA, BETA = 0.1, 0.01
SAMPLERS = ["polya-urn", "sparse-dirichlet:0.01", "sparse-dirichlet", "sparse-dirichlet:0.3"]
FOUND = ("phi_ms", "z_ms", "nonzeros", "phi_nonzeros", "log_posterior")


def steps_of(name: str) -> Any:
    """Return the class of a sampler's steps, with its cut where the name has one."""
    sampler, _, cut = name.partition(":")
    made = load_steps(sampler)
    if not cut:
        return made
    return type("Steps", (made,), {"phi_step": staticmethod(partial(draw_phi, cut=float(cut)))})


def child(task: dict[str, Any]) -> None:
    corpus, K, seed = open_corpus(task["corpus"]), task["topics"], task["seed"]
    steps, priors = (
        steps_of(task["sampler"])(corpus, K),
        make_priors(ALPHA, BETA, K, corpus.n_words),
    )
    z = steps.start(seed)
    counts, rows = steps.count(z), []
    for sweep in range(task["sweeps"]):
        address = Address(seed, sweep)
        begin = process_time()
        phi = steps.draw_phi(counts, priors, address)
        middle = process_time()
        z, counts, _ = steps.draw_z(z, phi, priors, address)
        end = process_time()
        nonzeros = int((counts.last - counts.first).sum())
        rows.append((1e3 * (middle - begin), 1e3 * (end - middle), nonzeros, phi.nonzeros))
    kept = np.array(rows[2 * task["sweeps"] // 3 :])
    score = steps.log_posterior(State(z, counts, priors)) / corpus.n_tokens
    print(json.dumps([*np.median(kept[:, :2], axis=0), *kept[:, 2:].mean(axis=0), score]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=90)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--samplers", nargs="+", default=SAMPLERS)
    options = parse_options(parser, child)
    setting = {name: getattr(options, name) for name in ("corpus", "topics", "sweeps", "seeds")}
    chains = {}
    for sampler in options.samplers:
        tasks = [setting | {"sampler": sampler, "seed": seed} for seed in range(options.seeds)]
        chains[sampler] = [in_own_process(__file__, task) for task in tasks]
        means = dict(zip(FOUND, np.mean(chains[sampler], axis=0), strict=True))
        spread = np.std([chain[2] for chain in chains[sampler]])
        print(
            f"{sampler:<24} {means['phi_ms'] + means['z_ms']:8.1f} ms of CPU per sweep, "
            f"{means['phi_ms']:.1f} of them for Phi; nonzeros {means['nonzeros']:,.0f} "
            f"({spread:.0f}) of n, {means['phi_nonzeros']:,.0f} of Phi; "
            f"log posterior {means['log_posterior']:.4f}",
            flush=True,
        )
    if not options.no_save:
        result = {"setting": setting, "found": FOUND, "chains": chains}
        write_result(f"sparse-dirichlet-{options.corpus}-{options.topics}", result)


if __name__ == "__main__":
    main()
