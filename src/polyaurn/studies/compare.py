"""Samplers side by side: the same corpus, seed and time, each in a process of its own."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from polyaurn.base.checks import check_number, check_one_of, is_whole
from polyaurn.base.errors import InputError
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import count_threads
from polyaurn.base.version import __version__
from polyaurn.chain.priors import by_topics, make_priors, prior_in_brief
from polyaurn.chain.samplers import COMPARED, SAMPLERS, check_proposals
from polyaurn.chain.schedule import make_schedule
from polyaurn.chain.state import check_topics
from polyaurn.corpus.inputs import as_corpus
from polyaurn.corpus.urn_file import write_urn
from polyaurn.studies.child import ChildError, answer, peak_bytes, records_of

LOOKS = 60  # how often the log posterior is computed, at most, in the time given
TOP_WORDS = 10
SHOWN = 8  # topics listed per sampler
MEASURED = ("sweeps", "tokens_per_second", "peak_bytes", "acceptance", "coherence_mimno",
            "diversity", "topics")  # fmt: skip


def compare(
    corpus: Any,
    n_components: int = 100,
    samplers: Sequence[str] = COMPARED,
    seconds: float = 60.0,
    *,
    doc_topic_prior: Any = 0.1,
    topic_word_prior: Any = 0.01,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    warm_start: str = "random",
    phi_refreshes: int | str = 1,
    mh_steps: int | None = None,
    on_look: Callable[[str, dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Run samplers in turn from the same seed for the same time, and measure them.

    Parameters
    ----------
    corpus : Corpus, matrix of counts, or sequence of str
        The documents.
    n_components : int
        Number of topics, K.
    samplers : sequence of str
        Names from `polyaurn.chain.samplers.SAMPLERS`.
    seconds : float
        Time of sampling for each; reading, compiling and evaluating do not count.
    doc_topic_prior, topic_word_prior : float or array_like
        alpha, beta.
    random_state : int, None or NumPy generator
        The seed.
    n_jobs : int or None
        Threads.
    warm_start : str
        As in `polyaurn.sweeps`; by default none, so that only samplers are compared.
    phi_refreshes : int or "auto"
        As in `polyaurn.sweeps`; samplers that do not draw Phi ignore it.
    mh_steps : int, optional
        As in `polyaurn.sweeps`, for the samplers that have it.
    on_look : callable, optional
        Called with a sampler's name and each of its records.

    Returns
    -------
    dict
        Ready for JSON: "corpus", "setting", and for each sampler under "samplers" its "law",
        "points" (sweep, seconds, log posterior), "tokens_per_second" (median of the second half),
        "peak_bytes", "coherence_mimno" (UMass of Mimno et al. 2011, one per topic), "diversity",
        and "topics". "complete" is False for a comparison that was interrupted; what a sampler had
        not reached is None.
    """
    corpus = as_corpus(corpus)
    K = check_topics(n_components)
    doc_topic_prior = by_topics(doc_topic_prior, K)
    priors = make_priors(doc_topic_prior, topic_word_prior, K, corpus.n_words)
    names = check_samplers(samplers)
    seconds = check_seconds(seconds)
    phi_refreshes, mh_steps = _plain(phi_refreshes), _plain(mh_steps)
    steps = check_proposals(names, mh_steps)
    proposing = any(SAMPLERS[name].proposes for name in names)
    check_starts(names, warm_start, phi_refreshes)
    found: dict[str, Any] = {
        "corpus": {
            "documents": corpus.n_documents, "words": corpus.n_words, "tokens": corpus.n_tokens,
        },
        "setting": {
            "topics": K, "seconds": seconds, "seed": check_seed(random_state),
            "threads": count_threads(n_jobs), "warm_start": warm_start,
            "phi_refreshes": phi_refreshes, "mh_steps": steps if proposing else None,
            "alpha": prior_in_brief(doc_topic_prior), "beta": prior_in_brief(topic_word_prior),
            "version": __version__,
        },
        "samplers": {},
        "complete": True,
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="polyaurn-compare-") as folder:
        path = write_urn(corpus, Path(folder) / "corpus.urn")
        for name in names:
            sampler = SAMPLERS[name]
            task = found["setting"] | {
                "path": str(path), "sampler": name,
                "alpha": priors.alpha.tolist(), "beta": priors.beta.tolist(),
                "mh_steps": steps if sampler.proposes else None,
                "phi_refreshes": phi_refreshes if sampler.draws_phi else "auto",
            }  # fmt: skip
            points: list[dict[str, Any]] = []
            result: dict[str, Any] = {"law": sampler.law_of(task["threads"]), "points": points}
            result |= dict.fromkeys(MEASURED)
            found["samplers"][name] = result
            try:
                with closing(records_of(__name__, task)) as records:
                    for record in records:
                        if "peak_bytes" in record:
                            result |= record
                        else:
                            points.append(record)
                            if on_look is not None:
                                on_look(name, record)
            except KeyboardInterrupt:
                found["complete"] = False
                break
            except ChildError as error:
                raise InputError(
                    f"Sampler '{name}' ended early ({error}); compare the others without it."
                ) from None
    return found


def _plain(value: Any) -> Any:
    """Return a whole number of NumPy as one of Python, which JSON can hold; others as they are."""
    return int(value) if is_whole(value) else value


def check_samplers(samplers: Any) -> list[str]:
    """Return the names of the samplers, each of them known and named once."""
    names = [samplers] if isinstance(samplers, str) else list(samplers)
    for name in names:
        check_one_of(name, "samplers", SAMPLERS)
    if not names or len(set(names)) < len(names):
        raise InputError(
            "The 'samplers' parameter must name at least one sampler, each once. "
            f"Got {', '.join(names) or 'none'}; choose from {', '.join(SAMPLERS)}."
        )
    return names


def check_starts(samplers: Sequence[str], warm_start: Any, phi_refreshes: Any) -> None:
    """Reject what one of the samplers cannot do, before any of them has run."""
    for name in samplers:
        refreshes = phi_refreshes if SAMPLERS[name].draws_phi else "auto"
        make_schedule(
            warm_start, refreshes, n_tokens=1, n_words=1, n_topics=1, max_iter=None, sampler=name
        )


def check_seconds(seconds: Any) -> float:
    """Return the time for each sampler, a positive number."""
    return check_number(seconds, "seconds", remedy="60 is a good beginning")


def run(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Run one sampler for its time; yield records as it runs, and at the end what it did."""
    from polyaurn.base.threads import Workers
    from polyaurn.chain.state import WHOLE
    from polyaurn.corpus.readers import read_corpus
    from polyaurn.evaluate import diversity, mimno_coherence
    from polyaurn.evaluate.diagnostics import log_posterior
    from polyaurn.model.data import largest_topics
    from polyaurn.model.model import TopicModel
    from polyaurn.training.sweeps import give_all_topics, sweeps

    corpus = read_corpus(task["path"])
    priors = make_priors(task["alpha"], task["beta"], task["topics"], corpus.n_words)
    options = {
        "sampler": task["sampler"], "random_state": task["seed"], "n_jobs": task["threads"],
    }  # fmt: skip
    chain = sweeps(
        corpus, task["topics"], doc_topic_prior=priors.alpha, topic_word_prior=priors.beta,
        evaluate_every=0, warm_start=task["warm_start"], phi_refreshes=task["phi_refreshes"],
        mh_steps=task["mh_steps"], learn_priors_every=0, **options,
    )  # fmt: skip
    speeds, look = [], 0.0
    with Workers(task["threads"]) as workers:
        for state, info in chain:
            speeds.append(info.tokens_per_second)
            done = info.seconds >= task["seconds"]
            if done or info.seconds >= look:
                look = info.seconds + task["seconds"] / LOOKS
                whole = state.share == WHOLE
                level = log_posterior(corpus, state, priors, workers) if whole else None
                yield {
                    "sweep": info.sweep, "seconds": info.seconds, "phase": info.phase,
                    "log_posterior": level, "acceptance": info.acceptance,
                }  # fmt: skip
            if done:
                break
    peak = peak_bytes()
    state = give_all_topics(corpus, state, task["sampler"], task["seed"], task["threads"])
    model = TopicModel.from_state(corpus, state, priors)
    top, shown = model.topics(TOP_WORDS, order="frequency"), model.topics(TOP_WORDS)
    half = sorted(speeds[len(speeds) // 2 :])
    yield {
        "sweeps": info.sweep, "tokens_per_second": half[len(half) // 2], "peak_bytes": peak,
        "acceptance": info.acceptance, "coherence_mimno": mimno_coherence(top, corpus).tolist(),
        "diversity": diversity(top), "topics": [shown[k] for k in largest_topics(model, SHOWN)],
    }  # fmt: skip


if __name__ == "__main__":
    answer(run)
