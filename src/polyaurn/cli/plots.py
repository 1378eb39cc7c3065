"""The command that draws pictures of a model. Heavy imports wait inside."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_only_for, check_words
from polyaurn.cli.options import Force, Json, ModelPath, Quiet
from polyaurn.cli.steps import note, print_json

KINDS = ("trace", "topics", "map", "documents", "over-time")


def plot(
    model: ModelPath,
    kind: Annotated[
        str,
        typer.Argument(
            help="trace (log posterior), topics (bars of words), map (topics on a plane), "
            "documents (their mixtures) or over-time (shares of topics, with --dates).",
            show_default=False,
            autocompletion=lambda: list(KINDS),
        ),
    ],
    out: Annotated[Path, typer.Option(help="NAME.png or NAME.svg.", show_default=False)],
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics", "-k", help="Numbers of topics, between commas; the largest by default."
        ),
    ] = None,
    words: Annotated[
        int | None, typer.Option("--words", "-n", help="Of topics: words of each; 8 by default.")
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(help="Of documents: their names, between commas; the first 30 by default."),
    ] = None,
    dates: Annotated[
        Path | None,
        typer.Option(
            help="Of over-time: file with a date or a number a line, one for each training "
            "document; an empty line leaves it out."
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw a picture of a model: trace, topics, map, documents or over-time.

    Example: polyaurn plot model map --out map.png

    Example: polyaurn plot model over-time --dates dates.txt --topics 3,7 --out time.svg
    """
    from polyaurn import plots
    from polyaurn.files.atomic import check_new_file
    from polyaurn.model.storage import load
    from polyaurn.plots.axes import check_matplotlib
    from polyaurn.training.progress import status

    if kind not in KINDS:
        raise InputError(
            f"The picture must be {', '.join(KINDS[:-1])} or {KINDS[-1]}. Got {kind!r} instead."
        )
    numbered = kind in ("topics", "documents", "over-time")
    check_only_for("--topics", topics is not None, "topics, documents and over-time", here=numbered)
    check_only_for("--words", words is not None, "topics", here=kind == "topics")
    check_only_for("--documents", documents is not None, "documents", here=kind == "documents")
    check_only_for("--dates", dates is not None, "over-time", here=kind == "over-time")
    if kind == "over-time" and dates is None:
        raise InputError(
            "The '--dates' option must be given for over-time; name a file with one date a line, "
            "for each training document."
        )
    check_words(8 if words is None else words)
    check_new_file(out, force=force, what="'--out' option", suffixes=(".png", ".svg"))
    check_matplotlib()
    chosen: list[Any] | None = None
    if topics is not None:
        chosen = [int(k) if k.isdecimal() else k for k in _listed(topics)]
    which = None if documents is None else _listed(documents)
    when = None if dates is None else _read_dates(dates)
    loaded = load(model)
    draw: dict[str, Callable[[], Any]] = {
        "trace": lambda: plots.plot_trace(loaded),
        "topics": lambda: plots.plot_topics(loaded, chosen, words or 8),
        "map": lambda: plots.plot_map(loaded),
        "documents": lambda: plots.plot_documents(loaded, which, chosen),
        "over-time": lambda: plots.plot_over_time(loaded, when, chosen),
    }
    with status(f"drawing {out.name}", show=not quiet):
        boxes = _save(draw[kind], out)
    if boxes and not quiet:
        note(
            "Note: some characters are not in the font and are drawn as boxes; name another font "
            "as font.family in a file matplotlibrc."
        )
    if json:
        print_json({"file": str(out), "kind": kind})
    elif not quiet:
        note(f"Written: {out}")


def _save(draw: Callable[[], Any], out: Path) -> bool:
    """Draw and write; return whether the font lacked characters. The same model, the same bytes."""
    import warnings

    import matplotlib

    from polyaurn.files.atomic import new_file

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    kind = out.suffix[1:]
    metadata = {"Date": None} if kind == "svg" else {}
    with (
        warnings.catch_warnings(record=True) as said,
        matplotlib.rc_context({"svg.hashsalt": "polyaurn"}),
    ):
        warnings.simplefilter("always", UserWarning)
        figure = draw().figure
        try:
            with new_file(out) as fresh:
                figure.savefig(fresh, format=kind, dpi=150, metadata=metadata)
        finally:
            plt.close(figure)
    return any("Glyph" in str(warning.message) for warning in said)


def _listed(text: str) -> list[str]:
    """Return what stands between commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


def _read_dates(path: Path) -> list[Any]:
    """Return a time for each line of a file: numbers, where all are, or dates."""
    from polyaurn.files.reading import open_bytes
    from polyaurn.model.dates import as_moment

    with open_bytes(path) as file:
        try:
            lines = [line.strip() for line in file.read().decode().splitlines()]
        except UnicodeDecodeError:
            raise InputError(
                f"The file '{path}' must be UTF-8 text, one date a line. It is not; convert it."
            ) from None
    try:
        return [float(line) if line else None for line in lines]
    except ValueError:
        return [
            as_moment(line, f"on line {i} of '{path}'") if line else None
            for i, line in enumerate(lines, start=1)
        ]
