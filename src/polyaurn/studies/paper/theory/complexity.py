"""The complexity claim: a sweep costs the sum over tokens of min(K_d, K_v).

Corpora of growing size are drawn from the model, their vocabulary growing by Heaps' law, and the
urn is run on each with a fixed number of topics, and with K = gamma ln(1 + N / gamma), the mean
number of clusters of a Dirichlet process. The kernel itself counts the work.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.chain.state import doc_topic_matrix
from polyaurn.datasets import generate
from polyaurn.training.sweeps import sweeps

XI, PSI = 12.0, 0.5  # Heaps' law, V = xi N^psi
GAMMA = 12.0
FIXED_TOPICS = 100
LENGTH = 80.0


def study(
    sizes: tuple[int, ...] = (2**13, 2**15, 2**17, 2**19, 2**21), n_sweeps: int = 60, seed: int = 0
) -> dict[str, Any]:
    """Count the work per token as the corpus grows to each of several numbers of tokens.

    Rows have N, V, K, the counted work per token and the means over tokens of K_d and of K_v, over
    the last tenth of the sweeps; the exponents of the total work in N are fitted.
    """
    rules: dict[str, Callable[[int], int]] = {
        "K fixed": lambda N: FIXED_TOPICS,
        "K = gamma ln(1 + N/gamma)": lambda N: round(GAMMA * math.log1p(N / GAMMA)),
    }
    result: dict[str, Any] = {
        "study": "complexity", "heaps": {"xi": XI, "psi": PSI}, "gamma": GAMMA,
        "sweeps": n_sweeps, "rules": {},
    }  # fmt: skip
    for name, rule in rules.items():
        rows = []
        for N in sizes:
            K = rule(N)
            V = round(XI * N**PSI)
            corpus = generate(
                round(N / LENGTH), V, K, LENGTH, topic_concentration=V / 10.0, random_state=seed
            )
            rows.append(
                {"N": corpus.n_tokens, "V": V, "K": K} | _measure(corpus, K, n_sweeps, seed)
            )
        logs = np.log([row["N"] for row in rows])
        total = np.log([row["N"] * row["work"] for row in rows])
        exponent = float(np.polyfit(logs, total, 1)[0])
        result["rules"][name] = {"rows": rows, "exponent_of_total_work": exponent}
    return result


def _measure(corpus: Any, K: int, n_sweeps: int, seed: int) -> dict[str, float]:
    last: list[tuple[float, float, float]] = []
    chain = sweeps(
        corpus, K, sampler="polya-urn", warm_start="smooth", learn_priors_every=0,
        random_state=seed, max_iter=n_sweeps, evaluate_every=0,
    )  # fmt: skip
    for state, info in chain:
        if info.sweep > n_sweeps - max(1, n_sweeps // 10) and info.phi is not None:
            K_d, K_v = topics_of_tokens(corpus, state.z, info.phi, K)
            last.append((info.work_per_token, float(K_d.mean()), float(K_v.mean())))
    work, by_document, by_word = np.mean(last, axis=0).tolist()
    return {"work": work, "mean_K_d": by_document, "mean_K_v": by_word}


def topics_of_tokens(corpus: Any, z: Any, phi: Any, K: int) -> tuple[Any, Any]:
    """Return K_d and K_v of each token: the topics of its document, and of its word's column."""
    K_d = np.diff(doc_topic_matrix(corpus.doc_ptr, z, K).indptr)
    K_v = phi.last - phi.first
    return np.repeat(K_d, np.diff(corpus.doc_ptr)), K_v[corpus.word]


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the work per token against the size of the corpus."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, (name, rule) in zip(axes, result["rules"].items(), strict=True):
        N = [row["N"] for row in rule["rows"]]
        for key, label, style in (
            ("K", "topics K", "k:"),
            ("mean_K_v", "topics of the word, $K_v$", "s-"),
            ("mean_K_d", "topics in the document, $K_d$", "^-"),
            ("work", "work per token, min($K_d$, $K_v$)", "o-"),
        ):
            axis.loglog(N, [row[key] for row in rule["rows"]], style, ms=4, label=label)
        axis.set(
            xlabel="tokens N",
            title=f"{name}\ntotal work grows as N^{rule['exponent_of_total_work']:.3f}",
        )
        axis.set_ylim(bottom=2.5)
        axis.legend(frameon=False, fontsize=8, loc="lower right")
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Work counted in the kernel, vocabulary growing by Heaps' law")
    figure.savefig(path, dpi=100, format="png")
    plt.close(figure)
