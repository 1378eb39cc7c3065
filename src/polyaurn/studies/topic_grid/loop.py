"""The loop over the cells of a topic grid: train, score, store."""

import math
import statistics
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.registry import check_device
from polyaurn.base.errors import CheckpointWarning, DeviceError, InputError
from polyaurn.base.rng import Purpose, bits, key
from polyaurn.base.version import __version__
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import DEFAULT_SAMPLER
from polyaurn.chain.state import Info
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.inputs import as_corpus
from polyaurn.files.locks import locked
from polyaurn.model.model import TopicModel
from polyaurn.studies.topic_grid.folder import GridFolder
from polyaurn.studies.topic_grid.page import write_page
from polyaurn.studies.topic_grid.setting import MAX_SCORED, TOPICS, check_grid, make_setting
from polyaurn.studies.topic_grid.summary import best, summarise

TOPICS_AT_ONCE = 100  # scored for coherence, whose memory goes by the square of their words


class Split(NamedTuple):
    """Documents to train on, those held out, and those of them scored left to right."""

    train: Corpus
    test: Corpus
    scored: Corpus


def topic_grid(
    corpus: Any,
    topics: Sequence[int] = TOPICS,
    seeds: int = 3,
    *,
    out: Any,
    max_iter: int = 500,
    doc_topic_prior: float = 0.1,
    topic_word_prior: Any = 0.01,
    sampler: str = DEFAULT_SAMPLER,
    test_share: float = 0.1,
    particles: int = 20,
    max_scored: int = MAX_SCORED,
    random_state: int = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
    on_progress: Callable[[dict[str, Any]], Any] | None = None,
) -> dict[str, Any]:
    """Train and judge models with several numbers of topics, from several seeds each.

    All are trained on the same part of the corpus and scored on the rest. Each number of topics
    with each seed is a cell, stored in the folder with its model as soon as it is finished. The
    same call resumes where an earlier one ended, and gives the same numbers; more numbers of topics
    and more seeds use what is there. A cell whose file is damaged, or whose model is missing, is
    computed again. At the end the folder has ``sweep.html``, a page with a table and charts of the
    numbers asked for, ``sweep.csv``, the table, and ``sweep.json``, what is returned.

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
        Sweeps of each model.
    doc_topic_prior : float
        alpha, the same for all numbers of topics.
    topic_word_prior : float or array_like of length V
        beta.
    sampler : str
        As in `LDA`.
    test_share : float
        Share of the documents that are held out.
    particles : int
        Of left-to-right.
    max_scored : int
        Documents scored by left-to-right, at most, drawn at random from those held out: its time
        grows as the square of a document's length. Completion scores all.
    random_state : int
        The first seed; also that of the split and of scoring.
    n_jobs : int or None
        Threads.
    device : {"cpu", "gpu", "auto"}
        Where models are trained, as in `LDA`; they are the same on each, so that a call may resume
        on another. Scoring runs on the CPU.
    on_progress : callable, optional
        Called after each sweep and before scoring with a dictionary: "cell" of "cells", "topics",
        "seed", "step" ("training" or "scoring"), "sweep" of "sweeps", and "seconds_left", a guess
        for all cells.

    Returns
    -------
    dict
        Ready for JSON: "corpus", "setting", "cells" (a record for each model: "held_out" and
        "completion", log likelihoods per token, "coherence_npmi", "diversity", seconds, and where
        it is stored), and under "topics" for each number of them the mean of each over seeds, and
        the standard deviation ("spread", None with one seed), with "stability": the mean match of
        topics of two seeds (`match_topics`) over all pairs of seeds; None with
        one seed. "best" is from `polyaurn.studies.topic_grid.summary.best`.

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
    """
    options: dict[str, Any] = {
        "max_iter": max_iter, "doc_topic_prior": doc_topic_prior,
        "topic_word_prior": topic_word_prior, "sampler": sampler, "test_share": test_share,
        "particles": particles, "max_scored": max_scored, "random_state": random_state,
        "n_jobs": n_jobs,
    }  # fmt: skip
    numbers, all_seeds = check_grid(topics, seeds, **options)
    whole = ("max_iter", "particles", "max_scored", "random_state")
    options |= {name: int(options[name]) for name in whole}  # NumPy's are not for JSON
    options["device"] = check_device(device, sampler)
    folder = GridFolder(out)
    corpus = as_corpus(corpus)
    make_priors(1.0, topic_word_prior, 1, corpus.n_words)
    split = split_documents(corpus, test_share, max_scored, random_state)
    setting = make_setting(corpus, **options)
    with locked(folder.path.absolute()):
        folder.agree(setting)
        wanted = [(K, seed) for seed in all_seeds for K in numbers]  # a whole curve first
        done = _fill(folder, wanted, split, options, on_progress)
    cells = [done[K, seed] for K in numbers for seed in all_seeds]
    rows = summarise(cells, partial(_matches, folder))
    found = {
        "corpus": {
            "documents": corpus.n_documents, "words": corpus.n_words, "tokens": corpus.n_tokens,
            "train_documents": split.train.n_documents, "train_tokens": split.train.n_tokens,
            "test_documents": split.test.n_documents, "test_tokens": split.test.n_tokens,
            "scored_documents": split.scored.n_documents, "scored_tokens": split.scored.n_tokens,
        },
        "setting": setting,
        "seeds": all_seeds,
        "topics": rows,
        "best": best(rows),
        "cells": cells,
    }  # fmt: skip
    write_page(found, folder.path)
    return found


def _fill(
    folder: GridFolder,
    wanted: list[tuple[int, int]],
    split: Split,
    options: dict[str, Any],
    on_progress: Callable[[dict[str, Any]], Any] | None,
) -> dict[tuple[int, int], dict[str, Any]]:
    """Compute the cells that are missing; return all."""
    max_iter = options["max_iter"]
    done = {place: cell for place in wanted if (cell := folder.cell(*place)) is not None}
    for K, seed in wanted:
        if (K, seed) in done:
            continue
        report = partial(
            _report, on_progress, max_iter,
            {"cell": 1 + len(done), "cells": len(wanted), "topics": K, "seed": seed},
            {k: statistics.fmean(c["seconds"] for c in done.values() if c["topics"] == k)
             for k in {k for k, _ in done}},
            [k for k, s in wanted if (k, s) not in done and (k, s) != (K, seed)],
        )  # fmt: skip
        place = folder.model(K, seed)
        model = _train(split.train, K, seed, place, report, options)
        model.save(place, force=True)
        trained = float(model.trace[-1].get("seconds", 0.0))  # none without a model's timings
        report("scoring", max_iter, trained)
        begin = perf_counter()
        cell = {"topics": K, "seed": seed, "model": f"models/{place.name}"}
        cell |= _score(model, split, options)
        seconds = trained + perf_counter() - begin
        cell |= {"train_seconds": trained, "seconds": seconds, "version": __version__}
        folder.keep(cell)
        done[K, seed] = cell
    return done


def split_documents(corpus: Corpus, test_share: float, max_scored: int, seed: int) -> Split:
    """Hold out a share of the documents at random, and draw at most so many of them to score."""
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


def seconds_left(
    topics: int, share: float, spent: float, timed: dict[int, float], left: Sequence[int]
) -> float:
    """Guess the seconds until all cells are done.

    `share` of the training of the cell at work took `spent` seconds. The cells that are `left`
    take the time of finished ones (`timed`) with the same number of topics, or of the nearest one,
    times the root of the quotient.
    """
    known = {topics: spent / share} | timed
    nearest = {k: min(known, key=lambda n: abs(math.log(n / k))) for k in left}
    return max(0.0, known[topics] - spent) + sum(
        known[nearest[k]] * math.sqrt(k / nearest[k]) for k in left
    )


def _report(
    on_progress: Callable[[dict[str, Any]], Any] | None,
    sweeps: int,
    place: dict[str, int],
    timed: dict[int, float],
    left: list[int],
    step: str,
    sweep: int,
    spent: float,
) -> None:
    if on_progress is not None:
        guess = seconds_left(place["topics"], sweep / sweeps, spent, timed, left)
        said = {"step": step, "sweep": sweep, "sweeps": sweeps, "seconds_left": guess}
        on_progress(place | said)


def _train(
    train: Corpus,
    K: int,
    seed: int,
    kept: Path,
    report: Callable[..., None],
    options: dict[str, Any],
) -> TopicModel:
    """Train a model, or resume its training from the checkpoint in its folder."""
    from polyaurn.estimator.lda import LDA

    def after_sweep(state: Any, info: Info) -> None:
        report("training", info.sweep, info.seconds)

    taken = ("max_iter", "doc_topic_prior", "topic_word_prior", "sampler", "n_jobs", "device")
    lda = LDA(
        K, random_state=seed, checkpoint=kept, resume=True, callbacks=after_sweep, verbose=False,
        **{name: options[name] for name in taken},
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # empty documents do no harm here
        warnings.simplefilter("default", CheckpointWarning)
        try:
            model: TopicModel = lda.fit(train).model_
        except DeviceError as error:
            raise DeviceError(
                error.what,
                "Models that are finished are kept, and so is the last checkpoint of this one; "
                "repeat the call with device='cpu' (--device cpu) to resume.",
            ) from error
    return model


def _score(model: TopicModel, split: Split, options: dict[str, Any]) -> dict[str, Any]:
    """Measure a model; a measure that is not defined for it is None."""
    from polyaurn.evaluate import coherence, diversity, document_completion, left_to_right

    particles = options["particles"]
    how: dict[str, Any] = {name: options[name] for name in ("random_state", "n_jobs")}
    held_out = left_to_right(model, split.scored, particles, **how)
    completion = document_completion(model, split.test, **how)
    listed = model.topics(10)
    top = [topic for topic in listed if len(topic) > 1]
    coherent = [
        value
        for i in range(0, len(top), TOPICS_AT_ONCE)
        for value in coherence(top[i : i + TOPICS_AT_ONCE], split.train, "c_npmi").tolist()
    ]
    return {
        "held_out": held_out.per_token,
        "held_out_error": held_out.per_token_error if particles > 1 else None,
        "completion": completion.per_token if completion.tokens.sum() else None,
        "coherence_npmi": statistics.fmean(coherent) if coherent else None,
        "diversity": diversity(listed),
    }


def _matches(folder: GridFolder, K: int, seeds: list[int]) -> list[float]:
    """Return the mean quality of matched topics for each pair of seeds."""
    from polyaurn.model.distance import match_topics
    from polyaurn.model.storage import load

    if len(seeds) < 2:
        return []
    counts = []
    for seed in seeds:
        place = folder.model(K, seed)
        try:
            counts.append(load(place).topic_word_counts)
        except InputError as error:
            raise InputError(
                f"{error} Or delete the folder '{place}' and repeat the call, which then trains "
                "this model again."
            ) from None
    return [float(match_topics(p, q)[1].mean()) for p, q in combinations(counts, 2)]
