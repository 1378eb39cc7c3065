"""Every parameter of a training, once: its default, its check, and the sentence of its help.

`LDA`, `sweeps`, the command line, config files, headers of runs and the topic grid take their
parameters from here, or are held against it by a test. Checks import what they need when they run,
so that the command line's help is immediate.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyaurn.base.checks import (
    check_flag,
    check_number,
    check_one_of,
    check_path,
    check_whole,
    wrong,
)
from polyaurn.base.errors import InputError
from polyaurn.chain.samplers import (
    AUTO,
    DEFAULT_SAMPLER,
    SAMPLERS,
    check_proposals,
    check_sampler,
    choose_sampler,
    gains_from_collapsed_start,
    samplers_in_brief,
)
from polyaurn.training.option_values import number_or_file, number_or_word, pair, seed_file

if TYPE_CHECKING:
    from polyaurn.chain.hdp import HDP
    from polyaurn.chain.schedule import Schedule
    from polyaurn.chain.state import Priors

LDA_MODEL, HDP_MODEL = "lda", "hdp"
MODELS = (LDA_MODEL, HDP_MODEL)
LEARN_EVERY = 10  # sweeps
START_TOPICS = 100  # of a hierarchical Dirichlet process
UPDATE_SWEEPS = 60  # of new documents that continue a model, whose topics are there already
FIXED_STRENGTH = 1_000_000  # tokens of each topic of an earlier model


@dataclass(frozen=True)
class Setting:
    """What is known about a parameter besides its name, type and default.

    `option` is its name at the command line, empty where it has none; `kind` and `parse` say what
    the command line takes and how that becomes the parameter's value; `choices` are words to
    complete. `fixes_chain` says that it is written into a run's header and must be the same when
    the run is resumed, `of_chain` that `sweeps` takes it, `of_hdp` that only a hierarchical
    Dirichlet process has it.
    """

    check: Callable[[Any], Any]
    about: str
    option: str = ""
    short: str = ""
    kind: Any = str
    parse: Callable[[Any], Any] = lambda value: value
    choices: tuple[str, ...] = ()
    fixes_chain: bool = False
    of_chain: bool = False
    of_hdp: bool = False


def setting(default: Any, check: Callable[[Any], Any], about: str, **more: Any) -> Any:
    """Return a field of `Settings`."""
    return field(default=default, metadata={"setting": Setting(check, about, **more)})


def _topics(value: Any) -> int:
    from polyaurn.chain.state import check_topics

    return check_topics(value)


def _sweeps(name: str, least: int) -> Callable[[Any], int]:
    return lambda value: check_whole(value, name, least, of="sweeps")


def _seed(value: Any) -> int:
    from polyaurn.base.rng import check_seed

    return check_seed(value)


def _threads(value: Any) -> Any:
    from polyaurn.base.threads import count_threads

    count_threads(value)
    return value


def _device(value: Any) -> Any:
    from polyaurn.backends.registry import DEVICES
    from polyaurn.base.checks import check_one_of

    return check_one_of(value, "device", DEVICES)


def _cluster(value: Any) -> str | None:
    from polyaurn.backends.sharded.registry import check_cluster

    return check_cluster(value, None, None)


def _workers(value: Any) -> int | None:
    from polyaurn.backends.sharded.registry import check_workers

    return check_workers(value)


def _address(value: Any) -> str | None:
    from polyaurn.backends.sharded.registry import check_address

    return check_address(value)


def _warm_start(value: Any) -> Any:
    from polyaurn.chain.schedule import check_warm_start

    return check_warm_start(value)


def _refreshes(value: Any) -> int | str:
    from polyaurn.chain.schedule import check_phi_refreshes

    return check_phi_refreshes(value)


def _proposals(value: Any) -> int | None:
    return value if value is None else check_proposals(list(SAMPLERS), value)


def _strength(name: str, *, auto: bool) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        from polyaurn.training.seeds import check_strength

        return check_strength(value, name, auto=auto)

    return check


def _model(value: Any) -> str:
    return check_one_of(value, "model", MODELS)


def _weights(value: Any) -> str:
    from polyaurn.chain.hdp import WEIGHTS

    return check_one_of(value, "topic_weights", WEIGHTS)


def _gamma_prior(name: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        from polyaurn.chain.hdp import check_gamma_prior

        return check_gamma_prior(value, name)

    return check


def _start_topics(value: Any) -> int | None:
    if value is None:
        return None
    return check_whole(value, "start_topics", 1, remedy="None starts with 100")


def _average(value: Any) -> int | str:
    from polyaurn.training.averages import check_average

    return check_average(value)


def _every(value: Any) -> Any:
    from polyaurn.training.checkpoints import read_every

    read_every(value)
    return value


def _folder(value: Any) -> Path | None:
    return value if value is None else check_path(value, "checkpoint", remedy="name a folder")


def _callbacks(value: Any) -> list[Callable[..., Any]]:
    if value is None:
        return []
    several = isinstance(value, Iterable) and not isinstance(value, str)
    found = list(value) if several else [value]
    for callback in found:
        if not callable(callback):
            raise wrong("callbacks", "a function of (state, info), or several", callback)
    return found


def _flag(name: str) -> Callable[[Any], bool]:
    return lambda value: check_flag(value, name)


def _as_given(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Settings:
    """The parameters of a training, checked each by itself and together."""

    n_components: int = setting(
        100, _topics, "Number of topics, K.",
        option="topics", short="-k", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    doc_topic_prior: Any = setting(
        0.1, _as_given,
        "Prior of topics in a document: a number, '50/K' for 50 divided by K, or a file of K "
        "numbers.",
        option="alpha", parse=number_or_file("--alpha"), fixes_chain=True, of_chain=True,
    )  # fmt: skip
    topic_word_prior: Any = setting(
        0.01, _as_given,
        "Prior of words in a topic: a number, or a file of V numbers.",
        option="beta", parse=number_or_file("--beta"), fixes_chain=True, of_chain=True,
    )  # fmt: skip
    max_iter: int = setting(
        1000, _sweeps("max_iter", 1), "Sweeps over the corpus.",
        option="sweeps", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    sampler: str = setting(
        DEFAULT_SAMPLER, check_sampler, f"How topics are sampled: {samplers_in_brief()}.",
        option="sampler", choices=(AUTO, *SAMPLERS), fixes_chain=True, of_chain=True,
    )  # fmt: skip
    random_state: Any = setting(
        0, _seed, "The seed: the same seed gives the same model.",
        option="seed", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    n_jobs: int | None = setting(
        -1, _threads, "Threads; -1 takes all cores. The model does not depend on it, except with "
        "samplers that are approximate on several threads.",
        option="threads", short="-t", kind=int, of_chain=True,
    )  # fmt: skip
    device: str = setting(
        "cpu", _device,
        "'cpu', 'gpu' (NVIDIA), or 'auto': a GPU where there is one. The result is the same.",
        option="device", choices=("cpu", "gpu", "auto"), of_chain=True,
    )  # fmt: skip
    cluster: str | None = setting(
        None, _cluster,
        "Share the work among several workers: 'local' (processes on this machine), 'ray' or "
        "'mpi'. The result is that of one machine with the same sampler and start.",
        option="cluster", kind=str | None, choices=("local", "ray", "mpi"),
    )  # fmt: skip
    n_workers: int | None = setting(
        None, _workers, "Workers of the cluster; by default as many as there is room for.",
        option="workers", kind=int | None,
    )  # fmt: skip
    cluster_address: str | None = setting(
        None, _address, "Address of the cluster, such as 'auto' for the Ray cluster of this node.",
        option="address", kind=str | None,
    )  # fmt: skip
    evaluate_every: int = setting(
        10, _sweeps("evaluate_every", 0),
        "Compute the log posterior every so many sweeps; 0 for never.",
        option="eval_every", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    warm_start: str | bool = setting(
        "auto", _warm_start,
        "'anneal' begins with a larger beta and lowers it, 'collapsed' does so by collapsed "
        "sampling, which the sampler continues from, 'grow' begins on few documents, "
        "'random' with neither; 'auto' chooses. 'smooth' is annealing as in version 0.1.",
        option="warm_start", choices=("auto", "anneal", "collapsed", "grow", "smooth", "random"),
        fixes_chain=True,
        of_chain=True,
    )  # fmt: skip
    phi_refreshes: int | str = setting(
        "auto", _refreshes, "Draws of Phi per sweep, 1 to 8; 'auto' chooses.",
        option="phi_refreshes", parse=number_or_word, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    mh_steps: int | None = setting(
        None, _proposals,
        "Pairs of Metropolis-Hastings proposals per token, where a sampler proposes.",
        option="mh_steps", kind=int | None, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    average_draws: int | str = setting(
        "auto", _average,
        "Draws of the end of the chain whose counts are averaged; 1 takes the last one.",
        option="average_draws", parse=number_or_word, fixes_chain=True,
    )  # fmt: skip
    learn_priors_every: int = setting(
        LEARN_EVERY, _sweeps("learn_priors_every", 0),
        "Learn alpha and beta every so many sweeps; 0 keeps them.",
        option="learn_priors_every", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    model: str = setting(
        LDA_MODEL, _model,
        "'lda'; 'hdp', a hierarchical Dirichlet process: --topics is the most it may use, and "
        "--alpha the concentration of all topics together; or 'clusters', one topic for each "
        "document: --topics is the most clusters.",
        option="model", choices=(*MODELS, "clusters"), fixes_chain=True, of_chain=True, of_hdp=True,
    )  # fmt: skip
    gamma: float = setting(
        1.0, lambda value: check_number(value, "gamma"),
        "Concentration of the weights of topics, with --model hdp.",
        option="gamma", kind=float, fixes_chain=True, of_chain=True, of_hdp=True,
    )  # fmt: skip
    alpha_prior: Any = setting(
        (1.0, 1.0), _gamma_prior("alpha_prior"),
        "Shape and rate of the gamma prior of alpha, with --model hdp; 'none' keeps alpha.",
        option="alpha_prior", parse=pair, fixes_chain=True, of_chain=True, of_hdp=True,
    )  # fmt: skip
    gamma_prior: Any = setting(
        (1.0, 1.0), _gamma_prior("gamma_prior"),
        "Shape and rate of the gamma prior of gamma, with --model hdp; 'none' keeps gamma.",
        option="gamma_prior", parse=pair, fixes_chain=True, of_chain=True, of_hdp=True,
    )  # fmt: skip
    topic_weights: str = setting(
        "dirichlet", _weights,
        "Prior of the weights of topics, with --model hdp: 'dirichlet', or 'sticks' for stick "
        "breaking.",
        option="topic_weights", choices=("dirichlet", "sticks"),
        fixes_chain=True, of_chain=True, of_hdp=True,
    )  # fmt: skip
    start_topics: int | None = setting(
        None, _start_topics,
        "Topics that tokens are spread over at first, with --model hdp; 100 when not given.",
        option="start_topics", kind=int | None, fixes_chain=True, of_chain=True, of_hdp=True,
    )  # fmt: skip
    seed_words: Mapping[int, Iterable[str]] | None = setting(
        None, _as_given, "File of words that topics should hold; lines such as '3: orbit nasa'.",
        option="seed_words", kind=Path | None, parse=seed_file,
    )  # fmt: skip
    seed_strength: int | str = setting(
        "auto", _strength("seed_strength", auto=True),
        "Tokens of a topic's seed words; 'auto' is a tenth of a topic.",
        option="seed_strength", parse=number_or_word,
    )  # fmt: skip
    fixed_topics: Any = setting(None, _as_given, "An earlier model whose topics are kept.")
    fixed_strength: int = setting(
        FIXED_STRENGTH, _strength("fixed_strength", auto=False),
        "Tokens of each topic of the earlier model.",
    )  # fmt: skip
    checkpoint: Path | None = setting(None, _folder, "Folder in which the run is kept.")
    checkpoint_every: int | str = setting(
        "auto", _every,
        "Sweeps between checkpoints, or a time: '30s', '5min', '1h'; 'auto' is a minute.",
        option="checkpoint_every",
    )  # fmt: skip
    resume: bool = setting(
        False, _flag("resume"), "Resume from the newest checkpoint, if there is one."
    )
    callbacks: Any = setting(None, _callbacks, "Functions called after every sweep.")
    verbose: bool = setting(True, _flag("verbose"), "Show progress at a terminal and in notebooks.")

    def __post_init__(self) -> None:
        for name, known in SETTINGS.items():
            object.__setattr__(self, name, known.check(getattr(self, name)))
        from polyaurn.backends.sharded.registry import check_cluster

        check_cluster(self.cluster, self.n_workers, self.cluster_address)
        if self.mh_steps is not None:
            check_proposals([self.sampler], self.mh_steps)
        from polyaurn.chain.priors import by_topics

        if self.model != HDP_MODEL:
            alpha = by_topics(self.doc_topic_prior, self.n_components)
            object.__setattr__(self, "doc_topic_prior", alpha)
        self._check_model()
        self.priors(None)
        self.schedule(1, 1, self.max_iter)

    def _check_model(self) -> None:
        if self.model == HDP_MODEL:
            check_number(
                self.doc_topic_prior, "doc_topic_prior",
                remedy="it is the concentration of all topics together",
            )  # fmt: skip
            if (self.start_topics or 1) > self.n_components:
                raise wrong(
                    "start_topics", f"at most {self.n_components:,}, the most topics there may be",
                    self.start_topics, "start with fewer, or allow more",
                )  # fmt: skip
            return
        for name, known in SETTINGS.items():
            if known.of_hdp and getattr(self, name) != getattr(Settings, name):
                raise wrong(
                    name, "left as it is for model 'lda'", getattr(self, name),
                    "take polyaurn.HDP (--model hdp)",
                )  # fmt: skip

    @classmethod
    def of(cls, estimator: Any) -> "Settings":
        """Return the checked parameters of an estimator; priors of None are 1 / K.

        Of a hierarchical Dirichlet process only beta may be None: its alpha is that of all topics.
        """
        from polyaurn.chain.state import check_topics

        given = {name: getattr(estimator, name) for name in SETTINGS if hasattr(estimator, name)}
        hdp = given.get("model") == HDP_MODEL
        K = check_topics(given["n_components"], "max_components" if hdp else "n_components")
        for name in ("topic_word_prior",) if hdp else ("doc_topic_prior", "topic_word_prior"):
            given[name] = 1 / K if given[name] is None else given[name]
        return cls(**given)

    def for_corpus(self, n_tokens: int, n_documents: int, backend: str) -> "Settings":
        """Return the settings with the sampler that "auto" stands for on a corpus."""
        chosen = choose_sampler(
            self.sampler, n_tokens=n_tokens, n_documents=n_documents, n_topics=self.n_components,
            backend=backend, warm_start=self.warm_start, phi_refreshes=self.phi_refreshes,
            learns=bool(self.learn_priors_every), hdp=self.model == HDP_MODEL,
            on_shards=self.cluster is not None,
        )  # fmt: skip
        return self if chosen == self.sampler else replace(self, sampler=chosen)

    def with_start_on_shards(self, n_tokens: int) -> "Settings":
        """Return the settings with an annealed start where "auto" stands for a collapsed one."""
        automatic = self.cluster is not None and self.warm_start in (AUTO, False)
        if not automatic or not gains_from_collapsed_start(
            self.sampler, n_tokens, self.n_components
        ):
            return self
        return replace(self, warm_start="anneal")

    def priors(self, n_words: int | None, pseudo: Any = None) -> "Priors":
        """Return the priors that a chain begins with."""
        from polyaurn.chain.hdp import first_top
        from polyaurn.chain.priors import make_priors

        K = self.n_components
        priors = make_priors(self.doc_topic_prior, self.topic_word_prior, K, n_words, pseudo=pseudo)
        if self.model != HDP_MODEL:
            return priors
        start = self.first_topics or K
        alpha, top = first_top(float(self.doc_topic_prior), self.gamma, K, start)
        return priors._replace(alpha=alpha, top=top)

    @property
    def first_topics(self) -> int | None:
        """How many topics have tokens when a chain begins; None where all have."""
        if self.model != HDP_MODEL:
            return None
        return self.start_topics or min(START_TOPICS, self.n_components)

    @property
    def hdp(self) -> "HDP | None":
        """How priors of a hierarchical Dirichlet process are drawn; None for another model."""
        from polyaurn.chain.hdp import HDP

        if self.model != HDP_MODEL:
            return None
        return HDP(self.topic_weights, self.alpha_prior, self.gamma_prior, self.first_topics)

    def schedule(
        self, n_tokens: int, n_words: int, max_iter: int | None, beta: float = 0.01
    ) -> "Schedule":
        """Return what each sweep does on a corpus of this size."""
        from polyaurn.chain.schedule import make_schedule

        return make_schedule(
            self.warm_start, self.phi_refreshes, n_tokens=n_tokens, n_words=n_words,
            n_topics=self.n_components, start_topics=self.first_topics, max_iter=max_iter,
            sampler=self.sampler, beta=beta,
            learns=bool(self.learn_priors_every),
        )  # fmt: skip

    def check_no_cluster(self, what: str) -> None:
        """Reject a cluster for what only one process does."""
        if self.cluster is not None:
            raise InputError(
                f"The 'cluster' parameter must be left out for {what}. Got {self.cluster!r}; only "
                "'fit', scores and mixtures of documents are shared among workers."
            )

    def of_chain(self) -> dict[str, Any]:
        """Return the parameters of `sweeps`."""
        return {name: getattr(self, name) for name, s in SETTINGS.items() if s.of_chain}

    def that_fix_the_chain(self) -> dict[str, Any]:
        """Return the parameters that a run's header has and a resumed run must repeat."""
        hdp = self.model == HDP_MODEL
        names = [name for name, s in SETTINGS.items() if s.fixes_chain and (hdp or not s.of_hdp)]
        return {name: getattr(self, name) for name in names}


SETTINGS: dict[str, Setting] = {f.name: f.metadata["setting"] for f in fields(Settings)}
OPTIONS = {name: f"--{s.option.replace('_', '-')}" for name, s in SETTINGS.items() if s.option}
