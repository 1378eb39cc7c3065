"""Chains that run one after another, and the draws kept of each after its burn-in.

With a folder, each chain is kept in a folder of its own inside, ``chain-0000`` and so on: where it
is, and its draws so far. A chain that is finished is not run again.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError
from polyaurn.base.rng import chain_seed
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain.state import Info, State, on_host, topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.evaluate.diagnostics import log_posterior
from polyaurn.evaluate.posterior.choice import Choice
from polyaurn.evaluate.posterior.recorder import Recorder
from polyaurn.evaluate.posterior.result import Chain, Posterior
from polyaurn.files.locks import locked
from polyaurn.files.names import CHECKPOINTS, checkpoint_headers, sweep_of
from polyaurn.model.distance import match_topics, row_quality
from polyaurn.training.folder import RunFolder, open_folder
from polyaurn.training.run import Run
from polyaurn.training.sweeps import state_of, sweeps

Report = Callable[[int, Info], None]


class Asked(NamedTuple):
    """What is asked for: chains, draws of each, sweeps between two, and what is kept of them."""

    chains: int
    draws: int
    thin: int
    choice: Choice
    theta_mean: bool

    def sweeps(self, run: Run) -> int:
        """Return the sweeps of one chain, burn-in included."""
        return run.settings.max_iter + self.draws * self.thin


class Ended(NamedTuple):
    """Where the first chain ended or was interrupted: its run, last state and trace."""

    run: Run
    state: State
    trace: list[dict[str, Any]]


def sample(
    run: Run,
    asked: Asked,
    *,
    any_seed: bool,
    report: Report,
    on_compile: Callable[[], None],
    into: list[Chain],
    last: list[Ended],
) -> None:
    """Run the chains after `max_iter` sweeps of burn-in each; see `chain_seed` for their seeds.

    `any_seed` takes the seed of chains that are resumed. `report` is called with the number of
    sweeps before the chain, and the info of each sweep. `into` receives each chain, and `last`
    where the first one is, when the chain ends or is interrupted.
    """
    settings = run.settings
    settings.check_no_cluster("posterior draws")
    with ExitStack() as stack:
        if settings.checkpoint is not None:
            stack.enter_context(locked(settings.checkpoint.absolute()))
            if not settings.resume:
                _check_none(settings.checkpoint)
        for c in range(asked.chains):
            place = None if settings.checkpoint is None else folder_of(settings.checkpoint, c)
            with open_folder(
                place, settings.checkpoint_every, _header(run, asked, c), resume=settings.resume,
                any_seed=any_seed and not c, early=run.backend.in_place,
            ) as folder:  # fmt: skip
                if folder.saved is not None:
                    run = run.with_seed(folder.saved.run["random_state"])
                _OneChain(run, asked, c, folder, report, on_compile).run_into(into, last)


class _OneChain:
    """One chain, from where its folder says it is."""

    def __init__(
        self,
        run: Run,
        asked: Asked,
        number: int,
        folder: RunFolder,
        report: Report,
        on_compile: Callable[[], None],
    ) -> None:
        self._run, self._asked, self._number, self._folder = run, asked, number, folder
        self._report = report
        self._seed = chain_seed(run.seed, number)
        self._options = run.of_chain() | {"random_state": self._seed, "on_compile": on_compile}
        self._state: State | None = None
        self._recorder: Recorder | None = None
        self._moved = False  # whether there is anything that the folder does not have yet
        self._saved, self._trace = folder.saved, folder.saved.trace if folder.saved else []
        folder.forget()

    def run_into(self, into: list[Chain], last: list[Ended]) -> None:
        """Run the chain to its end, and add what it gave, also when it is interrupted."""
        try:
            self._burn_in()
            self._draw(into)
        finally:
            with suppress(InputError):  # a GPU that failed may have lost the state
                self._write()
            if not self._number and self._state is not None:
                with suppress(InputError):
                    here = on_host(self._state)._replace(parts=())
                    last.append(Ended(self._run, here, self._trace))
            if self._recorder is not None and len((kept := self._recorder.chain()).sweep):
                into.append(kept)

    def _burn_in(self) -> None:
        """Run the sweeps of burn-in that are left."""
        run, most = self._run, self._run.settings.max_iter
        start = None if self._saved is None else self._saved.halt
        if start is None or start.sweep < most:
            options = self._options | {"max_iter": most, "start": start}
            self._follow(sweeps(run.corpus, **options))
        else:
            settings = run.settings
            priors, n_jobs = run.priors, settings.n_jobs
            self._state = state_of(run.corpus, start, priors, settings.sampler, n_jobs)
        assert self._state is not None
        self._state = on_host(self._state)

    def _draw(self, into: list[Chain]) -> None:
        """Run the sweeps after burn-in that are left, and keep draws."""
        run, asked, begun = self._run, self._asked, self._state
        assert begun is not None
        extra = {} if self._saved is None else self._saved.extra
        self._saved = None
        order = extra["order"] if "order" in extra else _align(into, begun, len(run.priors.alpha))
        recorder = Recorder(
            run.corpus, self._seed, order, asked.choice, theta_mean=asked.theta_mean
        )
        if extra:
            recorder.restore(extra, run.priors.pseudo)
        self._recorder = recorder
        left = asked.sweeps(run) - begun.sweep
        if left:
            first = run.settings.max_iter
            self._follow(_continue(run.corpus, self._options, begun, first, left, asked.thin))

    def _follow(self, chain: Iterator[tuple[State, Info]]) -> None:
        """Keep what each sweep gives, and write a checkpoint when it is time."""
        before = float(self._trace[-1].get("seconds", 0.0)) if self._trace else 0.0
        done = self._number * self._asked.sweeps(self._run)
        for state, info in chain:
            info = info._replace(seconds=before + info.seconds)
            if self._recorder is not None and info.log_posterior is not None:
                self._recorder.keep(state, state.priors, info.log_posterior)
            self._state, self._moved = state, True
            self._trace.append(info.record())
            self._report(done, info)
            del info  # frees its Phi while the next is drawn
            self._folder.after(state, self._trace, self._extra)

    def _write(self) -> None:
        """Write a checkpoint, unless an interruption came between a draw and its sweep's end."""
        drawn = 0 if self._recorder is None else self._recorder.last_sweep
        if self._moved and self._state is not None and drawn <= self._state.sweep:
            self._folder.write(self._state, self._trace, self._extra)

    def _extra(self) -> dict[str, Any]:
        return {} if self._recorder is None else self._recorder.arrays()


def folder_of(folder: Path, chain: int) -> Path:
    """Return the folder of a chain."""
    return folder.absolute() / f"chain-{chain:04d}"


def _check_none(folder: Path) -> None:
    """Raise an error if a folder holds chains, which would have to be resumed."""
    for place in sorted(folder.absolute().glob("chain-*")):
        headers = checkpoint_headers(place / CHECKPOINTS)
        if headers:
            raise InputError(
                f"The folder '{folder}' holds a chain, '{place.name}', at sweep "
                f"{sweep_of(headers[0].name):,}. Resume it with resume=True, or choose another "
                "folder."
            )


def _header(run: Run, asked: Asked, chain: int) -> dict[str, Any]:
    """Return what fixes a chain and what is kept of it, ready for JSON."""
    choice, corpus = asked.choice, run.corpus
    named = {
        "words": _brief(choice.words, corpus.n_words, wanted=choice.wants_phi),
        "topics": _brief(choice.topics, len(run.priors.alpha)),
        "documents": _brief(choice.documents, corpus.n_documents, wanted=choice.wants_theta),
    }
    return run.header | named | {
        "max_iter": asked.sweeps(run),
        "burn_in": run.settings.max_iter,
        "draws": asked.draws,
        "thin": asked.thin,
        "theta_mean": bool(asked.theta_mean),
        "chain": chain,
    }  # fmt: skip


def _brief(numbers: I64, most: int, *, wanted: bool = True) -> str:
    """Say which of several were chosen, in a form that fits into a message."""
    if not wanted:
        return "none"
    if np.array_equal(numbers, np.arange(most)):
        return "all"
    return f"{len(numbers):,}, {hashlib.sha256(numbers.astype('<i8').tobytes()).hexdigest()[:16]}"


def _continue(
    corpus: Corpus, options: dict[str, Any], state: State, burn_in: int, left: int, thin: int
) -> Iterator[tuple[State, Info]]:
    """Continue a chain without a warm start; draws are the sweeps with a log posterior.

    Priors stay as burn-in learned them: draws are of one posterior.
    """
    plain = {"warm_start": "random", "learn_priors_every": 0, "evaluate_every": 0, "max_iter": None}
    further = sweeps(corpus, **options | plain | {"start": state})
    with Workers(count_threads(options["n_jobs"])) as workers:
        for after, info in islice(further, left):
            if (after.sweep - burn_in) % thin == 0:
                after = on_host(after)
                info = info._replace(
                    log_posterior=log_posterior(corpus, after, after.priors, workers)
                )
            yield after, info


def _align(before: list[Chain], state: State, K: int) -> I64:
    """Return the chain's topic for each topic of the first chain."""
    if not before:
        return np.arange(K)
    return match_topics(before[0].phi_sum, topic_word_matrix(state.counts, K))[0]


def gather(corpus: Corpus, chains: list[Chain], choice: Choice, law: str) -> Posterior:
    """Put chains together that are aligned to the first, with the quality of their matches."""
    return Posterior(
        chains=tuple(chains),
        match_quality=np.array([row_quality(chains[0].phi_sum, c.phi_sum) for c in chains]),
        vocab=corpus.vocab,
        doc_names=corpus.doc_names,
        words=choice.words,
        topics=choice.topics,
        documents=choice.documents,
        lengths=np.diff(corpus.doc_ptr),
        law=law,
    )
