"""Draw the pictures of the documentation (needs matplotlib).

python docs/pictures.py demo       topics of Python's documentation, and two training traces
python docs/pictures.py algorithm  a sweep: counts, the two draws of Phi, and one token
python docs/pictures.py plots      tree, similarity, classes and documents of 30 topics
python docs/pictures.py compare    samplers on KOS, from benchmarks/results/compare-kos-50.json
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import polyaurn
from polyaurn.chain.state import phi_matrix, topic_word_matrix

HERE = Path(__file__).resolve().parent
COLOURS = plt.get_cmap("tab10").colors


def algorithm() -> None:
    """Draw a sweep: counts, Phi by the Dirichlet and by the urn, and the choice for one token."""
    K, beta = 12, 0.01
    corpus = polyaurn.datasets.generate(300, 60, K, 60.0, random_state=3)
    plain = {"warm_start": "random", "phi_refreshes": 1}
    *_, (state, _) = polyaurn.sweeps(corpus, K, max_iter=200, random_state=1, **plain)
    phi = phi_matrix(state.phi, K).toarray()
    n = topic_word_matrix(state.counts, K).toarray()
    rng = np.random.default_rng(0)
    dirichlet = np.array([rng.dirichlet(row + beta) for row in n])
    figure, axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained")
    panels = {
        "n: tokens by topic (row) and word (column)": n,
        "Phi from the Dirichlet: a number in every cell": np.maximum(dirichlet, 1e-9),
        "Phi as Poisson counts: most cells are empty": phi,
    }
    for ax, (title, cells) in zip(axes.flat, panels.items(), strict=False):
        cells = np.where(cells > 0, np.log10(np.maximum(cells, 1e-12)), np.nan)
        ax.imshow(cells, aspect="auto", cmap="viridis", vmin=np.nanmax(cells) - 4)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("words")
        ax.set_ylabel("topics")
    d = int(np.diff(corpus.doc_ptr).argmax())
    tokens = slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
    m = np.bincount(state.z[tokens], minlength=K)
    words = np.unique(corpus.word[tokens])
    v = int(words[np.abs((phi[:, words] > 0).sum(axis=0) - K // 2).argmin()])
    last = axes[1, 1]
    prior, rest = 0.1 * phi[:, v], m * phi[:, v]
    last.bar(range(K), prior, color=COLOURS[1], label="phi alpha, the same for the whole word")
    last.bar(range(K), rest, bottom=prior, color=COLOURS[0], label="phi m, for this document")
    last.set_title(
        f"One token: {int((m > 0).sum())} topics in its document, {int((phi[:, v] > 0).sum())} of "
        f"its word, {int((rest > 0).sum())} in both",
        fontsize=10,
    )
    last.set_xlabel("topics")
    last.set_ylabel("weight")
    last.set_ylim(0, 1.35 * (prior + rest).max())
    last.legend(frameon=False, loc="upper right")
    last.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "images" / "algorithm.png", dpi=110)


def compare() -> None:
    """Draw the log posterior of samplers against time and against sweeps."""
    found = json.loads((HERE.parent / "benchmarks/results/compare-kos-50.json").read_text())
    tokens = found["corpus"]["tokens"]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for (name, sampler), colour in zip(found["samplers"].items(), COLOURS, strict=False):
        levels = [point["log_posterior"] / tokens for point in sampler["points"]]
        for ax, x in zip(axes, ("seconds", "sweep"), strict=True):
            label = f"{name} ({sampler['law']})"
            ax.plot([p[x] for p in sampler["points"]], levels, color=colour, label=label)
    axes[0].set(xlabel="seconds of sampling", ylabel="log posterior per token", ylim=(-8.6, None))
    axes[1].set(xlabel="sweeps", xlim=(0, 400))
    axes[1].legend(frameon=False, loc="lower right")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    setting = found["setting"]
    figure.suptitle(
        f"KOS, {tokens:,} tokens, {setting['topics']} topics, {setting['threads']} threads",
        fontsize=11,
    )
    figure.savefig(HERE / "images" / "compare.png", dpi=110)


def demo() -> None:
    """Train both samplers on the docstrings and draw their traces beside some topics."""
    corpus = polyaurn.datasets.python_docs()
    fitted = {
        sampler: polyaurn.LDA(
            40, max_iter=300, sampler=sampler, evaluate_every=2, warm_start="random"
        ).fit(corpus)
        for sampler in ("polya-urn", "partially-collapsed")
    }
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.4), width_ratios=(1, 1.7), layout="constrained"
    )
    for (sampler, lda), colour in zip(fitted.items(), COLOURS, strict=False):
        points = [r for r in lda.trace_ if r["log_posterior"] is not None]
        left.plot(
            [r["seconds"] for r in points],
            [r["log_posterior"] / corpus.n_tokens for r in points],
            label=sampler,
            color=colour,
        )
    left.set(xlabel="seconds of sampling", ylabel="log posterior per token")
    left.legend(frameon=False, loc="lower right")
    left.spines[["top", "right"]].set_visible(False)
    model = fitted["polya-urn"].model_
    topics = model.topics(6, weights=True)
    shown = sorted(range(model.n_topics), key=lambda k: -topics[k][0][1])[:9]
    for row, k in enumerate(shown):
        edge = 0.0
        for word, probability in topics[k]:
            right.barh(row, probability, left=edge, height=0.82, color=COLOURS[row], alpha=0.35,
                       edgecolor="white")  # fmt: skip
            if 0.0036 * len(word) < probability:
                right.text(edge + probability / 2, row, word, ha="center", va="center", fontsize=8)
            edge += probability
    right.set_yticks(range(len(shown)), [f"topic {k}" for k in shown])
    right.invert_yaxis()
    right.set_xlabel("probability of the word in the topic")
    right.spines[["top", "right"]].set_visible(False)
    figure.suptitle(
        f"{corpus.n_documents:,} docstrings of Python, numpy, scipy and scikit-learn, "
        f"{corpus.n_tokens:,} tokens, 40 topics",
        fontsize=11,
    )
    figure.savefig(HERE / "images" / "demo.png", dpi=110)


def plots() -> None:
    """Draw the pictures of the page on plots, each below 100 kB."""
    from PIL import Image

    from polyaurn.plots import (
        plot_dendrogram,
        plot_document_map,
        plot_per_class,
        plot_similarity,
    )

    corpus = polyaurn.datasets.python_docs()
    model = polyaurn.LDA(30, max_iter=200).fit(corpus).model_
    packages = [name.split(".")[0] for name in corpus.doc_names]
    drawn = {
        "dendrogram": plot_dendrogram(model),
        "similarity": plot_similarity(model),
        "classes": plot_per_class(model, packages, most=8),
        "document_map": plot_document_map(model, packages),
    }
    for name, ax in drawn.items():
        file = HERE / "images" / f"{name}.png"
        ax.figure.savefig(file, dpi=80)
        with Image.open(file) as picture:
            small = picture.convert("RGB").quantize(
                256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        small.save(file, optimize=True)


if __name__ == "__main__":
    {"demo": demo, "algorithm": algorithm, "compare": compare, "plots": plots}[sys.argv[1]]()
