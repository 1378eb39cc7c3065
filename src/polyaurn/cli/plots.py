"""The command that draws pictures of a model. Heavy imports are deferred."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.checks import is_digits
from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_only_for, check_words, in_words
from polyaurn.cli.options import Force, Json, ModelPath, Quiet
from polyaurn.cli.steps import note, print_json

if TYPE_CHECKING:
    from polyaurn.cli.sources import Source
    from polyaurn.model.model import TopicModel

KINDS = (
    "trace", "topics", "map", "dendrogram", "similarity", "documents", "document-map", "classes",
    "over-time",
)  # fmt: skip
OPTION_OF = {
    "--topics": ("topics", "documents", "classes", "over-time"),
    "--words": ("topics",),
    "--order": ("topics", "dendrogram"),
    "--documents": ("documents",),
    "--dates": ("over-time",),
    "--date-column": ("over-time",),
    "--classes": ("classes", "document-map"),
    "--class-column": ("classes", "document-map"),
    "--corpus": ("classes", "document-map", "over-time"),
}
INTERACTIVE = ("topics", "map", "similarity", "document-map", "classes", "over-time")
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
            "(shares of topics, with --classes or --class-column) or over-time (with --dates or "
            "--date-column).",
            show_default=False,
            autocompletion=lambda: list(KINDS),
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="NAME.png or NAME.svg; NAME.html for an interactive page of topics, map, "
            "similarity, document-map, classes or over-time.",
            show_default=False,
        ),
    ],
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics", "-k", help="Numbers of topics, separated by commas; the largest by default."
        ),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option("--words", "-n", help="For topics: words shown for each; 8 by default."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="For topics and dendrogram: order of words, 'relevance' (default) or 'frequency'.",
            autocompletion=lambda: ["relevance", "frequency"],
        ),
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(
            help="For documents: their names, separated by commas; the first 30 by default."
        ),
    ] = None,
    dates: Annotated[
        Path | None,
        typer.Option(
            help="For over-time: file with a date or a number per line, one for each training "
            "document; an empty line leaves it out."
        ),
    ] = None,
    date_column: Annotated[
        str | None,
        typer.Option(
            help="For over-time: column of the corpus with the date of each document; the one of "
            "'polyaurn train' by default."
        ),
    ] = None,
    classes: Annotated[
        Path | None,
        typer.Option(
            help="For classes and document-map: file with a class per line, one for each training "
            "document; an empty line leaves it out."
        ),
    ] = None,
    class_column: Annotated[
        str | None,
        typer.Option(
            help="For classes and document-map: column of the corpus with the class of each "
            "document; the one of 'polyaurn train' by default."
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(help="For the two columns: what the model was trained on, if it has moved."),
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
    from polyaurn.model.leading_words import ORDERS, check_order
    from polyaurn.model.storage import load
    from polyaurn.plots import interactive
    from polyaurn.plots.axes import check_matplotlib
    from polyaurn.training.progress import status

    given = {"--topics": topics, "--words": words, "--order": order, "--documents": documents,
             "--dates": dates, "--date-column": date_column, "--classes": classes,
             "--class-column": class_column, "--corpus": corpus}  # fmt: skip
    _check_options(kind, given)
    check_words(8 if words is None else words)
    by = check_order(order or ORDERS[0])
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
    if which_class is None and (kind == "classes" or class_column is not None):
        which_class = _classes_of(loaded, model, corpus, class_column)
    if when is None and kind == "over-time":
        when = _dates_of(loaded, model, corpus, date_column)
    draw: dict[str, Callable[[], Any]] = {
        "trace": lambda: plots.plot_trace(loaded),
        "topics": lambda: plots.plot_topics(loaded, chosen, words or 8, order=by),
        "map": lambda: plots.plot_map(loaded),
        "dendrogram": lambda: plots.plot_dendrogram(loaded, order=by),
        "similarity": lambda: plots.plot_similarity(loaded),
        "document-map": lambda: plots.plot_document_map(loaded, which_class),
        "classes": lambda: plots.plot_per_class(loaded, which_class, chosen),
        "documents": lambda: plots.plot_documents(loaded, which, chosen),
        "over-time": lambda: plots.plot_over_time(loaded, when, chosen),
    }
    moving: dict[str, Callable[[], Any]] = {
        "topics": lambda: interactive.plot_topics(loaded, chosen, words or 15, order=by),
        "map": lambda: interactive.plot_map(loaded),
        "similarity": lambda: interactive.plot_similarity(loaded),
        "document-map": lambda: interactive.plot_document_map(loaded, which_class),
        "classes": lambda: interactive.plot_per_class(loaded, which_class, chosen),
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
    """Reject an unknown kind, options of other kinds, and missing options."""
    if kind not in KINDS:
        raise InputError(
            f"The picture must be {', '.join(KINDS[:-1])} or {KINDS[-1]}. Got {kind!r} instead."
        )
    for option, kinds in OPTION_OF.items():
        check_only_for(option, given[option] is not None, in_words(kinds), here=kind in kinds)
    for file, name in (("--dates", "--date-column"), ("--classes", "--class-column")):
        if given[file] is not None and (given[name] or given["--corpus"]):
            raise InputError(
                f"The '{file}' option must stand without '{name}' and '--corpus'. Got both; give "
                "one of them."
            )


def _classes_of(
    model: "TopicModel", folder: Path, corpus: Path | None, class_column: str | None
) -> list[str | None]:
    """Return the class of each document, in a column of the corpus of a model."""
    from polyaurn.cli.sources import column

    source = _source_of(model, folder, corpus, class_column=class_column)
    if source is None or source.class_column is None:
        raise InputError(
            "The '--classes' or the '--class-column' option must be given for classes; name a file "
            "with one class per line, for each training document, or a column of the corpus."
        )
    return [value or None for value in column(source, source.class_column, "class_column")]


def _dates_of(
    model: "TopicModel", folder: Path, corpus: Path | None, date_column: str | None
) -> list[Any]:
    """Return the time of each document, in a column of the corpus of a model."""
    from polyaurn.cli.sources import column, place_in

    source = _source_of(model, folder, corpus, date_column=date_column)
    if source is None or source.date_column is None:
        raise InputError(
            "The '--dates' or the '--date-column' option must be given for over-time; name a file "
            "with one date per line, for each training document, or a column of the corpus."
        )
    values = column(source, source.date_column, "date_column")
    return _as_times(values, partial(place_in, source), "date_column")


def _source_of(
    model: "TopicModel", folder: Path, corpus: Path | None, **columns: str | None
) -> "Source | None":
    """Return where the documents of a model are; None where its folder does not say so."""
    from polyaurn.cli.options import READING
    from polyaurn.cli.sources import find_source

    reading = {name: default for name, (_, default) in READING.items()}
    source, missing = find_source(model, folder, corpus, reading, **columns, cut=False)
    if missing:
        raise InputError(missing)
    return source


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
    """Return the items of a list separated by commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


def _read_dates(path: Path) -> list[Any]:
    """Return a time for each line of a file."""
    return _as_times(_read_lines(path), lambda i: f"on line {i + 1} of '{path}'")


def _as_times(
    values: list[str], where: Callable[[int], str], name: str = "timestamps"
) -> list[Any]:
    """Return numbers, where all values are, or dates; None for values that are missing."""
    from polyaurn.model.dates import MISSING, as_moment, no_time

    given = ["" if value in MISSING else value for value in values]
    try:
        return [float(value) if value else None for value in given]
    except ValueError:
        pass
    times = []
    for i, value in enumerate(given):
        try:
            times.append(as_moment(value, "") if value else None)
        except InputError:
            raise no_time(value, where(i), name) from None
    return times


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
