"""Topics as bars: their most probable words."""

import math
from typing import Any

from polyaurn.plots.paper import COLOURS, check_whole, fitted, new_axes, pick_topics, short

TOPICS, COLUMNS = 9, 3
ROOM, BARS = 0.86, 0.72  # of a column's width: for all of it, and for the longest bar


def plot_topics(model: Any, topics: Any = None, n_words: int = 8, *, ax: Any = None) -> Any:
    """Draw the most probable words of topics as bars, one scale for all.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    topics : iterable of int, optional
        Which, in this order; the nine largest when not given.
    n_words : int
        Words of each.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, large enough, when not given.

    Returns
    -------
    matplotlib Axes
        With the picture: a word on its bar, its probability at the right.
    """
    trained = fitted(model)
    chosen = pick_topics(trained, topics, TOPICS)
    words = check_whole(n_words, "n_words")
    listed = trained.topics(words, weights=True)
    n_columns = min(COLUMNS, len(chosen))
    n_rows = math.ceil(len(chosen) / n_columns)
    ax = new_axes(ax, 0.6 + 3.1 * n_columns, 0.6 + n_rows * (0.5 + 0.23 * words))
    most = max((p for k in chosen for _, p in listed[k]), default=1.0)
    block = words + 2.0
    for i, k in enumerate(chosen):
        left, top = float(i % n_columns), (i // n_columns) * block
        colour = COLOURS[0]
        size = f"{float(trained.topic_sizes[k]):,.0f} tokens"
        ax.text(left, top, f"Topic {k}", weight="bold", va="center")
        ax.text(left + ROOM, top, size, ha="right", va="center", fontsize="small")
        for j, (word, p) in enumerate(listed[k]):
            y = top + 1 + j
            ax.barh(y, BARS * p / most, 0.82, left, color=colour, alpha=0.35, linewidth=0)
            ax.text(left + 0.01, y, short(word, 26), va="center", fontsize="small")
            ax.text(left + ROOM, y, f"{p:.3f}", ha="right", va="center", fontsize="x-small")
        if not listed[k]:
            ax.text(left, top + 1, "no tokens", va="center", fontsize="small")
    ax.set_xlim(0, n_columns - 1 + ROOM)
    ax.set_ylim(n_rows * block - 1.4, -0.8)
    ax.set_title("Most probable words of topics, and their probabilities", fontsize="medium")
    ax.set_axis_off()
    return ax
