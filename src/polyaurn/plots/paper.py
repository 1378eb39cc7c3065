"""What all pictures share: axes, colours, names that fit, and checks."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.exchange.parts import fitted
from polyaurn.model.model import TopicModel
from polyaurn.pages.charts import COLOURS

GREY, PALE = "#5f5f5f", "#e3e3e3"
STYLES = ("-", "--", ":", "-.")  # after the colours are used up
__all__ = ["COLOURS", "fitted"]  # of other modules, for the pictures


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
    """Say what to install when there is nothing to draw with."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(
            "Pictures need the package matplotlib. Install it with: pip install 'polyaurn[plots]'."
        ) from None


def pick_topics(model: TopicModel, topics: Any, most: int) -> list[int]:
    """Return the topics asked for, or the largest ones.

    Parameters
    ----------
    model : TopicModel
        Which has them.
    topics : iterable of int, int or None
        Numbers of topics, from 0.
    most : int
        How many of the largest, when none are named.

    Returns
    -------
    list of int
        In the order asked for.
    """
    if topics is None:
        largest: list[int] = np.argsort(-model.topic_sizes, kind="stable")[:most].tolist()
        return largest
    several = isinstance(topics, Iterable) and not isinstance(topics, str)
    asked = list(topics) if several else [topics]
    for k in asked:
        whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
        if not whole or not 0 <= k < model.n_topics:
            raise InputError(
                f"The 'topics' parameter must be numbers of topics, from 0 to "
                f"{model.n_topics - 1:,}. Got {k!r}; see their numbers with 'polyaurn topics'."
            )
    if not asked or len(set(asked)) < len(asked):
        raise InputError(
            "The 'topics' parameter must name at least one topic, each once. Got "
            f"{', '.join(map(str, asked)) or 'none'}; leave it out for the largest."
        )
    return [int(k) for k in asked]


def need_documents(model: TopicModel) -> None:
    """Refuse a model without documents."""
    if not len(model.doc_names):
        raise InputError(
            "The 'model' parameter must have documents. Got one that came from elsewhere without "
            "them; only its topics can be drawn, by plot_topics and plot_map."
        )


def check_whole(value: Any, name: str) -> int:
    """Return a whole number above zero, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(
            f"The '{name}' parameter must be a whole number, at least 1. Got {value!r} instead."
        )
    return int(value)


def short(text: str, most: int) -> str:
    """Return a text that fits, with dots for what was cut; a dollar sign stays one."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("$", r"\$")


def short_name(name: str, most: int) -> str:
    """Return a name that fits, its beginning and its end, by which names differ."""
    if len(name) > most:
        name = f"{name[: most // 3]}…{name[len(name) - most + most // 3 + 1 :]}"
    return short(name, most)


def topic_label(model: TopicModel, k: int, n_words: int = 3, most: int = 36) -> str:
    """Return a topic's number with its most probable words."""
    n_k = model.topic_word_counts[k]
    mass = n_k.data + model.priors.beta[n_k.indices]
    best = n_k.indices[np.lexsort((n_k.indices, -mass))[:n_words]]
    return f"{k}: {short(', '.join(model.vocab[v] for v in best) or 'no words', most)}"
