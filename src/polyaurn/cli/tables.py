"""What commands print: tables at a terminal, tab-separated lines elsewhere."""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from polyaurn.base.printable import printable

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | int]],
    *,
    title: str | None = None,
    left: Sequence[str] = (),
    header: bool = True,
) -> None:
    """Show a table: coloured at a terminal, tab-separated rows without their header elsewhere.

    Parameters
    ----------
    columns : sequence of str
        Their names. The first one is coloured.
    rows : iterable of sequence
        Cells; whole numbers have their thousands marked at a terminal. Control characters, as words
        of a model may have, are written out.
    title : str, optional
        Above the table, at a terminal.
    left : sequence of str
        Columns that begin at the left, as text does.
    header : bool
        Whether a terminal shows the names of columns.
    """
    if not sys.stdout.isatty():
        for row in rows:
            typer.echo("\t".join(printable(str(cell)) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title, box=None, header_style="bold", show_header=header, title_justify="left"
    )
    for i, name in enumerate(columns):
        side: Any = "left" if name in left else "right"
        table.add_column(
            name, justify=side, style="cyan" if i == 0 else None, overflow="fold", no_wrap=False
        )
    for row in rows:
        cells = [
            f"{cell:,}" if isinstance(cell, int) else printable(cell, lines=True) for cell in row
        ]
        table.add_row(*map(Text, cells))
    Console().print(table)


def show_topics(
    model: "TopicModel",
    n_words: int,
    *,
    by_size: bool,
    most: int | None = None,
    order: str = "relevance",
) -> None:
    """Show the topics of a model, or its largest ones."""
    from polyaurn.model.labels import given_labels

    sizes, labels = model.topic_sizes, given_labels(model)
    listed = model.topics(n_words, order=order)
    topics = in_order(model, by_size)[:most]
    shown = "" if len(topics) == model.n_topics else f", the {len(topics)} largest"
    words = "leading words" if order == "relevance" else "most probable words"
    named = any(labels)
    show_table(
        ("topic", *["label"] * named, "tokens", words),
        [
            (str(k), *[labels[k] or ""] * named, round(float(sizes[k])), " ".join(listed[k]))
            for k in topics
        ],
        title=f"{model.n_topics:,} topics{shown}",
        left=("label", words),
    )


def topics_for_machines(
    model: "TopicModel", n_words: int, *, by_size: bool, order: str = "relevance"
) -> list[Any]:
    """Return the topics ready for JSON; with labels if any was given."""
    from polyaurn.model.labels import given_labels
    from polyaurn.model.top_level import interval_of_weights, mean_weights

    sizes = model.topic_sizes.tolist()
    listed, labels = model.topics(n_words, weights=True, order=order), given_labels(model)
    weights: list[dict[str, Any]] = [{} for _ in sizes]
    if model.priors.top is not None:
        between = interval_of_weights(model).tolist()
        weights = [
            {"weight": mean, "weight_interval": None if math.isnan(both[0]) else both}
            for mean, both in zip(mean_weights(model).tolist(), between, strict=True)
        ]
    return [
        {
            "topic": k,
            **({"label": labels[k]} if any(labels) else {}),
            "tokens": sizes[k],
            **weights[k],
            "words": [list(pair) for pair in listed[k]],
        }
        for k in in_order(model, by_size)
    ]


def in_order(model: "TopicModel", by_size: bool) -> list[int]:
    """Return the topics by number, or the largest first."""
    from polyaurn.model.data import largest_topics

    return largest_topics(model).tolist() if by_size else list(range(model.n_topics))
