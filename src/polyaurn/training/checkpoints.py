"""Checkpoints of a run: what a chain needs to continue, kept while it runs, two at most."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__
from polyaurn.chain.schedule import AUTO_OF_0_1, is_smooth
from polyaurn.chain.state import WHOLE, Halt, Priors, State, halt_of
from polyaurn.files.names import (
    CHECKPOINT_FORMAT,
    CHECKPOINTS,
    HEADER,
    checkpoint_headers,
    in_the_way,
    sweep_of,
    thin_checkpoints,
)
from polyaurn.files.npz import read_npz, write_npz
from polyaurn.files.sealed import Damaged, file_of, read_header, seal, unseal
from polyaurn.model.top_level import TOP_TYPES, arrays_of_top, top_of_arrays
from polyaurn.training.averages import joined_sums

FORMAT_VERSION = 1
SHARDED_VERSION = 2  # of a checkpoint that workers wrote, each the shards that are its own
KEPT = 2
SECONDS = 60.0  # between checkpoints, when nothing else is said
COSTLY = 50.0  # times what a checkpoint took that training runs before the next, at least
EXTRA = "extra."  # before the names of further arrays
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


Extra = Callable[[], Mapping[str, Any]]  # further one-dimensional arrays by name


def nothing_extra() -> dict[str, Any]:
    """Return no further arrays."""
    return {}


class Every(NamedTuple):
    """How often: every so many sweeps, or seconds, or never."""

    sweeps: int = 0
    seconds: float = 0.0


class Saved(NamedTuple):
    """A checkpoint that was read: where the chain was, its trace, and notes on reading it.

    `extra` are arrays that were stored with it, such as draws.
    """

    halt: Halt
    trace: list[dict[str, Any]]
    run: dict[str, Any]
    note: str
    extra: Mapping[str, Any] = MappingProxyType({})


def read_every(value: Any, name: str = "checkpoint_every") -> Every:
    """Understand how often checkpoints are wanted, or reject it.

    Parameters
    ----------
    value : "auto", int, or str
        A number of sweeps, a time such as "30s", "5min" or "1h", 0 or "never"; "auto" is a
        minute.
    name : str
        The parameter's name, for the error message.

    Returns
    -------
    Every
        Sweeps or seconds.
    """
    text = str(value).strip().lower()
    if value is not None and not isinstance(value, bool):
        if text == "auto":
            return Every(seconds=SECONDS)
        if text in ("0", "never"):
            return Every()
        if re.fullmatch(r"[1-9]\d{0,17}", text):
            return Every(sweeps=int(text))
        time = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?(s|min|h)", text)
        if time and float(time[1]) > 0:
            return Every(seconds=float(time[1]) * _UNITS[time[2]])
    raise InputError(
        f"The '{name}' parameter must be a number of sweeps, a time such as '5min', '30s' or "
        f"'1h', 'auto' or 'never'. Got {value!r} instead."
    )


class Checkpoints:
    """The checkpoints of one run, in a folder that is locked.

    Parameters
    ----------
    folder : Path
        The model's folder; checkpoints are stored in ``checkpoints`` inside.
    run : dict
        What fixes the chain, ready for JSON.
    every : Every
        When `after` writes one.
    early : bool
        Write one after the first sweep, too.

    Attributes
    ----------
    outdated : bool
        Whether checkpoints in the folder are of a run that the first one to be written replaces.
    """

    def __init__(
        self, folder: Path, run: dict[str, Any], every: Every, *, early: bool = False
    ) -> None:
        self.place = folder
        self._folder = folder / CHECKPOINTS
        self._run = run
        self._every = every
        self._last = perf_counter()
        self._pause = every.seconds
        self._written = -1
        self._failing = False
        self._early = early and any(every)
        self.outdated = False

    def after(self, state: State, trace: list[dict[str, Any]], extra: Extra = nothing_extra) -> str:
        """Write a checkpoint if it is time; return what went wrong, or nothing."""
        due = self._every.seconds and perf_counter() - self._last >= self._pause
        if due or self._early or (self._every.sweeps and state.sweep % self._every.sweeps == 0):
            self._early = False
            return self._try(state, trace, extra)
        return ""

    def at_the_end(
        self, state: State, trace: list[dict[str, Any]], extra: Extra = nothing_extra
    ) -> str:
        """Write a checkpoint unless none are wanted; return what went wrong, or nothing."""
        return self._try(state, trace, extra) if any(self._every) else ""

    def _try(self, state: State, trace: list[dict[str, Any]], extra: Extra) -> str:
        if self._written == state.sweep:
            return ""
        begin = perf_counter()
        halt = halt_of(state)
        try:
            self.write(halt, trace, extra())
        except InputError as error:
            said, self._failing = self._failing, True
            at = f"No checkpoint was written at sweep {state.sweep:,}; the run continues"
            return "" if said else f"{at}. {error}"
        finally:
            self._last = perf_counter()
            self._pause = max(self._every.seconds, COSTLY * (self._last - begin))
        self._failing = False
        return ""

    def write(
        self,
        halt: Halt,
        trace: list[dict[str, Any]],
        extra: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Write a checkpoint, and remove all but the two newest."""
        arrays = {"z": halt.z} | arrays_of(halt, trace)
        arrays |= {EXTRA + name: array for name, array in extra.items()}
        header = header_of(halt, self._run, extra)
        stem = stem_of(halt.sweep)
        thin_checkpoints(self._folder, 0 if self.outdated else KEPT)
        self.outdated = False
        check_free(self._folder, stem)
        seal(
            self._folder,
            f"{stem}.json",
            header,
            {f"{stem}.npz": lambda file: write_npz(file, arrays)},
        )
        thin_checkpoints(self._folder, KEPT)
        self._written = halt.sweep

    def newest(self) -> Saved | None:
        """Return the newest checkpoint that is whole, None where there is none."""
        return newest(self._folder)

    def newest_sweep(self) -> int | None:
        """Return the sweep of the newest checkpoint, whole or not; None where there is none."""
        headers = checkpoint_headers(self._folder)
        return sweep_of(headers[0].name) if headers and not self.outdated else None


def stem_of(sweep: int) -> str:
    """Return how the names of a checkpoint's files begin."""
    return f"sweep-{sweep:09d}"


def arrays_of(halt: Halt, trace: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the arrays of a checkpoint whose size does not depend on the corpus' tokens."""
    arrays: dict[str, Any] = {"trace": np.frombuffer(json.dumps(trace).encode(), np.uint8)}
    if halt.priors is not None:
        arrays |= {"alpha": halt.priors.alpha, "beta": halt.priors.beta}
        arrays |= arrays_of_top(halt.priors.top)
    return arrays


def header_of(halt: Halt, run: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header of a checkpoint."""
    header = {
        "format": CHECKPOINT_FORMAT,
        "format_version": FORMAT_VERSION,
        "polyaurn_version": __version__,
        "run": run,
        "sweep": halt.sweep,
        "share": halt.share,
        "learned_priors": halt.priors is not None,
    }
    if halt.priors is not None and halt.priors.top is not None:
        header["top_level"] = True
    if extra:
        header["extra"] = {name: np.asarray(array).dtype.kind for name, array in extra.items()}
    return header


def check_free(folder: Path, stem: str) -> None:
    """Raise an error if a checkpoint would replace a file that is not ours."""
    other = in_the_way(folder, stem)
    if other:
        raise InputError(
            f"The file '{folder / other}' is not a checkpoint of polyaurn, and is left alone; "
            "move it, or choose another folder."
        )


def newest(folder: Path) -> Saved | None:
    """Return the newest checkpoint that is whole.

    Parameters
    ----------
    folder : Path
        The folder of checkpoints.

    Returns
    -------
    Saved or None
        None where there is none. Where all are damaged, the newest one's reason is reported.
    """
    reasons = []
    for header in checkpoint_headers(folder):
        try:
            saved = read_checkpoint(folder, header.name)
        except Damaged as reason:
            reasons.append(f"{header.name}: {reason}")
            continue
        return after_damage(saved, reasons)
    if reasons:
        raise all_damaged(folder, reasons)
    return None


def after_damage(saved: Saved, reasons: list[str]) -> Saved:
    """Return a checkpoint that was read, with a note where newer ones are damaged."""
    if not reasons:
        return saved
    at = f"resuming from sweep {saved.halt.sweep:,}"
    return saved._replace(note=f"A newer checkpoint is damaged ({reasons[0]}); {at}.")


def all_damaged(folder: Path, reasons: list[str]) -> InputError:
    """Return the error of a folder in which no checkpoint is whole."""
    return InputError(
        f"The folder '{folder}' holds damaged checkpoints only ({reasons[0]}). Copy them "
        "again, or start again with --force (force=True)."
    )


def read_checkpoint(folder: Path, name: str, window: tuple[int, int] | None = None) -> Saved:
    """Read and verify a checkpoint; with a window the topics of these tokens only.

    Only the files that are needed are verified.
    """
    header = unseal(
        folder, name, CHECKPOINT_FORMAT, SHARDED_VERSION,
        wanted=lambda header, file: file in _needed(header, name, window),
    )  # fmt: skip
    sweep, share, run = header.get("sweep"), header.get("share"), header.get("run")
    if sweep != sweep_of(name) or type(share) is not int or not 1 <= share <= WHOLE:
        raise Damaged(f"it is of sweep {sweep!r} and share {share!r}")
    if not isinstance(run, dict):
        raise Damaged("it does not say what run it is of")
    types = {"trace": "u"}
    if header.get("learned_priors") is True:
        types |= {"alpha": "f", "beta": "f"}
    if header.get("top_level") is True:
        types |= TOP_TYPES
    extra = _extra_kinds(header.get("extra", {}))
    of_tokens = {"z": "u"} | {EXTRA + name: kind for name, kind in extra.items()}
    main = file_of(folder, header, name.removesuffix(".json") + ".npz")
    if "shards" in header:
        arrays = read_npz(main, types) | _read_shards(folder, header, of_tokens, window)
    else:
        inside = {} if window is None else {"z": window}
        arrays = read_npz(main, types | of_tokens, inside)
    if arrays["z"].dtype != np.uint16 or arrays["trace"].dtype != np.uint8:
        raise Damaged("its arrays have other types")
    try:
        trace = json.loads(arrays["trace"].tobytes())
    except (ValueError, RecursionError):
        raise Damaged("its trace is not JSON") from None
    if not isinstance(trace, list) or not all(isinstance(record, dict) for record in trace):
        raise Damaged("its trace is not a list of records")
    priors = None
    if "alpha" in arrays:
        top = top_of_arrays(arrays, len(arrays["alpha"]))
        priors = Priors(arrays["alpha"], arrays["beta"], learned=True, top=top)
    for prior in priors[:2] if priors else ():
        prior.flags.writeable = False
    kept = {name: arrays[EXTRA + name] for name in extra}
    halt = Halt(arrays["z"], sweep, share, priors, ended_smooth(sweep, trace))
    return Saved(halt, trace, of_this_version(run), "", kept)


def _shards(header: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Return the files of shards that a header names, and which tokens each has, in order."""
    found = header["shards"]
    ok = isinstance(found, list) and all(
        isinstance(one, list) and [type(x) for x in one] == [str, int, int] for one in found
    )
    if not ok or not found:
        raise Damaged("it does not say what its shards are")
    shards = sorted(((one[0], one[1], one[2]) for one in found), key=lambda one: one[1])
    ends = [last for _, _, last in shards]
    if [first for _, first, _ in shards] != [0, *ends[:-1]]:
        raise Damaged("its shards do not follow one another")
    return shards


def _needed(header: dict[str, Any], name: str, window: tuple[int, int] | None) -> set[str]:
    """Return the files of a checkpoint that have topics of these tokens, or what all need."""
    main = name.removesuffix(".json") + ".npz"
    if "shards" not in header:
        return {main}
    shards = _shards(header)
    lo, hi = window or (0, shards[-1][2])
    if header.get("extra"):  # by word, not by token
        lo, hi = 0, shards[-1][2]
    return {main, *(file for file, first, last in shards if first < hi and last > lo)}


def _read_shards(
    folder: Path, header: dict[str, Any], types: dict[str, str], window: tuple[int, int] | None
) -> dict[str, Any]:
    """Read the arrays that shards have, joined."""
    shards = _shards(header)
    lo, hi = window or (0, shards[-1][2])
    if hi > shards[-1][2]:
        raise Damaged(f"it has {shards[-1][2]:,} tokens, not {hi:,}")
    pieces: list[Any] = []
    sums: list[Mapping[str, Any]] = []
    for name, first, last in shards:
        a, b = max(lo, first), min(hi, last)
        wanted = types if a < b else {n: kind for n, kind in types.items() if n != "z"}
        if not wanted:
            continue
        inside = {"z": (a - first, b - first)} if a < b else {}
        arrays = read_npz(file_of(folder, header, name), wanted, inside)
        if a < b:
            pieces.append(arrays.pop("z"))
        sums.append({name.removeprefix(EXTRA): array for name, array in arrays.items()})
    joined = {} if len(types) == 1 else joined_sums(sums)
    return {"z": np.concatenate(pieces)} | {EXTRA + n: array for n, array in joined.items()}


def run_in(folder: Path) -> dict[str, Any] | None:
    """Return what the newest checkpoint, or else the model, of a folder says of its run.

    Nothing else of it is read or verified; None where none can be read.
    """
    for path in (*checkpoint_headers(folder / CHECKPOINTS), folder / HEADER):
        try:
            header = read_header(path)
        except Damaged:
            continue
        parameters = header.get("parameters")  # of a model
        run = (parameters if isinstance(parameters, dict) else header).get("run")
        if isinstance(run, dict):
            return run
    return None


def of_this_version(run: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a run in the terms of this version.

    Version 0.1 took one draw, and its automatic start was another.
    """
    if "average_draws" in run:
        return run
    start = run.get("warm_start")
    return run | {
        "average_draws": 1,
        "warm_start": AUTO_OF_0_1 if start in ("auto", False) else start,
    }


def _extra_kinds(found: Any) -> dict[str, str]:
    """Return the kinds of further arrays that a header names."""
    if not isinstance(found, dict) or not all(kind in ("i", "u", "f") for kind in found.values()):
        raise Damaged("it does not say what else it holds")
    return found


def ended_smooth(sweep: int, trace: list[dict[str, Any]]) -> bool:
    """Return whether a sweep raised the priors, as its record says; without one, it did not."""
    last = trace[-1] if trace else {}
    return last.get("sweep") == sweep and is_smooth(str(last.get("phase")))


def describe_prior(prior: Any) -> float | str:
    """Return a prior for a header: the number, or a checksum of the vector."""
    if np.ndim(prior) == 0:
        return float(prior)
    digest = hashlib.sha256(np.asarray(prior, "<f8").tobytes()).hexdigest()
    return f"vector {digest[:16]}"


def check_same_run(expected: dict[str, Any], given: dict[str, Any], free: Iterable[str]) -> None:
    """Reject resuming a run that was another.

    Parameters
    ----------
    expected : dict
        What the checkpoint says of its run.
    given : dict
        What is asked for now.
    free : iterable of str
        Names that may differ.
    """
    corpora = [(run.get("corpus_sha256"), run.get("corpus")) for run in (expected, given)]
    if corpora[0][0] != corpora[1][0]:
        raise InputError(
            "The corpus must be the one of the run that is resumed. The checkpoint is of "
            f"{corpora[0][1]}; got {corpora[1][1]}, and their contents differ. Give the same file "
            "and reading options, or start again with --force (force=True)."
        )
    kinds = [run.get("model", run.get("model_kind", "lda")) for run in (expected, given)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"The run that is resumed is of another model, {kinds[0]!r}. Got {kinds[1]!r}; take "
            "the same estimator (--model), or start again with --force (force=True)."
        )
    for name in given | expected:
        before, now = expected.get(name), given.get(name)
        if name in {"corpus", *free} or before == now:
            continue
        if isinstance(before, dict) and isinstance(now, dict):  # of an update: its own parameters
            name = next(inner for inner in now | before if before.get(inner) != now.get(inner))
            before, now = before.get(name), now.get(name)
        raise InputError(
            f"The '{name}' parameter must be as in the run that is resumed. Expected {before!r}, "
            f"got {now!r}; give the same, or start again with --force (force=True)."
        )
