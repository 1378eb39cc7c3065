"""Whole sweeps on one GPU, over a corpus of PubMed's shape that is drawn on the GPU itself.

Documents of log-normal length with 8.2 million of them at full size, 500 topics drawn from a
Dirichlet around a Zipf-Mandelbrot law, topics of a document by a Chinese restaurant process, a
tenth of the words noise. Times are those of CUDA events around each step; the median of the last
half of the sweeps is reported, and all of them are kept.
"""

import argparse
import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from numba import float64, int64, uint16

import polyaurn
from common import write_result
from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.toolkit import cuda
from polyaurn.backends.gpu.variates import below, bits, unit
from polyaurn.backends.registry import load_steps
from polyaurn.base.rng import Purpose, key
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from polyaurn.chain.steps import Address

TOPICS, CONCENTRATION, ZIPF, SHIFT = 500, 3000.0, 1.02, 8.0
RESTAURANT, NOISE = 5.0, 0.1


@cuda.jit
def draw_documents(doc_ptr, word, truth, cdf, rename, V, a, b):
    d = int64(cuda.grid(1))
    if d >= int64(len(doc_ptr) - 1):
        return
    begin = doc_ptr[d]
    for i in range(begin, doc_ptr[d + 1]):
        old = i - begin
        u = unit(bits(a, b, i * int64(4)))
        r = bits(a, b, i * int64(4) + int64(1))
        if u * (RESTAURANT + float64(old)) < RESTAURANT:
            k = min(int64(float64(TOPICS) * unit(r) ** 1.3), int64(TOPICS - 1))
        else:
            k = int64(truth[begin + below(r, old)])
        truth[i] = uint16(k)
        noisy = unit(bits(a, b, i * int64(4) + int64(2))) < NOISE
        first = int64(TOPICS) * int64(V) if noisy else k * int64(V)
        x = unit(bits(a, b, i * int64(4) + int64(3))) * cdf[first + int64(V) - 1]
        low, high = int64(0), int64(V) - int64(1)
        while low < high:
            middle = (low + high) >> int64(1)
            if cdf[first + middle] > x:
                high = middle
            else:
                low = middle + int64(1)
        word[i] = rename[low]


def generate(D: int, V: int, seed: int = 1):
    """Return a corpus and the topics its tokens were drawn from."""
    xp, rng = toolkit.array_module(), np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(np.log(93.7) - 0.5 * 0.45**2, 0.45, D), 8, 1000)
    doc_ptr = np.concatenate(([0], np.cumsum(lengths.astype(np.int64))))
    p = 1 / (np.arange(V) + SHIFT) ** ZIPF
    p /= p.sum()
    xp.random.seed(seed)
    cdf = xp.empty((TOPICS + 1, V))
    for k in range(TOPICS):
        cdf[k] = xp.cumsum(xp.random.standard_gamma(xp.asarray(CONCENTRATION * p)))
    cdf[TOPICS] = xp.cumsum(xp.asarray(p))
    N = int(doc_ptr[-1])
    word, truth = xp.empty(N, np.int32), xp.empty(N, np.uint16)
    rename = rng.permutation(V).astype(np.int32)
    draw_documents[-(-D // 128), 128](
        xp.asarray(doc_ptr), word, truth, cdf.ravel(), xp.asarray(rename), np.int64(V),
        *key(seed, 0, Purpose.SYNTHETIC),
    )  # fmt: skip
    # Sorted by word inside documents, as a corpus is: a key of document, word and topic.
    document = xp.zeros(N, np.uint32)
    document[xp.asarray(doc_ptr[1:-1])] = 1
    document = xp.cumsum(document, dtype=np.uint32)
    keys = document.astype(np.uint64) << np.uint64(40)
    del document
    keys |= word.astype(np.uint64) << np.uint64(16)
    keys |= truth
    del word, truth
    keys.sort()
    word = toolkit.to_host((keys >> np.uint64(16)).astype(np.uint32) & np.uint32((1 << 24) - 1))
    truth = toolkit.to_host(keys.astype(np.uint16))
    del keys
    toolkit.cupy().get_default_memory_pool().free_all_blocks()
    vocab = tuple(f"w{v}" for v in range(V))
    return polyaurn.Corpus(doc_ptr, word.astype(np.int32), vocab), truth


def time_sweeps(corpus, K: int, z, n_sweeps: int, sampler: str = "polya-urn"):
    """Return what every sweep took, in milliseconds of CUDA events, and how sparse it was."""
    xp = toolkit.array_module()
    steps = load_steps(sampler, "gpu")(corpus, K)
    priors = make_priors(0.1, 0.01, K, corpus.n_words)
    if z is None:
        z = steps.start(0)
    state = State(z, steps.count(z), priors)
    trace = []
    for t in range(n_sweeps):
        events = [xp.cuda.Event() for _ in range(3)]
        events[0].record()
        phi = steps.draw_phi(state.counts, priors, Address(0, t))
        events[1].record()
        z, counts, work = steps.draw_z(state.z, phi, priors, Address(0, t))
        events[2].record()
        events[2].synchronize()
        state = State(z, counts, priors, t + 1)
        phi_ms, z_ms = (xp.cuda.get_elapsed_time(a, b) for a, b in pairwise(events))
        trace.append(
            {
                "phi_ms": phi_ms,
                "z_ms": z_ms,
                "nonzeros": phi.nonzeros,
                "work_per_token": work.steps / corpus.n_tokens,
            }
        )
    last = trace[len(trace) // 2 :]
    ms = float(np.median([sweep["phi_ms"] + sweep["z_ms"] for sweep in last]))
    used = toolkit.cupy().get_default_memory_pool().total_bytes()
    return {
        "topics": K,
        "sampler": sampler,
        "tokens": corpus.n_tokens,
        "ms": ms,
        "phi_ms": float(np.median([sweep["phi_ms"] for sweep in last])),
        "tokens_per_second": corpus.n_tokens / ms * 1e3,
        "bytes_per_token": used / corpus.n_tokens,
        "log_posterior_per_token": steps.log_posterior(state) / corpus.n_tokens,
        "trace": trace,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=8_200_000)
    parser.add_argument("--words", type=int, default=90_000)
    parser.add_argument("--topics", default="100,1000")
    parser.add_argument("--sweeps", type=int, default=30)
    parser.add_argument("--start", choices=("random", "truth"), default="random")
    parser.add_argument("--sampler", default="polya-urn")
    parser.add_argument("--out", type=Path, help="in place of results/gpu-pubmed.json")
    options = parser.parse_args()
    begin = time.perf_counter()
    corpus, truth = generate(options.documents, options.words)
    print(f"{corpus}: {time.perf_counter() - begin:.1f} s", flush=True)
    results = []
    for K in map(int, options.topics.split(",")):
        spread = max(1, K // TOPICS)
        lane = np.arange(corpus.n_tokens, dtype=np.uint32) % spread
        z = ((truth * np.uint32(spread) + lane) % K).astype(np.uint16)
        result = time_sweeps(
            corpus, K, z if options.start == "truth" else None, options.sweeps, options.sampler
        )
        results.append(result | {"start": options.start})
        line = {name: value for name, value in result.items() if name != "trace"}
        last = result["trace"][-1]
        print(json.dumps(line | {"nonzeros": last["nonzeros"], "work": last["work_per_token"]}),
              flush=True)  # fmt: skip
        toolkit.cupy().get_default_memory_pool().free_all_blocks()
    write_result("gpu-pubmed", {"results": results}, options.out, on_gpu=True)


if __name__ == "__main__":
    main()
