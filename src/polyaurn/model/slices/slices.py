"""The models of slices of time, in order, and which documents each was trained on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.checks import is_whole
from polyaurn.base.errors import InputError
from polyaurn.model.data import ModelData
from polyaurn.model.model import TopicModel
from polyaurn.model.slices.cutting import Cut
from polyaurn.model.tables.hierarchy import MERGED

KEY = "over_time"  # among the parameters of a slice's model, and in the header of its run
HELD_OUT = "held_out"


@dataclass(frozen=True, eq=False)
class Slices:
    """A topic model for each slice; topics have the same numbers, words the same columns, in all.

    `models` are those of the slices that are finished, from the first one on. `held` marks the
    documents that were held out, and `setting` is what fixes the training.
    """

    cut: Cut
    models: tuple[TopicModel, ...]
    held: Any
    setting: dict[str, Any]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the slices that are finished."""
        return self.cut.labels[: len(self.models)]

    @property
    def complete(self) -> bool:
        """Whether all slices are finished, in both directions where that was asked for."""
        passes = [fact(model, "pass") for model in self.models]
        back = self.setting.get("both_ways") is True and self.setting.get("carry") != 0
        return len(passes) == len(self.cut.labels) and (not back or set(passes[:-1]) <= {2})

    def documents_of(self, slice_: Any, *, held_out: bool = False) -> I64:
        """Return the numbers of a slice's documents in the corpus, in the order of its model."""
        of_slice = self.cut.number == self.place(slice_)
        return np.flatnonzero(of_slice & (self.held if held_out else ~self.held))

    def place(self, slice_: Any) -> int:
        """Return the number of a slice that is named by its label, or by its number."""
        if isinstance(slice_, str) and slice_ in self.labels:
            return self.labels.index(slice_)
        n = len(self.models)
        if is_whole(slice_) and 0 <= slice_ < n:
            return int(slice_)
        shown = ", ".join(map(repr, self.labels[:6])) + (", ..." if n > 6 else "")
        raise InputError(
            f"The 'slice_' parameter must be the label of a slice ({shown}) or its number from 0 "
            f"to {n - 1:,}. Got {slice_!r} instead."
        )


def continues_slice(one: ModelData, other: ModelData) -> bool:
    """Return whether two models are slices of one training in which counts are carried."""
    setting = fact(one, "setting")
    if setting is None or setting != fact(other, "setting"):
        return False
    merged = any(MERGED in model.parameters for model in (one, other))
    return not merged and any(model.priors.pseudo is not None for model in (one, other))


def fact(model: ModelData, name: str) -> Any:
    """Return what the model of a slice knows about its place in time; None where it does not."""
    facts = model.parameters.get(KEY)
    return facts.get(name) if isinstance(facts, dict) else None
