"""The parameters of an estimator, from what a model says of its training."""

from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import is_whole
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.chain.schedule import FULL
from polyaurn.model.model import TopicModel
from polyaurn.training.checkpoints import describe_prior, of_this_version
from polyaurn.training.settings import SETTINGS, Settings

WEIGHT_SCALE = "weight_scale"  # among the model's parameters, where weights were scaled
_PRIORS = {"doc_topic_prior": "alpha", "topic_word_prior": "beta"}


def parameters_of(model: TopicModel) -> dict[str, Any]:
    """Return the parameters of `LDA` that a model was trained with, as far as it says.

    Those that do not change the topics, such as threads, are left at their defaults.
    """
    facts = model.parameters
    run = facts.get("run")
    said = of_this_version(run) if isinstance(run, dict) else dict(facts)
    found = {name: said[name] for name, s in SETTINGS.items() if s.fixes_chain and name in said}
    found |= {name: _prior(found, model, name) for name in _PRIORS}
    most = found.pop("n_components", model.n_topics)  # topics of an HDP need not all be in use
    found["max_components"], found["n_components"] = most, model.n_topics
    found["random_state"] = seed_of(model)
    found.setdefault("max_iter", max(1, int(facts.get("sweeps", 1))))
    for name, value in found.items():  # JSON has no pairs
        if isinstance(value, list) and isinstance(getattr(Settings, name, None), tuple):
            found[name] = tuple(value)
    if found.get("sampler") not in SAMPLERS:
        found.pop("sampler", None)
    seeds = facts.get("seed_words")
    if isinstance(seeds, dict):
        found["seed_words"] = {int(k): list(words) for k, words in seeds.items()}
        found["seed_strength"] = facts.get("seed_strength", "auto")
    return found


def facts_of_training(
    facts: dict[str, Any], trace: list[dict[str, Any]], weight_scale: float
) -> dict[str, Any]:
    """Return what a model says of a training: its facts, and where and with what weights it was."""
    phase = trace[-1]["phase"] if trace else FULL
    scaled = {} if weight_scale == 1.0 else {WEIGHT_SCALE: weight_scale}
    return facts | ({} if phase == FULL else {"stopped_in": phase}) | scaled


def seed_of(model: TopicModel) -> int:
    """Return the seed of a model's training; 0 where it does not say."""
    seed: Any = model.parameters.get("seed")
    return int(seed) if is_whole(seed) else 0


def _prior(said: dict[str, Any], model: TopicModel, name: str) -> Any:
    """Return a prior as it was given; as the model has it where only that is known."""
    stated = said.get(name)
    if isinstance(stated, float | int):
        return float(stated)
    prior: F64 = getattr(model.priors, _PRIORS[name])
    if isinstance(stated, str) and stated == describe_prior(prior):
        return prior
    return float(prior[0]) if np.all(prior == prior[0]) else prior
