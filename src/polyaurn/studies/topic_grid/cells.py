"""The cells of a topic grid: a model is trained, scored and stored; several run side by side."""

import math
import statistics
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.registry import BACKENDS
from polyaurn.base.errors import CheckpointWarning, DeviceError
from polyaurn.base.events import progress_to
from polyaurn.base.threads import count_threads
from polyaurn.base.version import __version__
from polyaurn.chain.samplers import AUTO, THREAD_FREE, choose_sampler
from polyaurn.chain.state import Info
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.model import TopicModel
from polyaurn.studies.topic_grid.folder import BY_DOCUMENT, GridFolder
from polyaurn.studies.topic_grid.setting import COMPLETION, make_scoring
from polyaurn.training.memory import free_bytes, least_bytes

TOPICS_AT_ONCE = 100  # scored for coherence, whose memory goes by the square of their words
SPARE = 3  # times the least memory of a model that each has to have beside others

Place = tuple[int, int]  # number of topics, seed
Heard = Callable[[dict[str, Any]], Any] | None


class Split(NamedTuple):
    """Documents to train on, those held out, and those of them scored left to right."""

    train: Corpus
    test: Corpus | None  # where documents are held out
    scored: Corpus | None


def fill(
    folder: GridFolder,
    wanted: Sequence[Place],
    split: Split,
    options: dict[str, Any],
    on_progress: Heard,
) -> dict[Place, dict[str, Any]]:
    """Compute the cells that are missing; return all."""
    done = {place: cell for place in wanted if (cell := folder.cell(*place)) is not None}
    left = [place for place in wanted if place not in done]
    if not left:
        return done
    at_once = models_at_once(left, split.train, options)
    progress = Progress(on_progress, options["max_iter"], done, left, at_once)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # empty documents do no harm here
        warnings.simplefilter("default", CheckpointWarning)

        def compute(place: Place, n_jobs: int | None) -> dict[str, Any]:
            return _compute(folder, place, split, options | {"n_jobs": n_jobs}, progress)

        if at_once == 1:  # as asked for: samplers that are not thread-free depend on n_jobs
            return done | {place: compute(place, options["n_jobs"]) for place in left}
        threads = count_threads(options["n_jobs"])
        return done | _side_by_side(compute, left, threads, at_once, progress)


def models_at_once(left: Sequence[Place], train: Corpus, options: dict[str, Any]) -> int:
    """Return how many models are trained side by side, as far as threads and memory allow.

    One where sweeps do not run on threads, and one where the chain depends on their number.
    """
    sampler = options["sampler"]
    if not BACKENDS[options["device"]].on_threads or sampler not in (AUTO, *THREAD_FREE):
        return 1
    most = max(K for K, _ in left)
    N, V, D = train.n_tokens, train.n_words, train.n_documents
    chosen = choose_sampler(sampler, n_tokens=N, n_documents=D, n_topics=most, learns=True)
    each = SPARE * least_bytes(N, V, most, chosen, n_documents=D)
    threads = count_threads(options["n_jobs"])
    return max(1, min(threads, len(left), free_bytes() // max(1, each)))


def allot(topics: Sequence[int], threads: int) -> list[int]:
    """Return threads for the models that begin now, of those that could, the largest first.

    All threads are given out, by what a model is expected to take, which grows as the root of its
    number of topics; models that are left without one wait.
    """
    work = [math.sqrt(K) for K in topics]
    given: list[int] = []
    for i, mine in enumerate(work):
        if threads == 0:
            break
        given.append(max(1, round(threads * mine / math.fsum(work[i:]))))
        threads -= given[-1]
    return given


def _side_by_side(
    compute: Callable[[Place, int], Any],
    left: Sequence[Place],
    threads: int,
    at_once: int,
    progress: "Progress",
) -> dict[Place, Any]:
    """Return what each place gives; the largest models begin first.

    When one ends, its threads go to those that wait. When one fails, or this thread is interrupted,
    the others end after their sweep.
    """
    waiting = sorted(left, key=lambda place: -place[0])
    running: dict[Future[Any], tuple[Place, int]] = {}
    found = {}
    with ThreadPoolExecutor(at_once) as pool:
        try:
            while waiting or running:
                free = threads - sum(n for _, n in running.values())
                given = allot([K for K, _ in waiting[: at_once - len(running)]], free)
                progress.at_once = len(running) + len(given)
                for n in given:
                    place = waiting.pop(0)
                    running[pool.submit(compute, place, n)] = place, n
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    place, _ = running.pop(future)
                    found[place] = future.result()
        except BaseException:
            progress.stop.set()
            raise
    return found


class Progress:
    """Reports of the models at work, one at a time, with a guess of the time left for all."""

    def __init__(
        self, heard: Heard, sweeps: int, done: dict[Place, Any], left: Sequence[Place], at_once: int
    ) -> None:
        self.stop = threading.Event()
        self._heard, self._sweeps = heard, sweeps
        self.at_once, self.beside = at_once, at_once > 1
        self._cells = len(done) + len(left)
        self._number = {place: 1 + len(done) + i for i, place in enumerate(left)}
        self._waiting = list(left)
        self._running: dict[Place, tuple[float, float]] = {}
        self._seconds: dict[int, list[float]] = {}
        for (K, _), cell in done.items():
            self._seconds.setdefault(K, []).append(cell["seconds"])
        self._lock = threading.Lock()

    def say(self, place: Place, step: str, sweep: int, spent: float) -> None:
        """Report a step of a model; raise an interruption where all are asked to stop."""
        if self.stop.is_set():
            raise KeyboardInterrupt
        with self._lock:
            if place in self._waiting:
                self._waiting.remove(place)
            self._running[place] = (sweep / self._sweeps, spent)
            if self._heard is None:
                return
            self._heard(
                {"cell": self._number[place], "cells": self._cells, "topics": place[0],
                 "seed": place[1], "step": step, "sweep": sweep, "sweeps": self._sweeps,
                 "at_once": self.at_once, "seconds_left": self._seconds_left()}
            )  # fmt: skip

    def look(self, step: str, more: int, total: int | None) -> None:
        """Raise an interruption where all are asked to stop."""
        if self.stop.is_set():
            raise KeyboardInterrupt

    def finish(self, place: Place, seconds: float) -> None:
        """Take note of a finished model."""
        with self._lock:
            self._running.pop(place, None)
            self._seconds.setdefault(place[0], []).append(seconds)

    def _seconds_left(self) -> float:
        timed = {K: statistics.fmean(values) for K, values in self._seconds.items()}
        running = [(K, *how_far) for (K, _), how_far in self._running.items()]
        return seconds_left(running, timed, [K for K, _ in self._waiting], self.at_once)


def seconds_left(
    running: Sequence[tuple[int, float, float]],
    timed: dict[int, float],
    waiting: Sequence[int],
    at_once: int = 1,
) -> float:
    """Guess the seconds until all cells are done.

    Of each `running` cell, its number of topics, the share of its training that is done and the
    seconds that took. Cells that are `waiting` take the time of finished ones (`timed`) with the
    same number of topics, or of the nearest one, times the root of the quotient.
    """
    known = {K: spent / share for K, share, spent in running} | timed
    rest = [max(0.0, known[K] - spent) for K, _, spent in running]
    nearest = {k: min(known, key=lambda n: abs(math.log(n / k))) for k in waiting}
    more = [known[nearest[k]] * math.sqrt(k / nearest[k]) for k in waiting]
    return max([math.fsum(rest + more) / at_once, *rest])


def _compute(
    folder: GridFolder, place: Place, split: Split, options: dict[str, Any], progress: Progress
) -> dict[str, Any]:
    """Train, score and store the model of a cell."""
    K, seed = place
    model = _train(split.train, folder, place, progress, options)
    model.save(folder.model(K, seed), force=True)
    trained = float(model.trace[-1].get("seconds", 0.0))  # none without a model's timings
    progress.say(place, "scoring", options["max_iter"], trained)
    begin = perf_counter()
    cell = {"topics": K, "seed": seed, "model": f"models/{folder.model(K, seed).name}"}
    with progress_to(progress.look) if progress.beside else nullcontext():  # no Ctrl-C comes here
        cell |= _score(model, split, options)
    seconds = trained + perf_counter() - begin
    cell |= {"train_seconds": trained, "seconds": seconds, "version": __version__}
    folder.keep(cell)
    progress.finish(place, seconds)
    return cell


def _train(
    train: Corpus, folder: GridFolder, place: Place, progress: Progress, options: dict[str, Any]
) -> TopicModel:
    """Train a model, or resume its training from the checkpoint in its folder."""
    from polyaurn.estimator.lda import LDA

    K, seed = place

    def after_sweep(state: Any, info: Info) -> None:
        progress.say(place, "training", info.sweep, info.seconds)

    taken = ("max_iter", "doc_topic_prior", "topic_word_prior", "sampler", "n_jobs", "device",
             "learn_priors_every", "average_draws")  # fmt: skip
    lda = LDA(
        K, random_state=seed, checkpoint=folder.model(K, seed), resume=True, callbacks=after_sweep,
        verbose=False, **{name: options[name] for name in taken},
    )  # fmt: skip
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
    from polyaurn import evaluate

    listed = model.topics(10, order="frequency")
    top = [topic for topic in listed if len(topic) > 1]
    coherent = [
        value
        for i in range(0, len(top), TOPICS_AT_ONCE)
        for value in evaluate.coherence(top[i : i + TOPICS_AT_ONCE], split.train, "c_npmi").tolist()
    ]
    several = len(coherent) > 1
    longer = [words for words in model.topics(20, order="frequency") if len(words) > 1]
    mimno = evaluate.mimno_coherence(longer, split.train) if longer else np.empty(0)
    return _score_held_out(model, split, options) | {
        "coherence_npmi": statistics.fmean(coherent) if coherent else None,
        "coherence_npmi_error": (
            statistics.stdev(coherent) / math.sqrt(len(coherent)) if several else None
        ),
        "diversity": evaluate.diversity(listed),
        "arun_2010": evaluate.arun_2010(model),
        "cao_juan_2009": evaluate.cao_juan_2009(model),
        "mimno_2011": float(mimno.mean()) if len(mimno) else None,
        "griffiths_2004": evaluate.griffiths_2004(model, split.train),
    }


def _score_held_out(model: TopicModel, split: Split, options: dict[str, Any]) -> dict[str, Any]:
    """Measure a model on the documents held out; None where there are none."""
    from polyaurn.evaluate import document_completion, left_to_right

    scoring = {"scoring": make_scoring(**options)}
    if split.test is None or split.scored is None:
        nothing = dict.fromkeys(("held_out", "held_out_error", "completion"))
        return scoring | nothing | {BY_DOCUMENT: []}
    particles = options["particles"]
    how: dict[str, Any] = {name: options[name] for name in ("random_state", "n_jobs")}
    completion = held_out = document_completion(model, split.test, **how)
    sampled = options["score"] != COMPLETION
    if sampled:
        held_out = left_to_right(model, split.scored, particles, **how)
    return scoring | {
        "held_out": held_out.per_token if held_out.tokens.sum() else None,
        "held_out_error": held_out.per_token_error if sampled and particles > 1 else None,
        "completion": completion.per_token if completion.tokens.sum() else None,
        BY_DOCUMENT: held_out.log_likelihood.tolist(),
    }


def scored_tokens(split: Split, score: str) -> Any:
    """Return how many tokens of each document were scored: all of them, or its second half."""
    if split.test is None or split.scored is None:
        return np.empty(0, np.int64)
    if score == COMPLETION:
        return np.diff(split.test.doc_ptr) // 2
    return np.diff(split.scored.doc_ptr)
