"""Training with workers, as their caller sees it: what they receive, report and leave.

Neither topics of tokens nor counts pass through this process while the chain runs. Workers read
the corpus and write checkpoints and their parts of the model in the run's folder.
"""

import secrets
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.backends.cpu.counts import no_counts
from polyaurn.backends.registry import BACKENDS
from polyaurn.backends.sharded.group import Engine, Record, Task
from polyaurn.backends.sharded.registry import LOCAL, MPI, load_engine
from polyaurn.backends.sharded.shards import (
    MOST_SHARDS,
    check_documents,
    check_shards,
    cut_shards,
)
from polyaurn.base.arrays import F64, file_of_array
from polyaurn.base.errors import CheckpointWarning, ClusterWarning, InputError, WorkerLostError
from polyaurn.base.threads import count_cores, count_threads
from polyaurn.chain.samplers import SAMPLERS, check_proposals, samplers_with
from polyaurn.chain.schedule import COLLAPSED, FULL
from polyaurn.chain.state import WHOLE, Counts, Halt, Info, Priors, State
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.urn_file import map_documents, write_urn
from polyaurn.files.names import WORK, WORKING, remove_work
from polyaurn.files.npz import write_npz
from polyaurn.model.parts import read_counts, read_priors, read_topics
from polyaurn.model.top_level import arrays_of_top, read_top
from polyaurn.training.checkpoints import read_every
from polyaurn.training.cluster_program import train
from polyaurn.training.folder import open_shared_folder
from polyaurn.training.progress import Report
from polyaurn.training.run import Run
from polyaurn.training.settings import Settings
from polyaurn.training.signals import asks_to_stop

RESTARTS = 3  # times that workers are started again, when one is lost
COSTLY = 1 / 3  # share of the time spent exchanging from which there is a warning
WATCHED = 10  # full sweeps after which that is known
ADDRESS_OF_32_BITS = 2**32  # tokens from which proposals would share random numbers


class Ended(NamedTuple):
    """Where a chain ended.

    `files` are the parts of the model that workers have written, and what a header says about each;
    they are in the folder `inside`. `counts` are of all words, the mean of `draws` draws, and
    `weights` draws of Psi of a hierarchical Dirichlet process.
    """

    run: Run
    trace: list[dict[str, Any]]
    priors: Priors
    sweep: int
    smooth: bool
    counts: sp.csr_matrix
    draws: int
    inside: Path
    files: dict[str, Any]
    weights: F64 | None = None

    def state(self) -> State:
        """Return the state of the chain, which takes the memory of all tokens."""
        _, z = read_topics([self.inside / name for name in self.files])
        if self.priors.top is not None:  # which of its topics have tokens is asked of the counts
            halt = Halt(z, self.sweep, WHOLE, self.priors, self.smooth)
            return self.run.state_of(halt)
        several = self.draws > 1
        counts = no_counts(self.counts.shape[1]) if several else _counts(self.counts)
        return State(z, counts, self.priors, self.sweep, WHOLE, smooth=self.smooth)


def train_on_cluster(
    run: Run,
    line: Report,
    stopping: Callable[[], bool],
    receive: Callable[[Ended], None],
    *,
    any_seed: bool,
) -> None:
    """Train with the workers that the settings ask for, and return where the chain ended.

    The folder of the parts is removed when `receive` returns. `any_seed` takes the seed of the run
    that is resumed.
    """
    settings = run.settings
    if run.earlier is not None:
        settings.check_no_cluster("a model that is continued")
    engine = load_engine(str(settings.cluster), settings.cluster_address)
    if engine.serve():
        raise SystemExit(0)
    check_run(run)
    shards = cut_shards(run.corpus.doc_ptr, MOST_SHARDS)
    size = engine.check(settings.n_workers)
    if settings.n_workers is None and engine.name != MPI:  # whose ranks are there already
        size = min(size, len(shards))
    check_shards(shards, size)
    with _folder(run, engine, any_seed=any_seed) as (folder, begun):
        if begun is not None:
            run = run.with_seed(begun["random_state"])
        remove_work(folder)
        with tempfile.TemporaryDirectory(prefix=WORK, dir=folder) as inside:
            task = _task(run, engine, size, folder, Path(inside))
            line.note(f"{run.in_brief[:-1]}, {size:,} workers ({engine.name}).")
            if run.note:
                line.note(run.note)
            if engine.name == MPI and size == 1:
                _warn(
                    "There is one MPI rank only, which has all the work; start the same command "
                    "with 'mpiexec -n 4', or with srun, for several."
                )
            listener = _Listener(run, line, stopping)
            try:
                result = engine.run(
                    size, train, task, restarts=RESTARTS, on_record=listener.hear,
                    stopping=listener.stopping,
                )  # fmt: skip
            except WorkerLostError as error:
                raise WorkerLostError(error.what, _remedy(settings)) from error
            receive(_ended(run, result, Path(inside)))


def check_run(run: Run) -> None:
    """Reject what cannot be done on shards."""
    settings, corpus = run.settings, run.corpus
    check_documents(corpus.n_documents)
    sampler = settings.sampler
    if not SAMPLERS[sampler].draws_phi:
        raise InputError(
            f"The 'sampler' parameter must be one that draws Phi where 'cluster' is given: "
            f"{samplers_with('draws_phi')}. Got {sampler!r}, "
            "whose counts all tokens change one after another."
        )
    if not run.backend.in_shards:
        devices = ", ".join(repr(name) for name, known in BACKENDS.items() if known.in_shards)
        raise InputError(
            f"The 'device' parameter must be {devices} where 'cluster' is given. Got "
            f"{run.backend.name!r}; leave one of them out."
        )
    if _schedule(run).collapsed:
        got = "Got 'collapsed'; take 'anneal'."
        if settings.warm_start != COLLAPSED:  # "auto" of a run that one machine began
            got = "The run that is resumed begins so; resume it without a cluster."
        raise InputError(
            "The 'warm_start' parameter must not be 'collapsed' where 'cluster' is given, since "
            f"collapsed sampling has no shards. {got}"
        )
    if SAMPLERS[sampler].proposes and corpus.n_tokens >= ADDRESS_OF_32_BITS:
        raise InputError(
            f"The corpus must have fewer than 2**32 tokens for sampler {sampler!r}. Got "
            f"{corpus.n_tokens:,}; take 'polya-urn'."
        )


class _Listener:
    """What is done with what workers say."""

    def __init__(self, run: Run, line: Report, stopping: Callable[[], bool]) -> None:
        self._run, self._line, self._stopping = run, line, stopping
        self._stop = False
        self._seconds, self._exchange, self._sweeps = 0.0, 0.0, 0

    def stopping(self) -> bool:
        """Return whether the run should end after the sweep."""
        return self._stop or self._stopping()

    def hear(self, record: Record) -> None:
        """Answer one record."""
        if "info" in record:
            self._sweep(Info(**record["info"]), record["cluster"])
        elif "compiling" in record:
            self._line.compiling()
        elif "lost" in record:
            _warn(
                "A worker of the cluster was lost; all begin again from the last checkpoint "
                f"({record['lost']} of {RESTARTS} times)."
            )
        for name in ("note", "warning"):
            if record.get(name):
                warnings.warn(record[name], CheckpointWarning, stacklevel=2)

    def _sweep(self, info: Info, account: Record) -> None:
        moved = account["bytes"] / 1e6
        beside = f", {moved:,.1f} MB, worker {account['slowest']} {account['busy']:.2f} s"
        self._line.sweep(info, beside)
        called = [call(None, info) for call in self._run.settings.callbacks]
        self._stop |= any(map(asks_to_stop, called))
        if info.phase != FULL:  # sweeps over a share of the documents, or from a hot start
            return
        self._sweeps += 1
        if self._sweeps <= WATCHED:
            self._seconds += account["busy"] + account["exchange"]
            self._exchange += account["exchange"]
        if self._sweeps == WATCHED and self._exchange > COSTLY * self._seconds:
            _warn(
                f"Workers spend {self._exchange / self._seconds:.0%} of their time exchanging "
                "counts and Phi; fewer workers, or more documents for each, would be faster."
            )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ClusterWarning, stacklevel=3)


def _task(run: Run, engine: Engine, size: int, folder: Path, inside: Path) -> Task:
    """Return what workers need, and write what of it is large."""
    settings, corpus = run.settings, run.corpus
    path = _file_of(corpus) or write_urn(corpus, inside / WORKING[0])
    priors = inside / WORKING[1]
    arrays = {"alpha": run.priors.alpha, "beta": run.priors.beta} | arrays_of_top(run.priors.top)
    if run.priors.pseudo is not None:
        arrays |= run.priors.pseudo._asdict()
    with priors.open("wb") as file:
        write_npz(file, arrays)
    n_jobs = settings.n_jobs
    if engine.name == LOCAL:
        n_jobs = max(1, count_cores() // size) if n_jobs == -1 else count_threads(n_jobs)
    shares, *rest = _schedule(run)
    return {
        "corpus": str(path), "folder": str(folder), "out": str(inside), "priors": str(priors),
        "sizes": [corpus.n_tokens, corpus.n_documents, corpus.n_words],
        "n_topics": settings.n_components, "sampler": settings.sampler, "seed": run.seed,
        "n_jobs": n_jobs, "mh_steps": check_proposals([settings.sampler], settings.mh_steps),
        "learn_every": settings.learn_priors_every, "hdp": settings.hdp and list(settings.hdp),
        "evaluate_every": settings.evaluate_every,
        "max_iter": settings.max_iter, "schedule": [list(shares), *rest],
        "average": settings.average_draws, "run": run.header,
        "every": list(read_every(settings.checkpoint_every)), "n_shards": MOST_SHARDS,
        "run_id": secrets.token_hex(4),
    }  # fmt: skip


def _file_of(corpus: Corpus) -> Path | None:
    """Return the file that a corpus is mapped from as a whole, None where there is none."""
    path = file_of_array(corpus.word)
    if path is None or not path.exists():
        return None
    there = map_documents(path)
    same = there.n_words == corpus.n_words and np.array_equal(there.doc_ptr, corpus.doc_ptr)
    return path if same else None


def _schedule(run: Run) -> Any:
    corpus, settings = run.corpus, run.settings
    return settings.schedule(
        corpus.n_tokens, corpus.n_words, settings.max_iter, float(run.priors.beta.mean())
    )


@contextmanager
def _folder(
    run: Run, engine: Engine, *, any_seed: bool
) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Yield the folder that workers share, and whose run is resumed there."""
    settings = run.settings
    if settings.checkpoint is not None:
        place = settings.checkpoint.absolute()
        with open_shared_folder(
            place, run.header, resume=settings.resume, any_seed=any_seed
        ) as begun:
            yield place, begun
        return
    if settings.resume or engine.name != LOCAL:
        why = "when 'resume' is True" if settings.resume else "on storage that all workers share"
        raise InputError(
            f"The 'checkpoint' parameter must be a folder {why}. Got None instead; name the folder "
            "of the run."
        )
    with tempfile.TemporaryDirectory(prefix="polyaurn-") as temporary:
        yield Path(temporary), None


def _remedy(settings: Settings) -> str:
    if settings.checkpoint is None:
        return "Train again; with a 'checkpoint' folder the run could be resumed."
    return (
        f"The run is kept in '{settings.checkpoint}' as of its last checkpoint; resume it with "
        "resume=True (--resume), with any number of workers."
    )


def _ended(run: Run, result: Record, inside: Path) -> Ended:
    files = {fact["file"]: fact for fact in result["parts"]}
    paths = [inside / name for name in files]
    alpha, beta = read_priors(paths[0])
    priors = run.priors._replace(alpha=alpha, beta=beta, learned=result["learned"])
    weights = None
    if result["top"]:
        top, weights = read_top(inside / result["top"], len(alpha))
        priors = priors._replace(top=top)
    counts = read_counts(paths, run.corpus.n_words)
    several = counts.data.dtype.kind == "f"
    return Ended(
        run, result["trace"], priors, result["sweep"], result["smooth"], counts,
        result["draws"] if several else 1, inside, files, weights,
    )  # fmt: skip


def _counts(matrix: sp.csr_matrix) -> Counts:
    columns = matrix.tocsc().sorted_indices()
    ptr = columns.indptr.astype(np.int64)
    topic = columns.indices.astype(np.uint16)
    return Counts(ptr[:-1], ptr[1:], topic, columns.data.astype(np.int32))
