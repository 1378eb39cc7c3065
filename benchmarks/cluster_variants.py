"""Document clusters: documents drawn one after another, beside batches of them on several threads.

The sampler of the package draws documents in turn. Here all documents of a batch are proposed a
cluster given the documents outside of the batch, on any number of threads, and take it with the
probability of Metropolis and Hastings, which keeps the posterior stationary; or always, which does
not.

    python benchmarks/cluster_variants.py --texts 100000 --clusters 300 --most-clusters 500
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numba
import numpy as np
from sklearn.metrics import adjusted_rand_score

from clusters import planted
from common import in_own_process, parse_options, write_result
from polyaurn.backends.cpu.cluster_kernels import (
    BLOCK,
    choose,
    count_documents,
    fill_bases,
    find,
    move,
    shift,
    spread,
    weigh,
)
from polyaurn.backends.cpu.clusters import Steps, make_base
from polyaurn.backends.variates import bits, log_of, open_unit, unit
from polyaurn.base.arrays import empty
from polyaurn.base.rng import key
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State, Work

BATCHES = 64
DRAW, TAKE = 901, 902  # purposes of random numbers that only this program draws
_PER_TASK = 256
_SMALL, _LARGE = 1e-100, 1e100
njit = numba.njit(nogil=True)


@njit
def move_batch(lo, hi, batch, n_batches, step, doc_ptr, word, z, offset, used, topic, number):
    """Add the documents of a batch to their clusters, or remove them: words lo to hi."""
    for d in range(batch, len(z), n_batches):
        for t in range(doc_ptr[d], doc_ptr[d + 1]):
            v = word[t]
            if v >= hi:
                break
            if v >= lo:
                shift(v, np.int64(z[d]), step, offset, used, topic, number)


@njit
def move_totals(batch, n_batches, step, doc_ptr, z, m, n_k):
    """Add the documents of a batch to the totals of their clusters, or remove them."""
    for d in range(batch, len(z), n_batches):
        if doc_ptr[d + 1] > doc_ptr[d]:
            m[z[d]] += step
            n_k[z[d]] += step * (doc_ptr[d + 1] - doc_ptr[d])


@njit
def propose(
    lo, hi, batch, n_batches, doc_ptr, word, z, offset, used, topic, number, m, n_k, alpha, beta,
    beta_sum, scale, base, a, b, proposal, odds,
):  # fmt: skip
    """Propose a cluster to documents lo to hi of a batch, which is left out of all counts.

    `odds` are the logarithms of how much likelier the present cluster was to be proposed.
    """
    K = len(m)
    weight, score = np.empty(K), np.empty(K)
    sums = np.empty((K + BLOCK - 1) // BLOCK)
    work = 0
    for i in range(lo, hi):
        d = batch + i * n_batches
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        old = np.int64(z[d])
        proposal[i], odds[i] = old, 0.0
        if begin == end:
            continue
        weigh(begin, end, word, offset, used, topic, number, m, n_k, alpha, beta, beta_sum, scale,
              base, weight, score)  # fmt: skip
        work += K
        for t in range(begin, end):
            work += used[word[t]]
        k = choose(weight, sums, unit(bits(a, b, d)))
        if k != old:
            proposal[i] = k
            if end - begin < len(base):
                odds[i] = log_of(weight[old]) - log_of(weight[k])
            else:
                odds[i] = score[old] - score[k]
    return work


@njit
def accept(
    batch, n_batches, doc_ptr, word, z, offset, used, topic, number, m, n_k, alpha, beta, beta_sum,
    proposal, odds, a, b,
):  # fmt: skip
    """Let the documents of a batch take what was proposed, or not; return how many took it."""
    accepted = 0
    for i in range(len(proposal)):
        d = batch + i * n_batches
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        old, new = np.int64(z[d]), np.int64(proposal[i])
        if new == old:
            accepted += 1
            continue
        ratio = log_ratio(begin, end, word, old, new, offset, used, topic, number, m, n_k, alpha,
                          beta, beta_sum)  # fmt: skip
        if log_of(open_unit(bits(a, b, d))) < ratio + odds[i]:
            move(begin, end, word, old, -1, offset, used, topic, number, m, n_k)
            move(begin, end, word, new, 1, offset, used, topic, number, m, n_k)
            z[d] = new
            accepted += 1
    return accepted


@njit
def log_ratio(
    begin, end, word, old, new, offset, used, topic, number, m, n_k, alpha, beta, beta_sum
):
    """Return the logarithm of how much likelier a document of cluster `old` is in `new`."""
    ratio = 0.0
    product = (m[new] + alpha[new]) / (m[old] - 1 + alpha[old])
    tokens_of_old = n_k[old] - (end - begin)
    t = begin
    while t < end:
        v, c = word[t], 1
        while t + c < end and word[t + c] == v:
            c += 1
        there, here = find(new, v, offset, used, topic), find(old, v, offset, used, topic)
        n_new = number[there] if there < offset[v] + used[v] else 0
        n_old = number[here] - c
        for i in range(c):
            prior, at = beta[v] + i, beta_sum + (t + i - begin)
            product *= (n_new + prior) * (tokens_of_old + at)
            product /= (n_old + prior) * (n_k[new] + at)
            if product < _SMALL or product > _LARGE:
                ratio += log_of(product)
                product = 1.0
        t += c
    return ratio + log_of(product)


class BatchSteps(Steps):
    """Steps that draw clusters in batches."""

    all_taken = False

    def draw_z(self, z: Any, phi: Any, priors: Any, address: Any, *_: Any) -> Any:
        """Propose and take clusters batch by batch."""
        new, ptr, word = self.clusters_of(z), self.layout.doc_ptr, self.layout.word
        K, (alpha, beta) = self.layout.n_topics, priors[:2]
        m, n_k = np.zeros(K, np.int64), np.zeros(K, np.int64)
        count_documents(ptr, new, m, n_k)
        size = int(self._offset[-1])
        columns = (self._offset, np.empty(len(beta), np.int64), empty(size, np.uint16),
                   empty(size, np.int32))  # fmt: skip
        spread(*phi, *columns)
        beta_sum = float(beta.sum())
        scale, base = make_base(int(self.lengths.max()), len(z), K, beta)
        given = (*columns, m, n_k, alpha, beta, beta_sum)
        bounds = np.linspace(0, len(beta), self.workers.n_threads + 1).astype(int).tolist()
        draws, takes = (key(*address, purpose) for purpose in (DRAW, TAKE))  # type: ignore[arg-type]
        work = Work(0)
        for batch in range(BATCHES):
            n = len(range(batch, len(new), BATCHES))
            proposal, odds = np.empty(n, np.uint16), np.empty(n)
            shared = (batch, BATCHES, ptr, word, new)
            for step in (-1, 1):
                tasks = [(lo, hi, batch, BATCHES, step, ptr, word, new, *columns)
                         for lo, hi in pairwise(bounds)]  # fmt: skip
                self.workers.run(move_batch, tasks)
                move_totals(batch, BATCHES, step, ptr, new, m, n_k)
                if step < 0:
                    fill_bases(m, n_k, alpha, beta_sum, scale, base)
                    own = (scale, base, *draws, proposal, odds)
                    self.workers.run(propose, [(lo, hi, *shared, *given, *own) for lo, hi in
                                               pairwise([*range(0, n, _PER_TASK), n])])  # fmt: skip
            odds += 1e9 * self.all_taken
            work = work.plus(Work(0, n, int(accept(*shared, *given, proposal, odds, *takes))))
        drawn = np.repeat(new, self.lengths)
        return drawn, self.count(drawn), work


class AllTaken(BatchSteps):
    """The same, whatever was proposed is taken: approximate."""

    all_taken = True


KINDS = {"in turn": Steps, "batches": BatchSteps, "batches, all taken": AllTaken}


def child(task: dict[str, Any]) -> None:
    corpus, labels = planted(task)
    K, there = task["most_clusters"], labels >= 0
    found: dict[str, Any] = {"tokens": corpus.n_tokens, "points": []}
    with Workers(task["threads"]) as workers:
        for measured in (False, True):  # first compiled
            docs = corpus if measured else corpus.select(range(200))
            steps = KINDS[task["kind"]](docs, K, workers)
            z = steps.start(0)
            state = State(z, steps.count(z), make_priors(0.1, task["beta"], K, docs.n_words))
            seconds = cpu = 0.0
            for i in range(task["sweeps"] if measured else 1):
                begin, busy = perf_counter(), process_time()
                state, draw = sweep(state, steps, PLAIN, 0)
                seconds, cpu = seconds + perf_counter() - begin, cpu + process_time() - busy
                if measured and i + 1 in (1, 5, 10, 20, 30, task["sweeps"]):
                    of = steps.clusters_of(state.z)
                    found["points"].append({
                        "sweep": i + 1, "seconds": seconds, "cpu_seconds": cpu,
                        "log_posterior": steps.log_posterior(state) / corpus.n_tokens,
                        "clusters": len(np.unique(of[there])),
                        "rand_index": adjusted_rand_score(labels[there], of[there]),
                        "accepted": draw.work.accepted / max(1, draw.work.proposed),
                    })  # fmt: skip
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--clusters", type=int, default=300)
    parser.add_argument("--most-clusters", type=int, default=500)
    parser.add_argument("--length", type=float, default=10.0)
    parser.add_argument("--concentration", type=float, default=100.0)
    parser.add_argument("--beta", type=float, default=0.02)
    parser.add_argument("--sweeps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--into", type=Path)
    options = parse_options(parser, child)
    task = {k: v for k, v in vars(options).items() if k not in ("into", "no_save", "child")}
    result: dict[str, Any] = {"options": task, "kinds": {}}
    for kind in KINDS:
        result["kinds"][kind] = in_own_process(__file__, task | {"kind": kind})
        last = result["kinds"][kind]["points"][-1]
        print(
            f"{kind}: {last['sweep']} sweeps, {last['seconds']:.1f} s, {last['cpu_seconds']:.1f} s "
            f"of CPU, log posterior {last['log_posterior']:.4f} per token, {last['clusters']} "
            f"clusters, adjusted Rand index {last['rand_index']:.3f}",
            flush=True,
        )
    if not options.no_save:
        write_result("cluster-variants", result, options.into)


if __name__ == "__main__":
    main()
