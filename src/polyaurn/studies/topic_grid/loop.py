"""How many topics: models over a grid, what they show together, and the page."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from polyaurn.backends.registry import check_device
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, bits, key
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import DEFAULT_SAMPLER
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.inputs import as_corpus
from polyaurn.files.locks import locked
from polyaurn.model.distance import match_topics
from polyaurn.studies.topic_grid.cells import Split, fill, scored_tokens
from polyaurn.studies.topic_grid.flows import topic_flows
from polyaurn.studies.topic_grid.folder import BY_DOCUMENT, GridFolder
from polyaurn.studies.topic_grid.page import write_page
from polyaurn.studies.topic_grid.setting import (
    COMPLETION,
    MAX_SCORED,
    TOPICS,
    check_grid,
    make_scoring,
    make_setting,
)
from polyaurn.studies.topic_grid.suggestion import behind_the_best, suggest
from polyaurn.studies.topic_grid.summary import best, summarise
from polyaurn.training.settings import LEARN_EVERY


def topic_grid(
    corpus: Any,
    topics: Sequence[int] = TOPICS,
    seeds: int = 3,
    *,
    out: Any,
    max_iter: int = 200,
    doc_topic_prior: float | str = 0.1,
    topic_word_prior: Any = 0.01,
    sampler: str = DEFAULT_SAMPLER,
    learn_priors_every: int = LEARN_EVERY,
    average_draws: int | str = "auto",
    test_share: float = 0.1,
    score: str = COMPLETION,
    particles: int = 20,
    max_scored: int = MAX_SCORED,
    random_state: int = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
    on_progress: Callable[[dict[str, Any]], Any] | None = None,
) -> dict[str, Any]:
    """Train and judge models with several numbers of topics, from several seeds each.

    All are trained on the same part of the corpus and scored on the rest, several side by side
    where there are threads and memory for them. Each number of topics with each seed is a cell,
    stored in the folder with its model as soon as it is finished. The same call resumes where an
    earlier one ended, and gives the same numbers; more numbers of topics and more seeds use what is
    there, and so does another `score`. A cell whose file is damaged, or whose model is missing, is
    computed again. At the end the folder has ``sweep.html``, a page with the suggestion, charts,
    and topics of neighbouring numbers side by side, ``sweep.csv``, the table, and ``sweep.json``,
    what is returned.

    Parameters
    ----------
    corpus : Corpus, matrix of counts, or sequence of str
        The documents.
    topics : sequence of int
        Numbers of topics, each once.
    seeds : int
        Models for each number of topics; their seeds are `random_state`, `random_state` + 1, ...
    out : str or Path
        A new or empty folder, or one of an earlier call with the same setting.
    max_iter : int
        Sweeps of each model; fewer than a model to keep needs are enough to compare.
    doc_topic_prior : float or str
        alpha, the same for all numbers of topics; "50/K" divides 50 by each of them.
    topic_word_prior : float or array_like of length V
        beta.
    sampler : str
        As in `LDA`.
    learn_priors_every : int
        As in `LDA`; 0 keeps alpha and beta as they are given.
    average_draws : int or "auto"
        As in `LDA`; 1 takes the counts of the last draw.
    test_share : float
        Share of the documents that are held out. With 0 models are of all documents, there is no
        held-out score, and nothing is suggested.
    score : {"completion", "left-to-right"}
        How held-out documents are scored: by how well half of a document predicts the other half,
        or by an estimate of its probability, which takes longer than training.
    particles : int
        Particles of left-to-right.
    max_scored : int
        Documents scored by left-to-right, at most, drawn at random from those held out: its time
        grows as the square of a document's length. Completion scores all.
    random_state : int
        The first seed; also that of the split and of scoring.
    n_jobs : int or None
        Threads. With a sampler whose models do not depend on their number, up to as many models are
        trained side by side, the largest first and on more threads than small ones; those of a
        model that is finished go to models that wait. With others, and on a GPU, one at a time.
    device : {"cpu", "gpu", "auto"}
        Where models are trained, as in `LDA`; they are the same on each, so that a call may resume
        on another. Scoring runs on the CPU.
    on_progress : callable, optional
        Called after each sweep and before scoring with a dictionary: "cell" of "cells", "topics",
        "seed", "step" ("training" or "scoring"), "sweep" of "sweeps", "at_once", how many models
        are trained side by side, and "seconds_left", a guess for all cells. Calls come from the
        threads that train, one at a time.

    Returns
    -------
    dict
        Ready for JSON. "suggestion" has a number of topics ("topics", None where there is none),
        the one that the held-out score asks for ("predicts", a larger one where stability and
        diversity disagree), and the "sentence" that says what both rest on. "topics" has for each
        number of them the mean of each measure over seeds, and the standard deviation ("spread",
        None with one seed): "held_out", the log likelihood per token by `score`, with
        "behind_best", how far it is below the highest one, and the standard error of that;
        "completion", "coherence_npmi", "diversity", and "stability", the mean match of topics of
        two seeds (`match_topics`) over all pairs of seeds, None with one seed; "arun_2010",
        "cao_juan_2009", "mimno_2011" (of the 20 most probable words, the mean over topics) and
        "griffiths_2004" (log p(w | z) after the last sweep, of several seeds the harmonic mean of
        likelihoods), see `polyaurn.evaluate`.
        "best" says where each measure is highest, or lowest, where that is better. "flows"
        has for each two neighbouring numbers which topics stay, split and merge. "cells" has a
        record for each model, and where it is stored; "corpus", "setting" and "scoring" say what
        they were made from.

    Examples
    --------
    >>> import polyaurn, tempfile
    >>> corpus = polyaurn.datasets.generate(n_documents=100, n_words=100, n_topics=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = polyaurn.topic_grid(corpus, [2, 4], seeds=2, max_iter=30, out=folder)
    >>> [row["topics"] for row in found["topics"]]
    [2, 4]
    >>> len(found["cells"])
    4
    >>> found["suggestion"]["sentence"].startswith("4 topics or more: the held-out score still")
    True
    """
    options: dict[str, Any] = {
        "max_iter": max_iter, "doc_topic_prior": doc_topic_prior,
        "topic_word_prior": topic_word_prior, "sampler": sampler,
        "learn_priors_every": learn_priors_every, "average_draws": average_draws,
        "test_share": test_share, "score": score, "particles": particles, "max_scored": max_scored,
        "random_state": random_state, "n_jobs": n_jobs,
    }  # fmt: skip
    numbers, all_seeds = check_grid(topics, seeds, **options)
    whole = ("max_iter", "particles", "max_scored", "random_state")
    options |= {name: int(options[name]) for name in whole}  # NumPy's are not for JSON
    options["device"] = check_device(device, sampler)
    scoring = make_scoring(**options)
    folder = GridFolder(out, scoring)
    corpus = as_corpus(corpus)
    make_priors(1.0, topic_word_prior, 1, corpus.n_words)
    split = split_documents(corpus, test_share, max_scored, random_state)
    setting = make_setting(corpus, **options)
    with locked(folder.path.absolute()):
        folder.agree(setting)
        # A whole curve first, its longest training first.
        wanted = [(K, seed) for seed in all_seeds for K in reversed(numbers)]
        done = fill(folder, wanted, split, options, on_progress)
    cells = [done[K, seed] for K in numbers for seed in all_seeds]
    rows = summarise(cells, partial(_matches, folder))
    behind_the_best(rows, _scores(cells), scored_tokens(split, score))
    found = {
        "corpus": {
            "documents": corpus.n_documents, "words": corpus.n_words, "tokens": corpus.n_tokens,
            "train_documents": split.train.n_documents, "train_tokens": split.train.n_tokens,
            **{
                f"{name}_{what}": 0 if part is None else getattr(part, f"n_{what}")
                for name, part in (("test", split.test), ("scored", split.scored))
                for what in ("documents", "tokens")
            },
        },
        "setting": setting,
        "scoring": scoring,
        "seeds": all_seeds,
        "suggestion": suggest(
            rows, documents=corpus.n_documents, held_out=split.test is not None
        ),
        "topics": rows,
        "best": best(rows),
        "flows": topic_flows(numbers, lambda K: folder.load(K, all_seeds[0])),
        "cells": [{k: v for k, v in cell.items() if k != BY_DOCUMENT} for cell in cells],
    }  # fmt: skip
    write_page(found, folder.path)
    return found


def split_documents(corpus: Corpus, test_share: float, max_scored: int, seed: int) -> Split:
    """Hold out a share of the documents at random, and draw at most so many of them to score."""
    if not test_share:
        return Split(corpus, None, None)
    try:
        train, test = corpus.split(test_share, seed)
    except InputError:
        raise InputError(
            "The 'test_share' parameter must leave documents with words on both sides, to train on "
            f"and to hold out. Got {test_share:g} of {corpus.n_documents:,} documents, "
            f"{corpus.n_empty:,} of them empty; use more documents or another share."
        ) from None
    filled = np.flatnonzero(np.diff(test.doc_ptr))
    order = np.argsort(bits(key(seed, 1, Purpose.SPLIT), filled))
    return Split(train, test, test.select(np.sort(filled[order[:max_scored]])))


def _scores(cells: Sequence[dict[str, Any]]) -> dict[int, np.ndarray]:
    """Return the log likelihoods of documents, seeds by documents, for each number of topics."""
    return {
        K: np.array([cell[BY_DOCUMENT] for cell in cells if cell["topics"] == K])
        for K in sorted({cell["topics"] for cell in cells})
    }


def _matches(folder: GridFolder, K: int, seeds: list[int]) -> list[float]:
    """Return the mean quality of matched topics for each pair of seeds."""
    if len(seeds) < 2:
        return []
    counts = [folder.load(K, seed).topic_word_counts for seed in seeds]
    return [float(match_topics(p, q)[1].mean()) for p, q in combinations(counts, 2)]
