"""Arguments and options that several commands share."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

INTERRUPTED = 130  # exit code after Ctrl-C
CorpusPath = Annotated[
    Path,
    typer.Argument(
        help="Counts (UCI docword, MatrixMarket, SVMlight, LDA-C) or text (one document a line, "
        "CSV, TSV, Parquet, a folder of .txt files, MALLET's three columns), plain or gzipped.",
        show_default=False,
    ),
]
ModelPath = Annotated[Path, typer.Argument(help="A model folder.", show_default=False)]
_READING = "Reading the corpus"
MinCount = Annotated[
    int | None,
    typer.Option(help="Drop words seen fewer times than this.", rich_help_panel=_READING),
]
MaxDocFraction = Annotated[
    float,
    typer.Option(
        help="Drop words found in more than this share of documents.", rich_help_panel=_READING
    ),
]
MaxWords = Annotated[
    int | None,
    typer.Option(help="Keep this many words, by TF-IDF.", rich_help_panel=_READING),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        help="Of text: 'english' (default), 'none', or a file with one word a line.",
        rich_help_panel=_READING,
    ),
]
Ngrams = Annotated[
    int | None,
    typer.Option(help="Of text: count runs of up to this many words.", rich_help_panel=_READING),
]
TokenPattern = Annotated[
    str | None,
    typer.Option(help="Of text: regular expression of a word.", rich_help_panel=_READING),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        help="Of a table: name of the text column, or its number from 0 if the table has no names.",
        rich_help_panel=_READING,
    ),
]
NameColumn = Annotated[
    str | None,
    typer.Option(help="Of a table: column with document names.", rich_help_panel=_READING),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(help="Of counts: file with one word a line.", rich_help_panel=_READING),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="What the file is, where its look misleads: uci, matrix-market, svmlight, ldac, "
        "lines, table, parquet, folder, mallet.",
        autocompletion=lambda: [
            "uci",
            "matrix-market",
            "svmlight",
            "ldac",
            "lines",
            "table",
            "parquet",
            "folder",
            "mallet",
        ],
        rich_help_panel=_READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(help="Of a table: between columns, if not found.", rich_help_panel=_READING),
]
Encoding = Annotated[str, typer.Option(help="Of text files.", rich_help_panel=_READING)]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose", help="The MatrixMarket file has words in rows.", rich_help_panel=_READING
    ),
]
MhSteps = Annotated[
    int | None,
    typer.Option(help="Pairs of Metropolis-Hastings proposals a token, where a sampler proposes."),
]
Words = Annotated[int, typer.Option("--words", "-n", help="Words to show for each topic.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for machines.")]
Device = Annotated[
    str,
    typer.Option(
        help="'cpu', 'gpu' (NVIDIA), or 'auto': a GPU where there is one. The result is the same.",
        autocompletion=lambda: ["cpu", "gpu", "auto"],
    ),
]
Threads = Annotated[int, typer.Option("--threads", "-t", help="-1 takes all cores.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file.")]
READING: dict[str, tuple[Any, Any]] = {  # how a corpus is read: option and default
    "min_count": (MinCount, None),
    "max_doc_fraction": (MaxDocFraction, 1.0),
    "max_words": (MaxWords, None),
    "stop_words": (StopWords, None),
    "ngrams": (Ngrams, None),
    "token_pattern": (TokenPattern, None),
    "text_column": (TextColumn, None),
    "name_column": (NameColumn, None),
    "separator": (Separator, None),
    "vocabulary": (Vocabulary, None),
    "format": (Format, None),
    "encoding": (Encoding, "utf-8"),
    "transpose": (Transpose, False),
}


def sampler_names() -> list[str]:
    """Return the samplers there are, for a shell that completes."""
    from polyaurn.backends.registry import SAMPLERS

    return list(SAMPLERS)


def reads_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `READING`; it receives them as a dictionary, `reading`."""

    @wraps(command)
    def run(**options: Any) -> None:
        reading = {name: options.pop(name) for name in READING}
        command(**options, reading=reading)

    signature = inspect.signature(command)
    own = [p for name, p in signature.parameters.items() if name != "reading"]
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, kind, annotation=option, default=default)
        for name, (option, default) in READING.items()
    ]
    run.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in own + added}
    return run
