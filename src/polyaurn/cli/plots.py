"""The command that draws pictures of a model. Heavy imports wait inside."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from polyaurn.base.checks import is_digits
from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_only_for, check_words
from polyaurn.cli.options import Force, Json, ModelPath, Quiet
from polyaurn.cli.steps import note, print_json

KINDS = (
    "trace", "topics", "map", "dendrogram", "similarity", "documents", "document-map", "classes",
    "over-time",
)  # fmt: skip
OPTION_OF = {
    "--topics": ("topics", "documents", "classes", "over-time"),
    "--words": ("topics",),
    "--documents": ("documents",),
    "--dates": ("over-time",),
    "--classes": ("classes", "document-map"),
}
INTERACTIVE = ("topics", "map", "document-map", "over-time")
FONTS = (
    "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Devanagari", "Noto Sans Thai",
    "Noto Sans Arabic", "Noto Sans Hebrew", "PingFang SC", "Hiragino Sans", "Thonburi",
    "Microsoft YaHei", "Yu Gothic", "Nirmala UI", "Leelawadee UI", "WenQuanYi Zen Hei",
    "Arial Unicode MS",
)  # fmt: skip  # tried in this order for characters that the first font lacks


def plot(
    model: ModelPath,
    kind: Annotated[
        str,
        typer.Argument(
            help="trace (log posterior), topics (bars of words), map (topics on a plane), "
            "dendrogram (which topics are alike, as a tree), similarity (the same as a heat map), "
            "documents (their mixtures), document-map (documents on the map of topics), classes "
            "(shares of topics, with --classes) or over-time (the same, with --dates).",
            show_default=False,
            autocompletion=lambda: list(KINDS),
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="NAME.png or NAME.svg; NAME.html for an interactive page of topics, map, "
            "document-map or over-time.",
            show_default=False,
        ),
    ],
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
    classes: Annotated[
        Path | None,
        typer.Option(
            help="Of classes and document-map: file with a class a line, one for each training "
            "document; an empty line leaves it out."
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw a picture of a model: its trace, topics, documents, classes, or topics over time.

    Example: polyaurn plot model map --out map.png

    Example: polyaurn plot model dendrogram --out tree.svg

    Example: polyaurn plot model document-map --out documents.html

    Example: polyaurn plot model over-time --dates dates.txt --topics 3,7 --out time.svg
    """
    from polyaurn import plots
    from polyaurn.files.atomic import check_new_file, write_text
    from polyaurn.model.storage import load
    from polyaurn.plots import interactive
    from polyaurn.plots.axes import check_matplotlib
    from polyaurn.training.progress import status

    given = {"--topics": topics, "--words": words, "--documents": documents, "--dates": dates,
             "--classes": classes}  # fmt: skip
    _check_options(kind, given)
    check_words(8 if words is None else words)
    endings = (".png", ".svg", *((".html",) if kind in INTERACTIVE else ()))
    check_new_file(out, force=force, what="'--out' option", suffixes=endings)
    page = out.suffix == ".html"
    if page:
        interactive.check_plotly()
    else:
        check_matplotlib()
    chosen: list[Any] | None = None
    if topics is not None:
        chosen = [int(k) if is_digits(k) else k for k in _listed(topics)]
    which = None if documents is None else _listed(documents)
    when = None if dates is None else _read_dates(dates)
    which_class = None if classes is None else [line or None for line in _read_lines(classes)]
    loaded = load(model)
    draw: dict[str, Callable[[], Any]] = {
        "trace": lambda: plots.plot_trace(loaded),
        "topics": lambda: plots.plot_topics(loaded, chosen, words or 8),
        "map": lambda: plots.plot_map(loaded),
        "dendrogram": lambda: plots.plot_dendrogram(loaded),
        "similarity": lambda: plots.plot_similarity(loaded),
        "document-map": lambda: plots.plot_document_map(loaded, which_class),
        "classes": lambda: plots.plot_per_class(loaded, which_class, chosen),
        "documents": lambda: plots.plot_documents(loaded, which, chosen),
        "over-time": lambda: plots.plot_over_time(loaded, when, chosen),
    }
    moving: dict[str, Callable[[], Any]] = {
        "topics": lambda: interactive.plot_topics(loaded, chosen, words or 15),
        "map": lambda: interactive.plot_map(loaded),
        "document-map": lambda: interactive.plot_document_map(loaded, which_class),
        "over-time": lambda: interactive.plot_over_time(loaded, when, chosen),
    }
    boxes = False
    with status(f"drawing {out.name}", show=not quiet):
        if page:
            write_text(out, interactive.page_of(moving[kind]()))
        else:
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


def _check_options(kind: str, given: dict[str, Any]) -> None:
    """Reject a kind that there is not, options of other kinds, and missing ones."""
    if kind not in KINDS:
        raise InputError(
            f"The picture must be {', '.join(KINDS[:-1])} or {KINDS[-1]}. Got {kind!r} instead."
        )
    for option, kinds in OPTION_OF.items():
        takers = " and ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
        check_only_for(option, given[option] is not None, takers, here=kind in kinds)
    for needs, option, what in (
        ("classes", "--classes", "class"),
        ("over-time", "--dates", "date"),
    ):
        if kind == needs and given[option] is None:
            raise InputError(
                f"The '{option}' option must be given for {needs}; name a file with one {what} a "
                "line, for each training document."
            )


def _save(draw: Callable[[], Any], out: Path) -> bool:
    """Draw and write; return whether the font lacked characters. The same model, the same bytes."""
    import warnings

    import matplotlib

    from polyaurn.files.atomic import new_file

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    kind = out.suffix[1:]
    metadata = {"Date": None} if kind == "svg" else {}
    style = {"svg.hashsalt": "polyaurn", "font.family": _fonts()}
    with warnings.catch_warnings(record=True) as said, matplotlib.rc_context(style):
        warnings.simplefilter("always", UserWarning)
        figure = draw().figure
        try:
            with new_file(out) as fresh:
                figure.savefig(fresh, format=kind, dpi=150, metadata=metadata)
        finally:
            plt.close(figure)
    return any("Glyph" in str(warning.message) for warning in said)


def _fonts() -> list[str]:
    """Return the user's font, and after it fonts that are installed, for characters it lacks."""
    import matplotlib
    from matplotlib.font_manager import fontManager

    there = {font.name for font in fontManager.ttflist}
    return [*matplotlib.rcParams["font.family"], *(name for name in FONTS if name in there)]


def _listed(text: str) -> list[str]:
    """Return what stands between commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


def _read_dates(path: Path) -> list[Any]:
    """Return a time for each line of a file: numbers, where all are, or dates."""
    from polyaurn.model.dates import as_moment

    lines = _read_lines(path)
    try:
        return [float(line) if line else None for line in lines]
    except ValueError:
        return [
            as_moment(line, f"on line {i} of '{path}'") if line else None
            for i, line in enumerate(lines, start=1)
        ]


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file, without spaces around them."""
    from polyaurn.files.reading import open_bytes

    with open_bytes(path) as file:
        try:
            return [line.strip() for line in file.read().decode().splitlines()]
        except UnicodeDecodeError:
            raise InputError(
                f"The file '{path}' must be UTF-8 text, with a line for each document. It is not; "
                "convert it."
            ) from None
