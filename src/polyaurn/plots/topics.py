"""Topics as bars: their leading words."""

import math
from typing import Any

from polyaurn.base.checks import check_whole
from polyaurn.model.labels import given_labels
from polyaurn.model.leading_words import BY_FREQUENCY, BY_RELEVANCE
from polyaurn.model.model import fitted
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import new_axes, pick_topics, short

TOPICS, COLUMNS = 9, 3
WIDTH, BARS = 0.86, 0.72  # shares of a column: all that is drawn, and the longest bar


def plot_topics(
    model: Any,
    topics: Any = None,
    n_words: int = 8,
    *,
    order: str = BY_RELEVANCE,
    ax: Any = None,
) -> Any:
    """Draw the leading words of topics as bars, one scale for all.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    topics : iterable of int, optional
        Which topics, in this order; the nine largest when not given.
    n_words : int
        Words of each.
    order : {"relevance", "frequency"}
        Order of the words: those that set a topic apart first, or the most probable ones.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture: a word on its bar, its probability at the right. Topics that have
        labels are named by them.
    """
    trained = fitted(model)
    chosen = pick_topics(trained, topics, TOPICS)
    words = check_whole(n_words, "n_words")
    listed, labels = trained.topics(words, weights=True, order=order), given_labels(trained)
    n_columns = min(COLUMNS, len(chosen))
    n_rows = math.ceil(len(chosen) / n_columns)
    ax = new_axes(ax, 0.6 + 3.1 * n_columns, 0.6 + n_rows * (0.5 + 0.23 * words))
    most = max((p for k in chosen for _, p in listed[k]), default=1.0)
    block = words + 2.0
    for i, k in enumerate(chosen):
        left, top = float(i % n_columns), (i // n_columns) * block
        colour = COLOURS[0]
        size = f"{float(trained.topic_sizes[k]):,.0f} tokens"
        name = f"Topic {k}: {labels[k]}" if labels[k] else f"Topic {k}"
        ax.text(left, top, short(name, 30), weight="bold", va="center")
        ax.text(left + WIDTH, top, size, ha="right", va="center", fontsize="small")
        for j, (word, p) in enumerate(listed[k]):
            y = top + 1 + j
            ax.barh(y, BARS * p / most, 0.82, left, color=colour, alpha=0.35, linewidth=0)
            ax.text(left + 0.01, y, short(word, 26), va="center", fontsize="small")
            ax.text(left + WIDTH, y, f"{p:.3f}", ha="right", va="center", fontsize="x-small")
        if not listed[k]:
            ax.text(left, top + 1, "no tokens", va="center", fontsize="small")
    ax.set_xlim(0, n_columns - 1 + WIDTH)
    ax.set_ylim(n_rows * block - 1.4, -0.8)
    kind = "Most probable" if order == BY_FREQUENCY else "Leading"
    ax.set_title(f"{kind} words of topics, and their probabilities", fontsize="medium")
    ax.set_axis_off()
    return ax
