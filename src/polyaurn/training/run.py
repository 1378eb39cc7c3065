"""One training: its settings for a corpus, and what the loop, checkpoints and model need."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.backend import Backend
from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.base.errors import DeviceError
from polyaurn.base.rng import chain_seed
from polyaurn.base.threads import count_threads
from polyaurn.chain.hdp import LARGE
from polyaurn.chain.priors import prior_in_brief
from polyaurn.chain.samplers import AUTO, COLLAPSED_START, SAMPLERS, THREAD_FREE, unbiased_on
from polyaurn.chain.schedule import AUTO_OF_0_1, WARM_STARTS
from polyaurn.chain.state import Halt, Info, Priors, State, halt_of, on_host, to_host
from polyaurn.corpus.corpus import Corpus
from polyaurn.training.averages import Average
from polyaurn.training.checkpoints import Saved, describe_prior, of_this_version, run_in
from polyaurn.training.seeds import fixed_counts, in_brief, seed_counts
from polyaurn.training.settings import HDP_MODEL, LEARN_EVERY, SETTINGS, Settings
from polyaurn.training.sweeps import check_balls, state_of, sweeps
from polyaurn.training.updates import Earlier

_PRIORS = ("doc_topic_prior", "topic_word_prior")
_IN_MODEL = ("warm_start", "phi_refreshes", "mh_steps", "average_draws", "learn_priors_every")
# A model that is updated keeps the weights of its topics
_OF_LDA = {name: getattr(Settings, name) for name, s in SETTINGS.items() if s.of_hdp}


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
    earlier: Earlier | None = None

    def start(self) -> Halt | None:
        """Return where the chain starts; None where topics are drawn uniformly."""
        return self.earlier.start(self.corpus, self.seed_of_chain) if self.earlier else None

    @property
    def seed_of_chain(self) -> int:
        """The seed of its random numbers: an update with those before it would repeat errors."""
        return chain_seed(self.seed, self.earlier.number) if self.earlier else self.seed

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

    def sweeps(
        self, start: Halt | None, on_compile: Callable[[], None]
    ) -> Iterator[tuple[State, Info]]:
        """Iterate over the sweeps of the chain from where it is."""
        return sweeps(self.corpus, start=start, on_compile=on_compile, **self.of_chain())

    def state_of(self, halt: Halt) -> State:
        """Return the state of the chain where it halted."""
        settings = self.settings
        return state_of(self.corpus, halt, self.priors, settings.sampler, settings.n_jobs)

    @property
    def in_brief(self) -> str:
        """How the run samples, in the line before its first sweep."""
        settings = self.settings
        every = settings.learn_priors_every
        priors = f"priors learned every {every} sweeps" if every else "fixed priors"
        if settings.model == HDP_MODEL:
            priors = f"at most {settings.n_components:,} topics, their weights drawn every sweep"
        sizes = (self.corpus.n_tokens, self.corpus.n_words)
        collapsed = settings.schedule(*sizes, settings.max_iter).collapsed
        elsewhere = ""
        if collapsed and self.backend.name not in SAMPLERS[COLLAPSED_START].backends:
            elsewhere = f" (the first {collapsed:,}, a collapsed start, on the CPU)"
        return f"Sampler {settings.sampler!r}, {settings.max_iter:,} sweeps{elsewhere}, {priors}."

    @property
    def note(self) -> str:
        """A sentence where a sampler biases priors that are learned; else empty."""
        sampler, unbiased = self.settings.sampler, unbiased_on(self.backend.name)
        drawn = self.settings.model == HDP_MODEL
        if drawn or not SAMPLERS[sampler].is_urn or not self.settings.learn_priors_every:
            return ""
        return (
            f"Priors learned with sampler {sampler!r} are biased, beta downwards and alpha "
            f"upwards; sampler {unbiased!r} does not bias them."
        )

    @property
    def note_of_weights(self) -> str:
        """A sentence where a sampler biases weights of topics that are drawn; else empty."""
        sampler, unbiased = self.settings.sampler, unbiased_on(self.backend.name)
        if not SAMPLERS[sampler].is_urn or self.settings.model != HDP_MODEL:
            return ""
        return (
            f"Weights of topics, alpha and gamma that are drawn with sampler {sampler!r} are "
            f"biased; sampler {unbiased!r} does not bias them."
        )

    def with_topics(self, info: Info, state: State) -> Info:
        """Return what a sweep reports with the number of topics, in an update of an HDP."""
        gamma = self.earlier.gamma if self.earlier else None
        if gamma is None:
            return info
        counts = to_host(state.counts)
        sizes = np.bincount(counts.topic, counts.number)
        large = int((sizes > LARGE * sizes.sum()).sum())
        return info._replace(gamma=gamma, topics=int((sizes > 0).sum()), large_topics=large)

    def of_chain(self) -> dict[str, Any]:
        """Return the parameters of `sweeps`."""
        return self.settings.of_chain() | {
            "random_state": self.seed_of_chain, "device": self.backend.name,
            "pseudo_counts": self.pseudo,
        }  # fmt: skip


def make_run(
    estimator: Any, corpus: Corpus, earlier: Earlier | None = None, max_iter: int | None = None
) -> Run:
    """Check an estimator's parameters against a corpus; an earlier model may come with it."""
    settings = Settings.of(estimator)
    begun = _run_to_resume(settings)
    settings = _as_begun(settings, begun)
    if earlier is not None:
        settings = replace(
            settings, n_components=len(earlier.alpha), doc_topic_prior=earlier.alpha,
            topic_word_prior=earlier.beta, max_iter=max_iter or settings.max_iter,
            warm_start="random", seed_words=None, fixed_topics=None,
            learn_priors_every=settings.learn_priors_every if earlier.learns else 0,
            **_OF_LDA,
        )  # fmt: skip
    backend = BACKENDS[check_device(settings.device, settings.sampler, stacklevel=4)]
    settings = settings.for_corpus(corpus.n_tokens, corpus.n_documents, backend.name)
    if begun is None:
        settings = settings.with_start_on_shards(corpus.n_tokens)
    pseudo, seeding = _seeding(settings, corpus)
    if earlier is not None:
        pseudo, seeding = earlier.pseudo, earlier.said
    given = [getattr(settings, name) for name in _PRIORS]
    priors = settings.priors(corpus.n_words, pseudo)
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
    if settings.model == HDP_MODEL:
        facts |= {name: header[name] for name, s in SETTINGS.items() if s.of_hdp}
    if settings.seed_words is not None:
        facts["seed_words"] = {str(int(k)): list(v) for k, v in settings.seed_words.items()}
    if earlier is not None:
        facts |= earlier.facts
    return Run(
        corpus, settings, backend, settings.random_state, pseudo, priors, header, facts, earlier
    )


def _run_to_resume(settings: Settings) -> dict[str, Any] | None:
    """Return the header of the run that is resumed; None for a new run."""
    if settings.checkpoint is None or not settings.resume:
        return None
    return run_in(settings.checkpoint)


def _as_begun(settings: Settings, found: dict[str, Any] | None) -> Settings:
    """Return the settings with what "auto" stood for when the run that is resumed began.

    What "auto" stands for may change from one version to the next, and from one machine to a
    cluster; a run keeps what it began with.
    """
    if found is None:
        return settings
    begun = of_this_version(found)
    changed: dict[str, Any] = {}
    if settings.sampler == AUTO and begun.get("sampler") in SAMPLERS:
        changed["sampler"] = begun["sampler"]
    start = begun.get("warm_start")
    if settings.warm_start in (AUTO, False) and start in (AUTO_OF_0_1, *WARM_STARTS):
        changed["warm_start"] = start
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
    header |= {name: list(v) for name, v in values.items() if isinstance(v, tuple)}
    header |= {name: describe_prior(header[name]) for name in _PRIORS} | seeding
    if settings.sampler not in THREAD_FREE:
        header["n_jobs"] = count_threads(settings.n_jobs)
    return header | {"corpus": repr(corpus), "corpus_sha256": corpus.fingerprint}


def _seeding(settings: Settings, corpus: Corpus) -> tuple[Any, dict[str, Any]]:
    """Return pseudo-counts, None without any, and what the header says about them."""
    where = (corpus, settings.n_components)
    seeds = seed_counts(*where, settings.seed_words, settings.seed_strength)
    ties = fixed_counts(*where, settings.fixed_topics, settings.fixed_strength)
    said: dict[str, Any] = {}
    if seeds is not None:
        said |= {"seed_words": in_brief(seeds), "seed_strength": settings.seed_strength}
    if ties is not None:
        said |= {"fixed_topics": in_brief(ties), "fixed_strength": settings.fixed_strength}
    parts = [part for part in (seeds, ties) if part is not None]
    return (sum(parts[1:], start=parts[0]) if parts else None), said


def gathered(run: Run, state: State, *, n_jobs: Any) -> State:
    """Return a state on the host, its counts counted again where the GPU cannot gather them."""
    try:
        return on_host(state)
    except DeviceError:  # topics can be had even where there is no memory to gather counts
        return state_of(run.corpus, halt_of(state), run.priors, run.settings.sampler, n_jobs)
