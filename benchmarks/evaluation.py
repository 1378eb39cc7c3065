"""Inference on new documents against tomotopy, coherence against gensim, left-to-right by itself.

Inference is compared on the same topics: those that tomotopy found are given to ours. Half of each
test document is shown, and the mixture found is scored on the other half.

    python benchmarks/evaluation.py --corpus 20newsgroups --topics 500 --threads 2
"""

import argparse
import statistics
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import open_corpus, write_result
from engines import ALPHA, BETA, make_engine
from polyaurn import Corpus, TopicModel
from polyaurn.chain.priors import make_priors
from polyaurn.evaluate import coherence, document_completion, left_to_right


def topics_of_tomotopy(train: Corpus, topics: int, threads: int, sweeps: int) -> Any:
    """Train tomotopy; return it, and a model of ours with the same counts."""
    engine = make_engine("tomotopy", train, topics, threads, sweeps)
    engine.train(sweeps)
    _, word, z = engine._tokens()
    n = sp.csr_matrix((np.ones(len(z), np.int32), (z, word)), shape=(topics, train.n_words))
    priors = make_priors(ALPHA, BETA, topics, train.n_words)
    empty = sp.csr_matrix((train.n_documents, topics), dtype=np.int32)
    return engine._model, TopicModel(n, empty, z, train.vocab, train.doc_names, priors)


def tomotopy_infers(theirs: Any, phi: Any, test: Corpus, threads: int) -> tuple[float, float]:
    """Return documents a second and the completion score a token, at its defaults."""
    halves = [(words[::2], words[1::2]) for words in test]
    docs = [theirs.make_doc([str(v) for v in seen]) for seen, _ in halves]
    start = time.perf_counter()
    mixtures, _ = theirs.infer(docs, workers=threads)
    seconds = time.perf_counter() - start
    level = sum(
        np.log(np.asarray(theta) @ phi[:, hidden]).sum()
        for theta, (_, hidden) in zip(mixtures, halves, strict=True)
    )
    return len(docs) / seconds, level / sum(len(hidden) for _, hidden in halves)


def inference(theirs: Any, model: TopicModel, test: Corpus, options: Any) -> list[dict[str, float]]:
    """Compare inference in turn, for several rounds."""
    phi = model.topic_word_counts.toarray() + BETA
    phi /= phi.sum(axis=1, keepdims=True)
    document_completion(model, test.select([0]))  # compiles
    rounds = []
    for _ in range(options.rounds):
        their_speed, their_score = tomotopy_infers(theirs, phi, test, options.threads)
        start = time.perf_counter()
        model.transform(_shown_halves(test), n_jobs=options.threads)
        our_speed = test.n_documents / (time.perf_counter() - start)
        score = document_completion(model, test, n_jobs=options.threads)
        rounds.append(
            {"theirs": their_speed, "ours": our_speed, "their_score": their_score,
             "our_score": score.per_token}
        )  # fmt: skip
    return rounds


def _shown_halves(test: Corpus) -> Corpus:
    halves = [words[::2] for words in test]
    ptr = np.concatenate(([0], np.cumsum([len(half) for half in halves])))
    return Corpus(ptr, np.concatenate(halves), test.vocab)


def c_v(top: list[list[str]], texts: list[list[str]]) -> dict[str, float]:
    """Time C_V, ours and gensim's, over the same texts."""
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    dictionary = Dictionary(texts)
    start = time.perf_counter()
    theirs = CoherenceModel(topics=top, texts=texts, dictionary=dictionary, coherence="c_v")
    values = theirs.get_coherence_per_topic()
    middle = time.perf_counter()
    coherence(top, texts, "c_v")  # compiles
    begin = time.perf_counter()
    ours = coherence(top, texts, "c_v")
    return {
        "gensim": middle - start,
        "ours": time.perf_counter() - begin,
        "largest_difference": float(np.abs(ours - values).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--documents", type=int, default=1000, help="of the test set")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    train, test = open_corpus(options.corpus).split(0.2)
    test = test.select(np.flatnonzero(np.diff(test.doc_ptr) >= 2)[: options.documents])
    theirs, model = topics_of_tomotopy(train, options.topics, options.threads, options.sweeps)
    rounds = inference(theirs, model, test, options)
    ratio = statistics.median(r["ours"] / r["theirs"] for r in rounds)
    last = rounds[-1]
    print(
        f"inference: {last['ours']:,.0f} documents/s against {last['theirs']:,.0f} of tomotopy, "
        f"{ratio:.0f} x; completion {last['our_score']:.4f} a token against "
        f"{last['their_score']:.4f}"
    )
    rng = np.random.default_rng(0)  # the bags have no order: any will do
    texts = [[train.vocab[v] for v in rng.permutation(words)] for words in train]
    timed = c_v(model.topics(10, order="frequency")[:100], texts)
    print(
        f"C_V: {timed['ours']:.2f} s against {timed['gensim']:.1f} s of gensim, "
        f"{timed['gensim'] / timed['ours']:.0f} x; largest difference "
        f"{timed['largest_difference']:.1e}"
    )
    start = time.perf_counter()
    score = left_to_right(model, test, n_jobs=options.threads)
    scored = {
        "documents": test.n_documents, "tokens": int(score.tokens.sum()),
        "seconds": time.perf_counter() - start, "per_token": score.per_token,
        "error": score.per_token_error,
    }  # fmt: skip
    print(
        f"left to right, 20 particles, {test.n_documents} documents: {scored['seconds']:.1f} s, "
        f"{score.per_token:.4f} ({score.per_token_error:.4f}) a token"
    )
    if not options.no_save:
        names = ("corpus", "topics", "sweeps", "documents", "threads")
        setting = {name: getattr(options, name) for name in names}
        write_result(
            f"evaluation-{options.corpus}-{options.topics}",
            {"setting": setting, "inference": rounds, "coherence": timed, "left_to_right": scored},
        )


if __name__ == "__main__":
    main()
