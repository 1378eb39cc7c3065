"""The command that says whether new documents are still those of a model. Imports are deferred."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_settings
from polyaurn.cli.options import (
    READING,
    CorpusPath,
    Json,
    ModelPath,
    Quiet,
    reads_corpus,
    takes_settings,
)
from polyaurn.cli.sources import find_source, read_source
from polyaurn.cli.steps import as_trained, noting_warnings, print_json, read
from polyaurn.cli.tables import show_table

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.evaluate.drift import Drift
    from polyaurn.model.model import TopicModel

DRIFTED = 1  # exit code
SHOWN = 10  # topics, those that differ most
_NAMES = {
    "score": "held-out score per token",
    "unknown": "share of unknown words",
    "topics": "content in other topics",
}


@reads_corpus
@takes_settings("random_state", "n_jobs", "device")
def drift(
    model: ModelPath,
    batch: CorpusPath,
    threshold: Annotated[
        float, typer.Option(help="Decrease of the score, in nats per token, that matters.")
    ] = 0.2,
    unknown_threshold: Annotated[
        float, typer.Option(help="Increase of the share of unknown words that matters.")
    ] = 0.05,
    topics_threshold: Annotated[
        float, typer.Option(help="Share of content in other topics that matters.")
    ] = 0.15,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Documents to compare with instead of the training documents, such as an "
            "earlier batch; read with the same options.",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="What the model was trained on, if it has moved; read with the same options.",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        int, typer.Option(help="The most training documents to compare with.")
    ] = 2000,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Say whether new documents are of the kind that a model was trained on.

    Scores, unknown words and topics of the batch are compared with those of training documents, as
    if these were new. Exit code 1 if a difference is above its threshold and above chance, else 0.

    Example: polyaurn drift model new.csv
    """
    from polyaurn.evaluate.drift import check_limits
    from polyaurn.evaluate.drift import drift as compare
    from polyaurn.model.storage import load
    from polyaurn.training.progress import following

    if against is not None and corpus is not None:
        raise InputError(
            "The '--against' option must stand without '--corpus'. Got both; give one of them."
        )
    check_limits(threshold, unknown_threshold, topics_threshold, sample)
    options = check_settings(settings, quiet=quiet)
    loaded = load(model)
    silent = quiet or json

    def batch_of(path: Path) -> "Corpus":
        return read(path, as_trained(loaded, path, reading, model), quiet=silent, bars=not quiet)

    new = batch_of(batch)
    compared: dict[str, Any] = (
        {"corpus": _trained_on(loaded, model, corpus, reading, quiet=silent)}
        if against is None
        else {"against": batch_of(against)}
    )
    with noting_warnings(quiet=quiet), following("comparing", show=not quiet):
        try:
            found = compare(
                loaded, new, threshold=threshold, unknown_threshold=unknown_threshold,
                topics_threshold=topics_threshold, sample=sample, **compared, **options,
            )  # fmt: skip
        except InputError as error:
            said = str(error).replace("'documents' parameter", "'BATCH' argument")
            raise InputError(said) from None
    if json:
        print_json(_for_machines(found))
    elif not quiet:
        _show(found)
    if found.drifted:
        raise typer.Exit(DRIFTED)


def _trained_on(
    model: "TopicModel",
    folder: Path,
    corpus: Path | None,
    reading: dict[str, Any],
    *,
    quiet: bool,
) -> "Corpus":
    """Return the corpus of a model with the words that were left out in training.

    Options for reading are those of the batch: they are used where the user names the corpus, and
    not where the model's folder says where it is and how it was read.
    """
    plain = {name: default for name, (_, default) in READING.items()}
    source, missing = find_source(model, folder, corpus, plain if corpus is None else reading)
    if source is None:
        said = missing or f"The folder '{folder}' does not say which corpus it was trained on."
        raise InputError(
            said.partition(" Name its new place")[0]
            + " Name it with --corpus, or documents to compare with in its place with --against."
        )
    return read_source(source, quiet=True, bars=not quiet)


def _for_machines(found: "Drift") -> dict[str, Any]:
    topics = {
        name: column if isinstance(column, list) else column.tolist()
        for name, column in found.topic_table(as_frame=False).items()
    }
    return {
        "drifted": found.drifted,
        "verdict": found.verdict,
        "baseline": found.baseline,
        "documents": found.documents,
        "baseline_documents": found.baseline_documents,
        "tokens": found.tokens,
        "unknown_tokens": found.unknown_tokens,
        "signals": [signal._asdict() for signal in found.signals.values()],
        "topics": [
            dict(zip(topics, row, strict=True)) for row in zip(*topics.values(), strict=True)
        ],
    }


def _show(found: "Drift") -> None:
    """Show the verdict, the signals, and the topics whose shares differ most."""
    typer.echo(found.verdict)
    show_table(
        ("signal", "batch", "compared with", "difference", "error", "threshold", "beyond"),
        [
            (
                _NAMES[s.name],
                *("-" if v != v else f"{v:.4f}" for v in (s.batch, s.baseline)),
                *("-" if v != v else f"{v:.4f}" for v in (s.difference, s.error)),
                f"{s.threshold:g}",
                "yes" if s.beyond else "no",
            )
            for s in found.signals.values()
        ],
        title=f"{found.documents:,} documents against {found.baseline_documents:,} "
        f"{found.baseline}",
        left=("signal",),
    )
    table = found.topic_table(as_frame=False)
    scored = not any(share != share for share in table["share"])
    apart = abs(table["share"] - table["baseline"]) if scored else -table["baseline"]
    order = sorted(range(len(apart)), key=lambda k: (-apart[k], k))[:SHOWN]
    show_table(
        ("topic", "label", "share", "95% interval", "compared with", "its 95% interval"),
        [
            (
                str(k),
                table["label"][k],
                f"{table['share'][k]:.4f}" if scored else "-",
                f"{table['low'][k]:.4f} to {table['high'][k]:.4f}" if scored else "-",
                f"{table['baseline'][k]:.4f}",
                f"{table['baseline_low'][k]:.4f} to {table['baseline_high'][k]:.4f}",
            )
            for k in order
        ],
        title=f"The {len(order)} of {len(apart):,} topics whose shares differ most",
        left=("label",),
    )
