"""Every parameter of a training, once: its default, its check, and the sentence of its help.

`LDA`, `sweeps`, the command line, config files, headers of runs and the topic grid take their
parameters from here, or are held against it by a test. Checks import what they need when they run,
so that the command line's help is immediate.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyaurn.base.checks import check_path, check_whole, wrong
from polyaurn.base.errors import InputError
from polyaurn.chain.samplers import (
    AUTO,
    DEFAULT_SAMPLER,
    SAMPLERS,
    check_proposals,
    check_sampler,
    check_takes_seeds,
    choose_sampler,
    samplers_in_brief,
)

if TYPE_CHECKING:
    from polyaurn.chain.schedule import Schedule

LEARN_EVERY = 10  # sweeps
FIXED_STRENGTH = 1_000_000  # tokens of each topic of an earlier model


@dataclass(frozen=True)
class Setting:
    """What is known about a parameter besides its name, type and default.

    `option` is its name at the command line, empty where it has none; `kind` and `parse` say what
    the command line takes and how that becomes the parameter's value; `choices` are words to
    complete. `fixes_chain` says that it is written into a run's header and must be the same when
    the run is resumed, `of_chain` that `sweeps` takes it.
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


def _as_given(value: Any) -> Any:
    return value


def number_or_word(value: str) -> int | str:
    """Turn an option that may be a whole number or a word into what it is."""
    return int(value) if value.isdecimal() else value


def _number_or_file(option: str) -> Callable[[Any], Any]:
    """Return what turns an option into a number, or the numbers of a file."""

    def parse(value: Any) -> Any:
        try:
            return float(value)
        except ValueError:
            pass
        try:
            return [float(number) for number in Path(value).read_text(encoding="utf-8").split()]
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it holds something else"
            raise InputError(
                f"The '{option}' option must be a positive number, or a file of numbers. Got "
                f"{value!r}, which cannot be read as one ({why}); give a number such as 0.1."
            ) from None

    return parse


def _seed_file(path: Path | None) -> dict[int, list[str]] | None:
    from polyaurn.training.seeds import read_seed_words

    return None if path is None else read_seed_words(path)


@dataclass(frozen=True)
class Settings:
    """The parameters of a training, checked each by itself and together."""

    n_components: int = setting(
        100, _topics, "Number of topics, K.",
        option="topics", short="-k", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    doc_topic_prior: Any = setting(
        0.1, _as_given,
        "Prior of topics in a document: a number, or a file of K numbers.",
        option="alpha", parse=_number_or_file("--alpha"), fixes_chain=True, of_chain=True,
    )  # fmt: skip
    topic_word_prior: Any = setting(
        0.01, _as_given,
        "Prior of words in a topic: a number, or a file of V numbers.",
        option="beta", parse=_number_or_file("--beta"), fixes_chain=True, of_chain=True,
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
    evaluate_every: int = setting(
        10, _sweeps("evaluate_every", 0),
        "Compute the log posterior every so many sweeps; 0 for never.",
        option="eval_every", kind=int, fixes_chain=True, of_chain=True,
    )  # fmt: skip
    warm_start: str | bool = setting(
        "auto", _warm_start,
        "'anneal' begins with a larger beta and lowers it, 'grow' begins on few documents, "
        "'random' with neither; 'auto' chooses. 'smooth' is annealing as in version 0.1.",
        option="warm_start", choices=("auto", "anneal", "grow", "smooth", "random"),
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
    seed_words: Mapping[int, Iterable[str]] | None = setting(
        None, _as_given, "File of words that topics should hold; lines such as '3: orbit nasa'.",
        option="seed_words", kind=Path | None, parse=_seed_file,
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
    resume: bool = setting(False, bool, "Resume from the newest checkpoint, if there is one.")
    callbacks: Any = setting(None, _callbacks, "Functions called after every sweep.")
    verbose: bool = setting(True, bool, "Show progress at a terminal and in notebooks.")

    def __post_init__(self) -> None:
        for name, known in SETTINGS.items():
            object.__setattr__(self, name, known.check(getattr(self, name)))
        if self.mh_steps is not None:
            check_proposals([self.sampler], self.mh_steps)
        for name in ("seed_words", "fixed_topics"):
            if getattr(self, name) is not None:
                check_takes_seeds(name, self.sampler)
        from polyaurn.chain.priors import make_priors

        make_priors(self.doc_topic_prior, self.topic_word_prior, self.n_components, None)
        self.schedule(1, 1, self.max_iter)

    @classmethod
    def of(cls, estimator: Any) -> "Settings":
        """Return the checked parameters of an estimator; priors of None are 1 / K."""
        given = {name: getattr(estimator, name) for name in SETTINGS}
        K = _topics(given["n_components"])
        for name in ("doc_topic_prior", "topic_word_prior"):
            given[name] = 1 / K if given[name] is None else given[name]
        return cls(**given)

    def for_corpus(self, n_tokens: int, n_documents: int, backend: str) -> "Settings":
        """Return the settings with the sampler that "auto" stands for on a corpus."""
        chosen = choose_sampler(
            self.sampler, n_tokens=n_tokens, n_documents=n_documents, n_topics=self.n_components,
            backend=backend, warm_start=self.warm_start, phi_refreshes=self.phi_refreshes,
            learns=bool(self.learn_priors_every),
        )  # fmt: skip
        return self if chosen == self.sampler else replace(self, sampler=chosen)

    def schedule(
        self, n_tokens: int, n_words: int, max_iter: int | None, beta: float = 0.01
    ) -> "Schedule":
        """Return what each sweep does on a corpus of this size."""
        from polyaurn.chain.schedule import make_schedule

        return make_schedule(
            self.warm_start, self.phi_refreshes, n_tokens=n_tokens, n_words=n_words,
            n_topics=self.n_components, max_iter=max_iter, sampler=self.sampler, beta=beta,
            learns=bool(self.learn_priors_every),
        )  # fmt: skip

    def of_chain(self) -> dict[str, Any]:
        """Return the parameters of `sweeps`."""
        return {name: getattr(self, name) for name, s in SETTINGS.items() if s.of_chain}

    def that_fix_the_chain(self) -> dict[str, Any]:
        """Return the parameters that a run's header has and a resumed run must repeat."""
        return {name: getattr(self, name) for name, s in SETTINGS.items() if s.fixes_chain}


SETTINGS: dict[str, Setting] = {f.name: f.metadata["setting"] for f in fields(Settings)}
OPTIONS = {name: f"--{s.option.replace('_', '-')}" for name, s in SETTINGS.items() if s.option}
