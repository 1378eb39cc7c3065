"""Small runs whose topics must stay the same in every byte from one version to the next.

``python tests/support/same_bytes.py`` prints their hashes. Those of version 0.1 are kept in
``tests/survival/version_0_1/hashes.json``, and "defaults", trainings with the defaults of version
0.2 and of its other models, in ``tests/survival/version_0_2.json``; a change of them is a change of
every user's results.
"""

import hashlib
import json
from typing import Any

import numpy as np
import scipy.sparse as sp

import polyaurn
from polyaurn.chain.schedule import AUTO_OF_0_1


def corpus_of(n_documents: int, n_words: int, length: int) -> polyaurn.Corpus:
    """Return a corpus made by whole numbers only, the same on every machine."""
    i = np.arange(n_documents * length, dtype=np.uint64)
    i = (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    i = (i ^ (i >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    i = (i ^ (i >> np.uint64(27))) >> np.uint64(33)
    document = np.repeat(np.arange(n_documents), length)
    spread = (i % np.uint64(n_words)) * ((i >> np.uint64(16)) % np.uint64(n_words))
    word = (spread // np.uint64(n_words)).astype(np.int64)
    word = (word + 3 * (document % 5)) % n_words
    ones = np.ones(len(word), np.int64)
    return polyaurn.Corpus.from_matrix(
        sp.coo_matrix((ones, (document, word)), shape=(n_documents, n_words)).tocsr()
    )


def small() -> polyaurn.Corpus:
    return corpus_of(60, 40, 30)


def large() -> polyaurn.Corpus:
    return corpus_of(1500, 500, 400)  # 600,000 tokens: growth begins with a quarter of them


def long() -> polyaurn.Corpus:
    return corpus_of(3, 50, 70_000)  # documents of more than 65,535 tokens


def seeds() -> Any:
    pseudo = sp.lil_matrix((7, 40), dtype=np.int64)
    pseudo[2, [1, 5, 9]] = 20
    return pseudo.tocsr()


OLD: dict[str, Any] = {
    "sampler": "polya-urn", "warm_start": AUTO_OF_0_1, "learn_priors_every": 0,
}  # fmt: skip

CASES: dict[str, tuple[Any, dict[str, Any], int]] = {
    sampler: (small, {"n_components": 7, "sampler": sampler, "n_jobs": 1}, 12)
    for sampler in (
        "polya-urn", "partially-collapsed", "polya-urn-mh", "collapsed", "light", "collapsed-dense",
    )
} | {
    "random start": (small, {"n_components": 7, "warm_start": "random"}, 9),
    "four draws of Phi": (small, {"n_components": 7, "phi_refreshes": 4}, 9),
    "four exact draws of Phi": (
        small, {"n_components": 7, "phi_refreshes": 4, "sampler": "partially-collapsed"}, 6,
    ),
    "many topics": (small, {"n_components": 300}, 6),
    "very many topics": (small, {"n_components": 2500}, 4),
    "growth": (large, {"n_components": 20, "warm_start": "grow"}, 20),
    "long documents": (long, {"n_components": 9}, 3),
    "vector priors": (
        small,
        {
            "n_components": 7,
            "doc_topic_prior": [0.01, 0.1, 0.2, 1.0, 3.0, 0.5, 0.25],
            "topic_word_prior": [0.01 + 0.005 * v for v in range(40)],
        },
        9,
    ),
    "learned priors": (
        small, {"n_components": 7, "learn_priors_every": 2, "warm_start": "random"}, 9,
    ),
    "seeds": (small, {"n_components": 7, "pseudo_counts": seeds()}, 9),
    "exact seeds": (
        small, {"n_components": 7, "pseudo_counts": seeds(), "sampler": "partially-collapsed"}, 9,
    ),
    "proposals": (small, {"n_components": 7, "sampler": "light", "mh_steps": 4, "n_jobs": 1}, 9),
}  # fmt: skip


def digest(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:32]


def run(case: str, **more: Any) -> dict[str, Any]:
    """Return the hash of the topics at the end of a run, and its last log posterior."""
    make, options, n_sweeps = CASES[case]
    given = {"max_iter": n_sweeps, "random_state": 11, **OLD, **options, **more}
    chain = polyaurn.sweeps(make(), **given)
    for state, info in chain:
        topics = np.array(state.z) if info.sweep == n_sweeps else None
    return {"topics": digest(topics), "log_posterior": info.log_posterior}


def use() -> dict[str, Any]:
    """Return hashes of what is computed from a model: mixtures, scores, posterior draws."""
    corpus = small()
    old = {"random_state": 3, "verbose": False, "average_draws": 1, **OLD}
    lda = polyaurn.LDA(7, max_iter=30, **old).fit(corpus)
    scores = polyaurn.evaluate.left_to_right(lda.model_, corpus, 5, random_state=2)
    completion = polyaurn.evaluate.document_completion(lda.model_, corpus, random_state=2)
    posterior = polyaurn.LDA(5, max_iter=10, **old).sample_posterior(
        corpus, chains=1, draws=4, thin=2
    )
    return {
        "mixtures": digest(lda.transform(corpus)),
        "left_to_right": scores.per_token,
        "completion": completion.per_token,
        "posterior_sizes": digest(np.asarray(posterior.topic_sizes)),
    }


DEFAULTS = ("sparse-dirichlet", "partitioned", "auto")  # samplers
SHORT: dict[str, Any] = {"max_iter": 30, "random_state": 11, "n_jobs": 1, "verbose": False}


def train(sampler: str, **more: Any) -> dict[str, Any]:
    """Return hashes of a training that has the defaults: its start, learned priors, averages."""
    return hashes_of(polyaurn.LDA(7, sampler=sampler, **SHORT | more).fit(small()).model_)


def hdp() -> dict[str, Any]:
    return hashes_of(polyaurn.HDP(20, **SHORT).fit(small()).model_)


def clusters() -> dict[str, Any]:
    return hashes_of(
        polyaurn.DocumentClusters(9, learn_priors_every=5, **SHORT).fit(small()).model_
    )


def over_time() -> dict[str, Any]:
    made = polyaurn.TopicsOverTime(5, carry=0.8, slice_iter=9, both_ways=True, **SHORT)
    return hashes_of(*made.fit(small(), slices=np.arange(60) // 20).models_.values())


MODELS = {made.__name__: made for made in (hdp, clusters, over_time)}


def hashes_of(*models: Any) -> dict[str, Any]:
    """Return hashes of models, and the last log posterior of the last of them."""
    counts = [model.topic_word_counts for model in models]
    return {
        "topics": digest(*(model.assignments for model in models)),
        "counts": digest(*(part for n in counts for part in (n.indptr, n.indices, n.data))),
        "priors": digest(*(prior for model in models for prior in model.priors[:2])),
        "log_posterior": models[-1].trace[-1]["log_posterior"],
    }


if __name__ == "__main__":
    hashes: dict[str, Any] = {case: run(case) for case in CASES}
    defaults = {sampler: train(sampler) for sampler in DEFAULTS}
    defaults |= {name: made() for name, made in MODELS.items()}
    print(json.dumps({"chains": hashes, "use": use(), "defaults": defaults}, indent=1))
