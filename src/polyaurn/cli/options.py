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
        help="Counts (UCI docword, MatrixMarket, HDF5 of 10x Genomics or AnnData, SVMlight, LDA-C) "
        "or text (one document per line, "
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
        help="Drop words found in fewer documents than this: 5, or a share such as 0.01; 'auto' "
        "(default for text) depends on the number of documents.",
        rich_help_panel=_READING,
    ),
]
MaxDf = Annotated[
    str | None,
    typer.Option(
        help="Drop words found in more documents than this: 0.5 is half of them, 500 a number; "
        "'auto' (default for text) is a fifth of them, more where they are few or long.",
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
        help="Words that are as frequent in documents of all kinds: 'keep' (default) or 'drop', "
        "from 1,000 documents on.",
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
        help="Count words with the same stem as one, shown in its most frequent form.",
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
        "underscores with their combining marks, 'terms' (default) leaves out of these numbers and "
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
        help="Vocabulary, for counts: a file with one word per line.", rich_help_panel=_READING
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the file, if it is not recognised: uci, matrix-market, hdf5, svmlight, "
        "ldac, lines, table, parquet, jsonl, folder, mallet.",
        autocompletion=lambda: [
            "uci",
            "matrix-market",
            "hdf5",
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
        help="Separator between the columns of a table, if it is not recognised.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files.", rich_help_panel=_READING)]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose",
        help="The MatrixMarket or AnnData file has words in rows; HDF5 of 10x Genomics always has, "
        "also without this option.",
        rich_help_panel=_READING,
    ),
]
Binarise = Annotated[
    bool,
    typer.Option(
        "--binarise",
        help="For UCI, MatrixMarket and HDF5: count each word of a document once, where its entry "
        "is above 0.",
        rich_help_panel=_READING,
    ),
]
DocNames = Annotated[
    Path | None,
    typer.Option(
        help="Names of documents, for MatrixMarket and HDF5: a file with one per line.",
        rich_help_panel=_READING,
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(
        help="For AnnData: the layer that holds the counts; X if not given.",
        rich_help_panel=_READING,
    ),
]
MinTokens = Annotated[
    int | None,
    typer.Option(
        help="For counts: drop documents with fewer tokens than this, once words are chosen.",
        rich_help_panel=_READING,
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
        help="For csv: put ' before words and names that begin with =, +, - or @, which "
        "spreadsheets run as formulas; use it where words come from strangers.",
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
    "binarise": (Binarise, False),
    "doc_names": (DocNames, None),
    "layer": (Layer, None),
    "min_tokens": (MinTokens, None),
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
        several = isinstance(default, tuple)
        default = ",".join(map(str, default)) if several else str(default)
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
