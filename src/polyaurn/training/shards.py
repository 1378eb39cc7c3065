"""Checkpoints and models that workers write together, each its own part.

A checkpoint has a manifest, the header of any checkpoint, which also lists the files of shards and
which tokens each has; they have topics by token, and sums of counts by word. The first worker
writes the manifest once all others have written their files.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.sharded.group import Group
from polyaurn.base.errors import InputError
from polyaurn.chain.state import State, halt_of
from polyaurn.files.names import (
    CHECKPOINTS,
    checkpoint_headers,
    shards_file,
    thin_checkpoints,
)
from polyaurn.files.npz import write_npz
from polyaurn.files.sealed import Damaged, seal, write_file
from polyaurn.training.averages import sums_of_words
from polyaurn.training.checkpoints import (
    EXTRA,
    KEPT,
    SHARDED_VERSION,
    Saved,
    after_damage,
    all_damaged,
    arrays_of,
    check_free,
    header_of,
    read_checkpoint,
    stem_of,
)


class Own(NamedTuple):
    """What a worker writes: bounds of its shards, of their tokens, and of its words."""

    shards: tuple[int, int]
    tokens: tuple[int, int]
    words: tuple[int, int]


class ShardCheckpoints:
    """The checkpoints of a run on shards; all workers call the same methods in the same order."""

    def __init__(self, folder: Path, run: dict[str, Any], group: Group, own: Own) -> None:
        self._folder = folder / CHECKPOINTS
        self._run, self._group, self._own = run, group, own
        self._written = -1

    def write(self, state: State, trace: list[dict[str, Any]], extra: Mapping[str, Any]) -> str:
        """Write a checkpoint, and remove all but the two newest; return what went wrong."""
        if self._written == state.sweep:
            return ""
        stem = stem_of(state.sweep)
        first = self._group.rank == 0
        trouble, fact = "", {}
        if first:
            trouble = _tried(lambda: self._make_room(stem))
        if self._agreed(trouble):
            return trouble
        name = shards_file(stem, *self._own.shards)
        arrays = {"z": state.z, "words": np.array(self._own.words)}
        arrays |= {EXTRA + which: array for which, array in extra.items()}
        try:
            fact = write_file(self._folder, name, lambda file: write_npz(file, arrays))
        except InputError as error:
            trouble = str(error)
        said = self._all([name, *self._own.tokens, fact, trouble])
        troubles = [one[4] for one in said if one[4]]
        if not troubles and first:
            halt = halt_of(state)
            header = header_of(halt, self._run, extra) | {
                "format_version": SHARDED_VERSION,
                "shards": [one[:3] for one in said],
            }
            main = arrays_of(halt, trace)
            trouble = _tried(
                lambda: seal(
                    self._folder, f"{stem}.json", header,
                    {f"{stem}.npz": lambda file: write_npz(file, main)},
                    written={one[0]: one[3] for one in said},
                )
            )  # fmt: skip
            if not trouble:
                thin_checkpoints(self._folder, KEPT)
        if troubles or self._agreed(trouble):
            (self._folder / name).unlink(missing_ok=True)
            return troubles[0] if troubles else trouble
        self._written = state.sweep
        return ""

    def newest(self) -> Saved | None:
        """Return the worker's part of the newest checkpoint that is whole."""
        names = [header.name for header in checkpoint_headers(self._folder)]
        reasons: list[str] = []
        for name in self._all(names)[0]:
            saved, reason = None, "the part of another worker"
            try:
                saved = read_checkpoint(self._folder, name, self._own.tokens)
            except Damaged as error:
                reason = str(error)
            if self._agreed("" if saved else reason) or saved is None:
                reasons.append(f"{name}: {reason}")
                continue
            extra = sums_of_words(saved.extra, *self._own.words)
            return after_damage(saved._replace(extra=extra), reasons)
        if reasons:
            raise all_damaged(self._folder, reasons)
        return None

    def _make_room(self, stem: str) -> None:
        thin_checkpoints(self._folder, KEPT)
        check_free(self._folder, stem)

    def _all(self, value: Any) -> list[Any]:
        return gather_values(self._group, value)

    def _agreed(self, trouble: str) -> bool:
        """Return whether any worker has trouble."""
        return bool(self._group.total(np.array([bool(trouble)], np.int64))[0])


def gather_values(group: Group, value: Any) -> list[Any]:
    """Return a plain value of each worker, in the order of ranks."""
    own = np.frombuffer(json.dumps(value).encode(), np.uint8)
    return [json.loads(said.tobytes()) for said in group.gather(own)]


def _tried(action: Any) -> str:
    try:
        action()
    except InputError as error:
        return str(error)
    return ""
