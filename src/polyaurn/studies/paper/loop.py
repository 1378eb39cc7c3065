"""The loop over cells: estimate, compute, keep, and show what there is."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from polyaurn.backends.registry import check_device
from polyaurn.base.errors import InputError
from polyaurn.base.threads import count_threads
from polyaurn.files.locks import locked
from polyaurn.studies.paper.cells import ALPHA, BETA, CellError, run_alone, run_cell
from polyaurn.studies.paper.corpora import Source, choose
from polyaurn.studies.paper.estimate import Estimate, Trial, read_trial, try_samplers, write_trial
from polyaurn.studies.paper.folder import ReproductionFolder
from polyaurn.studies.paper.page import write_outputs
from polyaurn.studies.paper.plan import FIGURES, SCALES, Cell, Plan, make_plan
from polyaurn.studies.paper.results import Records, Results


class Outcome(NamedTuple):
    """What a run came to.

    Attributes
    ----------
    results : dict
        What ``results.json`` holds.
    missing : int
        Cells of the figures asked for that are not done.
    failed : dict of str to str
        Why cells ended early, by their names.
    """

    results: dict[str, Any]
    missing: int
    failed: dict[str, str]


class Reproduction:
    """The paper's experiments in a folder.

    Parameters
    ----------
    out : str or Path
        A new or empty folder, or that of an earlier run with the same setting.
    figure : str, optional
        A name from `polyaurn.studies.paper.FIGURES`; all when not given.
    corpora : str or Path, optional
        Folder of ``docword.NAME.txt.gz`` files and texts; generated corpora when not given.
    scale : {"small", "full"}
        How much is computed.
    use : sequence of str
        Names of corpora of the folder; the choice is ours when empty.
    generated : sequence of str
        Corpora of the paper, "enron", "nytimes" or "pubmed", to be generated in their sizes.
    threads : int
        Of each chain; -1 takes all cores.
    cores : sequence of int
        Numbers of cores for the scaling; those beyond what there is are left out.
    seeds : int, optional
        Chains of each kind; that of the scale when not given.
    device : {"cpu", "gpu", "auto"}
        Where chains of the urn and of the partially collapsed sampler run. Comparisons of
        algorithms and of numbers of cores, and studies of theory, stay on the CPU. Topics and
        scores are the same on both, log posteriors to about 12 digits; times are not.
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
        if figure is not None and figure not in FIGURES:
            raise InputError(
                f"The 'figure' parameter must be one of {', '.join(FIGURES)}. Got {figure!r} "
                "instead; leave it out for all."
            )
        if scale not in SCALES:
            raise InputError(
                f"The 'scale' parameter must be 'small' or 'full'. Got {scale!r} instead."
            )
        if seeds is not None and (isinstance(seeds, bool) or seeds < 1):
            raise InputError(
                f"The 'seeds' parameter must be at least 1. Got {seeds!r} instead; leave it out "
                "for the usual number."
            )
        device = check_device(device)
        self.folder = ReproductionFolder(Path(out))
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
        if device != "cpu":
            self.setting["device"] = device
        self.folder.agree(self.setting, write=False)
        self.wanted = self.plan.work(self.figures)
        self._trial: Trial | None = None

    def done(self, cells: Sequence[Cell]) -> Records:
        """Return the finished ones among cells."""
        found = ((cell, self.folder.read(cell)) for cell in cells)
        return {cell: record for cell, record in found if record is not None}

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
        """Compute what is missing, keep it cell by cell, and write the page.

        Parameters
        ----------
        budget : float, optional
            Minutes after which no further cell is begun.
        on_progress : callable, optional
            Called before each cell with its name, its number, how many there are, and the
            seconds left for all, roughly.

        Returns
        -------
        Outcome
            Ctrl-C writes the page, too, and is raised again.
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
                    except CellError as error:
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
        alone = scale.alone and cell.kind != "corpus"
        record: dict[str, Any] = (run_alone if alone else run_cell)(
            cell, source, self.folder.corpora, scale.theory.get(cell.study, {})
        )
        self.folder.keep(cell, record)
        return record

    def _write(self) -> dict[str, Any]:
        """Show the finished cells of all figures."""
        found = self.done(self.plan.work())
        return write_outputs(Results(self.plan, found), self.setting, self.folder.path)


def _check_cores(cores: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of cores there are, or refuse them."""
    if not cores or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in cores):
        raise InputError(
            f"The 'cores' parameter must be whole numbers, at least 1. Got {list(cores)!r} "
            "instead; 1,2,4,8,16 is the usual choice."
        )
    most = count_threads(-1)
    return tuple(sorted({n for n in cores if n <= most} or {1}))
