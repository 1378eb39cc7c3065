"""What fixes a training: checked once, then told to the loop, the checkpoints and the model."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polyaurn.backends.devices import check_device
from polyaurn.backends.registry import check_sampler
from polyaurn.base.errors import InputError
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import count_threads
from polyaurn.chain.state import Info, Priors, State, check_topics, make_priors, prior_in_brief
from polyaurn.corpus.corpus import Corpus
from polyaurn.training.keeping import describe_run
from polyaurn.training.seeds import fixed_counts, in_brief, seed_counts

if TYPE_CHECKING:
    from polyaurn.estimator.lda import LDA

Callback = Callable[[State, Info], Any]
_TOLD = ("warm_start", "phi_refreshes", "mh_steps", "learn_priors_every")


class Training(NamedTuple):
    """One training.

    Attributes
    ----------
    corpus : Corpus
        The documents.
    seed : int
        Of the chain.
    priors : Priors
        As given, pseudo-counts of seeds included.
    options : dict
        Of `sweeps`, but for the seed and the number of sweeps. The device is among them, and not
        in `run`: a chain is the same on any.
    facts : dict
        Kept in the model.
    run : dict
        What fixes the chain, to know it again when it is resumed.
    """

    corpus: Corpus
    seed: int
    priors: Priors
    options: dict[str, Any]
    facts: dict[str, Any]
    run: dict[str, Any]

    def with_seed(self, seed: int) -> "Training":
        """Return the same training with the seed of the run that is resumed."""
        run = self.run | {"random_state": seed}
        return self._replace(seed=seed, facts=self.facts | {"seed": seed, "run": run}, run=run)

    def priors_of(self, state: State) -> Priors:
        """Return the priors where the chain stands: those learned, or those given."""
        return state.priors._replace(pseudo=self.priors.pseudo) if state.priors else self.priors


def make_training(lda: "LDA", corpus: Corpus) -> Training:
    """Check an estimator's parameters against a corpus.

    Parameters
    ----------
    lda : LDA
        The estimator; left as it is.
    corpus : Corpus
        The documents.

    Returns
    -------
    Training
        What it will do.
    """
    seed = check_seed(lda.random_state)
    device = check_device(lda.device, check_sampler(lda.sampler), stacklevel=4)
    check_whole(lda.max_iter, "max_iter")
    K = check_topics(lda.n_components)
    alpha, beta = (
        1 / K if prior is None else prior for prior in (lda.doc_topic_prior, lda.topic_word_prior)
    )
    pseudo, seeding = _seeding(lda, corpus, K)
    priors = make_priors(alpha, beta, K, corpus.n_words, pseudo=pseudo)
    given = {"doc_topic_prior": alpha, "topic_word_prior": beta}
    told = {name: getattr(lda, name) for name in _TOLD}
    options = {
        "n_components": lda.n_components,
        **given,
        "sampler": lda.sampler,
        "n_jobs": lda.n_jobs,
        "device": device,
        "evaluate_every": lda.evaluate_every,
        **told,
        "pseudo_counts": pseudo,
    }
    fixed = ("n_components", "doc_topic_prior", "topic_word_prior", "max_iter", "sampler",
             "evaluate_every", *_TOLD)  # fmt: skip
    parameters = {name: getattr(lda, name) for name in fixed} | {"random_state": seed}
    run = describe_run(parameters | given | seeding, corpus, count_threads(lda.n_jobs))
    facts = {
        "sampler": lda.sampler,
        "seed": seed,
        **told,
        **{name: prior_in_brief(prior) for name, prior in given.items()},
        **seeding,
        "run": run,
    }
    if "seed_words" in facts:
        facts["seed_words"] = {str(int(k)): list(words) for k, words in lda.seed_words.items()}  # type: ignore[union-attr]
    return Training(corpus, seed, priors, options, facts, run)


def _seeding(lda: "LDA", corpus: Corpus, K: int) -> tuple[Any, dict[str, Any]]:
    """Return pseudo-counts, None without any, and what the header says of them."""
    where = (corpus, K, lda.sampler)
    seeds = seed_counts(*where, lda.seed_words, lda.seed_strength)
    ties = fixed_counts(*where, lda.fixed_topics, lda.fixed_strength)
    told: dict[str, Any] = {}
    if seeds is not None:
        told |= {"seed_words": in_brief(seeds), "seed_strength": lda.seed_strength}
    if ties is not None:
        told |= {"fixed_topics": in_brief(ties), "fixed_strength": lda.fixed_strength}
    parts = [part for part in (seeds, ties) if part is not None]
    return (sum(parts[1:], start=parts[0]) if parts else None), told


def check_whole(value: Any, name: str) -> None:
    """Refuse a number that is not whole, or below one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(
            f"The '{name}' parameter must be a whole number, at least 1. Got {value!r} instead."
        )


def says_stop(answer: Any) -> bool:
    """Tell whether a callback asks to end the training."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def as_callbacks(callbacks: Any) -> list[Callback]:
    """Return callbacks as a list, or refuse them."""
    if callbacks is None:
        return []
    several = isinstance(callbacks, Iterable) and not isinstance(callbacks, str)
    found = list(callbacks) if several else [callbacks]
    for callback in found:
        if not callable(callback):
            raise InputError(
                "The 'callbacks' parameter must be a function of (state, info), or several. "
                f"Got {callback!r} instead."
            )
    return found
