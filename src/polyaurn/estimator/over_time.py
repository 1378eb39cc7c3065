"""Topics over time: a model for each slice of time, whose prior is what came before."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.checks import check_flag
from polyaurn.base.errors import InputError
from polyaurn.chain.samplers import AUTO
from polyaurn.corpus.corpus import Corpus
from polyaurn.estimator.inputs import documents_to_train
from polyaurn.estimator.lda import LDA
from polyaurn.estimator.slice_parameters import SliceParameters, check_names
from polyaurn.estimator.slice_tables import SliceTables
from polyaurn.evaluate.held_out import document_completion
from polyaurn.files.locks import locked
from polyaurn.files.names import remove_checkpoints
from polyaurn.model.folder import check_target
from polyaurn.model.folder import save as save_model
from polyaurn.model.model import TopicModel
from polyaurn.model.slices.cutting import Cut, check_values, check_words, cut_by_date, cut_by_label
from polyaurn.model.slices.folder import (
    UNFINISHED,
    check_new,
    digest_of,
    folder_names,
    holds_slices,
    read_slices,
    write_index,
)
from polyaurn.model.slices.slices import HELD_OUT, KEY, Slices, fact
from polyaurn.pages.inline import HEIGHT, Report
from polyaurn.pages.over_time import render
from polyaurn.training.checkpoints import run_in
from polyaurn.training.run import make_run
from polyaurn.training.settings import SETTINGS, UPDATE_SWEEPS, Settings
from polyaurn.training.slice_progress import SliceLine, slice_line
from polyaurn.training.slices import (
    BACK,
    CARRY,
    Step,
    carried,
    check_carry,
    check_held_out,
    check_slice_iter,
    facts_of,
    from_before,
    held_out_documents,
    lengths_of,
    start_of,
    steps_of,
)

_OWN = ("checkpoint", "resume", "callbacks", "verbose")  # of the whole, not of the run of a slice


class TopicsOverTime(SliceParameters, SliceTables):
    """Topics that change: an `LDA` for each slice of time, with faded counts of the slices before.

    The first slice is trained as `LDA` trains. What each slice counted becomes part of the prior
    of the next, times `carry`, together with what it had from the slices before; so topics keep
    their numbers, words that are no longer used fade, and new ones enter. All slices have one
    vocabulary. The same seed gives the same bytes, for any number of threads.

    Parameters
    ----------
    n_components : int
        Number of topics, K.
    carry : float
        Share of a slice's counts, and of those that it had in its prior, that the prior of the
        next slice has; from 0, independent slices whose topics have nothing in common, to 1,
        nothing fades. With 0.5, the default, a token weighs half a slice later, and 0.03 five
        slices later; where words hardly change, 0.8 gives better topics.
    both_ways : bool
        Train all slices but the last a second time, from the last to the first, with faded counts
        of the later slices in the prior as well.
    held_out : float
        Share of the documents of each slice that is not trained on, and scored; 0 for none.
    slice_iter : int
        Sweeps of each slice that has topics of an earlier one, and of each in the second pass;
        `max_iter` is those of the first.
    checkpoint : str or Path, optional
        A folder that keeps each slice as soon as it is finished, and checkpoints of the one that
        is being trained.
    resume : bool
        Continue in the folder where an earlier call stopped, to the same bytes.
    callbacks : callable or sequence of callables, optional
        As in `LDA`, called after each sweep of each slice; one that returns True ends the training,
        and the slice that was not finished is left out.
    verbose : bool
        Show progress.
    **parameters
        Further parameters of `LDA`, for every slice: ``max_iter``, ``random_state``, ``n_jobs``,
        ``sampler``, ``learn_priors_every`` and so on. Priors are learned in the first slice, and
        kept in those that follow it.

    Attributes
    ----------
    models_ : dict of str to TopicModel
        The model of each slice, by its label, in order. Its ``priors.pseudo`` are the counts that
        it had from other slices, and its topics and words rest on both.
    slices_ : Slices
        The models, which documents each was trained on, and which were held out.
    n_slices_ : int
        Slices that are finished.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=120, n_words=80, n_topics=3)
    >>> years = [2001 + d // 40 for d in range(120)]
    >>> topics = polyaurn.TopicsOverTime(3, max_iter=40, slice_iter=10, verbose=False)
    >>> topics = topics.fit(corpus, years, by="year")
    >>> list(topics.models_)
    ['2001', '2002', '2003']
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        carry: float = CARRY,
        both_ways: bool = False,
        held_out: float = 0.1,
        slice_iter: int = UPDATE_SWEEPS,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        callbacks: Any = None,
        verbose: bool = True,
        **parameters: Any,
    ) -> None:
        self.n_components = n_components
        self.carry = carry
        self.both_ways = both_ways
        self.held_out = held_out
        self.slice_iter = slice_iter
        self.checkpoint = checkpoint
        self.resume = resume
        self.callbacks = callbacks
        self.verbose = verbose
        self.parameters = parameters
        check_names(parameters)

    def fit(
        self,
        X: Any,
        dates: Any = None,
        *,
        by: str = "year",
        slices: Any = None,
        order: Any = None,
    ) -> Self:
        """Train a model for each slice of the documents.

        When interrupted (Ctrl-C), the slices that are finished are kept, and the interruption is
        passed on.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, strings, or lists of tokens
            The documents, as `LDA.fit` takes them.
        dates : iterable, optional
            A date of each document: a string such as 2021, 2021-03 or 2021-03-14, a date, a
            datetime, or a year. Documents with an empty one are left out, with a warning. A span
            without documents has no slice, and counts fade past it as past any other.
        by : {"day", "week", "month", "quarter", "year", "decade"}
            How dates are cut into slices; weeks begin on Monday.
        slices : iterable, optional
            In place of dates, the label of each document's slice: a string or a number.
        order : sequence, optional
            The labels in the order of time; sorted when not given.

        Returns
        -------
        TopicsOverTime
            The estimator itself.
        """
        if (dates is None) == (slices is None):
            raise InputError(
                "The 'dates' parameter must be given, or 'slices' in its place. Got "
                f"{'neither' if dates is None else 'both'}; give one of them for each document."
            )
        settings = self._check()
        template = LDA(self.n_components, **self.parameters)
        corpus = documents_to_train(template, X)
        cut = (
            cut_by_date(dates, by, corpus.n_documents)
            if slices is None
            else cut_by_label(slices, order, corpus.n_documents)
        )
        self._fit(corpus, cut, settings, template.weight_scale_)
        return self

    def fit_cut(self, corpus: Corpus, cut: Cut) -> Self:
        """Train on documents that are cut already."""
        self._fit(corpus, cut, self._check(), 1.0)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return topics over time from a folder, as `save` or ``polyaurn train --by`` wrote it.

        Parameters
        ----------
        path : str or Path
            The folder. If the training was stopped, its finished slices are loaded.

        Returns
        -------
        TopicsOverTime
            With its checksums verified.
        """
        found = read_slices(path)
        if not found.models:
            raise InputError(
                f"The folder '{path}' must hold a slice that is finished. It has none yet; "
                "continue the training with --resume (resume=True)."
            )
        setting = found.setting
        own = {name: setting[name] for name in ("carry", "both_ways", "held_out", "slice_iter")}
        run = {
            name: value
            for name, value in setting.items()
            if name in SETTINGS and name != "n_components" and value != "vector"
        }
        topics = cls(found.models[0].n_topics, **own, **run)
        topics.slices_ = found
        return topics

    def save(self, path: str | Path) -> Path:
        """Write the slices to a new folder, each a model folder that `polyaurn.load` opens.

        Parameters
        ----------
        path : str or Path
            A new or empty folder.

        Returns
        -------
        Path
            The folder.
        """
        slices = self._slices()
        folder = Path(path).absolute()
        check_new(folder, name="path")
        with locked(folder):
            write_index(folder, slices)
            names = folder_names(slices.cut.labels)
            for name, model in zip(names, slices.models, strict=False):
                save_model(model, folder / name)
        return Path(path)

    def report(
        self, *, texts: Any = None, title: str = "Topics over time", height: int = HEIGHT
    ) -> Report:
        """Return the page about the slices, which a notebook shows below the cell.

        Parameters
        ----------
        texts : sequence of str, optional
            The texts of all documents that `fit` was given, to show parts of them.
        title : str
            The page's heading.
        height : int
            The height of the frame, in pixels.

        Returns
        -------
        Report
            Save it with ``.save("over-time.html")``.
        """
        slices = self._slices()
        listed = None if texts is None else check_values(texts, "texts", len(slices.cut.number))
        wanted = None if listed is None else lambda numbers: [listed[d] for d in numbers.tolist()]
        return Report(render(slices, title, wanted), height)

    def _check(self) -> Settings:
        """Check all parameters that do not depend on documents."""
        check_carry(self.carry)
        check_held_out(self.held_out)
        check_slice_iter(self.slice_iter)
        check_flag(self.both_ways, "both_ways")
        settings = Settings.of(self._lda())
        settings.check_no_cluster("topics over time")
        if settings.resume and settings.checkpoint is None:
            raise InputError(
                "The 'checkpoint' parameter must be a folder when 'resume' is True. Got None "
                "instead; name the folder of the slices."
            )
        return settings

    def _sweeps(self, step: Step) -> int:
        """Return how many sweeps the training of a slice has."""
        first = step.direction != BACK and (step.number == 0 or self.carry == 0)
        return int(self._lda().max_iter if first else self.slice_iter)

    def _lda(self, **more: Any) -> LDA:
        own = {name: getattr(self, name) for name in _OWN}
        return LDA(self.n_components, **(self.parameters | own | more))

    def _fit(self, corpus: Corpus, cut: Cut, settings: Settings, scale: float) -> None:
        check_words(cut, lengths_of(corpus))
        folder = settings.checkpoint and settings.checkpoint.absolute()
        found = read_slices(folder) if folder and self.resume and holds_slices(folder) else None
        seed = settings.random_state
        if found is not None and self.parameters.get("random_state", 0) is None:
            seed = found.setting.get("random_state", seed)
        asked = Slices(
            cut, (), held_out_documents(cut, lengths_of(corpus), self.held_out, seed),
            self._setting(settings, corpus, cut, seed),
        )  # fmt: skip
        if found is None:
            if folder:
                check_new(folder)
                check_target(folder / "new", name="checkpoint")
        else:
            _check_same(found, asked)
        self.__dict__.pop("slices_", None)  # of an earlier training
        with locked(folder) if folder else nullcontext():
            if folder and found is None:
                write_index(folder, asked)
            for kept in self._trained(corpus, asked, found, folder, seed, scale):
                self.slices_ = replace(asked, models=kept)

    def _setting(self, settings: Settings, corpus: Corpus, cut: Cut, seed: int) -> dict[str, Any]:
        """Return what fixes the slices of a corpus, ready for JSON."""
        header = make_run(
            self._lda(random_state=seed, checkpoint=None, resume=False), corpus
        ).header
        if settings.sampler == AUTO:
            header = header | {"sampler": AUTO}  # which is chosen for each slice
        own = {
            "carry": float(self.carry), "both_ways": bool(self.both_ways),
            "held_out": float(self.held_out), "slice_iter": int(self.slice_iter),
            "slices": digest_of({"labels": cut.labels, "number": cut.number.tolist(),
                                 "steps": cut.steps.tolist()}),
        }  # fmt: skip
        found: dict[str, Any] = json.loads(json.dumps(own | header))
        return found

    def _trained(
        self,
        corpus: Corpus,
        asked: Slices,
        found: Slices | None,
        folder: Path | None,
        seed: int,
        scale: float,
    ) -> Iterator[tuple[TopicModel, ...]]:
        """Yield the models of the slices, each time one more is finished."""
        models = [] if found is None else list(found.models)
        steps = steps_of(asked.cut.labels, seed, back=bool(self.both_ways and self.carry > 0))
        digest = digest_of(asked.setting)
        with slice_line(
            [(step, self._sweeps(step)) for step in steps], len(asked.cut.labels),
            corpus.n_tokens, show=bool(self.verbose),
        ) as line:  # fmt: skip
            after: Any = None  # counts of the later slices, in the second pass
            for step in steps:
                t = step.number
                if step.direction == BACK:
                    after = carried(models[t + 1], after, self.carry, int(asked.cut.steps[t + 1]))
                if t < len(models) and int(fact(models[t], "pass") or 0) >= step.direction:
                    line.skip(step)
                    yield tuple(models)
                    continue
                model = self._train(corpus, asked, models, step, after, folder, line, digest, scale)
                if model is None:
                    return
                if folder:
                    save_model(model, folder / folder_names(asked.cut.labels)[t], force=True)
                    remove_checkpoints(folder / UNFINISHED)
                    _remove_if_empty(folder / UNFINISHED)
                models[t:] = [model, *models[t + 1 :]]
                yield tuple(models)

    def _train(
        self,
        corpus: Corpus,
        asked: Slices,
        models: list[TopicModel],
        step: Step,
        after: Any,
        folder: Path | None,
        line: SliceLine,
        digest: str,
        scale: float,
    ) -> TopicModel | None:
        """Return the model of a slice; None where a callback ended the training."""
        t, cut = step.number, asked.cut
        documents = corpus.select((cut.number == t) & ~asked.held)
        begun = None
        if step.direction == BACK:
            before = from_before(models[t])
            counts = after if before is None else after + before
            begun = start_of(step, counts, models[t], digest, again=True)
        elif t and self.carry > 0:
            last = models[t - 1]
            counts = carried(last, from_before(last), self.carry, int(cut.steps[t]))
            begun = start_of(step, counts, last, digest, again=False)
        place = folder and folder / UNFINISHED
        if place and not _is_of(run_in(place), facts_of(step, digest)):
            remove_checkpoints(place)  # of a slice that was finished when the process ended
        lda = self._lda(
            random_state=step.seed, checkpoint=place, resume=bool(place), verbose=False,
            callbacks=[*Settings.of(self._lda()).callbacks, line.sweep],
        )  # fmt: skip
        lda.weight_scale_ = scale
        line.begin(step, documents)
        run = make_run(lda, documents, begun, None if begun is None else self.slice_iter)
        if begun is None:
            own = {KEY: facts_of(step, digest)}
            run = run._replace(header=run.header | own)
            run = run._replace(facts=run.facts | own | {"run": run.header})
        lda._train_in_folder(run)
        if lda.n_iter_ < run.settings.max_iter:
            return None
        model = lda.model_
        held = np.flatnonzero((cut.number == t) & asked.held)
        score = _score(model, corpus, held, step.seed, lda.n_jobs)
        facts = model.parameters[KEY] | {HELD_OUT: score}
        return replace(model, parameters=model.parameters | {KEY: facts})


def _score(
    model: TopicModel, corpus: Corpus, held: I64, seed: int, n_jobs: Any
) -> dict[str, float | int] | None:
    """Return the completion of held-out documents, with its error over documents."""
    if not (lengths_of(corpus)[held] > 1).any():
        return None
    documents = corpus.select(held)
    scored = document_completion(model, documents, random_state=seed, n_jobs=n_jobs)
    mean, tokens = scored.per_token, int(scored.tokens.sum())
    apart = scored.log_likelihood - mean * scored.tokens
    error = float(np.sqrt((apart**2).sum()) / tokens)
    return {
        "documents": documents.n_documents, "tokens": tokens, "per_token": mean, "error": error,
    }  # fmt: skip


def _check_same(found: Slices, asked: Slices) -> None:
    """Reject a folder of slices of another training."""
    differing = [
        f"{name.replace('_', ' ')} {found.setting.get(name)!r:.40} there, {value!r:.40} now"
        for name, value in asked.setting.items()
        if found.setting.get(name) != value
    ]
    if differing:
        raise InputError(
            "The folder of the slices must be of the same training to be resumed. It differs: "
            f"{'; '.join(differing)}. Repeat its parameters, or choose another folder."
        )


def _is_of(run: dict[str, Any] | None, facts: dict[str, Any]) -> bool:
    """Return whether a run that was not finished is of a slice."""
    return run is None or facts.items() <= run.get(KEY, {}).items()


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
