"""Options checked before long work, and turned into parameters of Python. Heavy imports wait."""

from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.cli.steps import note, number_or_word, prior


def check_training(
    topics: int,
    sweeps: int,
    alpha: str = "0.1",
    beta: str = "0.01",
    sampler: str = "polya-urn",
    seed: int = 0,
    threads: int = -1,
    eval_every: int = 10,
    warm_start: str = "auto",
    phi_refreshes: str = "auto",
    mh_steps: int | None = None,
    learn_priors_every: int = 0,
) -> dict[str, Any]:
    """Return options as parameters of `LDA`; refuse bad ones before the corpus is read."""
    from polyaurn.backends.registry import check_proposals, check_sampler
    from polyaurn.chain.schedule import make_schedule
    from polyaurn.chain.starting import check_sweeps
    from polyaurn.chain.state import check_topics

    check_topics(topics)
    check_sweeps(sweeps, "max_iter", 1)
    check_sweeps(eval_every, "evaluate_every", 0)
    check_sweeps(learn_priors_every, "learn_priors_every", 0)
    check_proposals([check_sampler(sampler)], mh_steps)
    refreshes = number_or_word(phi_refreshes)
    make_schedule(
        warm_start, refreshes, n_tokens=1, n_words=1, n_topics=topics, max_iter=sweeps,
        sampler=sampler,
    )  # fmt: skip
    return {
        "n_components": topics,
        "max_iter": sweeps,
        **check_priors(alpha, beta, topics),
        "sampler": sampler,
        **check_chance(seed, threads),
        "evaluate_every": eval_every,
        "warm_start": warm_start,
        "phi_refreshes": refreshes,
        "mh_steps": mh_steps,
        "learn_priors_every": learn_priors_every,
    }


def check_priors(alpha: str, beta: str, topics: int) -> dict[str, Any]:
    """Return the priors; how many words there are can only be told when they are read."""
    from polyaurn.chain.state import make_priors

    given = prior(alpha, "--alpha"), prior(beta, "--beta")
    make_priors(*given, topics, len(given[1]) if isinstance(given[1], list) else 1)
    return {"doc_topic_prior": given[0], "topic_word_prior": given[1]}


def check_chance(seed: int, threads: int) -> dict[str, Any]:
    """Return seed and threads as parameters of Python."""
    from polyaurn.base.rng import check_seed
    from polyaurn.base.threads import count_threads

    count_threads(threads)
    return {"random_state": check_seed(seed), "n_jobs": threads}


def choose_device(device: str, sampler: str = "polya-urn", *, quiet: bool) -> str:
    """Return where sweeps run, "cpu" or "gpu"; say so where it is not as was hoped."""
    import warnings

    from polyaurn.backends.devices import check_device
    from polyaurn.base.errors import DeviceWarning

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DeviceWarning)
        chosen = check_device(device, sampler)
    if said and not quiet:
        note(f"Note: {said[0].message}")
    return chosen


def check_words(words: int) -> None:
    """Refuse a number of words below one, before long work."""
    if words < 1:
        raise InputError(f"The '--words' option must be at least 1. Got {words} instead.")


def check_not_both(resume: bool, force: bool) -> None:
    """Refuse to go on with a run and to replace it at once."""
    if resume and force:
        raise InputError(
            "The '--resume' option must stand without '--force'. Got both; the first goes on with "
            "a run, the second starts anew."
        )


def check_trace(path: Path | None, corpus: Path, force: bool) -> None:
    """Refuse a trace file that would overwrite something, before long work."""
    if path is not None and path.exists() and (not force or path.resolve() == corpus.resolve()):
        raise InputError(
            f"The '--trace' option must name a new file. '{path}' is there already; choose another "
            "name, or replace an old trace with --force."
        )
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InputError(
            f"The '--trace' option must name a file in a folder that exists. Got '{path}'; create "
            "the folder or choose another name."
        )


def check_one_of(option: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of several words."""
    if value not in choices:
        raise InputError(
            f"The '{option}' option must be {', '.join(choices[:-1])} or {choices[-1]}. Got "
            f"{value!r} instead."
        )


def check_only_for(option: str, given: bool, formats: str, *, here: bool) -> None:
    """Refuse an option where it means nothing."""
    if given and not here:
        raise InputError(f"The '{option}' option is for {formats}. Leave it out here.")
