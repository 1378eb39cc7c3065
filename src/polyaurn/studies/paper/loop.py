"""The loop over cells: estimate, compute, keep, and show what there is."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.base.checks import check_one_of, check_whole, is_whole, wrong
from polyaurn.base.threads import count_threads
from polyaurn.files.locks import locked
from polyaurn.studies.child import ChildError
from polyaurn.studies.folders import StudyFolder
from polyaurn.studies.paper.cells import ALPHA, BETA, run_cell, run_in_child
from polyaurn.studies.paper.corpora import Source, choose
from polyaurn.studies.paper.estimate import Estimate, Trial, read_trial, try_samplers, write_trial
from polyaurn.studies.paper.page import write_outputs
from polyaurn.studies.paper.plan import FIGURES, SCALES, Cell, Plan, make_plan
from polyaurn.studies.paper.results import Records, Results


class Outcome(NamedTuple):
    """What ``results.json`` holds, how many cells are missing, and why cells ended early."""

    results: dict[str, Any]
    missing: int
    failed: dict[str, str]


class Reproduction:
    """The paper's experiments in a folder: new, empty, or that of a run with the same setting.

    `figure` is one of `FIGURES`, or None for all; `corpora` is a folder of ``docword.NAME.txt.gz``
    files and texts, of which `use` names some; `generated` names corpora of the paper to be
    generated in their sizes. `threads` are those of each chain, `cores` the numbers of cores whose
    speeds are compared, and `seeds` the chains of each kind. `device` is that of the urn and the
    partially collapsed sampler; comparisons of algorithms and of numbers of cores, and studies of
    theory, stay on the CPU. Topics and scores are the same on both devices, log posteriors to
    about 12 digits; times are not.
    """

    def __init__(
        self,
        out: str | Path,
        figure: str | None = None,
        *,
        corpora: str | Path | None = None,
        scale: str = "small",
        use: Sequence[str] = (),
        generated: Sequence[str] = (),
        threads: int = -1,
        cores: Sequence[int] = (1, 2, 4, 8, 16),
        seeds: int | None = None,
        device: str = "cpu",
    ) -> None:
        if figure is not None:
            check_one_of(figure, "figure", FIGURES, remedy="leave it out for all")
        if scale not in SCALES:
            raise wrong("scale", "'small' or 'full'", scale)
        if seeds is not None:
            seeds = check_whole(seeds, "seeds", remedy="leave it out for the usual number")
        device = check_device(device)
        self.folder = StudyFolder(Path(out), "polyaurn-reproduction", "reproduction")
        self.figures = FIGURES if figure is None else (figure,)
        folder = None if corpora is None else Path(corpora)
        self.plan: Plan = make_plan(
            scale, *choose(folder, use, generated, scale), count_threads(threads, "threads"),
            _check_cores(cores), seeds, device,
        )  # fmt: skip
        self.setting = {
            "scale": scale, "threads": self.plan.threads, "alpha": ALPHA, "beta": BETA,
            "corpora": {name: s.identity() for name, s in self.plan.sources.items()},
        }  # fmt: skip
        if not BACKENDS[device].on_threads:
            self.setting["device"] = device
        self.folder.agree(self.setting, write=False)
        self.wanted = self.plan.work(self.figures)
        self._trial: Trial | None = None

    def done(self, cells: Sequence[Cell]) -> Records:
        """Return the finished ones among cells."""
        found = ((cell, self.folder.read_cell(cell.name)) for cell in cells)
        return {
            cell: record
            for cell, record in found
            if record.get("cell") == cell.name and isinstance(record.get("measured"), dict)
        }

    def estimate(self) -> tuple[Estimate, list[Cell]]:
        """Return an estimate, and the cells that are to be computed."""
        done = self.done(self.wanted)
        left = [cell for cell in self.wanted if cell not in done]
        if self._trial is None:
            self._trial = try_samplers(left, read_trial(self.folder.path))
        return Estimate(self.plan, self._trial, done), left

    def run(
        self,
        *,
        budget: float | None = None,
        on_progress: Callable[[str, int, int, float], Any] | None = None,
    ) -> Outcome:
        """Compute what is missing, store it cell by cell, and write the page.

        No cell is begun after `budget` minutes. `on_progress` is called before each cell with its
        name, its number, how many there are, and roughly the seconds left for all. Ctrl-C also
        writes the page, and is raised again.
        """
        begin, failed = perf_counter(), dict[str, str]()
        with locked(self.folder.path.absolute()):
            self.folder.agree(self.setting)
            try:
                _, left = self.estimate()
                write_trial(self.folder.path, self._trial or {})
                done = self.done(self.wanted)
                for i, cell in enumerate(left):
                    if budget is not None and perf_counter() - begin >= 60.0 * budget:
                        break
                    if on_progress is not None:
                        seconds = Estimate(self.plan, self._trial or {}, done).total(left[i:])
                        on_progress(cell.name, i + 1, len(left), seconds)
                    try:
                        done[cell] = self._compute(cell)
                    except ChildError as error:
                        failed[cell.name] = str(error)
            except KeyboardInterrupt:
                self._write()
                raise
            results = self._write()
        return Outcome(results, sum(cell not in done for cell in self.wanted), failed)

    def _compute(self, cell: Cell) -> dict[str, Any]:
        scale = SCALES[self.plan.scale]
        source: Source | None = (
            None if cell.corpus is None else self.plan.sources[cell.corpus.source]
        )
        in_child = scale.own_process and cell.kind != "corpus"
        record: dict[str, Any] = (run_in_child if in_child else run_cell)(
            cell, source, self.folder.path / "corpora", scale.theory.get(cell.study, {})
        )
        self.folder.write_cell(cell.name, {"cell": cell.name} | record)
        return record

    def _write(self) -> dict[str, Any]:
        """Show the finished cells of all figures."""
        found = self.done(self.plan.work())
        return write_outputs(Results(self.plan, found), self.setting, self.folder.path)


def _check_cores(cores: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of cores that this machine has, in rising order; 1 if it has none."""
    if not cores or not all(is_whole(n) and n >= 1 for n in cores):
        remedy = "1,2,4,8,16 is the usual choice"
        raise wrong("cores", "whole numbers, at least 1", list(cores), remedy)
    most = count_threads(-1)
    return tuple(sorted({int(n) for n in cores if n <= most} or {1}))
