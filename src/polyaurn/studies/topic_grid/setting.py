"""What a topic grid is asked for: checked before long work, and in brief."""

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from polyaurn.base.checks import (
    check_fraction,
    check_one_of,
    check_whole,
    is_number,
    is_whole,
    wrong,
)
from polyaurn.base.errors import InputError
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import count_threads
from polyaurn.chain.priors import by_topics
from polyaurn.chain.samplers import AUTO, THREAD_FREE, check_sampler
from polyaurn.chain.state import MAX_TOPICS
from polyaurn.evaluate.held_out import check_particles
from polyaurn.training.averages import check_average
from polyaurn.training.settings import LEARN_EVERY

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus

TOPICS = (10, 20, 50, 100)
MAX_SCORED = 300
COMPLETION, LEFT_TO_RIGHT = SCORES = ("completion", "left-to-right")


def check_grid(
    topics: Any,
    seeds: Any,
    *,
    max_iter: Any,
    doc_topic_prior: Any,
    topic_word_prior: Any,
    sampler: Any,
    test_share: Any,
    particles: Any,
    random_state: Any,
    n_jobs: Any,
    learn_priors_every: Any = LEARN_EVERY,
    average_draws: Any = "auto",
    max_scored: Any = MAX_SCORED,
    score: Any = COMPLETION,
) -> tuple[list[int], list[int]]:
    """Return the numbers of topics in rising order, and the seeds.

    Everything that can be checked without the corpus is checked here.
    """
    numbers = _check_numbers(topics)
    n_seeds = check_whole(seeds, "seeds", remedy="3 shows how much results vary between seeds")
    check_whole(max_iter, "max_iter", remedy="200 is a good beginning")
    check_whole(max_scored, "max_scored", remedy="300 is usual")
    check_one_of(score, "score", SCORES, remedy=f"{COMPLETION!r} is the quicker one")
    check_particles(particles)
    check_average(average_draws)
    check_sampler(sampler)
    count_threads(n_jobs)
    alpha = by_topics(doc_topic_prior, 1)
    if not (is_number(alpha) and alpha > 0.0):
        expected = "one positive number, which serves for every number of topics, or '50/K'"
        raise wrong("doc_topic_prior", expected, doc_topic_prior, "give a number such as 0.1")
    check_whole(
        learn_priors_every, "learn_priors_every", 0, of="sweeps", remedy="0 keeps them as given"
    )
    positive = is_number(topic_word_prior) and topic_word_prior > 0.0
    if not (np.ndim(topic_word_prior) or positive):
        expected = "a positive number, or one for each word"
        raise wrong("topic_word_prior", expected, topic_word_prior, "give a number such as 0.01")
    if not (is_number(test_share) and test_share == 0):
        remedy = "0.1 holds out a tenth of the documents, 0 none"
        check_fraction(test_share, "test_share", ends=False, remedy=remedy)
    if not is_whole(random_state):
        expected = "an integer, from which the seeds count up"
        raise wrong("random_state", expected, random_state, "give an integer such as 0")
    first = check_seed(random_state)
    return numbers, list(range(first, first + n_seeds))


def _check_numbers(topics: Any) -> list[int]:
    several = isinstance(topics, Iterable) and not isinstance(topics, str)
    given = list(topics) if several else [topics]
    right = all(is_whole(k) and 1 <= k <= MAX_TOPICS for k in given)
    if not given or not right or len(set(given)) < len(given):
        shown = ", ".join(map(str, given[:12])) + (", ..." if len(given) > 12 else "")
        raise InputError(
            f"The 'topics' parameter must be whole numbers from 1 to {MAX_TOPICS:,}, each once. "
            f"Got {shown or 'none'}; {','.join(map(str, TOPICS))} is a good beginning."
        )
    return sorted(map(int, given))


def make_setting(corpus: "Corpus", **options: Any) -> dict[str, Any]:
    """Return all that a model depends on, except its topics and seed."""
    beta = options["topic_word_prior"]
    sampler = options["sampler"]
    rule = isinstance(options["doc_topic_prior"], str)
    return {
        "corpus": corpus.fingerprint,
        "sweeps": options["max_iter"],
        "alpha": options["doc_topic_prior"] if rule else float(options["doc_topic_prior"]),
        "beta": _digest(beta) if np.ndim(beta) else float(beta),
        "sampler": sampler,
        "first_seed": options["random_state"],
        "test_share": float(options["test_share"]),
        "threads": None if sampler in (AUTO, *THREAD_FREE) else count_threads(options["n_jobs"]),
        "device": options["device"] if sampler == AUTO else None,  # which decides what it takes
        "learn_priors_every": options["learn_priors_every"],
        "average_draws": options["average_draws"],
    }


def make_scoring(**options: Any) -> dict[str, Any]:
    """Return all that the scores of a model depend on."""
    if options["score"] == COMPLETION:
        return {"score": COMPLETION}
    return {
        "score": LEFT_TO_RIGHT,
        "particles": options["particles"],
        "most_documents_scored": options["max_scored"],
    }


def _digest(vector: Any) -> str:
    return hashlib.sha256(np.asarray(vector, "<f8").tobytes()).hexdigest()
