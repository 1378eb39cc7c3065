"""Nine updates against one training on everything, and against peers that learn in batches.

The documents come in random tenths. Held-out completion on the same test documents is compared of
a model that was trained on the first tenth and updated nine times, without the earlier documents
and with them, of one trained on everything at once, and, at the processor time of ours for each
batch, of scikit-learn's `partial_fit` and gensim's `update`, which go over a batch as often as that
allows. Peers are given beta: each is run with several (`--betas`), and its best counts. The time
of ten retrainings, on one tenth, two tenths and so on, follows from those measured (`--retrainings`
and the last) in proportion to tokens. Times are of the processor, all threads together, so that
other work on the machine does not count; how long each engine took by the clock, scores included,
is kept beside them. Each seed draws its own test documents and batches.

`--longest` leaves out longer test documents. In 20 Newsgroups one is an encoded binary file with 6%
of all test tokens, and where its topic has next to no alpha, the score of all moves by 0.1 from one
seed of inference to the next.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import open_corpus, write_result
from polyaurn import LDA, Corpus, exchange
from polyaurn.evaluate import document_completion
from polyaurn.training.settings import UPDATE_SWEEPS

ALPHA = 0.1
MINIBATCH = 128  # documents; of the peers


def timed(work: Callable[[], Any]) -> float:
    """Return the processor time of some work, in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def score(model: Any, test: Corpus) -> float:
    """Return the mean log probability of a held-out token."""
    return float(document_completion(model, test, n_jobs=1).per_token)


def lda(options: argparse.Namespace) -> LDA:
    """Return an estimator that is not trained yet."""
    return LDA(
        options.topics, max_iter=options.sweeps, random_state=options.seed, verbose=False,
        n_jobs=options.threads, evaluate_every=0,
    )  # fmt: skip


def updated(
    batches: list[Corpus], test: Corpus, options: argparse.Namespace, *, together: bool = False
) -> dict[str, Any]:
    """Train on the first batch and update with the others; `together` with all before them."""
    ours, scores, seconds = lda(options), [], []
    sweeps = options.together_sweeps if together else options.update_sweeps
    how = "with earlier documents" if together else "updated"
    for i, batch in enumerate(batches):
        earlier = ours.corpus_ if i and together else None
        work = partial(ours.update, batch, earlier_documents=earlier, max_iter=sweeps)
        seconds.append(timed(work if i else partial(ours.fit, batch)))
        scores.append(score(ours.model_, test))
        print(f"batch {i}: {how} {scores[-1]:.4f} after {sum(seconds):.1f} s", flush=True)
    return {"scores": scores, "seconds": seconds}


def retrained(batches: list[Corpus], test: Corpus, options: argparse.Namespace) -> dict[str, Any]:
    """Train on everything so far, after some of the batches; the last is everything."""
    scores: dict[int, float] = {}
    seconds: dict[int, float] = {}
    tokens = np.cumsum([batch.n_tokens for batch in batches])
    matrix = [batch.to_matrix() for batch in batches]
    for i in sorted({n - 1 for n in options.retrainings if n <= len(batches)} | {len(batches) - 1}):
        whole, ours = Corpus.from_matrix(sp.vstack(matrix[: i + 1]), batches[0].vocab), lda(options)
        seconds[i] = timed(lambda w=whole, m=ours: m.fit(w))
        scores[i] = score(ours.model_, test)
        print(f"retrained after batch {i}: {scores[i]:.4f}, {seconds[i]:.1f} s", flush=True)
    line = np.polyfit([tokens[i] for i in seconds], list(seconds.values()), len(seconds) > 1)
    line = line if len(line) > 1 else [line[0] / tokens[-1], 0.0]
    whole_time = float(np.polyval(line, tokens).sum())
    return {"scores": scores, "seconds": seconds, "seconds_of_all": whole_time}


def of_scikit_learn(
    batches: list[Corpus],
    test: Corpus,
    seconds: list[float],
    options: argparse.Namespace,
    beta: float,
) -> dict[str, Any]:
    """Give scikit-learn's online variational inference the same time for each batch."""
    from sklearn.decomposition import LatentDirichletAllocation

    theirs = LatentDirichletAllocation(
        options.topics, doc_topic_prior=ALPHA, topic_word_prior=beta, learning_method="online",
        total_samples=sum(b.n_documents for b in batches), random_state=options.seed, n_jobs=1,
    )  # fmt: skip
    passes = []
    for batch, budget in zip(batches, seconds, strict=True):
        X, used, done = batch.to_matrix(), 0.0, 0
        starts = range(0, X.shape[0], MINIBATCH)
        while used < budget:
            for lo in starts:
                used += timed(lambda part=X[lo : lo + MINIBATCH]: theirs.partial_fit(part))
                if used >= budget and done:
                    break
            done += 1
        passes.append(done)
    found = score(exchange.from_sklearn(theirs, batches[0].vocab), test)
    print(f"scikit-learn, beta {beta}: {found:.4f} after passes {passes}", flush=True)
    return {"score": found, "passes": passes}


def of_gensim(
    batches: list[Corpus],
    test: Corpus,
    seconds: list[float],
    options: argparse.Namespace,
    beta: float,
) -> dict[str, Any]:
    """Give gensim's online variational inference the same time for each batch."""
    from gensim.models import LdaModel

    words = dict(enumerate(batches[0].vocab))
    theirs = LdaModel(
        num_topics=options.topics, id2word=words, chunksize=MINIBATCH, eval_every=None,
        alpha="auto", eta=beta, random_state=options.seed,
    )  # fmt: skip
    passes = []
    for batch, budget in zip(batches, seconds, strict=True):
        X, used, done = batch.to_matrix(), 0.0, 0
        rows = [list(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in X]
        while used < budget:
            used += timed(lambda part=rows: theirs.update(part))
            done += 1
        passes.append(done)
    found = score(exchange.from_gensim(theirs), test)
    print(f"gensim, beta {beta}: {found:.4f} after passes {passes}", flush=True)
    return {"score": found, "passes": passes}


PEERS = {"scikit-learn": of_scikit_learn, "gensim": of_gensim}


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """Run every engine with one seed."""
    train, test = open_corpus(options.corpus).split(0.1, options.seed)
    if options.longest:
        test = test.select(np.flatnonzero(np.diff(test.doc_ptr) <= options.longest))
    if options.test_documents:
        test = test.select(range(min(options.test_documents, test.n_documents)))
    order = np.random.default_rng(options.seed).permutation(train.n_documents)
    batches = [train.select(np.sort(part)) for part in np.array_split(order, options.batches)]
    lda(options).set_params(max_iter=2).fit(test).update(test, forget=0.5, max_iter=2)  # compiles
    found: dict[str, Any] = {"seed": options.seed}
    for name in ("updated", "together", "retrained", *options.peers):
        begin = time.perf_counter()
        if name in PEERS:
            seconds = found["updated"]["seconds"]
            tried = {b: PEERS[name](batches, test, seconds, options, b) for b in options.betas}
            found[name] = {"betas": tried, "best": max(tried, key=lambda b: tried[b]["score"])}
        elif name == "retrained":
            found[name] = retrained(batches, test, options)
        else:
            found[name] = updated(batches, test, options, together=name == "together")
        found[name]["wall_seconds"] = time.perf_counter() - begin
    return found


def show(runs: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the means over seeds, and how far apart seeds are."""
    whole = np.array([run["retrained"]["scores"][options.batches - 1] for run in runs])
    print(f"at once, {options.sweeps} sweeps: {whole.mean():.4f}")
    for name in ("updated", "together", *options.peers):
        if name in PEERS:
            of = [run[name]["betas"][run[name]["best"]]["score"] for run in runs]
            more = f"best beta {sorted({run[name]['best'] for run in runs})}"
        else:
            of = [run[name]["scores"][-1] for run in runs]
            share = [sum(run[name]["seconds"]) / run["retrained"]["seconds_of_all"] for run in runs]
            more = f"{np.mean(share):.2f} of the time of retraining after every batch"
        below = (np.array(of) / whole - 1) * 100
        print(
            f"{name} {np.mean(of):.4f}, {below.mean():.2f}% below ({below.min():.2f} to "
            f"{below.max():.2f}), {more}"
        )


def main() -> None:
    """Compare on one corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000, help="of a training")
    parser.add_argument("--update-sweeps", type=int, default=UPDATE_SWEEPS)
    parser.add_argument("--together-sweeps", type=int, default=30, help="with earlier documents")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--betas", type=float, nargs="+", default=[0.01, 0.1, 0.5, 1.0])
    parser.add_argument("--retrainings", type=int, nargs="*", default=[5], help="after these")
    parser.add_argument("--longest", type=int, help="tokens of a test document")
    parser.add_argument("--test-documents", type=int, help="of the tenth that is held out")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    runs: list[dict[str, Any]] = []
    for seed in options.seeds:
        runs.append(compare(argparse.Namespace(**vars(options) | {"seed": seed})))
        if not options.no_save:
            write_result(
                f"updates-{options.corpus}-{options.topics}", vars(options) | {"runs": runs}
            )
    show(runs, options)


if __name__ == "__main__":
    main()
