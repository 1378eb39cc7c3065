"""How long a run will take: from a short trial of each sampler, and from finished cells."""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from polyaurn.backends.registry import BACKENDS
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.files.atomic import write_text
from polyaurn.studies.folders import read_json
from polyaurn.studies.paper.plan import PARTLY, SCALES, Cell, Plan

TRIAL_FILE = "trial.json"
WORDS, LENGTH = 2_000, 100.0
TRIAL_SWEEPS = 4
START = 1.5  # seconds until a process has loaded its kernels
STUDY = {"urn": 15.0, "appendix-a": 2.0, "complexity": 60.0}

Trial = dict[str, dict[str, float]]


class Speed(NamedTuple):
    """How fast cells are, roughly: how large their trial is, and what scores take."""

    documents: int  # of the corpus of the trial
    left_to_right: float  # seconds for a particle and a pair of tokens of a document


ON_CORE, ON_DEVICE = Speed(1_000, 40e-9), Speed(20_000, 0.3e-9)


def try_samplers(cells: Iterable[Cell], known: Trial) -> Trial:
    """Time a few sweeps of each sampler and number of topics, except those known, on one thread.

    The trial has under ``sampler-topics``, on a GPU ``sampler-topics-gpu``, the seconds "phi" and
    "z" of a sweep over the corpus of the trial.
    """
    from polyaurn.datasets import generate
    from polyaurn.studies.paper.cells import sweeps_of

    asked = {_key(c): c for c in cells if c.sampler}
    found, corpora = dict(known), dict[str, Any]()
    for name in sorted(asked.keys() - found.keys()):
        cell = asked[name]
        if cell.device not in corpora:
            corpora[cell.device] = generate(_speed(cell).documents, WORDS, 20, LENGTH)
        few = Cell(
            "chain", None, cell.sampler, cell.topics, sweeps=TRIAL_SWEEPS, device=cell.device
        )
        chain = sweeps_of(few, corpora[cell.device])
        times = [(info.phi_seconds, info.z_seconds) for _, info in chain]
        phi, z = (min(part) for part in zip(*times, strict=True))
        found[name] = {"phi": phi, "z": z}
    return found


def read_trial(folder: Path) -> Trial:
    """Return the trial of an earlier run; empty where it is missing or damaged."""
    try:
        found = read_json(folder / TRIAL_FILE)
        return {name: {part: float(row[part]) for part in ("phi", "z")}
                for name, row in found.items()}  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return {}


def write_trial(folder: Path, trial: Trial) -> None:
    """Store a trial in the folder."""
    write_text(folder / TRIAL_FILE, json.dumps(trial, indent=1) + "\n")


def _speed(cell: Cell) -> Speed:
    return ON_CORE if cell.on_threads else ON_DEVICE


def _key(cell: Cell) -> str:
    return f"{cell.sampler}-{cell.topics}" + ("" if cell.on_threads else f"-{cell.device}")


class Estimate:
    """Seconds of cells to come: those of the trial, corrected by those of finished cells."""

    def __init__(self, plan: Plan, trial: Trial, done: dict[Cell, dict[str, Any]]) -> None:
        self._plan, self._trial = plan, trial
        self._sizes = {
            cell.corpus: (record["measured"]["tokens"], record["measured"]["vocabulary"])
            for cell, record in done.items()
            if cell.kind == "corpus"
        }
        self._timed: dict[str, list[float]] = {}
        for cell, record in done.items():
            if _key(cell) in trial:
                spent = record["measured"].get("seconds", record["wall_seconds"])
                ratio = spent / max(1e-9, self._raw(cell))
                self._timed.setdefault(_key(cell), []).append(ratio)

    def seconds(self, cell: Cell) -> float:
        """Return the seconds of a cell, roughly."""
        start = START if SCALES[self._plan.scale].own_process else 0.0
        if cell.kind == "study":
            options = SCALES[self._plan.scale].theory[cell.study]
            return start + STUDY[cell.study] * (0.2 if options else 1.0)
        if cell.kind == "corpus":
            return 1.0 + self._size(cell)[0] / 1e6
        all_ratios = [ratio for ratios in self._timed.values() for ratio in ratios]
        ratios = self._timed.get(_key(cell), all_ratios)
        return start + self._raw(cell) * (statistics.median(ratios) if ratios else 1.0)

    def total(self, cells: Iterable[Cell]) -> float:
        """Return the seconds of several cells."""
        return sum(self.seconds(cell) for cell in cells)

    def largest_phi(self, cells: Iterable[Cell]) -> float:
        """Return the bytes of the largest dense Phi among cells; 0 if there is none."""
        return max(
            (
                self._size(c)[1] * c.topics * SAMPLERS[c.sampler].bytes_of_cell(c.threads)
                for c in cells
                if c.sampler and BACKENDS[c.device].holds_phi
            ),
            default=0.0,
        )

    def _raw(self, cell: Cell) -> float:
        tokens, words = self._size(cell)
        rate = self._trial.get(_key(cell), {"phi": 0.0, "z": 0.0})
        larger = tokens / (_speed(cell).documents * LENGTH)
        threads = cell.threads if cell.on_threads else 1
        phi = rate["phi"] * (words / WORDS if cell.sampler == PARTLY else larger)
        seconds = cell.sweeps * (phi + rate["z"] * larger) / threads
        if cell.kind == "quality":
            length = 2.0 * LENGTH
            seconds += cell.scored * 20 * length**2 * _speed(cell).left_to_right / threads
        return seconds

    def _size(self, cell: Cell) -> tuple[float, float]:
        """Return tokens and words of a cell's corpus, as measured or guessed."""
        assert cell.corpus is not None
        if cell.corpus in self._sizes:
            return self._sizes[cell.corpus]
        tokens, words = self._plan.sources[cell.corpus.source].guess()
        most = cell.corpus.max_words or words
        return tokens * cell.corpus.share, min(most, words * cell.corpus.share**0.5)


def in_words(seconds: float) -> str:
    """Return a time in its usual unit."""
    if seconds < 100:
        return f"{max(1.0, seconds):.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 72 * 3600 else f"{seconds / 86400:.1f} days"


def shares(estimate: Estimate, cells: list[Cell]) -> dict[str, float]:
    """Return the seconds by what they are spent on, the most first."""
    spent: dict[str, float] = {}
    for cell in cells:
        name = f"{cell.sampler}, K = {cell.topics}" if cell.sampler else cell.kind
        spent[name] = spent.get(name, 0.0) + estimate.seconds(cell)
    return dict(sorted(spent.items(), key=lambda item: -item[1]))
