"""Arguments and options that several commands share; those of a training are in `Settings`."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from polyaurn.training.settings import SETTINGS, Settings

INTERRUPTED = 130  # exit code after Ctrl-C
CorpusPath = Annotated[
    Path,
    typer.Argument(
        help="Counts (UCI docword, MatrixMarket, SVMlight, LDA-C) or text (one document per line, "
        "CSV, TSV, JSON Lines, Parquet, a folder of .txt files, MALLET's three columns), plain or "
        "gzipped.",
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
MinDf = Annotated[
    str | None,
    typer.Option(
        help="Drop words found in fewer documents: 5, or a share of them such as 0.01; 'auto' "
        "(default for text) goes by their number.",
        rich_help_panel=_READING,
    ),
]
MaxDf = Annotated[
    str | None,
    typer.Option(
        help="Drop words found in more documents: 0.5 is half of them (default for text), 500 is "
        "a number of documents.",
        rich_help_panel=_READING,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(help="Keep this many words, by their counts.", rich_help_panel=_READING),
]
FlatWords = Annotated[
    str | None,
    typer.Option(
        help="Words that documents of all kinds have alike: 'keep' (default) or 'drop', from 1,000 "
        "documents on.",
        autocompletion=lambda: ["keep", "drop"],
        rich_help_panel=_READING,
    ),
]
FindPhrases = Annotated[
    bool,
    typer.Option(
        "--phrases",
        help="Find phrases of two or three words in text, and count them as words: new_york.",
        rich_help_panel=_READING,
    ),
]
Html = Annotated[
    bool,
    typer.Option(
        "--html", help="Texts are HTML: remove tags, scripts and styles.", rich_help_panel=_READING
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        help="Stop words of text: those of its language (default), 'none', a language, "
        "'english' for scikit-learn's list, or a file with one word per line.",
        rich_help_panel=_READING,
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        help="Language of text, such as 'de' or 'german'; recognised by default. 'none' treats it "
        "as English.",
        rich_help_panel=_READING,
    ),
]
Stem = Annotated[
    bool,
    typer.Option(
        "--stem",
        help="Count words of one stem as one, shown by the form seen most often.",
        rich_help_panel=_READING,
    ),
]
Ngrams = Annotated[
    int | None,
    typer.Option(
        help="In text, also count runs of up to this many words.", rich_help_panel=_READING
    ),
]
TokenPattern = Annotated[
    str | None,
    typer.Option(
        help="Regular expression of a word in text; 'words' takes two or more letters, digits and "
        "underscores with their combining marks, 'terms' (default) of these no numbers and no "
        "pieces of contractions.",
        rich_help_panel=_READING,
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        help="Text column of a table or key of JSON Lines: its name, or its number from 0 if the "
        "table has no header.",
        rich_help_panel=_READING,
    ),
]
NameColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of a table, or key of JSON Lines, with document names.",
        rich_help_panel=_READING,
    ),
]
DateColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of a table, or key of JSON Lines, with dates, for topics over time.",
        rich_help_panel=_READING,
    ),
]
ClassColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of a table, or key of JSON Lines, with a class of each document, for topics "
        "by class.",
        rich_help_panel=_READING,
    ),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        help="Vocabulary of counts: a file with one word per line.", rich_help_panel=_READING
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the file, if it is not recognised: uci, matrix-market, svmlight, ldac, "
        "lines, table, parquet, jsonl, folder, mallet.",
        autocompletion=lambda: [
            "uci",
            "matrix-market",
            "svmlight",
            "ldac",
            "lines",
            "table",
            "parquet",
            "jsonl",
            "folder",
            "mallet",
        ],
        rich_help_panel=_READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Separator between the columns of a table, if it is not found.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files.", rich_help_panel=_READING)]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose", help="The MatrixMarket file has words in rows.", rich_help_panel=_READING
    ),
]
Words = Annotated[int, typer.Option("--words", "-n", help="Words to show for each topic.")]
Order = Annotated[
    str,
    typer.Option(
        help="Order of words: 'relevance' (those that set the topic apart) or 'frequency'.",
        autocompletion=lambda: ["relevance", "frequency"],
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for machines.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file.")]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="For csv: put ' before words and names that begin with =, +, - or @. Spreadsheets run "
        "them as formulas; use it for files with words of strangers.",
    ),
]
READING: dict[str, tuple[Any, Any]] = {  # how a corpus is read: option and default
    "min_count": (MinCount, None),
    "max_doc_fraction": (MaxDocFraction, 1.0),
    "max_words": (MaxWords, None),
    "language": (Language, None),
    "min_df": (MinDf, None),
    "max_df": (MaxDf, None),
    "max_features": (MaxFeatures, None),
    "flat_words": (FlatWords, None),
    "stop_words": (StopWords, None),
    "stem": (Stem, False),
    "ngrams": (Ngrams, None),
    "phrases": (FindPhrases, False),
    "html": (Html, False),
    "token_pattern": (TokenPattern, None),
    "text_column": (TextColumn, None),
    "name_column": (NameColumn, None),
    "separator": (Separator, None),
    "vocabulary": (Vocabulary, None),
    "format": (Format, None),
    "encoding": (Encoding, "utf-8"),
    "transpose": (Transpose, False),
}


WHERE_TEXT_IS = ("text_column", "separator", "format", "encoding")
Options = dict[str, tuple[Any, Any]]  # name of an option: what it takes and its default


def reads_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `READING`; it receives them as a dictionary, `reading`."""
    return _with_options(command, "reading", READING)


def reads_texts(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say where text is in a corpus, as a dictionary, `where`."""
    return _with_options(command, "where", {name: READING[name] for name in WHERE_TEXT_IS})


def takes_settings(*names: str, **defaults: Any) -> Callable[..., Any]:
    """Give a command options of `Settings`; it receives their values as a dictionary, `settings`.

    Without names it takes all that have an option. `defaults` are by the names of Python.
    """
    wanted = names or tuple(name for name, known in SETTINGS.items() if known.option)
    options = {SETTINGS[name].option: _option(name, defaults) for name in wanted}
    return lambda command: _with_options(command, "settings", options)


def _option(name: str, defaults: dict[str, Any]) -> tuple[Any, Any]:
    known, default = SETTINGS[name], defaults.get(name, getattr(Settings, name))
    kind = known.kind
    if kind is str:
        default = str(default)
    declared = [f"--{known.option.replace('_', '-')}", *([known.short] if known.short else [])]
    complete = (lambda: list(known.choices)) if known.choices else None
    option = typer.Option(
        *declared, help=known.about, autocompletion=complete, rich_help_panel="Training"
    )
    return Annotated[kind, option], default


def python_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of the command line as parameters of Python."""
    by_option = {known.option: name for name, known in SETTINGS.items()}
    names = {option: by_option[option] for option in options}
    return {name: SETTINGS[name].parse(options[option]) for option, name in names.items()}


def _with_options(
    command: Callable[..., None], received: str, options: Options
) -> Callable[..., None]:
    """Return a command with more options, which it receives as one dictionary."""

    @wraps(command)
    def run(**given: Any) -> None:
        taken = {name: given.pop(name) for name in options}
        command(**given, **{received: taken})

    signature = inspect.signature(command)
    own = [p for name, p in signature.parameters.items() if name != received]
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, kind, annotation=option, default=default)
        for name, (option, default) in options.items()
    ]
    run.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in own + added}
    return run
