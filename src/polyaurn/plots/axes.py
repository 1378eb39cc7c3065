"""What all plots share: axes, colours, names that fit, and the topics to draw."""

from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.model.checks import check_documents, check_topics_asked
from polyaurn.model.data import ModelData, largest_topics
from polyaurn.model.labels import labels_at
from polyaurn.model.leading_words import BY_RELEVANCE

GREY, PALE = "#5f5f5f", "#e3e3e3"
STYLES = ("-", "--", ":", "-.")  # after the colours are used up
TOPICS_ONLY = "only its topics can be drawn, by plot_topics and plot_map"


def new_axes(ax: Any, width: float, height: float) -> Any:
    """Return the Axes given, or those of a new figure of this size in inches."""
    check_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise InputError(
            f"The 'ax' parameter must be an Axes of matplotlib. Got {type(ax).__name__} instead; "
            "leave it out for a new figure."
        )
    return ax


def check_matplotlib() -> None:
    """Say what to install when matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(
            "Pictures need the package matplotlib. Install it with: pip install 'polyaurn[plots]'."
        ) from None


def pick_topics(model: ModelData, topics: Any, most: int) -> list[int]:
    """Return the topics asked for, in that order, or the largest ones."""
    if topics is None:
        return [int(k) for k in largest_topics(model, most)]
    return [int(k) for k in check_topics_asked(model, topics)]


def need_documents(model: ModelData) -> None:
    """Reject a model without documents."""
    check_documents(model, TOPICS_ONLY)


def short(text: str, most: int) -> str:
    """Return a text that fits, with dots for what was cut; a dollar sign starts no formula."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("$", r"\$")


def short_name(name: str, most: int) -> str:
    """Return the beginning and the end of a name, by which names differ."""
    if len(name) > most:
        name = f"{name[: most // 3]}…{name[len(name) - most + most // 3 + 1 :]}"
    return short(name, most)


def topic_label(model: ModelData, k: int, most: int = 36, order: str = BY_RELEVANCE) -> str:
    """Return a topic's number with its label or, without one, its leading words."""
    return f"{k}: {short(labels_at(model, np.array([k]), order)[0], most)}"
