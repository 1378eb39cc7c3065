"""The command that shows a model's topics. Heavy imports are deferred."""

from typing import Annotated

import typer

from polyaurn.cli.checks import check_words
from polyaurn.cli.options import Json, ModelPath, Order, Words
from polyaurn.cli.steps import print_json
from polyaurn.cli.tables import show_topics, topics_for_machines


def topics(
    model: ModelPath,
    words: Words = 10,
    order: Order = "relevance",
    by_size: Annotated[bool, typer.Option("--by-size", help="Largest topics first.")] = False,
    json: Json = False,
) -> None:
    """Show the topics of a model.

    Words are in order of relevance: frequent in the topic, and rarer elsewhere. Use --order
    frequency for the most probable ones.

    Example: polyaurn topics model --words 15 --by-size
    """
    from polyaurn.model.leading_words import check_order
    from polyaurn.model.storage import load
    from polyaurn.model.top_level import count_topics

    check_words(words)
    check_order(order)
    loaded = load(model)
    if json:
        print_json(topics_for_machines(loaded, words, by_size=by_size, order=order))
    else:
        show_topics(loaded, words, by_size=by_size, order=order)
        if loaded.priors.top is not None:
            typer.echo(count_topics(loaded))
