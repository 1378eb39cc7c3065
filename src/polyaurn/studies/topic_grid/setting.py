"""What a sweep over numbers of topics is asked for: checked before long work, and in brief."""

import hashlib
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import count_threads
from polyaurn.chain.samplers import THREAD_FREE, check_sampler
from polyaurn.chain.state import MAX_TOPICS
from polyaurn.evaluate.held_out import check_particles

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus

TOPICS = (10, 20, 50, 100)
MAX_SCORED = 300


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
    max_scored: Any = MAX_SCORED,
) -> tuple[list[int], list[int]]:
    """Refuse what `polyaurn.topic_grid` cannot do, as far as can be told without the corpus.

    Returns
    -------
    topics, seeds : list of int
        Numbers of topics in increasing order, and the seeds.
    """
    numbers = _check_numbers(topics)
    _check_whole(seeds, "seeds", "3 shows how much chance matters")
    _check_whole(max_iter, "max_iter", "500 is a good beginning")
    _check_whole(max_scored, "max_scored", "300 is usual")
    check_particles(particles)
    check_sampler(sampler)
    count_threads(n_jobs)
    if not _positive(doc_topic_prior):
        raise InputError(
            "The 'doc_topic_prior' parameter must be one positive number, which serves for every "
            f"number of topics. Got {doc_topic_prior!r} instead; give a number such as 0.1."
        )
    if not (np.ndim(topic_word_prior) or _positive(topic_word_prior)):
        raise InputError(
            "The 'topic_word_prior' parameter must be a positive number, or one for each word. Got "
            f"{topic_word_prior!r} instead; give a number such as 0.01."
        )
    if not (_positive(test_share) and test_share < 1.0):
        raise InputError(
            f"The 'test_share' parameter must lie between 0 and 1. Got {test_share!r} instead; "
            "0.1 holds out a tenth of the documents."
        )
    if not isinstance(random_state, int | np.integer):
        raise InputError(
            "The 'random_state' parameter must be an integer, from which the seeds count up. Got "
            f"{random_state!r} instead; give an integer such as 0."
        )
    first = check_seed(random_state)
    return numbers, list(range(first, first + int(seeds)))


def _check_numbers(topics: Any) -> list[int]:
    several = isinstance(topics, Iterable) and not isinstance(topics, str)
    given = list(topics) if several else [topics]
    whole = [isinstance(k, int | np.integer) and not isinstance(k, bool) for k in given]
    right = all(w and 1 <= k <= MAX_TOPICS for w, k in zip(whole, given, strict=True))
    if not given or not right or len(set(given)) < len(given):
        shown = ", ".join(map(str, given[:12])) + (", ..." if len(given) > 12 else "")
        raise InputError(
            f"The 'topics' parameter must be whole numbers from 1 to {MAX_TOPICS:,}, each once. "
            f"Got {shown or 'none'}; {','.join(map(str, TOPICS))} is a good beginning."
        )
    return sorted(map(int, given))


def _check_whole(value: Any, name: str, remedy: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(
            f"The '{name}' parameter must be a whole number, at least 1. Got {value!r} instead; "
            f"{remedy}."
        )


def _positive(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and 0.0 < float(value) < math.inf


def make_setting(corpus: "Corpus", **options: Any) -> dict[str, Any]:
    """Return all that the numbers of a cell depend on, but for its topics and seed."""
    beta = options["topic_word_prior"]
    sampler = options["sampler"]
    return {
        "corpus": corpus.fingerprint,
        "sweeps": options["max_iter"],
        "alpha": float(options["doc_topic_prior"]),
        "beta": _digest(beta) if np.ndim(beta) else float(beta),
        "sampler": sampler,
        "first_seed": int(options["random_state"]),
        "test_share": float(options["test_share"]),
        "particles": options["particles"],
        "most_documents_scored": options["max_scored"],
        "threads": None if sampler in THREAD_FREE else count_threads(options["n_jobs"]),
    }


def _digest(vector: Any) -> str:
    return hashlib.sha256(np.asarray(vector, "<f8").tobytes()).hexdigest()
