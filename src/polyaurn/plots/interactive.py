"""Interactive pictures of models with Plotly (``pip install 'polyaurn[interactive]'``).

The functions have the names and parameters of those in `polyaurn.plots`, and return a Plotly figure
that a notebook shows. ``figure.write_html("picture.html")`` writes a page that works offline.
"""

from html import escape
from typing import Any

import numpy as np

from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.base.printable import printable
from polyaurn.model.data import largest_topics
from polyaurn.model.document_map import document_map
from polyaurn.model.labels import labels_at
from polyaurn.model.leading_words import BY_RELEVANCE, check_order, leading_words, topic_totals
from polyaurn.model.model import fitted
from polyaurn.model.topic_map import ASPECT, MOST_TOPICS, areas_by_tokens, place_topics
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import GREY, PALE, need_documents, pick_topics
from polyaurn.plots.classes import CLASSES, TOPICS, shares_per_class
from polyaurn.plots.document_map import OTHERS, groups_of
from polyaurn.plots.similarity import TOPICS as ALIKE
from polyaurn.plots.similarity import shown_cells, title_of
from polyaurn.plots.time import shares_over_time

__all__ = [
    "plot_document_map",
    "plot_map",
    "plot_over_time",
    "plot_per_class",
    "plot_similarity",
    "plot_topics",
]

MAP_WIDTH, MARGIN, LEGEND = 780, 30, 300  # pixels
LISTED, LINES, PERIODS = 60, 10, 24  # topics to choose from, lines, periods
HOVER_WORDS, DOCUMENTS, NUMBERED = 10, 20_000, 80
FITS = 18  # pixels across, from which a circle has its number
DASHES = ("solid", "dash", "dot", "dashdot")
STYLE = {
    "template": "plotly_white",
    "modebar": {"remove": ["sendChartToCloud", "sendDataToCloud"]},  # nothing leaves the machine
}


def plot_map(model: Any, *, labelled: int = NUMBERED) -> Any:
    """Draw a map of topics; words and sizes are shown under the pointer.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    labelled : int
        How many topics, the largest first, have their numbers on the map where they fit.

    Returns
    -------
    plotly Figure
        Topics are placed as in the report, at most the 2,000 largest; areas are by tokens.

    Examples
    --------
    >>> import polyaurn
    >>> from polyaurn.plots import interactive
    >>> corpus = polyaurn.datasets.generate(n_documents=60, n_words=80, n_topics=4)
    >>> lda = polyaurn.LDA(4, max_iter=20, verbose=False).fit(corpus)
    >>> len(interactive.plot_map(lda).data[0].x)
    4
    """
    go = _plotly()
    trained = fitted(model)
    check_whole(labelled, "labelled", 0)
    shown = np.sort(largest_topics(trained, MOST_TOPICS))
    sizes = trained.topic_sizes[shown]
    placed = place_topics(trained.topic_word_mass[shown], sizes)
    size = 2 * MAP_WIDTH * areas_by_tokens(sizes)
    numbered = set(largest_topics(trained, labelled).tolist())
    fits = [k in numbered and wide >= FITS for k, wide in zip(shown.tolist(), size, strict=True)]
    K = trained.n_topics
    which = f"{K:,} topics" if len(shown) == K else f"the {len(shown):,} largest of {K:,} topics"
    trace = go.Scatter(
        x=placed.x, y=placed.y, mode="markers+text",
        text=[str(k) if fit else "" for k, fit in zip(shown, fits, strict=True)],
        marker={"size": size, "color": COLOURS[0],
                "opacity": 0.45, "line": {"color": "white", "width": 1}},
        hovertext=[_about(trained, int(k)) for k in shown], hoverinfo="text",
    )  # fmt: skip
    return go.Figure(trace, _map_layout(f"Map of {which} by the words they use", legend=False))


def plot_document_map(model: Any, classes: Any = None, *, most: int = DOCUMENTS) -> Any:
    """Draw the training documents on the map of topics; names are shown under the pointer.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    classes : sequence, optional
        The class of each training document, which the colours show; the leading topics when not
        given. The six groups with most documents have colours.
    most : int
        The most documents that are drawn, evenly from all.

    Returns
    -------
    plotly Figure
        Places are those of `polyaurn.document_map`.
    """
    go = _plotly()
    trained = fitted(model)
    need_documents(trained)
    placed = document_map(trained)
    group, names = groups_of(trained, placed, classes)
    n = len(placed.x)
    drawn = np.unique(np.linspace(0, n - 1, min(n, check_whole(most, "most"))).astype(np.int64))
    labels = [_plain(label, 40) for label in labels_at(trained, np.arange(trained.n_topics))]
    which = f"{n:,}" if len(drawn) == n else f"{len(drawn):,} of {n:,}"
    title = f"{which} documents on the map of {trained.n_topics:,} topics"
    figure = go.Figure(layout=_map_layout(title, legend=True))
    for g, name in enumerate(names):
        here = drawn[group[drawn] == g]
        said = [
            f"{_plain(trained.doc_names[placed.number[i]], 60)}<br>"
            f"{placed.share[i]:.0%} topic {placed.topic[i]}: {labels[placed.topic[i]]}"
            for i in here.tolist()
        ]
        figure.add_trace(go.Scattergl(
            x=placed.x[here].round(4), y=placed.y[here].round(4), mode="markers", hovertext=said,
            hoverinfo="text", name=f"{_plain(name, 30)} ({int((group == g).sum()):,})",
            marker={"size": 4, "opacity": 0.6,
                    "color": GREY if name == OTHERS else COLOURS[g % len(COLOURS)]},
        ))  # fmt: skip
    figure.update_layout(annotations=[
        {"x": placed.topics.x[k], "y": placed.topics.y[k], "text": str(k), "showarrow": False,
         "bgcolor": "rgba(255,255,255,0.75)", "borderpad": 0, "font": {"size": 11}}
        for k in largest_topics(trained, NUMBERED).tolist()
    ])  # fmt: skip
    return figure


def plot_topics(
    model: Any, topics: Any = None, n_words: int = 15, *, order: str = BY_RELEVANCE
) -> Any:
    """Draw the leading words of a topic as bars, with a list to choose the topic from.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    topics : iterable of int, optional
        Topics that can be chosen, in this order; the sixty largest when not given.
    n_words : int
        Words of each.
    order : {"relevance", "frequency"}
        Order of the words: those that set a topic apart first, or the most probable ones.

    Returns
    -------
    plotly Figure
        A bar for each word, by its probability in the topic.
    """
    go = _plotly()
    trained = fitted(model)
    chosen = pick_topics(trained, topics, LISTED)
    check_whole(n_words, "n_words")
    check_order(order)
    totals = topic_totals(trained)
    figure, buttons = go.Figure(), []
    for i, k in enumerate(chosen):
        first, mass = leading_words(trained, k, n_words, order)
        figure.add_trace(go.Bar(
            x=mass / totals[k], y=[_plain(trained.vocab[v], 30) for v in first], orientation="h",
            marker_color=COLOURS[0], visible=i == 0, name=_name(trained, k),
            hovertemplate="%{y}: %{x:.4f}<extra></extra>",
        ))  # fmt: skip
        seen = [j == i for j in range(len(chosen))]
        buttons.append({"label": _name(trained, k), "method": "restyle",
                        "args": [{"visible": seen}]})  # fmt: skip
    figure.update_layout(
        **STYLE, title="Leading words of a topic", width=MAP_WIDTH,
        height=190 + 24 * n_words, margin={"l": 160, "t": 120},
        xaxis={"title": "probability in the topic", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "type": "category"},
        updatemenus=[{"buttons": buttons, "x": 0.0, "xanchor": "left", "y": 1.02,
                      "yanchor": "bottom"}],
    )  # fmt: skip
    return figure


def plot_over_time(
    model: Any, timestamps: Any, topics: Any = None, *, periods: int = PERIODS
) -> Any:
    """Draw the mean share of topics in the documents of each period; the legend hides lines.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    timestamps : sequence
        A time for each training document, as in `polyaurn.plots.plot_over_time`.
    topics : iterable of int, optional
        Which topics; the ten largest when not given.
    periods : int
        The most periods, of equal length; where there are no more different times, each is one.

    Returns
    -------
    plotly Figure
        A period without documents is a gap.
    """
    go = _plotly()
    trained = fitted(model)
    need_documents(trained)
    chosen = pick_topics(trained, topics, LINES)
    middle, share, _, lost = shares_over_time(trained, timestamps, chosen, periods)
    figure = go.Figure()
    for i, k in enumerate(chosen):
        figure.add_trace(go.Scatter(
            x=middle, y=share[:, i], mode="lines+markers", name=_name(trained, k),
            line={"color": COLOURS[i % len(COLOURS)],
                  "dash": DASHES[i // len(COLOURS) % len(DASHES)]},
            hovertemplate="%{x}: %{y:.1%}",
        ))  # fmt: skip
    left_out = f" ({lost:,} documents without one left out)" if lost else ""
    figure.update_layout(
        **STYLE, title="Topics over time", width=MAP_WIDTH + LEGEND, height=460,
        xaxis_title=f"time{left_out}", showlegend=True,
        yaxis={"title": "mean share of a document", "rangemode": "tozero", "tickformat": ".0%"},
    )  # fmt: skip
    return figure


def plot_similarity(model: Any, *, topics: int = ALIKE) -> Any:
    """Draw how alike the topics of a model are; both topics' words are shown under the pointer.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    topics : int
        The most topics shown, the largest ones.

    Returns
    -------
    plotly Figure
        The heat map of `polyaurn.plots.plot_similarity`.
    """
    trained = fitted(model)
    numbers, alike = shown_cells(trained, topics)
    names = [_name(trained, k) for k in numbers]
    title = title_of(trained, len(numbers))
    return _heat_map(alike, names, names, "similarity", ".2f", title).update_xaxes(title="topic")


def plot_per_class(model: Any, classes: Any, topics: Any = None, *, most: int = CLASSES) -> Any:
    """Draw the mean share of topics in the documents of each class, as a heat map.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    classes : sequence
        The class of each training document, in their order; None and NaN leave a document out.
    topics : iterable of int, optional
        Which topics, in this order; the twenty largest when not given.
    most : int
        The most classes shown, those with most documents.

    Returns
    -------
    plotly Figure
        The heat map of `polyaurn.plots.plot_per_class`.
    """
    trained = fitted(model)
    chosen = pick_topics(trained, topics, TOPICS)
    found = shares_per_class(trained, classes, chosen, most)
    heads = [f"{_plain(name, 24)} ({n:,})" for name, n in found.classes]
    if len(set(heads)) < len(heads):  # Plotly would draw two columns of one name as one
        heads = [f"{i}. {head}" for i, head in enumerate(heads, start=1)]
    names = [_name(trained, k) for k in chosen]
    figure = _heat_map(found.share, heads, names, "share", ".0%", "Topics per class")
    return figure.update_xaxes(title=found.said)


def page_of(figure: Any) -> str:
    """Return a figure as a page that works offline; the same figure gives the same page."""
    page: str = figure.to_html(include_plotlyjs=True, full_html=True, div_id="polyaurn")
    return page


def check_plotly() -> None:
    """Say what to install when Plotly is missing."""
    _plotly()


def _plotly() -> Any:
    try:
        import plotly.graph_objects
    except ImportError:
        raise InputError(
            "Interactive pictures need the package plotly. Install it with: pip install "
            "'polyaurn[interactive]'."
        ) from None
    return plotly.graph_objects


def _heat_map(
    values: Any, columns: list[str], rows: list[str], what: str, form: str, title: str
) -> Any:
    """Return a heat map, the first row on top, that is large enough for its names."""
    go = _plotly()
    cells = go.Heatmap(
        z=values, x=columns, y=rows, colorscale="Cividis", zmin=0.0, hoverongaps=False,
        colorbar={"title": what, "tickformat": form},
        hovertemplate="%{y}<br>%{x}: %{z:" + form + "}<extra></extra>",
    )  # fmt: skip
    side = {"type": "category", "automargin": True}
    return go.Figure(cells).update_layout(
        **STYLE, title=title, xaxis=side, yaxis=side | {"autorange": "reversed"},
        width=max(MAP_WIDTH, 20 * len(columns) + LEGEND), height=max(420, 20 * len(rows) + 180),
    )  # fmt: skip


def _plain(text: str, most: int) -> str:
    """Return text that fits; Plotly reads some HTML in text, of which this has none."""
    said = printable(text)
    return escape(said if len(said) <= most else said[: most - 1] + "…")


def _name(model: Any, k: int) -> str:
    return f"{k}: {_plain(labels_at(model, np.array([k]))[0], 32)}"


def _about(model: Any, k: int) -> str:
    size = float(model.topic_sizes[k])
    share = size / max(float(model.topic_sizes.sum()), 1e-300)
    words = [_plain(model.vocab[v], 30) for v in leading_words(model, k, HOVER_WORDS)[0]]
    return f"<b>{_name(model, k)}</b><br>{size:,.0f} tokens, {share:.1%}<br>{'<br>'.join(words)}"


def _map_layout(title: str, *, legend: bool) -> dict[str, Any]:
    side = {"showgrid": False, "zeroline": False, "showticklabels": False, "showline": True,
            "linecolor": PALE, "mirror": True}  # fmt: skip
    right = LEGEND if legend else MARGIN
    return {
        **STYLE, "title": title, "showlegend": legend,
        "width": MAP_WIDTH + MARGIN + right, "height": round(MAP_WIDTH * ASPECT) + 2 * MARGIN + 30,
        "margin": {"l": MARGIN, "r": right, "t": MARGIN + 30, "b": MARGIN},
        "xaxis": side | {"range": [0, 1]}, "yaxis": side | {"range": [ASPECT, 0]},
        "legend": {"itemsizing": "constant"},
    }  # fmt: skip
