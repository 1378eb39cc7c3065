"""One training: its settings against a corpus, and what the loop, checkpoints and model need."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.backend import Backend
from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.base.threads import count_threads
from polyaurn.chain.priors import make_priors, prior_in_brief
from polyaurn.chain.samplers import AUTO, SAMPLERS, THREAD_FREE
from polyaurn.chain.schedule import AUTO_OF_0_1
from polyaurn.chain.state import Priors
from polyaurn.corpus.corpus import Corpus
from polyaurn.training.averages import Average
from polyaurn.training.checkpoints import Saved, describe_prior, of_this_version, run_in
from polyaurn.training.seeds import fixed_counts, in_brief, seed_counts
from polyaurn.training.settings import LEARN_EVERY, Settings
from polyaurn.training.sweeps import check_balls

_PRIORS = ("doc_topic_prior", "topic_word_prior")
_IN_MODEL = ("warm_start", "phi_refreshes", "mh_steps", "average_draws", "learn_priors_every")


class Run(NamedTuple):
    """One training.

    `priors` are as given, pseudo-counts of seeds included; `header` is what fixes the chain, to
    recognise it when it is resumed; `facts` are stored in the model. The device is part of neither:
    a chain is the same on any.
    """

    corpus: Corpus
    settings: Settings
    backend: Backend
    seed: int
    pseudo: Any
    priors: Priors
    header: dict[str, Any]
    facts: dict[str, Any]

    def with_seed(self, seed: int) -> "Run":
        """Return the same training with the seed of the run that is resumed."""
        header = self.header | {"random_state": seed}
        return self._replace(
            seed=seed, header=header, facts=self.facts | {"seed": seed, "run": header}
        )

    def average(self, saved: Saved | None = None) -> Average:
        """Return what averages the draws of the chain, as a checkpoint of the same length left it.

        A run that is made longer averages draws of its new end only.
        """
        settings = self.settings
        same = saved is not None and saved.run.get("max_iter") == settings.max_iter
        kept = saved.extra if same and saved is not None else None
        return Average(settings.average_draws, settings.max_iter, self.corpus.n_tokens, kept)

    @property
    def in_brief(self) -> str:
        """How the run samples, in the line before its first sweep."""
        settings = self.settings
        every = settings.learn_priors_every
        priors = f"priors learned every {every} sweeps" if every else "fixed priors"
        return f"Sampler {settings.sampler!r}, {settings.max_iter:,} sweeps, {priors}."

    @property
    def note(self) -> str:
        """A sentence where priors are learned by a sampler that biases them; else empty."""
        sampler = self.settings.sampler
        urn = SAMPLERS[sampler].draws_phi and SAMPLERS[sampler].law == "asymptotic"
        if not self.settings.learn_priors_every or not urn:
            return ""
        return (
            f"Priors learned with sampler {sampler!r} are biased, beta downwards and alpha "
            "upwards; sampler 'partitioned' does not bias them."
        )

    def of_chain(self) -> dict[str, Any]:
        """Return the parameters of `sweeps`."""
        return self.settings.of_chain() | {
            "random_state": self.seed, "device": self.backend.name, "pseudo_counts": self.pseudo,
        }  # fmt: skip


def make_run(estimator: Any, corpus: Corpus) -> Run:
    """Check an estimator's parameters against a corpus."""
    settings = _as_begun(Settings.of(estimator))
    backend = BACKENDS[check_device(settings.device, settings.sampler, stacklevel=4)]
    settings = settings.for_corpus(corpus.n_tokens, corpus.n_documents, backend.name)
    pseudo, seeding = _seeding(settings, corpus)
    alpha, beta = given = [getattr(settings, name) for name in _PRIORS]
    priors = make_priors(alpha, beta, settings.n_components, corpus.n_words, pseudo=pseudo)
    check_balls(priors, settings.sampler)
    header = _header(settings, corpus, seeding)
    facts = {
        "sampler": settings.sampler,
        "seed": settings.random_state,
        **{name: getattr(settings, name) for name in _IN_MODEL},
        **{name: prior_in_brief(prior) for name, prior in zip(_PRIORS, given, strict=True)},
        **seeding,
        "run": header,
    }
    if settings.seed_words is not None:
        facts["seed_words"] = {str(int(k)): list(v) for k, v in settings.seed_words.items()}
    return Run(corpus, settings, backend, settings.random_state, pseudo, priors, header, facts)


def _as_begun(settings: Settings) -> Settings:
    """Return the settings of the run that is resumed where they were left to us.

    What "auto" stands for may change from one version to the next; a run keeps what it began with.
    """
    if settings.checkpoint is None or not settings.resume:
        return settings
    found = run_in(settings.checkpoint)
    if found is None:
        return settings
    begun = of_this_version(found)
    changed: dict[str, Any] = {}
    if settings.sampler == AUTO and begun.get("sampler") in SAMPLERS:
        changed["sampler"] = begun["sampler"]
    if settings.warm_start in ("auto", False) and begun["warm_start"] == AUTO_OF_0_1:
        changed["warm_start"] = AUTO_OF_0_1
    if "average_draws" not in found:  # of version 0.1, which took one draw of fixed priors
        if settings.average_draws == "auto":
            changed["average_draws"] = 1
        if settings.learn_priors_every == LEARN_EVERY:
            changed["learn_priors_every"] = begun.get("learn_priors_every", 0)
    return replace(settings, **changed)


def _header(settings: Settings, corpus: Corpus, seeding: dict[str, Any]) -> dict[str, Any]:
    """Return what fixes a chain, ready for JSON."""
    values = settings.that_fix_the_chain()
    header = {name: v.item() if isinstance(v, np.generic) else v for name, v in values.items()}
    header |= {name: describe_prior(header[name]) for name in _PRIORS} | seeding
    if settings.sampler not in THREAD_FREE:
        header["n_jobs"] = count_threads(settings.n_jobs)
    return header | {"corpus": repr(corpus), "corpus_sha256": corpus.fingerprint}


def _seeding(settings: Settings, corpus: Corpus) -> tuple[Any, dict[str, Any]]:
    """Return pseudo-counts, None without any, and what the header says about them."""
    where = (corpus, settings.n_components, settings.sampler)
    seeds = seed_counts(*where, settings.seed_words, settings.seed_strength)
    ties = fixed_counts(*where, settings.fixed_topics, settings.fixed_strength)
    said: dict[str, Any] = {}
    if seeds is not None:
        said |= {"seed_words": in_brief(seeds), "seed_strength": settings.seed_strength}
    if ties is not None:
        said |= {"fixed_topics": in_brief(ties), "fixed_strength": settings.fixed_strength}
    parts = [part for part in (seeds, ties) if part is not None]
    return (sum(parts[1:], start=parts[0]) if parts else None), said
