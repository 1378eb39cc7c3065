"""Measures of a small model by tmtoolkit 0.12, for `tests/evaluate/test_number_of_topics.py`.

It needs an environment of its own, in which the file beside it is written again:

    pip install tmtoolkit==0.12.0 gmpy2
    python tests/support/tmtoolkit_values.py
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
D, V, K = 60, 80, 6


def draw():
    """Return documents, their topics and priors; beta differs by word, so that no words tie."""
    rng = np.random.default_rng(7)
    alpha, beta = rng.uniform(0.2, 2.0, K), rng.uniform(0.05, 0.15, V)
    phi = rng.dirichlet(np.full(V, 0.3), K)
    lengths, word, z = rng.integers(20, 200, D), [], []
    for length in lengths:
        topics = np.sort(rng.choice(K, length, p=rng.dirichlet(alpha)))
        pairs = sorted((int(rng.choice(V, p=phi[k])), int(k)) for k in topics)
        word += [v for v, _ in pairs]
        z += [k for _, k in pairs]
    return {"lengths": lengths.tolist(), "word": word, "z": z, "alpha": alpha.tolist(),
            "beta": beta.tolist()}  # fmt: skip


def matrices(model):
    """Return n (topics by words), m (documents by topics) and the counts of documents by words."""
    lengths, word, z = (np.array(model[name]) for name in ("lengths", "word", "z"))
    document = np.repeat(np.arange(D), lengths)
    n, m, counts = np.zeros((K, V)), np.zeros((D, K)), np.zeros((D, V), int)
    np.add.at(n, (z, word), 1)
    np.add.at(m, (document, z), 1)
    np.add.at(counts, (document, word), 1)
    return n, m, counts


def main():
    from tmtoolkit import __version__
    from tmtoolkit.topicmod import evaluate

    model = draw()
    n, m, counts = matrices(model)
    phi, theta = n + model["beta"], m + model["alpha"]
    phi /= phi.sum(axis=1, keepdims=True)
    theta /= theta.sum(axis=1, keepdims=True)
    log_likelihoods = [-5000.25, -5003.5, -4998.0, -5001.125]
    values = {
        "tmtoolkit": __version__,
        "arun_2010": evaluate.metric_arun_2010(phi, theta, np.array(model["lengths"])),
        "cao_juan_2009": evaluate.metric_cao_juan_2009(phi),
        "mimno_2011": evaluate.metric_coherence_mimno_2011(phi, counts, top_n=20).tolist(),
        "log_likelihoods": log_likelihoods,
        "griffiths_2004": evaluate.metric_griffiths_2004(log_likelihoods),
    }
    FILE.write_text(json.dumps({"model": model, "values": values}) + "\n")
    print(values)


if __name__ == "__main__":
    main()
