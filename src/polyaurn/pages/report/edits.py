"""Changes that readers of a served page make: names of topics and mergers, saved to the model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.files.locks import locked
from polyaurn.model.checks import check_topic
from polyaurn.model.data import ModelData
from polyaurn.model.folder import rewrite_model
from polyaurn.model.labels import LONGEST
from polyaurn.model.model import TopicModel
from polyaurn.model.storage import load
from polyaurn.pages.report.page import render


class Edits:
    """Edits the model of a folder.

    Parameters
    ----------
    folder : Path
        The model's folder.
    shown : callable
        Says what the page of such a model shows, as `gather` does.
    """

    def __init__(self, folder: Path, shown: Callable[[TopicModel], dict[str, Any]]) -> None:
        self._folder = folder.absolute()
        self._shown = shown

    def rename(self, served: ModelData, topic: Any, label: Any) -> TopicModel:
        """Give a topic of the served model a label, or take it away if the label is empty."""
        k = check_topic(served, topic)
        if not isinstance(label, str):
            raise InputError(
                f"The 'label' parameter must be text of at most {LONGEST} characters. Got "
                f"{type(label).__name__} instead."
            )
        return self._save(served, lambda model: model.label_topics({k: label.strip() or None}))

    def merge(self, served: ModelData, topics: Any) -> TopicModel:
        """Make one topic of several of the served model."""
        listed = topics if isinstance(topics, list) else []
        numbers = sorted({check_topic(served, topic, "topics") for topic in listed})
        if len(numbers) < 2 or len(numbers) == served.n_topics:
            raise InputError(
                "The 'topics' parameter must name two or more topics, but not all. Got "
                f"{len(numbers)} of {served.n_topics}; choose others."
            )
        return self._save(served, lambda model: model.merge_topics([numbers]))

    def page(self, model: TopicModel) -> str:
        """Return the page of a model that was edited."""
        return render(self._shown(model), served=True, editable=True)

    def _save(self, served: ModelData, change: Callable[[TopicModel], TopicModel]) -> TopicModel:
        """Change the model in the folder, if it is still the one that is served."""
        with locked(self._folder):
            current = load(self._folder)
            same = current.n_topics == served.n_topics and np.array_equal(
                current.assignments, served.assignments
            )
            if not same:
                raise InputError(
                    f"The model in '{self._folder.name}' is not the one on the page any more. Got "
                    "other topics; end 'polyaurn serve' and start it again."
                )
            changed = change(current)
            rewrite_model(changed, self._folder)
        return replace(changed, doc_names=served.doc_names)
