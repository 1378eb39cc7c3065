"""Draw the pictures of the documentation (needs matplotlib; pages need Chromium and selenium).

python docs/pictures.py demo       topics of Python's documentation, and two training traces
python docs/pictures.py algorithm  a sweep: counts, the two draws of Phi, and one token
python docs/pictures.py plots      map, tree, similarity, classes and documents of topics
python docs/pictures.py compare    samplers on KOS, from benchmarks/results/compare-kos-50.json
python docs/pictures.py pages      the report of Python's documentation, and those of the tutorial
python docs/pictures.py moving     an interactive map of the tutorial's topics, pointed at
python docs/pictures.py choosing   numbers of topics of KOS side by side
python docs/pictures.py models     what each model says, on texts of four subjects
python docs/pictures.py notebook   the first cells of the notebook, with what they show
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import polyaurn
from polyaurn.chain.state import phi_matrix, topic_word_matrix

HERE = Path(__file__).resolve().parent
KOS = HERE.parent / "../shared/corpora/docword.kos.txt.gz"
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
    from polyaurn.plots import (
        plot_dendrogram,
        plot_document_map,
        plot_map,
        plot_per_class,
        plot_similarity,
    )

    corpus = polyaurn.datasets.python_docs()
    model = polyaurn.LDA(30, max_iter=200).fit(corpus).model_
    packages = [name.split(".")[0] for name in corpus.doc_names]
    drawn = {
        "map": plot_map(polyaurn.LDA(40, max_iter=200).fit(corpus).model_),
        "dendrogram": plot_dendrogram(model),
        "similarity": plot_similarity(model),
        "classes": plot_per_class(model, packages, most=8),
        "document_map": plot_document_map(model, packages),
    }
    for name, ax in drawn.items():
        file = HERE / "images" / f"{name}.png"
        ax.figure.savefig(file, dpi=80)
        in_few_colours(file)


def pages() -> None:
    """Photograph the report of Python's documentation, and the pages of the tutorial."""
    corpus = polyaurn.datasets.python_docs()
    lda = polyaurn.LDA(40, max_iter=300, random_state=0).fit(corpus)
    texts, news = tutorial()
    packages = [name.split(".")[0] for name in corpus.doc_names]
    with tempfile.TemporaryDirectory() as folder, browser(1280, 860) as chromium:
        page = polyaurn.write_report(
            lda, Path(folder) / "docs.html", corpus=corpus, classes=packages,
            title="Python documentation",
        )  # fmt: skip
        photograph(chromium, page.as_uri(), "report")
        page = polyaurn.write_report(
            news, Path(folder) / "news.html", texts=texts, title="ABC news, 2000 to 2002"
        )
        photograph(chromium, f"{page.as_uri()}#topic-3", "tutorial")
        photograph(chromium, f"{page.as_uri()}#document-93", "tutorial-document")


def tutorial() -> tuple[list[str], polyaurn.TopicModel]:
    """Return the articles of the tutorial, and its model."""
    from gensim.test.utils import datapath

    texts = Path(datapath("lee_background.cor")).read_text(encoding="utf-8").splitlines()
    lda = polyaurn.LDA(10, max_iter=300, random_state=0).fit(polyaurn.Corpus.from_texts(texts))
    names = {2: "War in Afghanistan", 3: "Middle East", 7: "Bushfires", 8: "Airlines and unions"}
    return texts, lda.model_.label_topics(names)


def moving() -> None:
    """Photograph an interactive map, with the pointer on a topic."""
    from polyaurn.plots import interactive

    figure = interactive.plot_map(tutorial()[1])
    with tempfile.TemporaryDirectory() as folder, browser(860, 640) as chromium:
        page = Path(folder) / "map.html"
        page.write_text(interactive.page_of(figure), encoding="utf-8")
        point = "Plotly.Fx.hover('polyaurn', [{curveNumber: 0, pointNumber: 2}])"
        photograph(chromium, page.as_uri(), "interactive", height=600, run=point)


def choosing() -> None:
    """Photograph both ends of a page that compares numbers of topics."""
    corpus = polyaurn.read_corpus(KOS)
    with tempfile.TemporaryDirectory() as folder, browser(1110, 860) as chromium:
        polyaurn.topic_grid(corpus, [10, 20, 50], seeds=2, out=Path(folder) / "grid")
        page = (Path(folder) / "grid/sweep.html").as_uri()
        photograph(chromium, page, "choose-topics", height=960)
        photograph(chromium, page, "choose-topics-flows", at="Topics side by side")


NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body { font: 14px sans-serif } td, th { padding: 3px 8px } .cell { background: #eee; padding: 6px }
</style>"""


def notebook() -> None:
    """Photograph the first two cells of the notebook, executed in a kernel."""
    import nbclient
    import nbformat

    read = nbformat.read(HERE / "notebook.ipynb", as_version=4)
    read.cells = [cell for cell in read.cells if cell.cell_type == "code"][:2]
    nbclient.NotebookClient(read, timeout=240, kernel_name="python3").execute()
    parts = []
    for cell in read.cells:
        shown = [output["data"]["text/html"] for output in cell.outputs]
        parts += [f"<pre class='cell'>{escape(cell.source)}</pre>", *shown]
    with tempfile.TemporaryDirectory() as folder, browser(926, 920) as chromium:
        page = Path(folder) / "notebook.html"
        page.write_text(NOTEBOOK + "".join(parts), encoding="utf-8")
        photograph(chromium, page.as_uri(), "notebook", height=920)


@contextmanager
def browser(width: int, height: int) -> Iterator[Any]:
    """Start Chromium, without its window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(flag)
    service = webdriver.ChromeService(str(shutil.which("chromedriver")))
    started = webdriver.Chrome(options=options, service=service)
    started.set_window_size(width, height)
    try:
        yield started
    finally:
        started.quit()


def photograph(
    chromium: Any, address: str, name: str, *, at: str = "", height: int | None = None,
    run: str = "",
) -> None:  # fmt: skip
    """Write what a page shows, from a heading on or after a script, as a picture of few colours."""
    size = {"width": chromium.get_window_size()["width"], "height": height or 860}
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", size | {"deviceScaleFactor": 1, "mobile": False}
    )
    chromium.get("about:blank")
    chromium.get(address)
    chromium.implicitly_wait(10)
    if at:
        heading = chromium.find_element("xpath", f"//h2[contains(., '{at}')]")
        chromium.execute_script("arguments[0].scrollIntoView()", heading)
    chromium.execute_script(run)
    file = HERE / "images" / f"{name}.png"
    chromium.save_screenshot(str(file))
    in_few_colours(file)


def in_few_colours(file: Path) -> None:
    """Make a picture small."""
    from PIL import Image

    with Image.open(file) as picture:
        small = picture.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    small.save(file, optimize=True)


SUBJECTS = {
    "space": "moon orbit rocket crew launch mars star probe",
    "garden": "soil seed bloom rose shade water spade leaf",
    "sport": "goal team cup fans match coach league score",
    "cooking": "oven butter onion salt recipe bake sauce pan",
}


def written(n: int, length: int, mixing: float, seed: int = 0) -> list[list[str]]:
    """Return texts that mix the subjects; with a tiny `mixing` each is of one."""
    rng = np.random.default_rng(seed)
    words = [line.split() for line in SUBJECTS.values()]
    texts = []
    for _ in range(n):
        share = rng.dirichlet(np.full(len(words), mixing))
        subjects = rng.choice(len(words), length, p=share)
        texts.append([words[s][rng.integers(8)] for s in subjects])
    return texts


def models() -> None:
    """Draw one picture for each model: what it says about texts."""
    long_texts, titles = written(300, 40, 0.4), written(400, 5, 1e-6, seed=1)
    lda = polyaurn.LDA(4, max_iter=200, verbose=False).fit(long_texts)
    _shares("models-lda", lda.transform(long_texts[:12]), lda, "share of topics in a document")
    clusters = polyaurn.DocumentClusters(20, max_iter=100, verbose=False).fit(titles)
    _shares("models-clusters", clusters.probabilities_[:12].toarray(), clusters,
            "probability of clusters of a title")  # fmt: skip
    seeds = ["moon", "rocket"]
    seeded = polyaurn.LDA(4, max_iter=200, seed_words={0: seeds}, verbose=False).fit(long_texts)
    figure, ax = plt.subplots(figsize=(5.2, 2.6), layout="constrained")
    found = seeded.topics(8, weights=True)[0]
    colours = [COLOURS[1] if word in seeds else COLOURS[0] for word, _ in found]
    ax.barh([word for word, _ in found], [p for _, p in found], color=colours)
    ax.invert_yaxis()
    ax.set_xlabel("words of topic 0, its seeds in orange")
    _finish(figure, ax, "models-seeded")
    _over_time()
    _weights(long_texts)


def _weights(texts: list[list[str]]) -> None:
    """Draw the weights of topics of an HDP, with their intervals."""
    hdp = polyaurn.HDP(40, max_iter=2000, verbose=False).fit(texts)
    weights, (low, high) = hdp.weights_, hdp.weights_interval_.T
    names = [" ".join(words) for words in hdp.topics(3)]
    figure, ax = plt.subplots(figsize=(5.2, 2.6), layout="constrained")
    between = np.maximum(0.0, [weights - low, high - weights])
    ax.barh(names, weights, xerr=between, color=COLOURS[0], ecolor="#555555")
    ax.invert_yaxis()
    ax.set(xlabel="weight of topics, and 95% of the draws")
    _finish(figure, ax, "models-hdp")


def _over_time() -> None:
    """Draw the words of one topic that change from year to year."""
    texts, years = [], []
    for year in range(2004, 2012):
        late = min(1.0, max(0.0, (year - 2005) / 4))
        rng = np.random.default_rng(year)
        for _ in range(120):
            device = ["touchscreen", "apps"] if rng.random() < late else ["keyboard", "stylus"]
            texts.append(["phone", "battery", *device, "phone"])
            years.append(f"{year}-06-30")
    topics = polyaurn.TopicsOverTime(1, carry=0.3, max_iter=30, slice_iter=20, verbose=False)
    topics.fit(texts, years, by="year")
    figure, ax = plt.subplots(figsize=(5.2, 2.6), layout="constrained")
    for word, colour in zip(("phone", "keyboard", "apps"), COLOURS, strict=False):
        levels = []
        for model in topics.models_.values():
            mass = model.topic_word_mass.toarray()[0] + model.priors.beta
            levels.append(mass[model.vocab.index(word)] / mass.sum())
        ax.plot(list(topics.models_), levels, color=colour, label=word)
    ax.set_ylabel("probability in the topic")
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    _finish(figure, ax, "models-over-time")


def _shares(name: str, shares: np.ndarray, fitted: object, label: str) -> None:
    """Draw a bar for each document, cut by its topics."""
    figure, ax = plt.subplots(figsize=(5.2, 2.6), layout="constrained")
    edge = np.zeros(len(shares))
    for k, words in enumerate(fitted.topics(2)):
        ax.barh(range(len(shares)), shares[:, k], left=edge, color=COLOURS[k],
                label=" ".join(words))  # fmt: skip
        edge += shares[:, k]
    ax.set(yticks=[], xlabel=label, xlim=(0, 1))
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    _finish(figure, ax, name)


def _finish(figure: plt.Figure, ax: plt.Axes, name: str) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "images" / f"{name}.png", dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    drawings = (demo, algorithm, compare, plots, pages, moving, choosing, models, notebook)
    {drawing.__name__: drawing for drawing in drawings}[sys.argv[1]]()
