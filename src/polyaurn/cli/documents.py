"""The command that shows the documents of a topic. Heavy imports are deferred."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.checks import is_digits
from polyaurn.base.errors import InputError
from polyaurn.cli.options import Json, ModelPath, Quiet, reads_texts
from polyaurn.cli.steps import note, print_json
from polyaurn.cli.tables import show_table
from polyaurn.cli.texts import NoTextError, texts_of

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel


@reads_texts
def documents(
    model: ModelPath,
    topic: Annotated[
        str, typer.Option(help="The topic: its number or its label.", show_default=False)
    ],
    number: Annotated[int, typer.Option("--number", "-n", help="How many documents.")] = 5,
    characters: Annotated[int, typer.Option(help="Length of a snippet.")] = 200,
    corpus: Annotated[
        Path | None,
        typer.Option(help="What the model was trained on, if it has moved.", show_default=False),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    *,
    where: dict[str, Any],
) -> None:
    """Show the documents with the largest shares of a topic, and where they speak of it.

    The corpus, and the columns of its table, are found from the config.toml in the model's folder.

    Example: polyaurn documents model --topic 1
    """
    from polyaurn.model.storage import load

    loaded = load(model)
    k = topic_named(loaded, topic)
    table = loaded.representative_documents(k, number, snippet=characters, as_frame=False)
    chosen = [int(d) for d in table["number"]]
    try:
        texts = texts_of(loaded, model, chosen, corpus, where, quiet=quiet or json)
    except NoTextError as error:
        texts = {}
        note(f"Note: {error}")
    if texts:
        table |= _with_snippets(loaded, k, [texts[d] for d in chosen], characters)
    if json:
        columns = {n: c if isinstance(c, list) else c.tolist() for n, c in table.items()}
        print_json(
            [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        )
        return
    snippets = table.get("snippet", [""] * len(chosen))
    show_table(
        ("number", "document", "share", *["snippet"] * bool(texts)),
        [
            (str(d), table["document"][i], f"{table['share'][i]:.3f}", *[snippets[i]] * bool(texts))
            for i, d in enumerate(chosen)
        ],
        title=_title(loaded, k),
        left=("document", "snippet"),
    )


def topic_named(model: "TopicModel", topic: str) -> int:
    """Return the number of a topic that a user names by it, or by its label."""
    from polyaurn.model.labels import given_labels, same_label

    if is_digits(topic) and int(topic) < model.n_topics:
        return int(topic)
    labels = {same_label(label): k for k, label in enumerate(given_labels(model)) if label}
    if same_label(topic) in labels:
        return labels[same_label(topic)]
    raise InputError(
        f"The 'topic' parameter must be a number from 0 to {model.n_topics - 1:,}, or a label. Got "
        f"{topic!r} instead; 'polyaurn topics' lists the topics."
    )


def _with_snippets(
    model: "TopicModel", topic: int, texts: list[str], characters: int
) -> dict[str, list[str]]:
    from polyaurn.model.snippets import snippets

    return {"text": texts, "snippet": snippets(model, topic, texts, characters)}


def _title(model: "TopicModel", topic: int) -> str:
    from polyaurn.model.labels import labels_of

    return f"Topic {topic}: {labels_of(model)[topic]}"
