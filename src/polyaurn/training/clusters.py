"""A training of document clusters: its parameters against a corpus, and its sweeps."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from polyaurn.backends.cpu.clusters import Steps
from polyaurn.backends.registry import ALWAYS, BACKENDS
from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import is_number, wrong
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain.loop import begin, chain, resume
from polyaurn.chain.priors import LEAST, MOST, make_priors
from polyaurn.chain.state import Halt, Info, Priors, State, check_start, check_topics
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.clusters import Clusters
from polyaurn.training.averages import AverageOfDocuments
from polyaurn.training.checkpoints import Saved
from polyaurn.training.run import Run
from polyaurn.training.settings import Settings
from polyaurn.training.sweeps import warm_up

MODEL, CLUSTERS = "model_kind", "clusters"  # in headers of runs, and in models
DRAWS = "cluster_draws"  # in models: how many draws the clusters of documents are from
NAMES = {"n_components": "n_clusters", "doc_topic_prior": "cluster_prior",
         "topic_word_prior": "word_prior"}  # fmt: skip
_ALWAYS = {"sampler": "collapsed", "warm_start": "random"}  # of the settings of LDA
MOST_BETA = 0.1  # that is taken where none is given: GSDMM's usual value
PSEUDO, FIRST_PSEUDO = 1 / 2, 1 / 8  # tokens that beta adds, of those of a cluster: most, at first
SPREAD_SWEEPS = 10  # in which beta grows from one to the other


class ClusterRun(Run):
    """One training of document clusters; its settings are those of LDA as far as they apply."""

    def start(self) -> Halt | None:
        """Return None: first clusters are drawn uniformly."""
        return None

    def average(self, saved: Saved | None = None) -> AverageOfDocuments:
        """Return what counts the draws of each document's cluster."""
        settings = self.settings
        same = saved is not None and saved.run.get("max_iter") == settings.max_iter
        kept = saved.extra if same and saved is not None else None
        return AverageOfDocuments(settings.average_draws, settings.max_iter, self.corpus, kept)

    @property
    def in_brief(self) -> str:
        """How the run samples, in the line before its first sweep."""
        settings = self.settings
        every = settings.learn_priors_every
        beta = float(self.priors.beta.mean())
        priors = f"priors learned every {every} sweeps" if every else f"beta = {beta:.3g}"
        return (
            f"At most {settings.n_components:,} clusters, {settings.max_iter:,} sweeps, {priors}."
        )

    @property
    def note(self) -> str:
        """Return nothing: there is nothing to warn of."""
        return ""

    def sweeps(
        self, start: Halt | None, on_compile: Callable[[], None]
    ) -> Iterator[tuple[State, Info]]:
        """Iterate over the sweeps of the chain from where it is."""
        settings, corpus, learn = self.settings, self.corpus, self.settings.learn_priors_every
        schedule = settings.schedule(corpus.n_tokens, corpus.n_words, settings.max_iter)
        schedule = schedule._replace(beta=math.inf)  # beta is learned after the start only
        if self.header["word_prior"] is None:
            first = word_prior(corpus, settings.n_components, FIRST_PSEUDO)
            spread = min(SPREAD_SWEEPS, settings.max_iter // 4)
            schedule = schedule._replace(annealed=spread, heat=first / settings.topic_word_prior)
        if start is not None:
            check_start(start, corpus, settings.n_components)
        with Workers(count_threads(settings.n_jobs)) as workers:
            warm_up(Steps, on_compile, learns=learn > 0)
            steps = Steps(corpus, settings.n_components, workers, learn_every=learn)
            if start is None:
                state = begin(steps, self.priors, schedule, self.seed)
            else:
                state = resume(steps, self.priors, start)
            yield from chain(
                corpus, steps, state, schedule, seed=self.seed, law="exact",
                max_iter=settings.max_iter, evaluate_every=settings.evaluate_every,
            )  # fmt: skip

    def state_of(self, halt: Halt) -> State:
        """Return the state of the chain where it halted."""
        check_start(halt, self.corpus, self.settings.n_components)
        with Workers(count_threads(self.settings.n_jobs)) as workers:
            return resume(
                Steps(self.corpus, self.settings.n_components, workers), self.priors, halt
            )


def make_cluster_run(given: dict[str, Any], corpus: Corpus) -> ClusterRun:
    """Check parameters against a corpus; they have the names of `Settings`."""
    settings = check_cluster_settings(given)
    chosen = given["topic_word_prior"] is None
    if chosen:
        settings = replace(settings, topic_word_prior=word_prior(corpus, settings.n_components))
    priors = make_priors(
        settings.doc_topic_prior, settings.topic_word_prior, settings.n_components, corpus.n_words
    )
    named = given.keys() | _ALWAYS
    values = {n: v for n, v in settings.that_fix_the_chain().items() if n in named}
    plain = {NAMES.get(name, name): v.item() if isinstance(v, np.generic) else v
             for name, v in values.items()}  # fmt: skip
    if chosen:
        plain["word_prior"] = None
    header = {MODEL: CLUSTERS} | plain
    header |= {"corpus": repr(corpus), "corpus_sha256": corpus.fingerprint}
    facts = {
        MODEL: CLUSTERS,
        "seed": settings.random_state,
        **{name: plain[name] for name in plain if name not in ("max_iter", "random_state")},
        "run": header,
    }
    return ClusterRun(
        corpus, settings, BACKENDS[ALWAYS], settings.random_state, None, priors, header, facts
    )


def word_prior(corpus: Corpus, n_clusters: int, pseudo: float = PSEUDO) -> float:
    """Return beta where none is given: small enough that what it adds does not merge clusters.

    A cluster begins with V beta tokens of nothing. With more of these than of its own all clusters
    look alike. So they are at most `pseudo` times the tokens of a cluster of mean size.
    """
    most = pseudo * corpus.n_tokens / (max(1, corpus.n_words) * n_clusters)
    return min(MOST_BETA, max(LEAST, most))


def check_cluster_settings(given: dict[str, Any]) -> Settings:
    """Return checked parameters, which have the names of `Settings`; beta may be None."""
    if given["topic_word_prior"] is None:
        given = given | {"topic_word_prior": MOST_BETA}
    check_topics(given["n_components"], NAMES["n_components"], "cluster")
    for name in ("doc_topic_prior", "topic_word_prior"):
        if not is_number(given[name]) or not LEAST <= given[name] <= MOST:
            expected = f"a number from {LEAST:g} to {MOST:,.0f}"
            raise wrong(NAMES[name], expected, given[name], "0.1 is usual")
    given = given | {name: float(given[name]) for name in ("doc_topic_prior", "topic_word_prior")}
    return Settings(**(given | _ALWAYS))


def halt_of_clusters(
    clusters: Clusters, lengths: I64, sweep: int, beta: F64, *, learned: bool
) -> Halt:
    """Return where the chain of a model of clusters ended."""
    priors = None
    if learned:
        alpha = np.full(len(clusters.topic), clusters.alpha)
        alpha.flags.writeable = False
        priors = Priors(alpha, beta, learned=True)
    return Halt(np.repeat(clusters.last, lengths), sweep, priors=priors)
